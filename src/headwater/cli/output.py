"""How commands speak: data on standard output, everything else on standard error, JSON for programs.

The only module of the command line that prints: whatever a site, a file or a person wrote passes `harmless` here.
"""

import errno
import os
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

from headwater.lines import lines_behind

GAP = 2  # between two columns of a table
NARROW = 16  # a cell no wider than this is never broken
READABLE = 28  # of a wider one, which is broken into lines


USUAL_WIDTH = 80
UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
LONGEST_LINE = 10_000  # of text for people; JSON is whole
# A terminal may obey controls; marks of direction, tags and invisible letters let a text pose as another.
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def harmless(text: str) -> str:
    """On one line, not endless, and with nothing in it that a terminal would obey: that is shown as an escape."""
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]}… ({len(text):,} characters)"
    return UNPRINTABLE.sub(_escape, text)


def _escape(found: "re.Match[str]") -> str:
    number = ord(found[0])
    if number > 0xFFFF:
        # As JSON writes it: two halves.
        high, low = divmod(number - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{number:04x}"


def give_up_output(*, messages_too: bool = False) -> None:
    """Data that could not be written goes nowhere, so that Python says nothing about it when the program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr) if messages_too else (sys.stdout,):
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def is_of_output(error: OSError) -> bool:
    """Whether it is about printing: files that are opened by name are named in their errors."""
    return error.filename is None and error.errno in UNWRITABLE


def say(text: str = "") -> None:
    """One line."""
    try:
        print(harmless(text), file=sys.stderr, flush=True)
    except BrokenPipeError:
        raise
    except OSError:
        pass  # a full disk under the messages is no reason to leave the work undone


def say_more(cursor: object) -> None:
    """How to go on with a list that is longer than what was shown."""
    if cursor is not None:
        say(f"More: add --cursor {shlex.quote(str(cursor))}")


def announce(text: str) -> None:
    """As `say`, for roles: a reader that stops reading must not stop them."""
    lines = lines_behind(sys.stderr)
    if lines is None:
        say(text)
    else:
        lines.put(f"{harmless(text)}\n")


def keep_below(*rows: str) -> None:
    """Rows that stay below all other messages and replace the rows before them; for a terminal on standard error."""
    lines = lines_behind(sys.stderr)
    if lines is not None:
        lines.keep_below("\n".join(harmless(row) for row in rows))


def message_width() -> int:
    """Columns of the terminal that reads the messages; 0 where none does."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_WIDTH if sys.stderr.isatty() else 0
    except (OSError, ValueError):
        return 0


def clear_screen() -> None:
    """Of a terminal on standard output."""
    print("\x1b[H\x1b[2J", end="")


def show(text: str) -> None:
    """One line, at once: whoever reads a pipe may be waiting for it."""
    print(harmless(text), flush=True)


def say_lines(text: str) -> None:
    for line in text.splitlines():
        say(line)


def show_lines(text: str) -> None:
    for line in text.splitlines():
        show(line)


def ask(question: str) -> str:
    """What a person types."""
    print(harmless(question), end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline()


def show_folded(text: str, indent: int) -> None:
    """One line; on a terminal that is too narrow for it, folded between words."""
    from textwrap import wrap

    width = terminal_width()
    whole = not width or len(text) <= width
    for line in [text] if whole else wrap(text, width, subsequent_indent=" " * indent):
        show(line)


def show_json(value: Any) -> None:
    print(json_of(value), flush=True)


def json_of(value: Any) -> str:
    """What a terminal would obey stands only inside of texts, where an escape means the same."""
    import orjson

    try:
        written = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=_plain).decode()
    except orjson.JSONEncodeError:
        # Half a letter, as file names may hold.
        import json

        written = json.dumps(value, default=_plain)
    return UNPRINTABLE.sub(_escape, written)


def _plain(value: Any) -> str:
    """PostgreSQL's 40000 comes as 4E+4, which says the same to nobody but a program that counts."""
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def show_file(text: str) -> None:
    """A file's text as it is into a pipe, harmless on a terminal."""
    if sys.stdout.isatty():
        show_lines(text)
        return
    print(text, end="", flush=True)


def show_bytes(body: bytes) -> None:
    """For pipes only."""
    sys.stdout.flush()
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()


def show_marked(pieces: Sequence[str]) -> None:
    """Every second piece is bold on a terminal, and stands between asterisks where nothing can be bold."""
    if not sys.stdout.isatty():
        show("**".join(pieces))
        return
    from rich.console import Console
    from rich.text import Text

    styled = [(harmless(piece), "bold" if number % 2 else "") for number, piece in enumerate(pieces)]
    Console().print(Text.assemble(*styled), soft_wrap=True, highlight=False)


def terminal_width() -> int:
    """0 where no terminal is."""
    if not sys.stdout.isatty():
        return 0
    from rich.console import Console

    return Console().width


def progress_console() -> "Console":
    from rich.console import Console

    return Console(stderr=True)


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str] = ()) -> None:
    """Colour on a terminal, where `spare` columns go if there is no room, the first first; else aligned plain text."""
    rows = [[harmless(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _rich_table(columns, rows, spare)
        return
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *rows))
    print("\n".join(line.rstrip() for line in lines), flush=True)


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
