"""How commands speak: data on standard output, everything else on standard error, JSON for programs."""

import sys
from collections.abc import Sequence
from typing import Any

from headwater.lines import lines_behind

GAP = 2  # between two columns of a table
NARROW = 16  # a cell no wider than this is never broken
READABLE = 28  # of a wider one, which is broken into lines


def say(text: str = "") -> None:
    print(text, file=sys.stderr, flush=True)


def announce(text: str) -> None:
    """As `say`, for roles: somebody who stops reading must not stop them."""
    lines = lines_behind(sys.stderr)
    if lines is None:
        say(text)
    else:
        lines.put(f"{text}\n")


def show(text: str) -> None:
    """At once: whoever reads a pipe may be waiting for this line."""
    print(text, flush=True)


def show_json(value: Any) -> None:
    import orjson

    print(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=str).decode(), flush=True)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str] = ()) -> None:
    """Colour on a terminal, where `spare` columns go if there is no room, the first first; else aligned plain text."""
    if sys.stdout.isatty():
        _rich_table(columns, rows, spare)
        return
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    for row in (columns, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    sys.stdout.flush()  # whoever follows along through a pipe waits for this


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str]) -> None:
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    widths = [max(cell_len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    kept = with_room(columns, widths, spare, console.width)
    # The box puts a column of its own between two of ours.
    space = (0, GAP - 1, 0, 0)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False, padding=space)
    for i in kept:
        table.add_column(columns[i], no_wrap=widths[i] <= NARROW, overflow="fold")
    for row in rows:
        table.add_row(*(Text(row[i]) for i in kept))
    console.print(table)


def with_room(columns: Sequence[str], widths: Sequence[int], spare: Sequence[str], room: int) -> list[int]:
    """The columns that are shown: without spare ones until narrow ones are whole and wide ones can be read."""
    kept = list(range(len(columns)))
    for name in spare:
        wanted = [widths[i] if widths[i] <= NARROW else min(widths[i], READABLE) for i in kept]
        if sum(wanted) + GAP * (len(kept) - 1) <= room:
            break
        kept.remove(columns.index(name))
    return kept
