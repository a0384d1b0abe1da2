"""What a person changes of one source, and asks of it: its fields, its status, a trial of its channels."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.described import DescribedSource, change_described, describe_source
from headwater.actions.source_editions import last_change_of
from headwater.actions.sources import poll_sources, stop_sources, vacancies_left_by
from headwater.actions.trying import simulate_source, try_source
from headwater.discover.exporting import rows_of
from headwater.errors import HeadwaterError, Outdated, QueryFailed, UsageError
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.components import TableColumn, empty_state, facts, folded, link, notice, panel, table
from headwater.serve.console.forms import Fields, button, confirm_form, error_summary, form, hidden
from headwater.serve.console.shown import cut, foreign, foreign_lines, foreign_link, milliseconds, quantity, size, state
from headwater.serve.console.source_adding import channel_preview, look_of
from headwater.serve.console.source_fields import (
    EDITED,
    GROUPS,
    SHOWN,
    changed_in,
    field_of,
    marks_of,
    newer_than,
    problems_by_field,
    said_in,
    typed_since,
    values_of,
)
from headwater.serve.console.source_list import SOURCES, source_path
from headwater.serve.console.source_looks import SHOWN_ITEMS, as_it_goes, begin_look, looking, trouble_of
from headwater.serve.console.source_page import ONE, page_of_source
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import LongWork
from headwater.serve.topics import Topic
from headwater.services import Services
from headwater.shapes.trials import answer_as_dict, simulation_as_dict
from headwater.sources.finding import find_source
from headwater.sources.source import Source, SourceStatus

router = APIRouter(include_in_schema=False)

TEST, SIMULATE = "sources.test", "sources.simulate"
BY_A_PERSON = "by a person"
CONFLICT = 409


@router.get(f"{ONE}/settings")
async def settings_of_source(caller: Viewer, visit: Visited, named: str) -> HTMLResponse:
    """Show the fields of a source, to be changed."""
    found = await describe_source(visit.services, named)
    values = values_in(found)
    main = _form(visit, found, values, {}) if visit.may(Role.OPERATOR) else _told(values)
    return await page_of_source(visit, found.overview.source, main)


def values_in(found: DescribedSource) -> dict[str, str]:
    """The texts that a form shows; the mode as it holds, also where nobody set it."""
    source, channels = found.overview.source, found.overview.channels
    row = next(rows_of(source, channels, external_ids=found.external_ids, is_rendered=found.is_rendered))
    return values_of(row)


def _told(values: Mapping[str, str]) -> Markup:
    """For those who may only look. A recipe may name secrets: it is not shown to them."""
    shown = [name for name in EDITED if values.get(name) and name != "parser_hint"]
    return panel("Settings", facts((SHOWN[name].label, foreign(values[name], 400)) for name in shown))


def _form(
    visit: PageVisit, found: DescribedSource, values: Mapping[str, str], wrong: Mapping[str, str], *errors: str
) -> Markup:
    """With what it was made from: the whole in one word, and a mark of each field."""
    source = found.overview.source
    groups = [
        element(
            "fieldset", element("legend", title), *(field_of(name, values, wrong) for name in names), class_="group"
        )
        for title, names in GROUPS.items()
    ]
    address = element("p", "Its address is ", foreign_link(source.profile.url), ". Another address is another source.")
    return form(
        source_path(source.id, "settings"),
        visit.csrf_token,
        error_summary(*errors) if errors else "",
        address,
        hidden("edition", found.edition),
        hidden("marks", marks_of(values_in(found))),
        *groups,
        element("div", button("Save", kind="primary"), link("Cancel", source_path(source.id)), class_="buttons"),
        class_="stack settings",
    )


@router.post(f"{ONE}/settings")
async def change_source_by_form(caller: Operator, visit: Visited, named: str, fields: Fields) -> Response:
    """Change fields of a source; those that were left as they were stay."""
    found = await describe_source(visit.services, named)
    source, before = found.overview.source, values_in(found)
    said = said_in(fields, EDITED)
    edition, marks = fields.get("edition"), fields.get("marks")
    if edition and edition != found.edition:
        return await _outdated(visit, found, typed_since(marks, said), newer_than(marks, before))
    changes = changed_in(said, before)
    if not changes:
        return see_other(source_path(source.id), "Nothing was changed.")
    # Sitemaps are told together: the one list takes the place of the other.
    if not {"sitemap_url", "more_sitemaps"}.isdisjoint(changes):
        changes |= {name: said.get(name, before[name]) for name in ("sitemap_url", "more_sitemaps")}
    if "render_mode" in changes:
        changes["render_mode"] = changes["render_mode"] or "static"
    wrong = problems_by_field(changes)
    try:
        if not wrong:
            known = {edition} if edition else None
            await change_described(visit.services, str(source.id), changes, caller.name, known)
            told = ", ".join(SHOWN[name].label.lower() for name in changes)
            return see_other(source_path(source.id), f"Changed: {told}.")
    except QueryFailed:
        raise
    except Outdated:
        found = await describe_source(visit.services, named)
        return await _outdated(visit, found, typed_since(marks, said), newer_than(marks, values_in(found)))
    except HeadwaterError as error:
        return await _again(visit, found, before | said, {}, cut(f"{error.what} {error.fix}".strip(), 600))
    told_wrong = [f"{SHOWN[name].label}: {why}" for name, why in wrong.items()]
    return await _again(visit, found, before | said, wrong, *told_wrong)


async def _again(
    visit: PageVisit, found: DescribedSource, values: Mapping[str, str], wrong: Mapping[str, str], *errors: str
) -> Response:
    main = _form(visit, found, values, wrong, *errors)
    return await page_of_source(visit, found.overview.source, main, status=422)


async def _outdated(
    visit: PageVisit, found: DescribedSource, typed: Mapping[str, str], newer: Sequence[str]
) -> Response:
    """Somebody else saved meanwhile: what they changed, and the form as it is now with what was typed into it."""
    source, now = found.overview.source, values_in(found)
    told = [_newer(name, now.get(name, ""), typed) for name in newer]
    last = await last_change_of(visit.services.database, source.id)
    errors = [f"This source was changed since you opened the form{': ' if last else ''}{cut(last, 300)}."]
    errors += told or ["Its status or one of its channels is another now."]
    errors.append("The fields show what is stored now, with what you typed. Save again to keep it.")
    main = _form(visit, found, {**now, **typed}, {}, *errors)
    return await page_of_source(visit, source, main, status=CONFLICT)


def _newer(name: str, now: str, typed: Mapping[str, str]) -> str:
    told = f"{SHOWN[name].label} is now {_quoted(now)}"
    return f"{told}; you typed {_quoted(typed[name])}." if name in typed else f"{told}."


def _quoted(text: str) -> str:
    return f"“{cut(text, 120)}”" if text else "empty"


@router.post(f"{ONE}/do")
async def act_on_source(caller: Operator, visit: Visited, named: str, fields: Fields) -> Response:
    """Run, pause, resume or delete one source."""
    services, verb = visit.services, fields.get("do")
    source = await find_source(services.database, named)
    back, id_ = source_path(source.id), str(source.id)
    if verb == "run":
        ((_, due),) = await poll_sources(services, [id_])
        return see_other(back, f"{quantity(due, 'channel')} polled as soon as the hosts allow." if due else NOT_POLLED)
    if verb == "delete":
        if not fields.is_confirmed:
            return await _delete_asked(visit, source, fields.again())
        await stop_sources(services, [id_], SourceStatus.DELETED, f"deleted {BY_A_PERSON}", caller.name)
        return see_other(SOURCES, f"{cut(source.name, 100)} was deleted.")
    if verb not in ("pause", "resume"):
        raise UsageError("Nothing was asked for.", fix="Choose one of the buttons.")
    status = SourceStatus.PAUSED if verb == "pause" else SourceStatus.ACTIVE
    reason = f"paused {BY_A_PERSON}" if verb == "pause" else None
    await stop_sources(services, [id_], status, reason, caller.name)
    told = "It is paused: its waiting URLs are set aside." if verb == "pause" else "It is polled again."
    return see_other(back, told)


NOT_POLLED = "Nothing was asked for: it has no channel that may be polled."


async def _delete_asked(visit: PageVisit, source: Source, again: list[tuple[str, str]]) -> Response:
    ((_, left),) = await vacancies_left_by(visit.services, [str(source.id)])
    told = [
        f"1 source: {cut(source.name, 100)}",
        "It is no longer polled or fetched; its queued URLs end.",
        f"{quantity(left.expired, 'vacancy', 'vacancies')} of it expire. Documents and history stay.",
    ]
    path = source_path(source.id, "do")
    asked = confirm_form(path, visit.csrf_token, again, *told, verb="Delete it", back=source_path(source.id))
    return await page_of_source(visit, source, asked)


@router.post(f"{ONE}/test")
async def test_source_by_form(caller: Operator, visit: Visited, work: LongWork, named: str) -> Response:
    """Ask each channel of a source once; nothing is stored."""
    source = await find_source(visit.services.database, named)
    id_ = str(source.id)

    async def look() -> Mapping[str, Any]:
        return {"source": id_, "channels": [answer_as_dict(one) for one in await try_source(visit.services, id_)]}

    begun = await begin_look(work, TEST, caller.name, look)
    return see_other(source_path(id_, "test", str(begun.id)))


@router.post(f"{ONE}/simulate")
async def simulate(caller: Operator, visit: Visited, work: LongWork, named: str) -> Response:
    """Read each channel of a source and its first pages; nothing is stored."""
    source = await find_source(visit.services.database, named)
    begun = await begin_look(work, SIMULATE, caller.name, lambda: _simulated(visit.services, str(source.id)))
    return see_other(source_path(source.id, "simulate", str(begun.id)))


async def _simulated(services: Services, id_: str) -> Mapping[str, Any]:
    found = await simulate_source(services, id_, SHOWN_ITEMS, reads_pages=True)
    return {"source": id_, **simulation_as_dict(found, SHOWN_ITEMS)}


@router.get(f"{ONE}/test/{{look_id}}")
async def tested_page(caller: Operator, visit: Visited, named: str, look_id: UUID) -> HTMLResponse:
    """Show what each channel answered."""
    source = await find_source(visit.services.database, named)
    found = await look_of(visit, look_id, TEST)
    if found.state == "running":
        return await page_of_source(visit, source, as_it_goes(looking(visit, found)), Topic.STATS)
    if not found.result:
        return await page_of_source(visit, source, as_it_goes(trouble_of(found)))
    answers = found.result["channels"]
    made = [
        TableColumn[Mapping[str, Any]](
            "Channel",
            lambda one: joined(element("span", one["kind"], class_="badge"), " ", foreign_link(one["url"])),
            "main",
        ),
        TableColumn[Mapping[str, Any]]("Answer", _answer),
        TableColumn[Mapping[str, Any]]("Size", lambda one: size(one["size_bytes"]), "number"),
        TableColumn[Mapping[str, Any]]("Took", lambda one: milliseconds(one["took_ms"]), "number"),
        TableColumn[Mapping[str, Any]]("ETag", lambda one: foreign(one["etag"] or "–", 80)),
        TableColumn[Mapping[str, Any]]("Last-Modified", lambda one: foreign(one["last_modified"] or "–", 60)),
    ]
    listed = table(made, answers, "Answers", empty=empty_state("It has no channel to ask."))
    main = as_it_goes(panel("Test fetch", listed, note="each channel asked once; nothing was stored"))
    return await page_of_source(visit, source, main)


def _answer(one: Mapping[str, Any]) -> Markup:
    if one["problem"]:
        told = f"HTTP {one['status']}" if one["status"] else "no answer"
        return joined(state("fail", told), element("span", foreign(one["problem"], 240), class_="under"))
    return state("ok", f"HTTP {one['status']}" if one["status"] else "answered")


@router.get(f"{ONE}/simulate/{{look_id}}")
async def simulated_page(caller: Operator, visit: Visited, named: str, look_id: UUID) -> HTMLResponse:
    """Show what the first items and pages would bring."""
    source = await find_source(visit.services.database, named)
    found = await look_of(visit, look_id, SIMULATE)
    if found.state == "running":
        return await page_of_source(visit, source, as_it_goes(looking(visit, found)), Topic.STATS)
    if not found.result:
        return await page_of_source(visit, source, as_it_goes(trouble_of(found)))
    told = found.result
    note = element("p", "Each channel was read once, as a poll would. Nothing was stored.", class_="note")
    pages = element("div", *map(_page_card, told["pages"]), class_="columns") if told["pages"] else Markup("")
    return await page_of_source(visit, source, as_it_goes(note, *map(channel_preview, told["channels"]), pages))


def _page_card(one: Mapping[str, Any]) -> Markup:
    title = one.get("title") or one["url"]
    if one.get("problem"):
        return panel(cut(title, 120), notice("fail", foreign(one["problem"], 300)))
    told = facts([
        ("Address", foreign_link(one["url"])),
        ("Read by", foreign(one["produced_by"], 60)),
        ("Words", f"{one['words']:,}"),
        ("Author", foreign(one["author"] or "–", 120)),
        ("Published", foreign(one["published_at"] or "–", 40)),
        ("Language", foreign(one["language"] or "–", 20)),
        ("Kind of page", foreign(one["page_type"], 40)),
    ])  # fmt: skip
    return panel(cut(title, 120), told, folded("Its beginning", foreign_lines(one["begins"], 400)))
