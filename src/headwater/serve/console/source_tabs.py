"""What belongs to one source, on pages of their own: its runs, URLs, documents, and the templates of its host."""

from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.searching import ArchiveWish, documents_wished
from headwater.errors import HeadwaterError, NotFound, UsageError
from headwater.frontier.entry import EntryStatus
from headwater.frontier.listing import filter_for
from headwater.frontier.reads import EntryRow, count_entries_of, list_entries
from headwater.learning.store import disable, relearn
from headwater.politeness.hosts import site_of
from headwater.reports.archive import DetailedHit
from headwater.reports.discovery import Run, RunFilter
from headwater.reports.paging import page_of_runs
from headwater.reports.templates import Schooling, TemplateVersion, pages_wanted, read_schooling, state_of
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.components import (
    TableColumn,
    empty_state,
    facts,
    link,
    notice,
    pager,
    panel,
    segments,
    table,
    way_on,
)
from headwater.serve.console.forms import Fields, action_button
from headwater.serve.console.shown import (
    NOTHING,
    cut,
    due,
    foreign,
    foreign_lines,
    host_and_path,
    milliseconds,
    moment,
    number,
    percent,
    state,
)
from headwater.serve.console.source_list import RESULTS, source_path
from headwater.serve.console.source_page import ONE, page_of_source
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.topics import Topic
from headwater.sources.finding import find_source
from headwater.sources.source import Source

router = APIRouter(include_in_schema=False)

ROWS, DOCUMENTS_SHOWN = 50, 25
RUN_RESULTS = (("", "All"), ("ok", "Fine"), ("warn", "With warnings"), ("fail", "Failed"))
WAITING = (EntryStatus.PENDING, EntryStatus.FAILED)


@router.get(f"{ONE}/runs")
async def runs_of_source(caller: Viewer, visit: Visited, named: str) -> HTMLResponse:
    """List the runs of a source, newest first."""
    source = await find_source(visit.services.database, named)
    query = visit.query
    wanted = query.get("status") if query.get("status") in RESULTS else ""
    cursor = query.get("cursor") or None
    page = await page_of_runs(visit.services.database, RunFilter(source.id, wanted or None), ROWS, cursor)
    made = [
        TableColumn[Run]("When", lambda one: moment(one.at, visit.now), "tight"),
        TableColumn[Run]("Result", lambda one: state(one.status, RESULTS.get(one.status, one.status)), "tight"),
        TableColumn[Run]("Message", lambda one: foreign(one.message, 240), "main"),
        TableColumn[Run]("Kind", lambda one: joined(one.kind, element("span", one.trigger, class_="under")), "tight"),
        TableColumn[Run]("Found", lambda one: number(one.found), "number"),
        TableColumn[Run]("New", lambda one: number(one.inserted), "number"),
        TableColumn[Run]("Updated", lambda one: number(one.updated), "number"),
        TableColumn[Run]("Skipped", lambda one: number(one.skipped), "number"),
        TableColumn[Run]("Errors", lambda one: number(one.errors), "number"),
        TableColumn[Run]("Took", lambda one: milliseconds(one.duration_ms), "number"),
    ]
    empty = empty_state("No run matches." if wanted else "It was not polled yet.")
    main = joined(
        segments(query, "status", [(word, told, None) for word, told in RUN_RESULTS], "Result"),
        table(made, page.items, "Runs", empty=empty, id_="runs"),
        pager(query, len(page.items), page.cursor),
    )
    return await page_of_source(visit, source, main, *(() if cursor else (Topic.RUNS,)))


