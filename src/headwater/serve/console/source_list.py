"""/console/sources: who is followed, how each stands, and what is done to many of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import parse_qsl
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from headwater.accounts.role import Role
from headwater.errors import HeadwaterError, UsageError
from headwater.reports.discovery import (
    DiscoveryOverview,
    DiscoveryStatus,
    ListOrder,
    SourceFilter,
    count_in_states,
)
from headwater.reports.paging import ListPage, order_named, page_of_sources, status_named
from headwater.reports.rollups import HOURS_A_DAY, SourceHours, hours_of_sources
from headwater.serve.access.gate import Viewer
from headwater.serve.console.charts import sparkline
from headwater.serve.console.components import (
    TableColumn,
    bulk_bar,
    empty_state,
    filter_bar,
    link,
    notice,
    pager,
    segments,
    table,
    way_on,
)
from headwater.serve.console.forms import button, choice_field, form, hidden, text_field
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
    number_up_to,
    quantity,
    state,
)
from headwater.serve.console.visit import PageQuery, PageVisit, Visited
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.topics import Topic
from headwater.sources.health_word import HealthStatus
from headwater.sources.push import PushState, PushWord, push_in_words, push_word
from headwater.sources.source import SourceKind, SourceMode, SourceStatus

router = APIRouter(include_in_schema=False)

SOURCES = "/console/sources"
ADD, IMPORT, EXPORT, CHANGE = f"{SOURCES}/add", f"{SOURCES}/import", f"{SOURCES}/export", f"{SOURCES}/change"
ROWS, COUNTED_TO, DAYS_SHOWN = 50, 10_000, 14
KINDS, MODES = tuple(map(str, SourceKind)), tuple(map(str, SourceMode))
# Its word, and whether it can be counted: health is judged source by source.
STATES: Mapping[str, tuple[str, bool]] = {
    "": ("All", True),
    "failing": ("Failing", True),
    "overdue": ("Overdue", True),
    "silent": ("Silent", True),
    "idle": ("Idle", True),
    "paused": ("Paused", True),
    "blocked": ("Blocked", True),
    "active": ("Active", True),
    "ok": ("Healthy", False),
    "unknown": ("Not known yet", False),
    "deleted": ("Deleted", False),
}
FOLLOWED = (DiscoveryStatus.ACTIVE, DiscoveryStatus.PAUSED, DiscoveryStatus.BLOCKED)
RESULTS = {"ok": "fine", "warn": "warning", "fail": "failed"}
PUSH_ORDER = (
    *(PushWord.PUSHED, PushWord.PROVING, PushWord.SUBSCRIBED, PushWord.PENDING, PushWord.WANTED),
    *(PushWord.SILENT, PushWord.LAPSED, PushWord.DENIED, PushWord.FAILED),
)
# Polls go on whatever a hub does: nothing of it is red.
PUSH_TONES: Mapping[PushWord, str] = {
    **dict.fromkeys((PushWord.PUSHED, PushWord.PROVING), "ok"),
    **dict.fromkeys((PushWord.SILENT, PushWord.LAPSED, PushWord.FAILED, PushWord.DENIED), "warn"),
}
ORDERS = {
    ListOrder.NAME: "by name",
    ListOrder.NEWEST: "newest first",
    ListOrder.ADDED: "oldest first",
    ListOrder.NEXT_POLL: "next run first",
    ListOrder.ERRORS: "most errors first",
}
ORDERS_OF_SOME = {
    ListOrder.NEXT_POLL: "By the next poll: only those that have one to come.",
    ListOrder.ERRORS: "By errors in a row: only those that have some.",
}
FORMATS = {"opml": "OPML", "csv": "CSV", "jsonl": "JSON Lines", "urls": "URLs"}


@dataclass(frozen=True, slots=True)
class SourceSelection:
    """The filters of an address. `health` is computed: it chooses rows of a page, and no work on all that match."""

    wanted: SourceFilter
    health: HealthStatus | None

    @property
    def counted(self) -> DiscoveryStatus | None:
        return self.wanted.status


def selection_in(query: PageQuery) -> SourceSelection:
    """Raises UsageError for a word that names no state, kind or mode."""
    status, health = status_named(query.get("status") or None)
    kind, mode = query.get("kind"), query.get("mode")
    for told, given, known in (("kind", kind, KINDS), ("mode", mode, MODES)):
        if given and given not in known:
            raise UsageError(f"There is no {told} {cut(given, 40)!r}.", fix=f"One of: {', '.join(known)}.")
    wanted = SourceFilter(status, kind or None, query.get("tag") or None, query.get("text") or None, mode or None)
    return SourceSelection(wanted, health)


def query_sent(text: str) -> PageQuery:
    """The address of the list, as the form around it sends it back."""
    return PageQuery(SOURCES, {name: value for name, value in parse_qsl(text) if value})


def source_path(source_id: UUID | str, *parts: str) -> str:
    return "/".join((SOURCES, str(source_id), *parts))


@router.get(SOURCES)
async def sources_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List sources."""
    database, query = visit.services.database, visit.query
    try:
        chosen = selection_in(query)
        order = order_named(query.get("order"))
        page = await page_of_sources(database, chosen.wanted, chosen.health, ROWS, query.get("cursor") or None, order)
    except HeadwaterError as error:
        main = joined(_filters(query), notice("fail", cut(error.what), " ", way_on(error.fix)))
        return await visit.page(PageBody("Sources", main, actions=_actions(visit)), status=422)
    counts = await count_in_states(database, chosen.wanted, COUNTED_TO)
    is_counted = not chosen.health and chosen.counted is not DiscoveryStatus.DELETED
    total = total_of(counts, chosen.counted) if is_counted else None
    # An order by what only some of them have lists those alone: the verbs still mean all that match.
    is_of_all = order not in ORDERS_OF_SOME or (order, chosen.counted) == (ListOrder.ERRORS, DiscoveryStatus.FAILING)
    listed_total = total if is_of_all else None
    main = joined(
        segments(query, "status", _segments(counts, query.get("status")), "State"),
        _filters(query),
        await _listed(visit, page, chosen, total),
        "" if is_of_all else element("p", ORDERS_OF_SOME[order], class_="note"),
        pager(query, len(page.items), page.cursor, told_total=told_total(listed_total)),
    )
    # A page further down stays as it is.
    topics = () if query.get("cursor") else (Topic.RUNS, Topic.STATS)
    return await visit.page(PageBody("Sources", main, actions=_actions(visit), topics=topics))


