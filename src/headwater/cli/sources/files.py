"""`headwater sources import` and `export`: lists of sources as files."""

import asyncio
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.files import why_unwritten
from headwater.cli.launch import ACTOR, AsJson, Launch, Launched, with_services
from headwater.cli.output import say, show, show_file, show_json
from headwater.cli.pollers import WHEN_RESUMED, say_who_polls
from headwater.cli.progress import counting
from headwater.cli.words import inert, quantity, shorten
from headwater.errors import UsageError
from headwater.shapes.exchange import import_as_dict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.actions.exchange import ImportedFile, Untrusted
    from headwater.cli.progress import Progress
    from headwater.discover.importing import Imported
    from headwater.reports.pollers import PollersNow
    from headwater.services import Services
    from headwater.sources.exchange.fields import BadLine, Row
    from headwater.sources.exchange.reading import ReadSources, SourceFile

PARTLY = 3
SHOWN_BAD_LINES = 8
SHOWN_COLUMNS_OF_TEXT = 60


def import_sources(
    file: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    format: Annotated[str, Parameter(help="opml, csv, urls, jsonl or auto.")] = "auto",  # noqa: A002 - what people type
    map: Annotated[str, Parameter(help="Columns of a table, as url=Website,name=Org.")] = "",  # noqa: A002
    kind: Annotated[str | None, Parameter(help="news, jobs or docs, for rows that do not say.")] = None,
    trusted: Annotated[
        bool,
        Parameter(
            negative="",
            help="The file is your own: it says for which hosts its sources may speak, and which need a browser.",
        ),
    ] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Only say what would happen.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Add many sources from OPML, a table, a list of URLs or JSON Lines; what is known already is left alone.

    Only ids of other systems are noted for known sources too, and with --trusted what an own file may say.

    Parameters
    ----------
    file
        The file; - reads standard input.
    """
    source_file = _open(file, format, mapping_from(map))
    read, wanted_kind = source_file.as_read(), _kind(kind)
    if not json:
        say(f"Read {_what_was_read(source_file, file)}")

    async def work(services: "Services") -> "tuple[ImportedFile, PollersNow]":
        from headwater.actions.exchange import import_sources as bring_in
        from headwater.reports.pollers import pollers_now

        with importing_rows(source_file.rows, is_shown=not json, is_dry=dry_run) as progress:
            brought = await bring_in(
                services,
                source_file.in_order(),
                ACTOR,
                kind=wanted_kind,
                is_trusted=trusted,
                is_dry=dry_run,
                progress=progress,
            )
        return brought, await pollers_now(services.database)

    imported, pollers = with_services(launch, work)
    show_imported(imported, read, file, pollers, is_trusted=trusted, is_dry=dry_run, json=json)
    return PARTLY if imported.done.bad else 0


def show_imported(
    imported: "ImportedFile",
    read: "ReadSources",
    file: str,
    pollers: "PollersNow",
    *,
    is_trusted: bool,
    is_dry: bool,
    json: bool,
) -> None:
    """Added, known and rejected rows; those that were rejected are written beside the list."""
    done = imported.done
    # A dry run writes nothing: what it shows is corrected in the list itself.
    place = rejected_beside(file, read) if not is_dry and any(one.text for one in done.bad) else None
    problem = write_rejected_to(place, done.bad, read) if place else ""
    rejected = None if problem else place
    if json:
        show_json(import_as_dict(read, done, is_dry=is_dry) | {"rejected_file": rejected and str(rejected)})
    else:
        tell(read, done, rejected, pollers, is_dry=is_dry)
        if not is_trusted:
            say_what_trust_would_bring(imported.untrusted)
    if problem:
        say(f"The rejected lines could not be written to {place}: {problem}.")


@contextmanager
def importing_rows(rows: int, *, is_shown: bool, is_dry: bool) -> "Iterator[Progress]":
    """Shows how far it is; interrupted, it says that nobody has to begin anew or to clean up."""
    with counting("importing", rows, is_shown=is_shown) as progress:
        try:
            yield progress
        except asyncio.CancelledError:
            if progress.done and not is_dry:
                how_far = f"Stopped after {progress.done:,} of {quantity(rows, 'row')}."
                say(f"{how_far} What was added stays; the same command goes on with the rest.")
            raise


def _open(file: str, as_format: str, mapping: dict[str, str]) -> "SourceFile":
    from headwater.cli.filters import word_of
    from headwater.sources.exchange.reading import ListFormat, open_sources

    chosen = None if as_format == "auto" else word_of("format", ListFormat, as_format)
    return open_sources(
        sys.stdin.buffer.read() if file == "-" else _content(Path(file)), chosen, mapping, filename=file
    )


def _kind(kind: str | None) -> str:
    from headwater.cli.filters import word_of
    from headwater.sources.source import SourceKind

    return str(word_of("kind", SourceKind, kind) or "")


def say_what_trust_would_bring(untrusted: "Untrusted") -> None:
    told = {
        "api": (
            "{count} of this list read an API by a recipe, such as {first}: pages "
            "it names are found, and what the recipe makes of its words is left out. "
        ),
        "voice": (
            "{count} would speak for sites other than those of their feeds, such as "
            "{first}: what their feeds say of those pages is left out. "
        ),
        "browser": (
            "{count} asked for a browser (render_mode dynamic), such as {first}: "
            "their pages are read as they are sent. "
        ),
    }
    for sort, text in told.items():
        if count := untrusted.counts[sort]:
            said = text.format(count=quantity(count, "source"), first=inert(untrusted.first[sort]))
            say(f"{said}If the file is your own, import it with --trusted.")


def _what_was_read(source_file: "SourceFile", file: str) -> str:
    read = source_file.as_read()
    rows = quantity(source_file.rows + read.duplicates + source_file.bad, "row")
    unused = f" · columns not used: {', '.join(map(inert, read.unused))}" if read.unused else ""
    doubled = f" · columns doubled: {', '.join(map(inert, read.doubled))}" if read.doubled else ""
    return f"{rows} from {file} ({read.format}, {read.spelling}){unused}{doubled}"


def tell(read: "ReadSources", done: "Imported", rejected: Path | None, pollers: "PollersNow", *, is_dry: bool) -> None:
    counts = (done.added, done.feeds_added, done.deleted, done.known, read.duplicates, len(done.bad))
    show(f"  {'would add' if is_dry else 'added'} {_amounts(*counts)}")
    for one in done.bad[:SHOWN_BAD_LINES]:
        # Cut first: the whole record may be long, and its letters are measured one by one.
        text = shorten(one.text[: SHOWN_COLUMNS_OF_TEXT * 4], SHOWN_COLUMNS_OF_TEXT)
        show(f"  line {one.line:<5} {text or '(empty)'}  {inert(one.reason)}")
    if len(done.bad) > SHOWN_BAD_LINES:
        show(f"  … {len(done.bad) - SHOWN_BAD_LINES:,} more")
    if rejected:
        show(f"  Rejected lines are in {rejected}")
    if is_dry:
        again = f" to add {quantity(done.added, 'source')}" if done.added else ""
        show(f"Nothing was changed. Run it again without --dry-run{again}.")
        return
    say_how_they_came(done, pollers)


def say_how_they_came(done: "Imported", pollers: "PollersNow") -> None:
    if done.paused:
        say(f"{quantity(done.paused, 'source')} came paused: `headwater sources resume` starts one.")
    if done.blocked:
        say(f"{quantity(done.blocked, 'source')} came blocked: `headwater sources list --status blocked` says why.")
    if done.deleted:
        say(f"{quantity(done.deleted, 'source')} came deleted: nothing is asked for them.")
    if done.updated:
        say(f"{quantity(done.updated, 'source')} known already: new ids and trusted fields were noted.")
    if done.added > done.paused + done.blocked or done.feeds_added:
        say(f"Their first polls are due {WHEN_RESUMED if pollers.pause else 'now'}.")
        say_who_polls(pollers)


def _amounts(sources: int, feeds: int, deleted: int, known: int, duplicates: int, invalid: int) -> str:
    """Every row that was read is counted once."""
    more = f" and {quantity(feeds, 'further feed')}" if feeds else ""
    gone = f" · noted as deleted {deleted:,}" if deleted else ""
    repeated = f" · duplicates {duplicates:,}" if duplicates else ""
    return f"{quantity(sources, 'source')}{more}{gone} · already known {known:,}{repeated} · invalid {invalid:,}"


def rejected_beside(file: str, read: "ReadSources") -> Path:
    """In the format they came in: mended, it is imported as the list was."""
    from headwater.sources.exchange.writing import SUFFIXES

    suffix = f"rejected.{SUFFIXES[read.format]}"
    return Path(suffix) if file == "-" else Path(file.removesuffix(f".{suffix}")).with_suffix(f".{suffix}")


def write_rejected_to(place: Path, bad: "Sequence[BadLine]", read: "ReadSources") -> str:
    """Why it could not be written: by then the import is done, and a pipe has nothing beside it."""
    from headwater.sources.exchange.writing import write_rejected

    # The name is ours, not the user's: in a shared folder another user may have put a link there.
    return why_unwritten(place, (line.encode() for line in write_rejected(bad, read)), is_chosen=False)


def mapping_from(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not equals for _, equals, _ in pairs):
        raise UsageError(f"--map {text} is not understood.", fix="Write it as url=Website,name=Org.")
    return {field.strip(): column.strip() for field, _, column in pairs}


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.", fix="- reads standard input.") from error


def export_sources(
    *,
    format: Annotated[str, Parameter(help="opml, csv, jsonl or urls.")] = "opml",  # noqa: A002 - what people type
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="A file; nothing means the terminal.")
    ] = None,
    tag: str | None = None,
    kind: str | None = None,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Write all sources with their feeds.

    Parameters
    ----------
    tag
        Only with this tag.
    kind
        news, jobs or docs.
    """
    from headwater.cli.filters import word_of
    from headwater.sources.exchange.reading import ListFormat
    from headwater.sources.exchange.writing import write_sources
    from headwater.sources.source import SourceKind

    chosen, wanted_kind = word_of("format", ListFormat, format), word_of("kind", SourceKind, kind)
    assert chosen is not None

    async def work(services: "Services") -> "list[Row]":
        from headwater.actions.exchange import export_sources as rows_of_sources
        from headwater.reports.discovery import SourceFilter

        return await rows_of_sources(services, SourceFilter(kind=wanted_kind, tag=tag))

    rows = with_services(launch, work)
    pieces = write_sources(rows, chosen)
    if output is None:
        show_file("".join(pieces))
        return
    if why := why_unwritten(output, (piece.encode() for piece in pieces)):
        raise UsageError(f"{output} cannot be written: {why}.", fix="Choose another place, or make room there.")
    say(f"Wrote {quantity(len({row.url for row in rows}), 'source')} to {output}")
