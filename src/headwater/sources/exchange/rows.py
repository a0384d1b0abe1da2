"""Lines of a file of sources that cannot be followed, and the cleaning of its texts."""

import re
from dataclasses import dataclass

LONGEST_TEXT = 20_000

# Controls, lone surrogates and the two characters XML forbids: no name needs them, and a terminal may obey them.
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_UNWANTED_IN_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class BadLine:
    """`text` is the record as it stood there, to be mended and brought again; `reason` is for people."""

    line: int
    text: str
    reason: str


def bad_line(line: int, text: str, reason: str) -> BadLine:
    # Cut before cleaning: a line may be as long as the file.
    return BadLine(line, cut_text(as_laid_out(text[: LONGEST_TEXT * 2]).strip("\n"), LONGEST_TEXT), reason)


def is_whole(bad: BadLine) -> bool:
    """Whether the record is all there, and was not cut."""
    return len(bad.text) < LONGEST_TEXT


def cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def as_laid_out(text: str) -> str:
    """Its lines and tabs stay, nothing else a terminal would obey does."""
    return _UNWANTED_IN_LINES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    return " ".join(_UNWANTED.sub(" ", text).split())
