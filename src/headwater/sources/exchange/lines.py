"""A text as the lines an editor counts."""

import re
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
