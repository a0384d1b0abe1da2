"""/console/frontier: the queue of URLs, why each waits, and what a person can do about it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.searching import source_id_of
from headwater.actions.urls import FrontierStats, frontier_stats, queue_urls
from headwater.errors import HeadwaterError, UrlRejected, UsageError
from headwater.frontier.control import remove, retry_now, retry_where
from headwater.frontier.entry import EntryOrigin, EntryStatus
from headwater.frontier.explain import EntryPast
from headwater.frontier.listing import EntryTotal, count_matching, entry_with_id, filter_for
from headwater.frontier.reads import EntryRow, Filter, list_entries
from headwater.net.identity import identity_of
from headwater.reports.frontier import source_names
from headwater.reports.pages import PageStory, story_of
from headwater.serve.access.caller import Caller
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.charts import share_bar
from headwater.serve.console.components import (
    TableColumn,
    bulk_bar,
    columns,
    empty_state,
    facts,
    filter_bar,
    folded,
    link,
    notice,
    pager,
    panel,
    segments,
    table,
)
from headwater.serve.console.forms import (
    Fields,
    FormFields,
    action_button,
    button,
    choice_field,
    confirm_form,
    error_summary,
    form,
    hidden,
    text_area,
    text_field,
)
from headwater.serve.console.operations import see_operation
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import (
    NOTHING,
    cut,
    due,
    duration,
    foreign,
    foreign_link,
    host_and_path,
    milliseconds,
    moment,
    number,
    quantity,
    state,
)
from headwater.serve.console.visit import PageQuery, PageVisit, Visited, see_other
from headwater.serve.operations import OperationRunner, Progress
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import LongWork
from headwater.serve.topics import Topic
from headwater.urls.canonical import canonicalise
from headwater.urls.effects import has_effects

router = APIRouter(include_in_schema=False)

PATH = "/console/frontier"
ROWS, SOURCES_SHOWN = 50, 10
MOST_CHOSEN, MOST_ADDED = 1_000, 10_000
COLOURS = {"pending": "c2", "fetching": "c1", "fetched": "c4", "failed": "c3", "dead": "c5"}
# The sentence that introduces a command.
CALL = re.compile(r"[.;] [^.;]{1,40}$")
WAITING = (EntryStatus.PENDING, EntryStatus.FAILED)
RETRIED = (EntryStatus.FAILED, EntryStatus.DEAD, EntryStatus.FETCHED)


async def filter_of(visit: PageVisit, query: PageQuery) -> Filter:
    """Raises UsageError for a word that names no status or origin."""
    status, origin = query.get("status"), query.get("origin")
    if status and status not in {*EntryStatus}:
        raise UsageError(f"There is no status {status!r}.", fix=f"One of: {', '.join(EntryStatus)}.")
    if origin and origin not in {*EntryOrigin}:
        raise UsageError(f"There is no origin {origin!r}.", fix=f"One of: {', '.join(EntryOrigin)}.")
    return filter_for(
        status=EntryStatus(status) if status else None,
        source_id=await source_id_of(visit.services, query.get("source") or None),
        host=query.get("host") or None,
        origin=EntryOrigin(origin) if origin else None,
        reason=query.get("reason") or None,
        prefix=query.get("prefix") or None,
    )


@router.get(PATH)
async def frontier_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List the queue."""
    database, query = visit.services.database, visit.query
    stats = await frontier_stats(visit.services, SOURCES_SHOWN, None)
    try:
        wanted = await filter_of(visit, query)
    except HeadwaterError as error:
        main = joined(_filters(query), notice("fail", cut(error.what), f" {cut(error.fix)}"))
        return await visit.page(PageBody("Frontier", main), status=422)
    page = await list_entries(database, wanted, limit=ROWS, cursor=query.get("cursor") or None)
    total = await count_matching(database, wanted)
    names = await source_names(database, list({one.source_id for one in page.entries}))
    listed = _table(visit, page.entries, names)
    bulk = bulk_bar(total.count, told_total(total), *_verbs()) if page.entries else Markup("")
    inside = listed
    if visit.may(Role.OPERATOR):
        inside = form(f"{PATH}/change", visit.csrf_token, hidden("query", _address(query)), listed, bulk, label="URLs")
    is_short = page.cursor is not None and len(page.entries) < ROWS
    note = element("p", f"A rare filter: {page.share_looked_at:.0%} is searched so far.", class_="note")
    main = joined(
        segments(query, "status", _segments(stats), "Status"),
        _filters(query),
        note if is_short else "",
        inside,
        pager(query, len(page.entries), page.cursor, total.count, told_total(total)),
        _figures(visit, stats),
    )
    lead = "Every known URL, in no order of its own. A host's pace decides when one is fetched: see why it waits."
    add = link("Add URLs", f"{PATH}/add", class_="button primary") if visit.may(Role.OPERATOR) else Markup("")
    return await visit.page(PageBody("Frontier", main, lead, add, (Topic.FRONTIER,)))