def total_of(counts: Mapping[DiscoveryStatus, int], status: DiscoveryStatus | None) -> int:
    """Pure."""
    return counts[status] if status else min(COUNTED_TO, sum(counts[one] for one in FOLLOWED))


def told_total(total: int | None) -> str:
    return "" if total is None else number_up_to(total, COUNTED_TO)


def _segments(counts: Mapping[DiscoveryStatus, int], now: str) -> list[tuple[str, str, int | str | None]]:
    """Without those that are empty, but for the whole and the one that is looked at."""
    told: list[tuple[str, str, int | str | None]] = []
    for word, (name, is_counted) in STATES.items():
        count = total_of(counts, DiscoveryStatus(word) if word else None) if is_counted else None
        if count != 0 or word in ("", now):
            told.append((word, name, None if count is None else number_up_to(count, COUNTED_TO)))
    return told


def _filters(query: PageQuery) -> Markup:
    kinds, modes = ([("", "Any"), *((one, one) for one in known)] for known in (KINDS, MODES))
    return filter_bar(
        query,
        text_field("text", "Name begins with", query.get("text"), type="search", maxlength="200"),
        choice_field("kind", "Type", kinds, query.get("kind")),
        choice_field("mode", "Mode", modes, query.get("mode")),
        text_field("tag", "Tag", query.get("tag"), maxlength="100"),
        choice_field("order", "Order", [("" if one == ListOrder.NAME else one, told) for one, told in ORDERS.items()],
                     query.get("order")),
        keeps=("status",),
        keeps_order=False,
    )  # fmt: skip


