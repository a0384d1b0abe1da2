"""/console/frontier: the queue of URLs, what failed of it, and what a person can do about many at once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.searching import source_id_of
from headwater.actions.urls import FrontierStats, frontier_stats
from headwater.database.pool import Database
from headwater.errors import HeadwaterError, UsageError
from headwater.frontier.control import kill, kill_where, raise_now, remove, remove_where, retry_now, retry_where
from headwater.frontier.entry import EntryOrigin, EntryStatus
from headwater.frontier.listing import EntryTotal, count_matching, entry_with_id, filter_for
from headwater.frontier.reads import EntryRow, FailureClass, Filter, failures_by_class, list_entries
from headwater.reports.frontier import source_names
from headwater.serve.access.caller import Caller
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.charts import legend, share_bar
from headwater.serve.console.components import (
    TableColumn,
    bulk_bar,
    columns,
    empty_state,
    facts,
    filter_bar,
    link,
    notice,
    pager,
    panel,
    segments,
    table,
    way_on,
)
from headwater.serve.console.forms import (
    Fields,
    FormFields,
    action_button,
    button,
    choice_field,
    confirm_form,
    form,
    hidden,
    text_field,
)
from headwater.serve.console.frontier_places import (
    FAILURES,
    KEPT,
    PATH,
    WAITING,
    because_field,
    frontier_tabs,
    story_path,
)
from headwater.serve.console.keeping import lately
from headwater.serve.console.operations import see_operation
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import (
    NOTHING,
    cut,
    due,
    duration,
    foreign,
    host_and_path,
    moment,
    number,
    quantity,
    state,
)
from headwater.serve.console.strip import KEPT_SECONDS
from headwater.serve.console.visit import PageQuery, PageVisit, Visited, see_other
from headwater.serve.operations import OperationRunner, Progress
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import LongWork
from headwater.serve.topics import Topic
from headwater.urls.canonical import CanonicalUrl, canonicalise

router = APIRouter(include_in_schema=False)

ROWS, SOURCES_SHOWN = 50, 10
MOST_CHOSEN = 1_000
# As the overview draws them.
COLOURS = {"pending": "c2", "fetching": "c3", "fetched": "c1", "failed": "c6", "dead": "c4"}
Act = Callable[[Database, CanonicalUrl], Awaitable[None]]
WORDS = {"retry": "queued again", "raise": "put to the front of their hosts", "kill": "killed", "remove": "forgotten"}
QUESTIONS = {"retry": "Queue them again", "kill": "Kill them", "remove": "Forget them"}
FACTS = {
    "retry": ("Each host's pace holds all the same; what is taken down stays out.",),
    "kill": ("Each is fetched never again, whoever lists it, until somebody revives it.", KEPT),
    "remove": ("A URL that is forgotten is new when a channel lists it again.",),
}


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
    counted = partial(frontier_stats, visit.services, SOURCES_SHOWN, None)
    stats = await lately(visit.request.app, "frontier_stats", KEPT_SECONDS, counted)
    try:
        wanted = await filter_of(visit, query)
    except HeadwaterError as error:
        main = joined(_filters(query), notice("fail", cut(error.what), " ", way_on(error.fix)))
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
    return await visit.page(
        PageBody("Frontier", joined(frontier_tabs(visit, PATH), main), lead, add, (Topic.FRONTIER,))
    )


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
        text_field("reason", "Error class", query.get("reason"), placeholder="not_found"),
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
    caption = element("caption", "URLs by source", class_="unseen")
    listed = element("table", caption, element("thead", element("tr", *heads)), element("tbody", *rows))
    by_source = joined(listed, legend({tone: status for status, tone in COLOURS.items()}))
    beside = panel("By source", by_source, note="the first ten by name") if rows else Markup("")
    return columns(panel("Hosts with something to fetch", now, note="now", id_="hosts-now"), beside)


def _last_error(one: EntryRow) -> Markup:
    told = one.reason or one.last_error
    return foreign(told, 80) if told else NOTHING


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
        TableColumn[EntryRow]("Last error", _last_error),
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


def _verbs() -> list[Markup]:
    return [
        button("Fetch next", name="do", value="raise"),
        button("Fetch again", name="do", value="retry"),
        button("Kill", kind="danger", name="do", value="kill"),
        button("Forget", kind="danger", name="do", value="remove"),
    ]


@router.get(FAILURES)
async def failures_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """Group what failed by what went wrong."""
    found = await failures_by_class(visit.services.database)
    made = [
        TableColumn[FailureClass](
            "What went wrong", lambda one: link(state(one.reason, tone="warn"), _class(one)), "main"
        ),
        TableColumn[FailureClass]("Status", lambda one: state(one.status)),
        TableColumn[FailureClass](
            "URLs", lambda one: Markup(f"{one.entries:,}{'+' if one.is_capped else ''}"), "number"
        ),
        TableColumn[FailureClass]("Last message", lambda one: foreign(one.said, 160)),
        TableColumn[FailureClass]("One of them", lambda one: link(host_and_path(one.url), story_path(one.url))),
    ]
    if visit.may(Role.OPERATOR):
        made.append(TableColumn[FailureClass]("All of them", lambda one: _class_actions(visit, one)))
    listed = table(made, found, "Failures by class", empty=empty_state("Nothing has failed."), id_="failures")
    lead = "What failed is tried again by itself; what is dead is not. Groups of more than 10,000 are counted so far."
    main = joined(frontier_tabs(visit, FAILURES), listed)
    return await visit.page(PageBody("Failures", main, lead, topics=(Topic.FRONTIER,)))


def _class(one: FailureClass) -> str:
    return PageQuery(PATH, {"status": one.status, "reason": one.reason}).to(status=one.status)


def _class_actions(visit: PageVisit, one: FailureClass) -> Markup:
    sent = {"query": _class(one).partition("?")[2], "all_matching": "yes"}
    verbs = (("retry", "Retry", ""), ("kill", "Kill", "danger"), ("remove", "Forget", "danger"))
    made = [
        action_button(f"{PATH}/change", visit.csrf_token, told, {**sent, "do": do}, kind=kind, about=one.reason)
        for do, told, kind in verbs
    ]
    return element("div", *made, class_="buttons")


@router.post(f"{PATH}/change")
async def change_urls_by_form(caller: Operator, visit: Visited, work: LongWork, fields: Fields) -> Response:
    """Queue chosen URLs again, first of their hosts, never again, or forget them."""
    query = PageQuery(PATH, dict(parse_qsl(fields.get("query"))))
    verb, chosen = fields.get("do"), fields.all("chosen")[:MOST_CHOSEN]
    if verb not in WORDS:
        raise UsageError("Nothing was asked for.", fix="Choose one of the buttons.")
    if fields.get("all_matching") == "yes":
        return await _change_all(caller, visit, work, fields, query)
    if not chosen:
        return see_other(_back(query), "No URL was chosen: nothing was done.")
    if verb in ("kill", "remove") and not fields.is_confirmed:
        return await _asked(visit, fields, query, quantity(len(chosen), "URL"))
    act, done, refused = act_of(verb, caller.name, fields.get("because")), 0, ""
    for id_ in chosen:
        try:
            url = canonicalise((await entry_with_id(visit.services.database, _uuid(id_))).url)
            await act(visit.services.database, url)
            done += 1
        except HeadwaterError as error:
            refused = f" {error.what}"
    left = f", {len(chosen) - done:,} not:{refused}" if done < len(chosen) else "."
    return see_other(_back(query), f"{quantity(done, 'URL')} {WORDS[verb]}{left}")


def act_of(verb: str, who: str, because: str) -> Act:
    """What is done to one URL."""

    async def kill_one(database: Database, url: CanonicalUrl) -> None:
        await kill(database, url, who, because)

    return {"retry": retry_now, "raise": raise_now, "kill": kill_one, "remove": remove}[verb]


async def _change_all(
    caller: Caller, visit: PageVisit, work: OperationRunner, fields: FormFields, query: PageQuery
) -> Response:
    """All that match the filters, decided here and now by the filters, not by rows of the page."""
    wanted, verb, database = await filter_of(visit, query), fields.get("do"), visit.services.database
    if verb == "raise":
        raise UsageError("The front of a queue is for few.", fix="Choose the rows.")
    if wanted.status in (None, EntryStatus.FETCHING):
        raise UsageError(
            "All that match are changed together only where they have one status, and are not being fetched.",
            fix="Choose a status above the list.",
        )
    if not fields.is_confirmed:
        total = await count_matching(database, wanted)
        return await _asked(visit, fields, query, f"{told_total(total)} URLs, {wanted.status}")
    because, who = fields.get("because"), caller.name

    async def change_all(progress: Progress) -> Mapping[str, Any]:
        if verb == "retry":
            return {"retried": await retry_where(database, wanted, progress)}
        if verb == "kill":
            return {"killed": await kill_where(database, wanted, who, because, progress)}
        return {"removed": await remove_where(database, wanted, progress)}

    return see_operation(await work.begin(f"frontier.{verb}", who, change_all))


async def _asked(visit: PageVisit, fields: FormFields, query: PageQuery, count: str) -> Response:
    do = fields.get("do")
    asked = confirm_form(
        f"{PATH}/change", visit.csrf_token, fields.again(), count, *FACTS[do],
        verb=QUESTIONS[do], back=_back(query), asks=because_field() if do == "kill" else Markup(""),
    )  # fmt: skip
    return await visit.page(PageBody(f"{QUESTIONS[do]}?", asked))


def _back(query: PageQuery) -> str:
    return query.to(cursor=query.get("cursor"))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise UsageError("This row is none of the list.", fix="Load the page again.") from None
