"""Tables and sentences that fit into a terminal: nothing is broken inside a word, so that it can be read and copied."""

import re
from collections.abc import Sequence
from itertools import zip_longest

from headwater.cli.words import columns_of, pad_line, shorten_line, shorten_word

GAP = 2  # between two columns
NARROW = 16  # a cell no wider than this stays on one line
READABLE = 28  # of a wider one, before others are left out for it
INDENT = 2
# Between backquotes, or up to the punctuation behind it; a value in quotes may hold any.
COMMAND = re.compile(r"""`headwater[^`]*`|headwater(?: (?:'[^']*'|"[^"]*"|(?:[^\s,;.'"`]|[,;.](?=[^\s])|['"])+))+""")


def laid_out(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    room: int,
    *,
    spare: Sequence[str] = (),
    below: Sequence[str] = (),
    whole: Sequence[str] = (),
    is_flat: bool = False,
) -> list[str]:
    """Lines of a table: first its head and a rule, then its rows.

    Where there is no room, `below` columns get a line of their own below their row, and `spare` ones are left out, the
    first first. `whole` cells are never shortened. A table that does not fit even then is told cell by cell.
    Each row of a flat table is one line.
    """
    natural = [max(columns_of(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    least = [
        width if width <= NARROW or columns[i] in (*whole, *below) else min(width, READABLE)
        for i, width in enumerate(natural)
    ]
    kept = list(range(len(columns)))
    under: list[int] = []
    if not has_room(least, kept, room):
        under = [columns.index(name) for name in below]
        kept = [i for i in kept if i not in under]
    for name in spare:
        if has_room(least, kept, room):
            break
        kept.remove(columns.index(name))
    if not has_room(least, kept, room):
        least = [width if columns[i] in whole else min(width, NARROW) for i, width in enumerate(least)]
    if not has_room(least, kept, room):
        return _told_one_by_one(columns, rows, [*kept, *under])
    widths = _shared(least, natural, kept, room)
    lines = [_line([columns[i] for i in kept], widths), "─" * (sum(widths) + GAP * (len(widths) - 1))]
    for row in rows:
        cells = [_cell(row[i], width, is_flat=is_flat) for i, width in zip(kept, widths, strict=True)]
        lines += [_line(parts, widths) for parts in zip_longest(*cells, fillvalue="")]
        lines += [" " * INDENT + row[i] for i in under if row[i]]
    return lines


def has_room(widths: Sequence[int], kept: Sequence[int], room: int) -> bool:
    return sum(widths[i] for i in kept) + GAP * (len(kept) - 1) <= room


def _shared(least: Sequence[int], natural: Sequence[int], kept: Sequence[int], room: int) -> list[int]:
    """The room that is left goes to the columns that lack least, so that most of them are whole."""
    widths = {i: min(least[i], natural[i]) for i in kept}
    left = room - sum(widths.values()) - GAP * (len(kept) - 1)
    lacking = sorted((i for i in kept if natural[i] > widths[i]), key=lambda i: natural[i] - widths[i])
    for number, i in enumerate(lacking):
        more = min(natural[i] - widths[i], left // (len(lacking) - number))
        widths[i] += more
        left -= more
    return [widths[i] for i in kept]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return (" " * GAP).join(pad_line(cell, width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _cell(text: str, width: int, *, is_flat: bool) -> list[str]:
    if is_flat:
        return [shorten_line(text, width)]
    return wrap_text(" ".join(shorten_word(word, width) for word in text.split(" ")), width)


def _told_one_by_one(columns: Sequence[str], rows: Sequence[Sequence[str]], kept: Sequence[int]) -> list[str]:
    lines: list[str] = []
    for row in rows:
        told = [f"{columns[i]}: {row[i]}" if columns[i] else row[i] for i in kept if row[i]]
        lines += [f"{' ' * INDENT * bool(number)}{text}" for number, text in enumerate(told)]
    return lines


def wrap_text(text: str, room: int, indent: int = 0) -> list[str]:
    """Lines of a text, broken between words; a word or a command that is wider than the room stays whole.

    Lines after the first are indented as the first is, and by `indent` beyond that.
    """
    if columns_of(text) <= room:
        return [text]
    margin = " " * (len(text) - len(text.lstrip(" ")))
    lines, line = [], margin
    for space, unit in _units(text.lstrip(" ")):
        if line.strip() and columns_of(line + space + unit) > room:
            lines.append(line)
            line = margin + " " * indent + unit
        else:
            line += space + unit
    return [*lines, line]


def _units(text: str) -> list[tuple[str, str]]:
    """Unbreakable parts, each with the spaces before it: words, and whole commands."""
    found = []
    at = 0
    while at < len(text):
        start = at + len(text[at:]) - len(text[at:].lstrip(" "))
        command = COMMAND.match(text, start)
        # Punctuation stays with its command.
        behind = command.end() if command else start
        space = text.find(" ", behind)
        end = space if space >= 0 else len(text)
        found.append((text[at:start], text[start:end]))
        at = end
    return [one for one in found if one[1]]


def steps_in(text: str) -> list[tuple[str, bool]]:
    """A hint in pieces, and of each whether it is a command: to be shown on a line of its own."""
    steps: list[tuple[str, bool]] = []
    at = 0
    for found in COMMAND.finditer(text):
        steps += [(text[at : found.start()], False), (found[0].strip("`"), True)]
        at = found.end()
    steps.append((text[at:], False))
    told = ((piece if is_command else _without_ends(piece), is_command) for piece, is_command in steps)
    return [one for one in told if one[0]]


def _without_ends(piece: str) -> str:
    """A sentence keeps its full stop; what leads from one command to the next loses its punctuation."""
    bare = piece.strip(" ,;.")
    is_whole = piece.rstrip().endswith(".") and bare[:1].isupper() and bare[-1:].isalnum()
    return f"{bare}." if is_whole else bare
