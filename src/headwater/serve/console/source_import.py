"""/console/sources/import: a list is pasted or read from a file, tried, then brought in."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.actions.exchange import ImportedFile, import_sources
from headwater.errors import HeadwaterError, QueryFailed, UsageError
from headwater.serve.access.gate import Operator
from headwater.serve.api.source_exchange import MOST_INVALID_TOLD
from headwater.serve.console.components import TableColumn, cut_note, facts, link, notice, panel, table
from headwater.serve.console.forms import (
    Fields,
    FormFields,
    button,
    check_field,
    choice_field,
    error_summary,
    form,
    text_area,
)
from headwater.serve.console.operations import see_operation
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, foreign, number, quantity
from headwater.serve.console.source_fields import as_typed
from headwater.serve.console.source_list import FORMATS, IMPORT, KINDS, SOURCES
from headwater.serve.console.visit import PageVisit, Visited
from headwater.serve.operations import OperationRunner, Progress, StoredOperation
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import LongWork
from headwater.services import Services
from headwater.shapes.exchange import import_as_dict
from headwater.sources.exchange.reading import ListFormat, SourceFile, open_sources

router = APIRouter(include_in_schema=False)

LINES_SHOWN = 50
LEAD = "OPML, CSV with a header, JSON Lines, or addresses line by line. What is known already is left alone."
TRUSTED = "It says for which hosts its sources may speak, and how APIs are read."
ASKED = "list"


@router.get(IMPORT)
async def import_page(caller: Operator, visit: Visited) -> HTMLResponse:
    """Ask for a list."""
    return await visit.page(PageBody("Import sources", _asked(visit, {}), LEAD))


def _asked(visit: PageVisit, said: Mapping[str, str], *above: Markup, ready: int | None = None) -> Markup:
    """`ready`: how many sources a trial would have added; before one there is nothing to bring in."""
    formats = [("", "Found out"), *FORMATS.items()]
    kinds = [("", "As the list says, or news"), *((one, one) for one in KINDS)]
    add = button(f"Import {quantity(ready, 'source')}", kind="primary", name="do", value="import") if ready else ""
    try_ = button("Try it", kind="" if ready else "primary", name="do", value="try")
    return form(
        IMPORT,
        visit.csrf_token,
        *above,
        text_area(ASKED, "List", as_typed(said.get(ASKED, "")), rows=14, takes_file=".opml,.xml,.csv,.txt,.jsonl,.tsv"),
        choice_field("format", "Format", formats, said.get("format", "")),
        choice_field("kind", "Type", kinds, said.get("kind", "")),
        check_field("trusted", "The list is my own", is_set=said.get("trusted") == "yes", hint=TRUSTED),
        element("div", add, try_, link("Cancel", SOURCES), class_="buttons"),
        class_="form",
    )


@router.post(IMPORT)
async def import_list(caller: Operator, visit: Visited, work: LongWork, fields: Fields) -> Response:
    """Try a list, which changes nothing, or bring it in."""
    said = {name: fields.get(name) for name in (ASKED, "format", "kind", "trusted")}
    try:
        file = await _opened(fields)
        if fields.get("do") == "import":
            return see_operation(await _begin(visit.services, work, caller.name, file, fields))
        tried = await _import(visit.services, caller.name, file, fields, is_dry=True)
    except QueryFailed:
        raise
    except HeadwaterError as error:
        wrong = error_summary(cut(f"{error.what} {error.fix}".strip(), 600))
        return await visit.page(PageBody("Import sources", _asked(visit, said, wrong), LEAD), status=422)
    told = import_as_dict(file.as_read(), tried.done, is_dry=True)
    body = joined(_outcome(told), _untrusted(tried), _asked(visit, said, ready=told["added"] + told["feeds_added"]))
    return await visit.page(PageBody("Import sources", body, LEAD))


async def _opened(fields: FormFields) -> SourceFile:
    """Raises UsageError for what is no list, and for a format or a type that there is not."""
    word, kind = fields.get("format"), fields.get("kind")
    if (word and word not in FORMATS) or (kind and kind not in KINDS):
        raise UsageError("There is no such format or type.", fix="Choose one of those offered.")
    data = fields.get(ASKED).encode(errors="replace")
    if not data.strip():
        raise UsageError("The list is empty.", fix="Paste it, or choose a file.")
    # Beside the other requests: a long list takes seconds to be looked through.
    return await asyncio.to_thread(open_sources, data, ListFormat(word) if word else None)


async def _import(
    services: Services,
    actor: str,
    file: SourceFile,
    fields: FormFields,
    progress: Progress | None = None,
    *,
    is_dry: bool,
) -> ImportedFile:
    done = 0

    def count(rows: int) -> None:
        nonlocal done
        done += rows
        if progress:
            progress(done)

    return await import_sources(
        services,
        file.in_order(),
        actor,
        kind=fields.get("kind"),
        is_trusted=fields.get("trusted") == "yes",
        is_dry=is_dry,
        progress=count,
    )


async def _begin(
    services: Services, work: OperationRunner, actor: str, file: SourceFile, fields: FormFields
) -> StoredOperation:
    async def bring_in(progress: Progress) -> Mapping[str, Any]:
        imported = await _import(services, actor, file, fields, progress, is_dry=False)
        told = import_as_dict(file.as_read(), imported.done, is_dry=False)
        return told | {"invalid_count": len(imported.done.bad), "invalid": told["invalid"][:MOST_INVALID_TOLD]}

    return await work.begin("sources.import", actor, bring_in)


def _outcome(told: Mapping[str, Any]) -> Markup:
    shown = facts(
        [
            ("Would be added", number(told["added"])),
            ("Feeds for known sources", number(told["feeds_added"])),
            ("Known already", number(told["known"])),
            ("Twice in the list", number(told["duplicates"])),
            ("Cannot be followed", number(len(told["invalid"]))),
            ("Columns without a use", foreign(", ".join(told["unused_columns"]) or "none", 200)),
        ]
    )
    return panel("What would happen", shown, _invalid(told["invalid"]), note="nothing was changed")


def _invalid(lines: Sequence[Mapping[str, Any]]) -> Markup:
    if not lines:
        return Markup("")
    columns = [
        TableColumn[Mapping[str, Any]]("Line", lambda one: number(one["line"]), "number"),
        TableColumn[Mapping[str, Any]]("It says", lambda one: foreign(one["text"] or "(nothing)", 160), "main"),
        TableColumn[Mapping[str, Any]]("Why not", lambda one: foreign(one["reason"], 240)),
    ]
    listed = table(columns, lines[:LINES_SHOWN], "Lines that cannot be followed")
    return joined(listed, cut_note(LINES_SHOWN, len(lines), "line"))


def _untrusted(tried: ImportedFile) -> Markup:
    counts = tried.untrusted.counts
    if tried.done.is_trusted or not counts:
        return Markup("")
    told = f"{quantity(counts.total(), 'row')} would bring more if the list were your own, such as how an API is read."
    return notice("warn", told)