@router.get(f"{ONE}/urls")
async def urls_of_source(caller: Viewer, visit: Visited, named: str) -> HTMLResponse:
    """List the URLs of a source: the part of the frontier that is its own."""
    database, query = visit.services.database, visit.query
    source = await find_source(database, named)
    word = query.get("status")
    if word and word not in {*EntryStatus}:
        raise UsageError(f"There is no status {cut(word, 40)!r}.", fix=f"One of: {', '.join(EntryStatus)}.")
    status = EntryStatus(word) if word else None
    wanted = filter_for(status=status, source_id=source.id)
    page = await list_entries(database, wanted, limit=ROWS, cursor=query.get("cursor") or None)
    counts = (await count_entries_of(database, [source.id])).by_source.get(source.id, {})
    total = counts.get(status, 0) if status else sum(counts.values())
    made = [
        TableColumn[EntryRow]("URL", lambda one: link(host_and_path(one.url), _story_path(one.url)), "main"),
        TableColumn[EntryRow]("Status", lambda one: state(one.held, tone="paused") if one.held else state(one.status)),
        TableColumn[EntryRow](
            "Next", lambda one: due(one.next_fetch_at, visit.now) if one.status in WAITING else NOTHING, "tight"
        ),
        TableColumn[EntryRow]("Priority", lambda one: number(one.priority), "number"),
        TableColumn[EntryRow]("Depth", lambda one: number(one.depth), "number"),
        TableColumn[EntryRow]("Tries", lambda one: number(one.retry_count), "number"),
        TableColumn[EntryRow]("HTTP", lambda one: Markup(str(one.last_status or "–")), "number"),
        TableColumn[EntryRow]("Last error", lambda one: foreign(one.reason or one.last_error or "", 80)),
        TableColumn[EntryRow]("Found", lambda one: moment(one.discovered_at, visit.now), "tight"),
    ]
    choices = [("", "All", sum(counts.values())), *((one, one.capitalize(), counts.get(one, 0)) for one in EntryStatus)]
    change = link("Queue again, forget, add: in the frontier", f"/console/frontier?source={source.id}")
    main = joined(
        segments(query, "status", choices, "Status"),
        table(made, page.entries, "URLs", empty=empty_state("No URL of it matches."), id_="urls"),
        pager(query, len(page.entries), page.cursor, total),
        element("p", change, class_="note"),
    )
    return await page_of_source(visit, source, main, Topic.FRONTIER)


def _story_path(url: str) -> str:
    return f"/console/frontier/url?url={quote(url, safe='')}"


@router.get(f"{ONE}/documents")
async def documents_of_source(caller: Viewer, visit: Visited, named: str) -> HTMLResponse:
    """List the newest documents of a source."""
    source = await find_source(visit.services.database, named)
    wish = ArchiveWish(source=str(source.id))
    answer = await documents_wished(visit.services, "", wish, DOCUMENTS_SHOWN, visit.query.get("cursor") or None)
    made = [
        TableColumn[DetailedHit](
            "Document",
            lambda one: joined(
                link(foreign(one.hit.title or "(without a title)", 200), f"/console/documents/{one.hit.hash.hex()}"),
                element("span", host_and_path(one.hit.url), class_="under"),
            ),
            "main",
        ),
        TableColumn[DetailedHit]("Published", lambda one: moment(one.hit.published_at, visit.now, never="not said")),
        TableColumn[DetailedHit]("Found", lambda one: moment(one.hit.first_seen_at, visit.now), "tight"),
        TableColumn[DetailedHit]("Words", lambda one: number(one.about["word_count"]), "number"),
        TableColumn[DetailedHit]("Language", lambda one: foreign(one.hit.language, 20), "tight"),
        TableColumn[DetailedHit](
            "Note", lambda one: state("duplicate", tone="paused") if one.hit.is_duplicate else NOTHING, "tight"
        ),
    ]
    search = link("Search them", f"/console/documents?source={source.id}")
    main = joined(
        table(made, answer.found, "Documents", empty=empty_state("No document of it yet."), id_="documents"),
        pager(visit.query, len(answer.found), answer.cursor),
        element("p", search, class_="note"),
    )
    return await page_of_source(visit, source, main, Topic.CHANGES)


@router.get(f"{ONE}/template")
async def template_of_source(caller: Viewer, visit: Visited, named: str) -> HTMLResponse:
    """Show by what the pages of a source's host are read."""
    source = await find_source(visit.services.database, named)
    selectors = panel("Selectors", _selectors(source), note="set by a person, before any template")
    try:
        found = await read_schooling(visit.services.database, source.profile.address.site)
    except NotFound as error:
        main = panel("Template", empty_state(f"{cut(error.what)} Pages are read by the general extractor."))
        return await page_of_source(visit, source, joined(main, selectors))
    main = joined(_learning(visit, source, found), _versions(visit, found), selectors)
    return await page_of_source(visit, source, main)


