"""A text as the lines an editor counts."""

import re
from array import array
from collections.abc import Iterator

from headwater.errors import UsageError

LONGEST_LINE = 1_000_000

# Python's own splitting also cuts at form feeds and U+2028, which no editor counts as lines.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines_in(text: str) -> Iterator[str]:
    """With their ends, of any length."""
    return (found[0] for found in _LINE.finditer(text))


def short_lines_in(text: str) -> Iterator[str]:
    """Raises UsageError at one so long that reading it could fill memory: no source needs it."""
    for number, line in enumerate(lines_in(text), 1):
        if len(line) > LONGEST_LINE:
            raise UsageError(f"Line {number:,} is longer than {LONGEST_LINE:,} characters.")
        yield line


class NumberedLines:
    """The lines of a text by number, without keeping each of them beside it."""

    def __init__(self, text: str) -> None:
        self._text, self._starts = text, array("Q", [0])
        for line in short_lines_in(text):
            self._starts.append(self._starts[-1] + len(line))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, at: int) -> str:
        return self._text[self._starts[at] : self._starts[at + 1]]

    def between(self, start: int, stop: int) -> list[str]:
        return [self[at] for at in range(start, min(stop, len(self)))]

    def length_of(self, start: int, stop: int) -> int:
        """In characters."""
        return self._starts[stop] - self._starts[start]