def _actions(visit: PageVisit) -> Markup:
    """Also what is exported follows the filters."""
    query = visit.query
    asked = {name: query.get(name) for name in ("status", "kind", "mode", "tag", "text")}
    ways = [link(told, PageQuery(f"{EXPORT}/{word}", {}).to(**asked)) for word, told in FORMATS.items()]
    export = element(
        "details",
        element("summary", "Export", class_="button"),
        element("div", *ways, class_="menu-list"),
        class_="menu",
    )
    if not visit.may(Role.OPERATOR):
        return export
    add = element("a", "Add source", href=ADD, class_="button primary", data_key="+")
    return joined(add, link("Import", IMPORT, class_="button"), export)


async def _listed(
    visit: PageVisit, page: ListPage[DiscoveryOverview], chosen: SourceSelection, total: int | None
) -> Markup:
    ids = [one.source.id for one in page.items]
    hours = await hours_of_sources(visit.services.database, ids, DAYS_SHOWN) if ids else {}
    may = visit.may(Role.OPERATOR)
    listed = table(
        _columns(visit, hours),
        page.items,
        "Sources",
        chosen_by=(lambda one: str(one.source.id)) if may else None,
        empty=_empty(visit, has_more=page.cursor is not None),
        id_="sources",
        query=visit.query,
    )
    if not may or not page.items:
        return listed
    sent = hidden("query", visit.query.to(cursor=visit.query.get("cursor")).partition("?")[2])
    return form(CHANGE, visit.csrf_token, sent, listed, _verbs(chosen, total, len(page.items)), label="Sources")


def _empty(visit: PageVisit, *, has_more: bool) -> Markup:
    if has_more:
        return empty_state("No source matches among those looked at so far: see the next page.")
    if visit.query.values:
        return empty_state("No source matches.", link("Clear the filters", SOURCES, class_="button"))
    if not visit.may(Role.OPERATOR):
        return empty_state("No sources yet.")
    asked = element(
        "form",
        text_field("url", "Address of a site", "", placeholder="https://harbour.example", type="url"),
        button("Look at it", kind="primary"),
        action=ADD,
        class_="first-source",
    )
    ways = joined(link("Import OPML, CSV or a list of URLs", IMPORT), " · ", element("code", "headwater demo"))
    return element("div", element("p", "No sources yet. Paste the address of a site:"), asked, ways, class_="empty")


def _columns(visit: PageVisit, hours: Mapping[UUID, SourceHours]) -> Sequence[TableColumn[DiscoveryOverview]]:
    now = visit.now
    return (
        TableColumn[DiscoveryOverview]("Source", _named, "main", ways=("name",)),
        TableColumn[DiscoveryOverview]("Type", _typed, "tight"),
        TableColumn[DiscoveryOverview]("Health", _status, "tight"),
        TableColumn[DiscoveryOverview]("Last result", _result),
        TableColumn[DiscoveryOverview]("Errors", lambda one: number(one.errors), "number", ways=("-errors",)),
        TableColumn[DiscoveryOverview]("Interval", lambda one: told_interval(one)[0], "tight"),
        TableColumn[DiscoveryOverview]("Next run", lambda one: next_run(one, visit), "tight", ways=("next",)),
        TableColumn[DiscoveryOverview]("Last run", lambda one: moment(one.source.last_run_at, now), "tight"),
        TableColumn[DiscoveryOverview]("Push", lambda one: _pushed(one, now), "tight"),
        TableColumn[DiscoveryOverview](
            f"New, {DAYS_SHOWN} d", lambda one: _new_items(hours.get(one.source.id)), "tight"
        ),
    )


def _named(one: DiscoveryOverview) -> Markup:
    profile = one.source.profile
    return joined(
        link(foreign(profile.name, 100), source_path(one.source.id)),
        element("span", host_and_path(profile.url), class_="under"),
    )


