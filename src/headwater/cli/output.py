"""How commands speak: data on standard output, everything else on standard error, JSON for programs.

The only module of the command line that prints: whatever a site, a file or a person wrote passes `harmless` here.
"""

import errno
import os
import re
import shlex
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import islice
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

from headwater.lines import lines_behind

USUAL_WIDTH, USUAL_HEIGHT = 80, 24
UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
LINES_AT_ONCE = 500
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
    """One line; on a terminal that is too narrow for it, folded between words and around commands."""
    _say_raw("\n".join(_folded(harmless(text), message_width())))


def _say_raw(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:
        raise
    except OSError:
        pass  # a full disk under the messages is no reason to leave the work undone


def say_more(cursor: object) -> None:
    """How to see more of a list that was cut."""
    if cursor is not None:
        # On one line, however long: it is there to be copied.
        _say_raw(harmless(f"More: add --cursor {shlex.quote(str(cursor))}"))


def announce(text: str) -> None:
    """As `say`, for roles: a reader that stops reading must not stop them."""
    lines = lines_behind(sys.stderr)
    if lines is None:
        say(text)
    else:
        lines.put("".join(f"{line}\n" for line in _folded(harmless(text), message_width())))


def keep_below(*rows: str) -> None:
    """Rows that stay below all other messages and replace the rows before them; for a terminal on standard error."""
    lines = lines_behind(sys.stderr)
    if lines is not None:
        lines.keep_below("\n".join(harmless(row) for row in rows))


def message_width() -> int:
    """Columns of the terminal that reads the messages; 0 where none does."""
    return _size_of(sys.stderr)[0]


def _size_of(stream: TextIO) -> tuple[int, int]:
    """Columns and rows of the terminal behind it; zeros where no terminal is."""
    if not stream.isatty():
        return 0, 0
    try:
        found = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        found = os.terminal_size((0, 0))
    # Some terminals do not know their size; their surroundings may.
    usual = get_terminal_size((USUAL_WIDTH, USUAL_HEIGHT))
    return found.columns or usual.columns, found.lines or usual.lines


def _folded(text: str, width: int) -> list[str]:
    from headwater.cli.tables import INDENT, wrap_text

    return wrap_text(text, width, INDENT) if width and len(text) > width // 2 else [text]


def show_screen(lines: Sequence[str]) -> None:
    """Lines that are made for the size of the terminal."""
    print("\n".join(map(harmless, lines)), flush=True)


def clear_screen() -> None:
    """Of a terminal on standard output."""
    print("\x1b[H\x1b[2J", end="")


def show(text: str) -> None:
    """One line, at once: the reader of a pipe may be waiting for it. On a narrow terminal folded as `say` does."""
    print("\n".join(_folded(harmless(text), terminal_width())), flush=True)


def show_many(lines: Iterable[str]) -> None:
    """Lines of a long list, some at a time: one by one each would cost a call of the system."""
    rest = map(harmless, lines)
    while part := list(islice(rest, LINES_AT_ONCE)):
        print("\n".join(part), flush=True)


def say_lines(text: str) -> None:
    """As they are."""
    for line in text.splitlines():
        _say_raw(harmless(line))


def show_lines(text: str) -> None:
    """As they are."""
    for line in text.splitlines():
        print(harmless(line), flush=True)


def ask(question: str) -> str:
    """The line a person types."""
    print(harmless(question), end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline()


def ask_secret(question: str) -> str:
    """The line a person types, which nobody sees."""
    from getpass import getpass

    return getpass(f"{harmless(question)} ", sys.stderr)


def show_steps(text: str, indent: int) -> None:
    """A hint on a terminal: its sentences folded, each of its commands on a line of its own, to be copied."""
    from headwater.cli.tables import INDENT, steps_in, wrap_text

    for piece, is_command in steps_in(harmless(text)):
        line = " " * (indent + INDENT * is_command) + piece
        room = terminal_width()
        print("\n".join([line] if is_command or not room else wrap_text(line, room)), flush=True)


def show_json(value: Any) -> None:
    print(json_of(value), flush=True)


async def show_json_with(value: Mapping[str, Any], name: str, parts: AsyncIterator[Sequence[Any]]) -> None:
    """One object that ends with a long list, which is written part by part."""
    print(f"{json_of(value).removesuffix('}')},{json_of(name)}:[", end="")
    is_first = True
    async for part in parts:
        for row in part:
            print("" if is_first else ",", json_of(row), sep="", end="")
            is_first = False
    print("]}", flush=True)


def json_of(value: Any) -> str:
    """Signs that a terminal would obey stand only inside of texts, where an escape means the same."""
    import orjson

    try:
        written = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z, default=_plain).decode()
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

    from headwater.cli.tables import wrap_text

    styled = Text.assemble(*((harmless(piece), "bold" if number % 2 else "") for number, piece in enumerate(pieces)))
    margin = Text(" " * (len(styled.plain) - len(styled.plain.lstrip(" "))))
    console, end = Console(), 0
    for line in wrap_text(styled.plain, terminal_width()):
        start = styled.plain.index(line.strip(" "), end)
        end = start + len(line.strip(" "))
        console.print(margin + styled[start:end], soft_wrap=True, highlight=False)


def terminal_width() -> int:
    """0 where no terminal is."""
    return _size_of(sys.stdout)[0]


def terminal_height() -> int:
    """0 where no terminal is."""
    return _size_of(sys.stdout)[1]


def progress_console() -> "Console":
    from rich.console import Console

    return Console(stderr=True)


def show_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    spare: Sequence[str] = (),
    below: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> None:
    """On a terminal fitted to its width, as `laid_out` says; else aligned plain text with every column."""
    rows = [[harmless(cell) for cell in row] for row in rows]
    if width := terminal_width():
        from headwater.cli.tables import laid_out

        show_laid_out(laid_out(columns, rows, width, spare=spare, below=below, whole=whole))
        return
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *rows))
    print("\n".join(line.rstrip() for line in lines), flush=True)


def show_laid_out(lines: Sequence[str]) -> None:
    """A table's lines; its head is bold on a terminal that can."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    is_headed = len(lines) > 1 and lines[1].startswith("─")
    for number, line in enumerate(lines):
        style = "bold" if is_headed and number == 0 else ""
        console.print(Text(harmless(line), style), soft_wrap=True, highlight=False)