def told_total(total: EntryTotal) -> str:
    return f"{total.count:,}{' or more' if total.is_capped else ''}"


def _address(query: PageQuery) -> str:
    return query.to().partition("?")[2]


def _segments(stats: FrontierStats) -> list[tuple[str, str, int | str | None]]:
    counts = stats.by_status
    return [("", "All", sum(counts.values())), *((one, one.capitalize(), counts[one]) for one in EntryStatus)]


def _filters(query: PageQuery) -> Markup:
    origins = [("", "Any"), *((one, one) for one in EntryOrigin)]
    return filter_bar(
        query,
        text_field("prefix", "URL begins with", query.get("prefix"), placeholder="https://harbour.example/news"),
        text_field("host", "Host", query.get("host")),
        text_field("source", "Source", query.get("source")),
        choice_field("origin", "Origin", origins, query.get("origin")),
        text_field("reason", "Error or reason", query.get("reason"), placeholder="not_found"),
        keeps=("status",),
    )


def _figures(visit: PageVisit, stats: FrontierStats) -> Markup:
    hosts = stats.hosts
    waits = joined("next in ", duration(hosts.next_in)) if hosts.next_in is not None else Markup("none waits")
    oldest = moment(stats.oldest_due_at, visit.now, never="nothing is due")
    now = facts([
        ("Open hosts", number(hosts.open)),
        ("Waiting by pace", joined(number(hosts.waiting), ", ", waits)),
        ("Being asked", number(hosts.busy)),
        ("In doubt", number(hosts.doubted)),
        ("Longest due", oldest),
    ])  # fmt: skip
    most = max((sum(counts.values()) for counts in stats.by_source.values()), default=1)
    rows = [
        element(
            "tr",
            element("th", link(foreign(stats.names[id_], 60), f"{PATH}?source={id_}"), scope="row"),
            element("td", share_bar([(COLOURS[one], counts.get(one, 0)) for one in EntryStatus], most, _told(counts))),
            element("td", number(sum(counts.values())), class_="number"),
        )
        for id_, counts in stats.by_source.items()
    ]
    heads = [element("th", told, scope="col") for told in ("Source", "URLs by status", "All")]
    by_source = element("table", element("thead", element("tr", *heads)), element("tbody", *rows))
    beside = panel("By source", by_source, note="the first ten by name") if rows else Markup("")
    return columns(panel("Hosts with something to fetch", now, note="now", id_="hosts-now"), beside)


def _told(counts: Mapping[EntryStatus, int]) -> str:
    return ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)


def _table(visit: PageVisit, entries: Sequence[EntryRow], names: Mapping[UUID, str]) -> Markup:
    now = visit.now
    made = [
        TableColumn[EntryRow]("URL", lambda one: link(host_and_path(one.url), story_path(one.url)), "main"),
        TableColumn[EntryRow]("Source", lambda one: foreign(names.get(one.source_id, "removed"), 60)),
        TableColumn[EntryRow]("Status", _state),
        TableColumn[EntryRow]("Next", lambda one: due(one.next_fetch_at, now) if one.status in WAITING else NOTHING),
        TableColumn[EntryRow]("Priority", lambda one: number(one.priority), "number"),
        TableColumn[EntryRow]("Origin", lambda one: Markup(one.origin)),
        TableColumn[EntryRow]("Depth", lambda one: number(one.depth), "number"),
        TableColumn[EntryRow]("Tries", lambda one: number(one.retry_count), "number"),
        TableColumn[EntryRow]("HTTP", lambda one: Markup(str(one.last_status or "–")), "number"),
        TableColumn[EntryRow]("Last error", lambda one: foreign(one.reason or one.last_error or "", 80)),
        TableColumn[EntryRow]("Found", lambda one: moment(one.discovered_at, now)),
    ]
    empty = empty_state(
        "No URL matches." if visit.query.values else "The frontier is empty. Sources find URLs, or add some by hand.",
        link("Add URLs", f"{PATH}/add", class_="button"),
    )
    chosen_by = (lambda one: str(one.id)) if visit.may(Role.OPERATOR) else None
    return table(made, entries, "URLs", query=visit.query, chosen_by=chosen_by, empty=empty, id_="urls")


