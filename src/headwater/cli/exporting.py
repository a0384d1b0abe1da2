"""`headwater docs export` and `headwater jobs export`: the archive, or a view of it, as files."""

import asyncio
import sys
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from stat import S_ISCHR, S_ISFIFO
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.docs.group import Published, SourceOption
from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.output import say, show_bytes, show_file, show_json
from headwater.cli.words import quantity
from headwater.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from headwater.actions.exports import Exported, WantedExport
    from headwater.deliver.exports.request import ExportFormat
    from headwater.record_kind import RecordKind
    from headwater.services import Services

ViewOption = Annotated[str | None, Parameter(help="Only what is in this view.")]
Output = Annotated[
    Path | None,
    Parameter(
        name=["--output", "-o"],
        allow_leading_hyphen=True,
        help="A file, or for markdown a folder; - or nothing: a pipe.",
    ),
]
Force = Annotated[bool, Parameter(negative="", help="Replace an output that exists.")]
STANDARD_OUTPUT = Path("-")


def export_documents(
    *,
    format: Annotated[  # noqa: A002 - what people type
        str, Parameter(help="jsonl, csv, markdown, atom, warc or parquet.")
    ] = "jsonl",
    view: ViewOption = None,
    source: SourceOption = None,
    since: Published = None,
    output: Output = None,
    force: Force = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Write documents into a file, a folder or a pipe. Interrupted, the same command goes on where it stopped.

    Deleted documents and duplicates are left out.
    """
    from headwater.record_kind import RecordKind

    _export(RecordKind.DOCUMENT, format, (view, source, since), output, is_forced=force, is_json=json, launch=launch)


def export_jobs(
    *,
    format: Annotated[  # noqa: A002 - what people type
        str, Parameter(help="jsonl, csv, markdown, atom or parquet.")
    ] = "jsonl",
    view: ViewOption = None,
    source: SourceOption = None,
    since: Annotated[str | None, Parameter(help="Only those first seen since: 7d, 12h, or a date.")] = None,
    output: Output = None,
    force: Force = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Write open vacancies into a file, a folder or a pipe. Interrupted, the same command goes on where it stopped."""
    from headwater.record_kind import RecordKind

    _export(RecordKind.JOB, format, (view, source, since), output, is_forced=force, is_json=json, launch=launch)


def _export(
    kind: "RecordKind",
    as_format: str,
    filters: tuple[str | None, str | None, str | None],
    output: Path | None,
    *,
    is_forced: bool,
    is_json: bool,
    launch: Launch,
) -> None:
    from headwater.cli.filters import word_of
    from headwater.deliver.exports.request import ExportFormat, ExportRequest

    chosen = word_of("format", ExportFormat, as_format)
    assert chosen is not None
    ExportRequest(kind, chosen)
    place = None if output == STANDARD_OUTPUT else output
    _require_fit(chosen, place, is_json=is_json)

    async def work(services: "Services") -> "Exported":
        from headwater.actions.exports import WantedExport
        from headwater.actions.searching import moment_of

        view, source, since = filters
        moment = moment_of(since, services.clock.now())
        wanted = WantedExport(kind, chosen, view, source, moment, since, is_forced=is_forced)
        return await _written(services, wanted, place, is_shown=place is not None and not is_json)

    done = with_services(launch, work)
    if is_json:
        show_json(_as_dict(done, chosen, place))
    elif place is not None:
        say(_in_words(done, kind, chosen, place))
    if not done.records and not is_json:
        say(_nothing_in_words(kind, is_filtered=any(filters)))


def _require_fit(chosen: "ExportFormat", place: Path | None, *, is_json: bool) -> None:
    if place is not None:
        return
    if not chosen.is_stream:
        raise UsageError(f"The format {chosen} cannot be written into a pipe.", fix="Name a place with --output.")
    if not chosen.is_text and sys.stdout.isatty():
        raise UsageError(f"{chosen} is not for a terminal.", fix="Add -o FILE, or send it into a pipe.")
    if is_json:
        raise UsageError("The records themselves go into the pipe, so no summary can.", fix="Add -o FILE.")


async def _written(services: "Services", wanted: "WantedExport", place: Path | None, *, is_shown: bool) -> "Exported":
    """With a bar on a terminal, and a sentence where it is interrupted."""
    from headwater.actions.exports import export_records
    from headwater.cli.progress import counting

    def on_start(resumed: int) -> None:
        if resumed and is_shown:
            say(f"Going on after {resumed:,} that were written before.")

    with (
        _destination(wanted, place) as aimed,
        counting(f"exporting {wanted.format}", None, is_shown=is_shown) as progress,
    ):
        try:
            return await export_records(services, aimed, on_start=on_start, on_progress=progress)
        except asyncio.CancelledError:
            if place is not None:
                say(f"Stopped after {progress.done:,}. The same command goes on with the rest.")
            raise


@contextmanager
def _destination(wanted: "WantedExport", place: Path | None) -> "Iterator[WantedExport]":
    """Standard output, a device or a pipe that a person named, or a place."""
    if place is None:
        yield replace(wanted, write=_show_text if wanted.format.is_text else show_bytes)
    elif _is_device(place):
        with place.open("wb") as file:
            yield replace(wanted, write=lambda piece: _write_all(file, piece))
    else:
        yield replace(wanted, place=place)


def _write_all(file: "BinaryIO", piece: bytes) -> None:
    file.write(piece)


def _show_text(piece: bytes) -> None:
    show_file(piece.decode())


def _is_device(place: Path) -> bool:
    try:
        mode = place.stat().st_mode
    except (OSError, ValueError):
        return False
    return S_ISCHR(mode) or S_ISFIFO(mode)


def _as_dict(done: "Exported", chosen: "ExportFormat", place: Path | None) -> dict[str, object]:
    return {"format": str(chosen), "output": str(place), **asdict(done)}


def _nothing_in_words(kind: "RecordKind", *, is_filtered: bool) -> str:
    many, command = {"document": ("document", "docs"), "job": ("open vacancy", "jobs")}[kind]
    where = f"No {many} in the archive fits" if is_filtered else f"The archive holds no {many} yet"
    return f"{where}: nothing was exported. See what there is: headwater {command} list"


def _in_words(done: "Exported", kind: "RecordKind", chosen: "ExportFormat", place: Path) -> str:
    is_pages = chosen == "warc"
    many = {"document": "documents", "job": "vacancies"}[kind]
    one = {"document": "document", "job": "vacancy"}[kind]
    noun = ("page" if is_pages else one) if done.records == 1 else ("pages" if is_pages else many)
    missing = f"; of {done.without_body:,} the page is not kept" if done.without_body else ""
    return f"Wrote {done.records:,} {noun} ({quantity(done.size_bytes, 'byte')}) to {place}{missing}"
