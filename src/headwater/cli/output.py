"""How commands speak: data on standard output, everything else on standard error, JSON for programs."""

import sys
from collections.abc import Sequence
from typing import Any


def say(text: str = "") -> None:
    print(text, file=sys.stderr, flush=True)


def show(text: str) -> None:
    """At once: whoever reads a pipe may be waiting for this line."""
    print(text, flush=True)


def show_json(value: Any) -> None:
    import orjson

    print(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=str).decode(), flush=True)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Borders and colour on a terminal, aligned plain text elsewhere."""
    if sys.stdout.isatty():
        _rich_table(columns, rows)
        return
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    for row in (columns, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    sys.stdout.flush()  # whoever follows along through a pipe waits for this


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)
