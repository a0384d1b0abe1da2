"""/console/documents: the archive searched and read. Texts of others are shown as text; stored HTML never is."""

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.delivery import view_stories
from headwater.actions.rereading import reextract_page
from headwater.actions.searching import ArchiveWish, documents_wished
from headwater.archive.reads import StoredVersion
from headwater.deliver.records import RecordKey
from headwater.deliver.tracing import SinkStop, way_of_record
from headwater.errors import HeadwaterError, NotFound
from headwater.record_kind import RecordKind
from headwater.reports.archive import DetailedHit, SearchAnswer
from headwater.reports.documents import Inspected, inspect_document, version_named
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.components import (
    TableColumn,
    empty_state,
    facts,
    filter_bar,
    link,
    notice,
    pager,
    panel,
    table,
    way_on,
)
from headwater.serve.console.forms import Fields, action_button, check_field, choice_field, text_field
from headwater.serve.console.narrowing import WITHOUT_A_FIELD, facets_to_show, narrowing
from headwater.serve.console.operations import see_operation
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import (
    NOTHING,
    cut,
    duration,
    foreign,
    foreign_link,
    foreign_paragraphs,
    moment,
    number,
    quantity,
    state,
)
from headwater.serve.console.visit import PageQuery, PageVisit, Visited
from headwater.serve.operations import Progress
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.problems import status_of_page
from headwater.serve.shared import LongWork
from headwater.serve.topics import Topic
from headwater.shapes.archive import replayed_as_dict

router = APIRouter(include_in_schema=False)

PATH = "/console/documents"
ROWS = 25
LONGEST_TEXT, LONGEST_COMPARED, MOST_COMPARED, MOST_LINES = 60_000, 400_000, 1_000, 400
EXPORTS = ("jsonl", "csv", "atom")


def document_path(hash_: bytes) -> str:
    return f"{PATH}/{hash_.hex()}"