def _selectors(source: Source) -> Markup:
    profile = source.profile
    if not profile.selectors and not profile.parser_hint:
        return empty_state("None is set.", link("Settings", source_path(source.id, "settings")))
    told = [f"{name}: {value}" for name, value in profile.selectors.items()]
    if profile.parser_hint:
        told.append(f"parser hint: {profile.parser_hint}")
    return foreign_lines("\n".join(told), 20_000)


def _learning(visit: PageVisit, source: Source, found: Schooling) -> Markup:
    one = found.host_learning
    actions = Markup("")
    if visit.may(Role.OPERATOR):
        path = source_path(source.id, "template")
        again = action_button(path, visit.csrf_token, "Learn again", {"do": "relearn"})
        never = "" if one.disabled_at else action_button(path, visit.csrf_token, "Use none", {"do": "disable"})
        actions = element("div", again, never, class_="buttons")
    told = facts([
        ("Host", foreign(one.host, 120)),
        ("State", foreign(state_of(one), 200)),
        ("Pages that can teach", number(one.pages)),
        ("Wanted before the next training", number(pages_wanted(one))),
        ("Learned", moment(one.learned_at, visit.now)),
        ("Next training", due(one.learn_at, visit.now) if one.learn_at else NOTHING),
        ("Why", foreign(one.why or "–", 300)),
    ])  # fmt: skip
    return panel("Template of its host", told, actions=actions, note="now", id_="template")


def _versions(visit: PageVisit, found: Schooling) -> Markup:
    made = [
        TableColumn[TemplateVersion](
            "Version",
            lambda one: joined(
                f"{one.version}", element("span", foreign(one.section or "all pages", 80), class_="under")
            ),
            "main",
        ),
        TableColumn[TemplateVersion](
            "State", lambda one: state(one.status, tone="ok" if one.status == "active" else "paused"), "tight"
        ),
        TableColumn[TemplateVersion]("Pages", lambda one: number(one.pages), "number"),
        TableColumn[TemplateVersion]("Agreement", lambda one: Markup(f"{100 * one.agreement:.0f} %"), "number"),
        TableColumn[TemplateVersion]("Served", lambda one: number(one.served), "number"),
        TableColumn[TemplateVersion](
            "Refused", lambda one: Markup(percent(one.refused, one.served + one.refused)), "number"
        ),
        TableColumn[TemplateVersion]("Learned", lambda one: moment(one.learned_at, visit.now), "tight"),
        TableColumn[TemplateVersion]("Ended", lambda one: _ended(visit, one)),
    ]
    listed = table(made, found.host_learning.versions, "Templates", empty=empty_state("None was learned yet."))
    return panel("Versions", listed, id_="versions")


def _ended(visit: PageVisit, one: TemplateVersion) -> Markup:
    if one.ended_at is None:
        return NOTHING
    return joined(moment(one.ended_at, visit.now), element("span", foreign(one.why_ended or "", 200), class_="under"))


@router.post(f"{ONE}/template")
async def change_template(caller: Operator, visit: Visited, named: str, fields: Fields) -> Response:
    """Have the template of a source's host learned again, or use none."""
    source = await find_source(visit.services.database, named)
    acts = {
        "relearn": "It is learned again from its stored pages.",
        "disable": "Its pages are read by the general extractor.",
    }
    if (verb := fields.get("do")) not in acts:
        raise UsageError("Nothing was asked for.", fix="Choose one of the buttons.")
    work = relearn if verb == "relearn" else disable
    try:
        await work(visit.services.database, site_of(source.profile.address.site), caller.name)
    except HeadwaterError as error:
        main = notice("fail", cut(error.what), " ", way_on(error.fix))
        return await page_of_source(visit, source, main, status=422)
    return see_other(source_path(source.id, "template"), acts[verb])
