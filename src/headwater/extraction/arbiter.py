"""Several readings of one page, and which of them to believe: by evidence that costs little. Pure."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from headwater.extraction.text import comparable, count_words, tokens

# What is shorter, or a smaller share of what the page shows, may be a teaser, a caption or the wrong box.
_SHORT_WORDS, _SHARE_OF_PAGE = 120, 0.2
# A text with less than this share of another's words was cut short: a teaser, a wall, half of the page.
_THIN = 0.75
_LABEL, _FEWEST_LINES = 25, 12
_MOST_LABELS, _FEW_LABELS = 0.4, 0.2
_RUN = 3
_FEWEST_RUNS = 8
_KNOWN_AGAIN = 0.5

WordRun = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TriedReading:
    """One way a page was read, by its producer; `why` it was believed rather than the one before, or asked and not."""

    producer: str
    words: int
    why: str


def why_poor(text: str, shown_words: int) -> str:
    """Why a quick reading of a page with so many visible words is worth a slower one; nothing where it is not."""
    words = count_words(text)
    if words < _SHORT_WORDS:
        return f"only {words} words were found"
    if words < _SHARE_OF_PAGE * shown_words:
        return f"{words} of {shown_words} visible words were found"
    return "most of its lines are labels" if _labels(text) > _MOST_LABELS else ""


def why_fuller(chosen: str, other: str) -> str:
    """Why the other text is believed, beside which the chosen one is thin; nothing where it is not.

    A publisher's structured data may say the whole text twice, and is no fuller for it.
    """
    own, more = count_words(chosen), count_words(other)
    if own >= more * _THIN or _is_said_twice(_runs(chosen), _runs(other)):
        return ""
    return f"beside its {more} words the other's {own} are thin"


def why_thorough(quick: str, thorough: str, summary: str) -> str:
    """Why the slower reading is believed; nothing where it says less, or has lost what the page says it is about."""
    found, more = count_words(quick), count_words(thorough)
    if _labels(quick) > _MOST_LABELS and _labels(thorough) <= _FEW_LABELS and more:
        return "it found sentences where the quick one found labels"
    is_lost = found >= _SHORT_WORDS and _says(quick, summary) and not _says(thorough, summary)
    return "" if more < max(found, 1) or is_lost else f"it found {more} words where the quick one found {found}"


def _labels(text: str) -> float:
    """The share of lines that are no sentence."""
    lines = text.split("\n")
    return sum(len(line) < _LABEL for line in lines) / len(lines) if len(lines) >= _FEWEST_LINES else 0.0


def _is_said_twice(own: AbstractSet[WordRun], other: AbstractSet[WordRun]) -> bool:
    return len(own) >= len(other) * _THIN and len(own & other) >= _KNOWN_AGAIN * len(own)


def _says(text: str, summary: str) -> bool:
    wanted = _runs(summary)
    return len(wanted) >= _FEWEST_RUNS and len(wanted & _runs(text)) >= _KNOWN_AGAIN * len(wanted)


def _runs(text: str) -> AbstractSet[WordRun]:
    words = tokens(comparable(text))
    return set(zip(*(words[at:] for at in range(_RUN)), strict=False))