@router.get(PATH)
async def documents_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List the newest documents, or search them by words."""
    query, services = visit.query, visit.services
    views = [one.view.name for one in await view_stories(services)]
    filters, wanted = _filters(query, views), facets_to_show(query)
    cursor = query.get("cursor") or None
    try:
        answer = await documents_wished(services, query.get("q"), wish_in(query), ROWS, cursor, wanted)
    except HeadwaterError as error:
        body = joined(filters, narrowing(query, None), notice("fail", cut(error.what), " ", way_on(error.fix)))
        return await visit.page(PageBody("Documents", body), status=status_of_page(error))
    empty = empty_state(*nothing_found(query, "No documents yet. They come with the first pages of a source."))
    hits = joined(
        element("p", told_of(answer), class_="note"),
        element("ol", *(_hit(visit, one) for one in answer.found), class_="hits live", id="hits")
        if answer.found
        else empty,
        pager(query, len(answer.found), answer.cursor),
        export_links("documents", query),
    )
    narrower = narrowing(query, answer.facets)
    main = joined(filters, element("div", narrower, element("div", hits, class_="stack"), class_="found"))
    lead = "Words, “whole phrases”, or, -without. Without words the newest are shown."
    view = (
        link("Make a view of this", view_path(query, "document"), class_="button") if visit.may(Role.OPERATOR) else ""
    )
    actions = joined(view, link("Views", "/console/views", class_="button"))
    return await visit.page(PageBody("Documents", main, lead, actions, (Topic.CHANGES,)))


def wish_in(query: PageQuery) -> ArchiveWish:
    return ArchiveWish(
        source=query.get("source") or None,
        language=query.get("language") or None,
        since=query.get("since") or None,
        duplicates=query.get("duplicates") == "yes",
        view=query.get("view") or None,
        host=query.get("host") or None,
        page_type=query.get("page_type") or None,
        author=query.get("author") or None,
        month=query.get("month") or None,
        day=query.get("day") or None,
    )


def _filters(query: PageQuery, views: Sequence[str]) -> Markup:
    return filter_bar(
        query,
        text_field("q", "Words", query.get("q"), type="search"),
        text_field("source", "Source", query.get("source")),
        text_field("language", "Language", query.get("language"), placeholder="en", size="4"),
        text_field("since", "Since", query.get("since"), placeholder="7d or 2026-05-01"),
        choice_field("view", "View", [("", "Any"), *((name, name) for name in views)], query.get("view")),
        check_field("duplicates", "Duplicates too", is_set=query.get("duplicates") == "yes"),
        keeps=WITHOUT_A_FIELD,
        verb="Search",
    )


def nothing_found(query: PageQuery, at_all: str) -> tuple[str, Markup]:
    if query.values:
        return "Nothing matches.", link("Clear the filters", query.path, class_="button")
    return at_all, link("Add a source", "/console/sources/add", class_="button")


def told_of(answer: SearchAnswer) -> Markup:
    """By what it was found and how long that took."""
    more = "" if answer.is_complete else " Only the newest of very many matches were ranked."
    return joined(f"Found by {cut(answer.engine, 40)} in ", duration(answer.took), f".{more}")


def _hit(visit: PageVisit, one: DetailedHit) -> Markup:
    hit = one.hit
    told = [
        element("span", foreign(one.about["source"] or "removed", 60)),
        moment(hit.published_at or hit.first_seen_at, visit.now),
        quantity(one.about["word_count"], "word"),
        hit.language,
        state("duplicate", tone="paused") if hit.is_duplicate else "",
    ]
    return element(
        "li",
        element("h2", link(foreign(hit.title or "(without a title)", 200), document_path(hit.hash))),
        snippet(hit.pieces),
        element("p", joined(*(element("span", part) for part in told if part)), class_="note parts"),
    )


def snippet(pieces: Sequence[str]) -> Markup:
    """Every second piece is a match."""
    made = [
        element("mark", cut(piece, 200)) if n % 2 else foreign(piece, 300) for n, piece in enumerate(pieces) if piece
    ]
    return (
        element("p", joined(*(joined(one, " ") for one in made)), class_="snippet", dir="auto") if made else Markup("")
    )


def export_links(kind: str, query: PageQuery) -> Markup:
    """What is exported follows source, time and view, as the API does."""
    asked = "".join(
        f"&{name}={quote(query.get(name), safe='')}" for name in ("source", "since", "view") if query.get(name)
    )
    links = [link(one, f"/api/v1/{kind}/export?format={one}{asked}") for one in EXPORTS]
    told = "all of them" if not asked else "by source, time and view; without words"
    return element("p", f"Export {told}: ", joined(*(joined(one, " ") for one in links)), class_="note")


def view_path(query: PageQuery, kind: str) -> str:
    given = {"query": query.get("q"), "sources": query.get("source"), "languages": query.get("language"), "kinds": kind}
    return PageQuery("/console/views/add", {}).to(**given)


@router.get(f"{PATH}/{{named}}")
async def document_page(caller: Viewer, visit: Visited, named: str) -> HTMLResponse:
    """Show a document: its text, its facts, its versions, where it was delivered."""
    found = await inspect_document(visit.services.database, named)
    document = found.document
    key = RecordKey(RecordKind.DOCUMENT, document.key.bucket, document.key.url_hash)
    way = await way_of_record(visit.services.database, key)
    main = joined(
        _told_deleted(found),
        element("div", _text(found), _facts(visit, found), class_="reading"),
        _reading(found),
        _likes(found),
        _versions(visit, found),
        _stops(visit, way.stops),
    )
    actions = _actions(visit, found)
    return await visit.page(PageBody(cut(document.title, 200) or "(without a title)", main, actions=actions))


def _told_deleted(found: Inspected) -> Markup:
    reason = found.document.deleted_reason
    return notice("blocked", f"It was withdrawn: {cut(reason)}.") if reason else Markup("")


def _text(found: Inspected) -> Markup:
    return panel(
        "Text", foreign_paragraphs(found.document.text, LONGEST_TEXT), note="as it was read; nothing of it is markup"
    )


def _facts(visit: PageVisit, found: Inspected) -> Markup:
    one = found.document
    told: list[tuple[str, str]] = [
        ("Page", foreign_link(one.url)),
        ("Source", link(foreign(found.source, 80), f"{PATH}?source={one.source_id}")),
        ("Author", foreign(one.author, 200) if one.author else NOTHING),
        ("Published", moment(one.published_at, visit.now, never="not said")),
        ("First seen", moment(one.first_seen_at, visit.now)),
        ("Delay", duration(one.first_seen_at - one.published_at) if one.published_at else NOTHING),
        ("Changed", moment(one.changed_at, visit.now)),
        ("Language", Markup(cut(one.language, 10) or "–")),
        ("Words", number(one.word_count)),
        ("Kind of page", foreign(one.page_type, 40)),
        ("Section", foreign(one.section, 100) if one.section else NOTHING),
        ("Keywords", foreign(", ".join(one.keywords[:20]), 300) if one.keywords else NOTHING),
        ("Version", number(one.version)),
    ]
    return panel("Facts", facts(told))


def _reading(found: Inspected) -> Markup:
    one = found.document
    parts = [(name.replace("_", " ").capitalize(), number(value)) for name, value in one.quality_parts.items()]
    told = [("Read by", foreign(one.produced_by, 120)), ("Quality", number(one.quality)), *parts]
    return panel("How it was read", facts(told), note="quality of 100")


def _likes(found: Inspected) -> Markup:
    rows = [
        element("li", f"{cut(one.relation).replace('_', ' ')}: ", link(foreign(one.url, 160), document_path(one.hash)))
        for one in found.relatives
    ]
    claimed = ""
    if found.claim:
        why = f", not believed: {cut(found.claim.why_not, 200)}" if found.claim.why_not else ""
        claimed = element("p", "It calls another page the original: ", foreign_link(found.claim.url), why)
    return panel("Documents like it", element("ul", *rows) if rows else "", claimed) if rows or claimed else Markup("")


def _versions(visit: PageVisit, found: Inspected) -> Markup:
    if len(found.versions) < 2:
        return Markup("")
    id_ = found.document.key.url_hash.hex()
    made = [
        TableColumn[StoredVersion](
            "Version", lambda one: link(f"{one.version}", f"{PATH}/{id_}/versions/{one.version}"), "main"
        ),
        TableColumn[StoredVersion]("Title", lambda one: foreign(one.title, 120)),
        TableColumn[StoredVersion]("Words", lambda one: number(one.word_count), "number"),
        TableColumn[StoredVersion]("Read", lambda one: moment(one.crawled_at, visit.now)),
        TableColumn[StoredVersion]("Replaced", lambda one: moment(one.replaced_at, visit.now, never="it is today's")),
    ]
    return panel("Versions", table(made, list(found.versions), "Versions"), note="a version shows what it changed")


def _stops(visit: PageVisit, stops: Sequence[SinkStop]) -> Markup:
    if not stops:
        return Markup("")
    made = [
        TableColumn[SinkStop](
            "Sink", lambda one: link(one.sink.name, f"/console/settings/sinks/{one.sink.name}"), "main"
        ),
        TableColumn[SinkStop](
            "Holds", lambda one: Markup(f"version {one.held_version}") if one.held_version else NOTHING
        ),
        TableColumn[SinkStop]("Since", lambda one: moment(one.held_at, visit.now)),
        TableColumn[SinkStop]("Place", lambda one: foreign(one.place or "", 80)),
        TableColumn[SinkStop]("Trouble", lambda one: foreign(one.error or "", 200)),
    ]
    return panel("In the sinks", table(made, list(stops), "Sinks"), id_="stops")


def _actions(visit: PageVisit, found: Inspected) -> Markup:
    url = quote(found.document.url, safe="")
    story = link("Its way", f"/console/frontier/url?url={url}", class_="button")
    if not visit.may(Role.OPERATOR):
        return story
    id_ = found.document.key.url_hash.hex()
    again = action_button(f"{PATH}/{id_}/reread", visit.csrf_token, "Read again")
    taken = link("Take down", f"/console/settings/takedowns?pattern={url}", class_="button")
    return joined(story, again, taken)


@router.get(f"{PATH}/{{named}}/versions/{{version}}")
async def version_page(caller: Viewer, visit: Visited, named: str, version: int) -> HTMLResponse:
    """Show what a version changed."""
    database = visit.services.database
    one = await version_named(database, named, version)
    before = await _version_before(visit, named, version)
    told = facts([
        ("Title", foreign(one.title, 300)),
        ("Words", number(one.word_count)),
        ("Read", moment(one.crawled_at, visit.now)),
        ("Replaced", moment(one.replaced_at, visit.now, never="it is today's")),
    ])  # fmt: skip
    changed = (
        panel("Changed", difference(before.text, one.text), note=f"against version {version - 1}") if before else ""
    )
    main = joined(panel("Facts", told), changed, panel("Text", foreign_paragraphs(one.text, LONGEST_TEXT)))
    back = link("The document", f"{PATH}/{quote(named, safe='')}", class_="button")
    return await visit.page(PageBody(f"Version {version}", main, cut(one.title, 200), back))


async def _version_before(visit: PageVisit, named: str, version: int) -> StoredVersion | None:
    """None where there is none, or where only its spelling or its structure became another."""
    if version == 1:
        return None
    try:
        return await version_named(visit.services.database, named, version - 1)
    except NotFound:
        return None


def difference(before: str, after: str) -> Markup:
    """Lines that went and lines that came. Of very long texts their beginnings."""
    old, new = (text[:LONGEST_COMPARED].splitlines()[:MOST_COMPARED] for text in (before, after))
    lines = list(islice(unified_diff(old, new, lineterm="", n=1), 2, MOST_LINES + 2))
    made = [_changed_line(line) for line in lines if not line.startswith("@@")]
    if not made:
        return element("p", "Its text is the same: title, dates or places changed.")
    cut_off = element("p", f"The first {MOST_LINES} lines.", class_="note") if len(lines) == MOST_LINES else ""
    return joined(element("div", *made, class_="difference"), cut_off)


def _changed_line(line: str) -> Markup:
    name, unseen = {"+": ("ins", "added: "), "-": ("del", "removed: ")}.get(line[:1], ("p", ""))
    return element(name, element("span", unseen, class_="unseen"), foreign(line[1:], 2_000))


@router.post(f"{PATH}/{{named}}/reread")
async def read_document_again(caller: Operator, visit: Visited, work: LongWork, named: str, fields: Fields) -> Response:
    """Read a stored page again by the rules of today."""

    async def reread(_: Progress) -> Mapping[str, Any]:
        return replayed_as_dict(await reextract_page(visit.services, named))

    return see_operation(await work.begin("documents.reextract", caller.name, reread))