def _state(one: EntryRow) -> Markup:
    return state(one.held, tone="paused") if one.held else state(one.status)


def story_path(url: str) -> str:
    return f"{PATH}/url?url={quote(url, safe='')}"


def _verbs() -> list[Markup]:
    return [
        button("Fetch again", name="do", value="retry"),
        button("Forget", kind="danger", name="do", value="remove"),
    ]


@router.post(f"{PATH}/change")
async def change_urls_by_form(caller: Operator, visit: Visited, work: LongWork, fields: Fields) -> Response:
    """Queue chosen URLs again, or forget them."""
    query = PageQuery(PATH, dict(parse_qsl(fields.get("query"))))
    verb, chosen = fields.get("do"), fields.all("chosen")[:MOST_CHOSEN]
    if verb not in ("retry", "remove"):
        raise UsageError("Nothing was asked for.", fix="Choose one of the buttons.")
    if fields.get("all_matching") == "yes":
        return await _change_all(caller, visit, work, fields, query)
    if not chosen:
        return see_other(_back(query), "No URL was chosen: nothing was done.")
    if verb == "remove" and not fields.is_confirmed:
        return await _asked(visit, fields, query, quantity(len(chosen), "URL"), "Forget them")
    done, refused = 0, ""
    for id_ in chosen:
        try:
            url = canonicalise((await entry_with_id(visit.services.database, _uuid(id_))).url)
            await (retry_now if verb == "retry" else remove)(visit.services.database, url)
            done += 1
        except HeadwaterError as error:
            refused = f" {error.what}"
    what = "queued again" if verb == "retry" else "forgotten"
    left = f", {len(chosen) - done:,} not:{refused}" if done < len(chosen) else "."
    return see_other(_back(query), f"{quantity(done, 'URL')} {what}{left}")


async def _change_all(
    caller: Caller, visit: PageVisit, work: OperationRunner, fields: FormFields, query: PageQuery
) -> Response:
    """All that match the filters, decided here and now by the filters, not by rows of the page."""
    wanted = await filter_of(visit, query)
    if fields.get("do") != "retry":
        raise UsageError("URLs are forgotten one page at a time.", fix="Choose the rows.")
    if wanted.status not in RETRIED:
        raise UsageError(
            "All that match are queued again only where they have failed, are dead or were fetched.",
            fix="Choose one of these states above the list.",
        )
    if not fields.is_confirmed:
        total = await count_matching(visit.services.database, wanted)
        return await _asked(visit, fields, query, f"{told_total(total)} URLs, {wanted.status}", "Queue them again")

    async def retry_all(progress: Progress) -> Mapping[str, Any]:
        return {"retried": await retry_where(visit.services.database, wanted, progress)}

    return see_operation(await work.begin("frontier.retry", caller.name, retry_all))


async def _asked(visit: PageVisit, fields: FormFields, query: PageQuery, count: str, verb: str) -> Response:
    facts_ = [count, "A URL that is forgotten is new when a channel lists it again."]
    if fields.get("do") == "retry":
        facts_[1] = "Each host's pace holds all the same; what is taken down stays out."
    asked = confirm_form(f"{PATH}/change", visit.csrf_token, fields.again(), *facts_, verb=verb, back=_back(query))
    return await visit.page(PageBody(f"{verb}?", asked))


def _back(query: PageQuery) -> str:
    return query.to(cursor=query.get("cursor"))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise UsageError("This row is none of the list.", fix="Load the page again.") from None


@router.get(f"{PATH}/add")
async def adding_urls_page(caller: Operator, visit: Visited) -> HTMLResponse:
    """Ask for URLs to be queued by hand."""
    return await visit.page(PageBody("Add URLs", _adding_form(visit, "", visit.query.get("source"))))


