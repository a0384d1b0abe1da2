"""`headwater sources import` and `export`: lists of sources as files."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.crawl import say_who_polls
from headwater.cli.files import why_unwritten
from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import say, show, show_file, show_json
from headwater.cli.progress import counting
from headwater.cli.serving import with_services
from headwater.cli.sources import ACTOR
from headwater.cli.words import counted, inert, shortened
from headwater.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.discover.importing import Imported, Plan
    from headwater.services import Services
    from headwater.sources.exchange.reading import Read
    from headwater.sources.exchange.rows import BadLine, Row

PARTLY = 3
SHOWN_BAD_LINES = 8
SHOWN_COLUMNS_OF_TEXT = 60
EXPORTED_AT_ONCE = 500


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
    read = _read(file, format, mapping_from(map), kind)
    if not json:
        say(f"Read {_what_was_read(read, file)}")

    async def work(services: "Services") -> "tuple[Plan, Imported | None]":
        from headwater.discover.api.secrets import secrets_from
        from headwater.discover.importing import carry_out, plan_import

        secrets = secrets_from(services.settings.poll.secrets_file)
        plan = await plan_import(services.database, read.rows, secrets, is_trusted=trusted)
        if dry_run:
            return plan, None
        delay = services.settings.politeness.delay
        steps = len(plan.new) + len(plan.deleted) + len(plan.more)
        with counting("importing", steps, is_shown=not json) as progress:
            return plan, await carry_out(services.database, plan, delay, ACTOR, progress, is_trusted=trusted)

    plan, done = with_services(launch, work)
    bad = [*read.bad_lines, *(done.bad if done else plan.bad)]
    # A dry run writes nothing: what it shows is corrected in the list itself.
    place = rejected_beside(file, read) if done and any(one.text for one in bad) else None
    problem = write_rejected_to(place, bad, read) if place else ""
    rejected = None if problem else place
    if json:
        show_json(told(read, plan, done, bad, rejected))
    else:
        tell(read, plan, done, bad, rejected)
        if not trusted:
            say_what_trust_would_bring(read.rows)
    if problem:
        say(f"The rejected lines could not be written to {place}: {problem}.")
    return PARTLY if bad else 0


def _read(file: str, as_format: str, mapping: dict[str, str], kind: str | None) -> "Read":
    """`kind` holds for rows that do not say theirs."""
    from headwater.cli.filters import word_of
    from headwater.sources.exchange.reading import Format, read_sources
    from headwater.sources.source import Kind

    chosen, wanted_kind = None if as_format == "auto" else word_of(Format, as_format), word_of(Kind, kind)
    data = sys.stdin.buffer.read() if file == "-" else _content(Path(file))
    read = read_sources(data, chosen, mapping, filename=file)
    if wanted_kind is None:
        return read
    return replace(read, rows=tuple(replace(row, kind=row.kind or str(wanted_kind)) for row in read.rows))


def say_what_trust_would_bring(rows: "Sequence[Row]") -> None:
    from headwater.discover.importing import is_plain_api, needs_browser, needs_trust

    unsure = [row for row in rows if needs_trust(row)]
    if apis := [row for row in unsure if is_plain_api(row)]:
        say(
            f"{counted(len(apis), 'source')} of this list read an API by a recipe, such as {inert(apis[0].url)}: pages "
            "it names are found, and what the recipe makes of its words is left out. "
            "If the file is your own, import it with --trusted."
        )
    if silenced := [row for row in unsure if not is_plain_api(row)]:
        say(
            f"{counted(len(silenced), 'source')} would speak for sites other than those of their feeds, such as "
            f"{inert(silenced[0].url)}: what their feeds say of those pages is left out. "
            "If the file is your own, import it with --trusted."
        )
    if plain := [row for row in rows if needs_browser(row)]:
        say(
            f"{counted(len(plain), 'source')} asked for a browser (render_mode dynamic), such as "
            f"{inert(plain[0].url)}: their pages are read as they are sent. "
            "If the file is your own, import it with --trusted."
        )


def _what_was_read(read: "Read", file: str) -> str:
    rows = counted(len(read.rows) + read.duplicates + len(read.bad_lines), "row")
    unused = f" · columns not used: {', '.join(map(inert, read.unused))}" if read.unused else ""
    doubled = f" · columns doubled: {', '.join(map(inert, read.doubled))}" if read.doubled else ""
    return f"{rows} from {file} ({read.format}, {read.spelling}){unused}{doubled}"


def told(
    read: "Read", plan: "Plan", done: "Imported | None", bad: "Sequence[BadLine]", rejected: Path | None
) -> dict[str, object]:
    return {
        "is_dry_run": done is None,
        "added": done.added if done else len(plan.new),
        "paused": done.paused if done else sum(row.status == "paused" for row in plan.new),
        "blocked": done.blocked if done else sum(row.status == "blocked" for row in plan.new),
        "deleted": done.deleted if done else len(plan.deleted),
        "feeds_added": done.feeds_added if done else len(plan.more),
        "known": done.known if done else len(plan.known),
        "updated": done.updated if done else None,  # only doing it tells
        "duplicates": read.duplicates,
        "unused_columns": read.unused,
        "doubled_columns": read.doubled,
        "invalid": [{"line": one.line, "text": one.text, "reason": one.reason} for one in bad],
        "rejected_file": rejected and str(rejected),
    }


def tell(read: "Read", plan: "Plan", done: "Imported | None", bad: "Sequence[BadLine]", rejected: Path | None) -> None:
    if done is None:
        counts = (len(plan.new), len(plan.more), len(plan.deleted), len(plan.known), read.duplicates, len(bad))
        show(f"  would add {_amounts(*counts)}")
    else:
        counts = (done.added, done.feeds_added, done.deleted, done.known, read.duplicates, len(bad))
        show(f"  added {_amounts(*counts)}")
    for one in bad[:SHOWN_BAD_LINES]:
        # Cut first: the whole record may be long, and its letters are measured one by one.
        text = shortened(one.text[: SHOWN_COLUMNS_OF_TEXT * 4], SHOWN_COLUMNS_OF_TEXT)
        show(f"  line {one.line:<5} {text or '(empty)'}  {inert(one.reason)}")
    if len(bad) > SHOWN_BAD_LINES:
        show(f"  … {len(bad) - SHOWN_BAD_LINES:,} more")
    if rejected:
        show(f"  Rejected lines are in {rejected}")
    if done is None:
        again = f" to add {counted(len(plan.new), 'source')}" if plan.new else ""
        show(f"Nothing was changed. Run it again without --dry-run{again}.")
        return
    say_how_they_came(done)


def say_how_they_came(done: "Imported") -> None:
    if done.paused:
        say(f"{counted(done.paused, 'source')} came paused: `headwater sources resume` starts one.")
    if done.blocked:
        say(f"{counted(done.blocked, 'source')} came blocked: `headwater sources list --status blocked` says why.")
    if done.deleted:
        say(f"{counted(done.deleted, 'source')} came deleted: nothing is asked for them.")
    if done.updated:
        say(f"{counted(done.updated, 'source')} known already: new ids and trusted fields were noted.")
    if done.added > done.paused + done.blocked or done.feeds_added:
        say("Their first polls are due now.")
        say_who_polls()


def _amounts(sources: int, feeds: int, deleted: int, known: int, duplicates: int, invalid: int) -> str:
    """Every row that was read is counted once."""
    more = f" and {counted(feeds, 'further feed')}" if feeds else ""
    gone = f" · noted as deleted {deleted:,}" if deleted else ""
    repeated = f" · duplicates {duplicates:,}" if duplicates else ""
    return f"{counted(sources, 'source')}{more}{gone} · already known {known:,}{repeated} · invalid {invalid:,}"


def rejected_beside(file: str, read: "Read") -> Path:
    """In the format they came in: mended, it is imported as the list was."""
    from headwater.sources.exchange.rejected import SUFFIXES

    suffix = f"rejected.{SUFFIXES[read.format]}"
    return Path(suffix) if file == "-" else Path(file.removesuffix(f".{suffix}")).with_suffix(f".{suffix}")


def write_rejected_to(place: Path, bad: "Sequence[BadLine]", read: "Read") -> str:
    """Why it could not be written: by then the import is done, and a pipe has nothing beside it."""
    from headwater.sources.exchange.rejected import write_rejected

    # Nobody chose this name: in a shared folder somebody else may have put a link there.
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
    from headwater.sources.exchange.reading import Format
    from headwater.sources.exchange.writing import write_sources
    from headwater.sources.source import Kind

    chosen, wanted_kind = word_of(Format, format), word_of(Kind, kind)
    assert chosen is not None

    async def work(services: "Services") -> "list[Row]":
        from headwater.discover.importing import rendered_among, rows_of
        from headwater.reports.discovery import NOBODY, Wanted, list_sources
        from headwater.sources.external import external_ids_of

        rows: list[Row] = []
        after = ("", NOBODY)
        wanted = Wanted(kind=wanted_kind, tag=tag)
        while page := await list_sources(services.database, wanted, EXPORTED_AT_ONCE, after):
            ids = await external_ids_of(services.database, [one.source.id for one in page])
            rendered = await rendered_among(services.database, [one.source for one in page])
            for one in page:
                own, is_rendered = ids.get(one.source.id, ()), one.source.id in rendered
                rows += rows_of(one.source, one.channels, external_ids=own, is_rendered=is_rendered)
            after = (page[-1].source.name, page[-1].source.id)
        return rows

    rows = with_services(launch, work)
    text = "".join(write_sources(rows, chosen))
    if output is None:
        show_file(text)
        return
    if why := why_unwritten(output, [text.encode()]):
        raise UsageError(f"{output} cannot be written: {why}.", fix="Choose another place, or make room there.")
    say(f"Wrote {counted(len({row.url for row in rows}), 'source')} to {output}")