def _typed(one: DiscoveryOverview) -> Markup:
    profile = one.source.profile
    told = joined(profile.kind, ", ", foreign(profile.org_type, 40)) if profile.org_type else Markup(profile.kind)
    return joined(element("span", profile.ingestion_mode, class_="badge"), element("span", told, class_="under"))


def _status(one: DiscoveryOverview) -> Markup:
    """What a person set, and beside it how it does: a failure with a retry to come is no more than a warning."""
    return state(one.health.word)


def _result(one: DiscoveryOverview) -> Markup:
    """A word and a short message: a run that ended with errors is not told as one that went well."""
    source = one.source
    if source.last_run_status is None:
        return NOTHING
    message = source.status_reason if source.status is not SourceStatus.ACTIVE else source.last_run_message
    told = element("span", foreign(message, 140), class_="under message") if message else ""
    return joined(state(source.last_run_status, RESULTS.get(source.last_run_status, source.last_run_status)), told)


def told_interval(one: DiscoveryOverview) -> tuple[Markup, timedelta | None]:
    """Of the channel that is polled next, with a sign where it is another than a person set."""
    following, wished = one.next, one.source.profile.poll_every
    learned = following.poll_interval if following else None
    if learned is None:
        return duration(wished), wished
    sign = " ↗" if wished and learned > wished * 1.2 else ""
    told = element("span", f"was set to {duration(wished)}", class_="unseen") if sign else ""
    return joined(duration(learned), sign, told), learned


def next_run(one: DiscoveryOverview, visit: PageVisit) -> Markup:
    if any(channel.is_running for channel in one.channels):
        return state("running", "running now")
    return due(one.next.next_poll_at, visit.now) if one.next and not one.is_left_alone else NOTHING


def _pushed(one: DiscoveryOverview, now: datetime) -> Markup:
    """Of the channel whose hub is trusted most; nothing where none names a hub."""
    states = [channel.push for channel in one.channels if channel.push and channel.is_enabled]
    if not states:
        return NOTHING
    best = min(states, key=lambda it: PUSH_ORDER.index(push_word(it, now)))
    return push_state(best, now, class_="unseen")


def push_state(push: PushState, now: datetime, class_: str = "under message") -> Markup:
    """Its word, and the sentence; in a list of many the sentence is for readers of screens and on hover."""
    word, told = push_word(push, now), cut(push_in_words(push, now), 160)
    shown = element("span", foreign(told), class_=class_)
    return element("span", state(word, tone=PUSH_TONES.get(word, "unknown")), shown, title=told)


def _new_items(hours: SourceHours | None) -> Markup:
    if hours is None:
        return NOTHING
    days = [sum(hours.items[start : start + HOURS_A_DAY]) for start in range(0, len(hours.items), HOURS_A_DAY)]
    told = f"{quantity(sum(days), 'new item')} in {DAYS_SHOWN} days, {days[-1]:,} today"
    return joined(sparkline(days, told), element("span", f"{sum(days):,}", class_="count"))


def _verbs(chosen: SourceSelection, total: int | None, shown: int) -> Markup:
    """For those chosen, or for all that match: of a computed health only for those chosen."""
    plain = [
        button("Run now", name="do", value="run"),
        button("Pause", name="do", value="pause"),
        button("Resume", name="do", value="resume"),
        button("Clear errors", name="do", value="clear_errors"),
    ]
    more = element(
        "details",
        element("summary", "More", class_="button"),
        element(
            "div",
            button("Set interval or policy …", name="do", value="settings"),
            button("Tag …", name="do", value="tag"),
            *(button(f"Export {told}", name="do", value=f"export-{word}") for word, told in FORMATS.items()),
            button("Delete …", kind="danger", name="do", value="delete"),
            class_="menu-list",
        ),
        class_="menu up",
    )
    if total is None:
        return element(
            "div",
            element("output", "0 chosen", class_="chosen scripted", aria_live="polite"),
            *plain,
            more,
            class_="bulk",
        )
    return bulk_bar(max(total, shown), told_total(total), *plain, more)