def _adding_form(visit: PageVisit, urls: str, source: str, *above: Markup) -> Markup:
    return form(
        f"{PATH}/add",
        visit.csrf_token,
        *above,
        text_area("urls", "URLs, one a line", urls, rows=10, takes_file=".txt,.csv", hint="Up to 10,000."),
        text_field("source", "Source", source, hint="Its name or address; empty: that of all that is added by hand."),
        element(
            "div",
            button("Look first", name="do", value="look"),
            button("Queue them", kind="primary", name="do", value="add"),
            class_="buttons",
        ),
        class_="form",
    )


@router.post(f"{PATH}/add")
async def add_urls_by_form(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Queue URLs by hand; `look` says what would become of them and changes nothing."""
    urls = [one.strip() for one in fields.get("urls").split("\n") if one.strip()]
    text, source = fields.get("urls"), fields.get("source")
    wrong = (
        "Give at least one URL." if not urls else f"Up to {MOST_ADDED:,} at a time." if len(urls) > MOST_ADDED else ""
    )
    if wrong:
        body = _adding_form(visit, text, source, error_summary(wrong))
        return await visit.page(PageBody("Add URLs", body), status=422)
    if fields.get("do") == "look":
        told = [_looked_at(one) for one in urls]
        above = panel("What would become of them", _outcomes(told), note="nothing was changed")
        return await visit.page(PageBody("Add URLs", _adding_form(visit, text, source, above)))
    try:
        queued = await queue_urls(visit.services, urls, source or None)
    except HeadwaterError as error:
        body = _adding_form(visit, text, source, error_summary(f"{error.what} {error.fix}"))
        return await visit.page(PageBody("Add URLs", body), status=422)
    counts = Counter(str(one.outcome) for one in queued)
    told_counts = ", ".join(f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in counts.items())
    if len(queued) == 1 and queued[0].id is not None:
        return see_other(story_path(queued[0].url), f"{told_counts}.")
    return see_other(PATH, f"{told_counts}.")


class UrlOutcome(NamedTuple):
    url: str
    told: str
    is_taken: bool


def _looked_at(url: str) -> UrlOutcome:
    """Pure: what its address alone tells."""
    try:
        known = canonicalise(url)
    except UrlRejected as error:
        return UrlOutcome(url, f"{error.what} {error.fix}".strip(), is_taken=False)
    if has_effects(known):
        return UrlOutcome(known.url, "looks as if fetching it did something: log out, delete, buy", is_taken=True)
    return UrlOutcome(known.url, "would be queued, if it is not known yet", is_taken=True)


def _outcomes(told: Sequence[UrlOutcome]) -> Markup:
    shown = sorted(told, key=lambda one: one.is_taken)[:ROWS]
    made = [
        TableColumn[UrlOutcome]("URL", lambda one: foreign(one.url, 120), "main"),
        TableColumn[UrlOutcome]("", lambda one: state(one.told, tone="ok" if one.is_taken else "fail")),
    ]
    taken = sum(one.is_taken for one in told)
    count = element(
        "p", f"{taken:,} of {quantity(len(told), 'URL')} can be queued; {len(shown):,} shown.", class_="note"
    )
    return joined(count, table(made, shown, "URLs that were given"))


@router.get(f"{PATH}/url")
async def url_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """Tell the way of one URL from discovery to each sink, and what is next."""
    asked = visit.query.get("url")
    if not asked:
        return await visit.page(PageBody("A URL", _asking(""), "Its way from discovery to each sink."))
    try:
        url = canonicalise(asked if "://" in asked else f"https://{asked}")
    except UrlRejected as error:
        body = joined(notice("fail", cut(error.what), f" {cut(error.fix)}"), _asking(asked))
        return await visit.page(PageBody("A URL", body), status=422)
    agent = identity_of(visit.services.settings.fetch).user_agent
    story = await story_of(visit.services.database, url, agent)
    actions = _url_actions(visit, story) if visit.may(Role.OPERATOR) else Markup("")
    main = joined(_asking(asked), columns(_now(visit, story), _found(story)), _past(visit, story), _delivered(story))
    return await visit.page(PageBody("A URL", main, cut(story.url, 200), actions, (Topic.FRONTIER, Topic.CHANGES)))


def _asking(url: str) -> Markup:
    query = PageQuery(f"{PATH}/url", {"url": url} if url else {})
    return filter_bar(query, text_field("url", "URL", cut(url, 2_083), type="url", required="required"))


def _now(visit: PageVisit, story: PageStory) -> Markup:
    ahead = f"{story.ahead_on_host:,} before it on its host" if story.ahead_on_host else "the first of its host"
    told = [
        ("Status", state(story.status)),
        ("Why", foreign(without_command(story.why), 600)),
        ("Next", foreign(without_command(story.next), 600)),
        ("At", due(story.next_at, visit.now)),
        ("Document", _document(story)),
        *([("Vacancy", foreign(story.vacancy, 600))] if story.vacancy else []),
        *([("In line", Markup(ahead))] if story.status in WAITING else []),
    ]
    return panel("Now", facts(told), id_="now")


def without_command(told: str) -> str:
    """A sentence for a terminal, without the command that it ends with: here a button does it. Pure."""
    before, command, _ = told.partition(": headwater ")
    return CALL.sub("", before) if command else told


def _document(story: PageStory) -> Markup:
    told = foreign(without_command(story.document), 600)
    if not story.document.startswith("kept"):
        return told
    return joined(told, ": ", link("read it", f"/console/documents/{canonicalise(story.url).url_hash.hex()}"))


def _found(story: PageStory) -> Markup:
    if not story.is_known:
        return panel("Where it stands", element("p", "It is not in the frontier."), foreign_link(story.url))
    told = facts([
        ("Page", foreign_link(story.url)),
        ("Source", link(foreign(story.source, 120), f"/console/sources?text={quote(story.source, safe='')}")),
        ("Found", foreign(story.found_by, 400)),
        ("Priority", priority_told(story)),
        ("Host", link("its pace and robots.txt", f"/console/hosts/{quote(canonicalise(story.url).host, safe='')}")),
    ])  # fmt: skip
    return panel("Where it came from", told)


def priority_told(story: PageStory) -> Markup:
    rule = (
        "That of its source, 2 more from a feed, 1 more from a sitemap, 1 less for each link from the start; 1 to 10."
    )
    return joined(number(story.priority), " ", folded("How it is made", element("p", rule)))


def _past(visit: PageVisit, story: PageStory) -> Markup:
    made = [
        TableColumn[EntryPast]("When", lambda one: moment(one.at, visit.now), "main"),
        TableColumn[EntryPast]("Verdict", lambda one: state(one.verdict)),
        TableColumn[EntryPast]("HTTP", lambda one: Markup(str(one.status or "–")), "number"),
        TableColumn[EntryPast]("Took", lambda one: milliseconds(one.duration_ms), "number"),
        TableColumn[EntryPast]("Reason", lambda one: foreign(one.reason or "", 200)),
        TableColumn[EntryPast]("By", lambda one: foreign(one.owner, 60)),
    ]
    empty = empty_state("It was never asked for, as far as the log of requests reaches back.")
    return panel("Requests", table(made, list(story.history), "Requests", empty=empty), note="newest first", id_="past")


def _delivered(story: PageStory) -> Markup:
    if not story.delivery:
        return Markup("")
    return panel("Into the sinks", element("ul", *(element("li", foreign(one, 400)) for one in story.delivery)))


def _url_actions(visit: PageVisit, story: PageStory) -> Markup:
    if not story.is_known:
        source = {"urls": story.url, "do": "add"}
        return action_button(f"{PATH}/add", visit.csrf_token, "Queue it", source, kind="primary")
    fetch = action_button(f"{PATH}/url/retry", visit.csrf_token, "Fetch again", {"url": story.url}, kind="primary")
    forget = action_button(f"{PATH}/url/remove", visit.csrf_token, "Forget", {"url": story.url}, kind="danger")
    return joined(fetch, forget)


@router.post(f"{PATH}/url/retry")
async def fetch_url_again(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Queue one URL again: its host's pace holds all the same."""
    url = canonicalise(fields.get("url"))
    await retry_now(visit.services.database, url)
    return see_other(story_path(url.url), "It waits in line again. The pace of its host holds all the same.")


@router.post(f"{PATH}/url/remove")
async def forget_url_by_form(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Forget one URL."""
    url = canonicalise(fields.get("url"))
    if not fields.is_confirmed:
        fact = "If a channel lists it again, it is new and fetched again."
        asked = confirm_form(
            f"{PATH}/url/remove", visit.csrf_token, fields.again(), cut(url.url, 200), fact,
            verb="Forget it", back=story_path(url.url),
        )  # fmt: skip
        return await visit.page(PageBody("Forget this URL?", asked))
    await remove(visit.services.database, url)
    return see_other(PATH, "The URL is forgotten.")
