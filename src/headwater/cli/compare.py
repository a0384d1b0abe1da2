"""`headwater compare`: another system's list of pages beside the archive."""

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

from cyclopts import Parameter

from headwater.cli.docs.group import Published
from headwater.cli.launch import AsJson, Launch, Launched, Limit, with_services
from headwater.cli.numbers import require_number
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.words import in_words
from headwater.errors import UsageError

if TYPE_CHECKING:
    from headwater.actions.comparing import ComparedCounts, ComparedPage, Comparison
    from headwater.services import Services

DIFFER = 1


def compare(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    *,
    since: Published = None,
    everywhere: Annotated[bool, Parameter(negative="")] = False,
    alike: float = 80,
    limit: Limit = 20,
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Compare a list of pages with the archive: what only one has, and what differs. Exit 1 if they differ.

    Parameters
    ----------
    file
        Addresses, one in each line; JSON Lines with url, title and text; or a sitemap. Packed by gzip or not; - reads
        standard input.
    everywhere
        Also documents of hosts that the list does not name.
    alike
        Texts differ where less than so many percent of their words are in both.
    limit
        Examples of each difference.
    every
        Every difference as it is found, one in a line, instead of examples.
    """
    require_number("--alike", alike, 0, 100)
    from headwater.actions.comparing import ComparedCounts, Comparison
    from headwater.actions.searching import moment_of

    counts, kept = ComparedCounts(), Examples(limit, is_stream=every, as_json=json)

    async def work(services: "Services") -> None:
        how = Comparison(alike / 100, moment_of(since, services.clock.now()), everywhere)
        await _compare(services, file, how, counts, kept)

    with_services(launch, work)
    told = {kind.value: number for kind, number in sorted(counts.by_difference.items())}
    if json and not every:
        show_json({"equal": counts.is_equal, "counts": told, "examples": kept.found})
    elif json:
        show_json({"equal": counts.is_equal, "counts": told})
    else:
        kept.show()
        show_table(("", "pages"), [(in_words(name), f"{number:,}") for name, number in told.items()])
        show("✓ The archive has what the list has." if counts.is_equal else "✗ They differ.")
    return 0 if counts.is_equal else DIFFER


class Examples:
    """The first of each difference, or every one printed as it comes."""

    def __init__(self, limit: int, *, is_stream: bool, as_json: bool) -> None:
        self._limit, self._is_stream, self._as_json = limit, is_stream, as_json
        self.found: dict[str, list[dict[str, Any]]] = {}

    def note(self, one: "ComparedPage") -> None:
        if one.difference == "same":
            return
        row = compared_as_dict(one)
        if self._is_stream and self._as_json:
            show_json(row)
        elif self._is_stream:
            show(_line(row))
        elif len(kept := self.found.setdefault(one.difference, [])) < self._limit:
            kept.append(row)

    def show(self) -> None:
        for name, rows in self.found.items():
            show(f"{in_words(name)}:")
            for row in rows:
                show(f"  {_line(row)}")


def _line(row: dict[str, Any]) -> str:
    alike = "" if row["alike"] is None else f", {row['alike']:.0%} of the words alike"
    why = in_words(row["why"]) if row["why"] else in_words(row["difference"])
    return f"{row['url']}  ({why}{alike})"


def compared_as_dict(one: "ComparedPage") -> dict[str, Any]:
    alike = None if one.alike is None else round(one.alike, 3)
    named = {"title": one.title, "archived_title": one.archived_title}
    return {"difference": str(one.difference), "url": one.url, "why": one.why, **named, "alike": alike}


async def _compare(
    services: "Services", file: Path, how: "Comparison", counts: "ComparedCounts", kept: Examples
) -> None:
    from headwater.actions.comparing import compare as compare_pages
    from headwater.actions.listed import read_listed

    with closing(_opened(file)) as stream:
        async for one in compare_pages(services.database, read_listed(stream), how, counts):
            kept.note(one)
            if sys.stderr.isatty() and counts.by_difference.total() % 10_000 == 0:
                say(f"{counts.by_difference.total():,} pages compared …")


def _opened(file: Path) -> BinaryIO:
    if str(file) == "-":
        return sys.stdin.buffer
    try:
        return file.open("rb")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
