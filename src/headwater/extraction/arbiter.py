"""Several readings of one page, and which of them to believe: by evidence that costs little. Pure."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from headwater.extraction.page_type import SHORTEST_ARTICLE_WORDS
from headwater.extraction.text import comparable, count_words, tokens

# What is a smaller share of what the page shows may be a teaser, a caption or the wrong box. That a text is short says
# nothing: of the pages with few words that show little else, none gave more to the slower reading.
_SHORT_WORDS, _SHARE_OF_PAGE = 120, 0.2
# A text with less than this share of another's words was cut short: a teaser, a wall, half of the page.
_THIN = 0.75
_LONG_WORDS, _MOST_OF_PAGE = 1_000, 0.5
_LABEL, _FEWEST_LINES = 25, 12
_MOST_LABELS, _FEW_LABELS = 0.4, 0.2
_FAR_BEYOND = 0.5
_LONGEST_PARAGRAPH, _MOST_IN_ONE_LINE = 1_200, 0.6  # letters, share of the text
_RUN = 3
_FEWEST_RUNS = 8
_KNOWN_AGAIN = 0.5
_MUCH_LOST, _LOST_SHARE, _SAID_AGAIN = 300, 0.15, 0.85  # letters of paragraphs, as a share of the text, runs of words

WordRun = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TriedReading:
    """One way a page was read, by its producer; `why` it was believed rather than the one before, or asked and not."""

    producer: str
    words: int
    why: str


class Witness(NamedTuple):
    """What a page says of its text elsewhere: what it is about, and how many words it has; 0: not said."""

    summary: str = ""
    words: int = 0


def why_poor(text: str, shown_words: int) -> str:
    """Why a quick reading of a page with so many visible words is worth a slower one; nothing where it is not."""
    words = count_words(text)
    if words < SHORTEST_ARTICLE_WORDS:
        return f"only {words} words were found"
    if words < _SHARE_OF_PAGE * shown_words:
        return f"{words} of {shown_words} visible words were found"
    if _runs_together(text):
        return "most of it is one line"
    if words >= _LONG_WORDS and words >= _MOST_OF_PAGE * shown_words:
        return ""  # a long list, which is all there is
    return "most of its lines are labels" if _labels(text) > _MOST_LABELS else ""


def why_partial(text: str, lost: int) -> str:
    """Why a reading may be a part of its story, by the letters that the other parts' paragraphs have."""
    if lost < max(_MUCH_LOST, _LOST_SHARE * len(text)):
        return ""
    return f"{lost} letters stand in elements like its own"


def why_joined(part: str, joined: str) -> str:
    """Why the reading of all parts is believed: it says what the other one said, and goes on."""
    own, more = count_words(part), count_words(joined)
    runs = _runs(part)
    is_same = len(runs & _runs(joined)) >= _SAID_AGAIN * len(runs)
    return f"it says the same {own} words, and {more - own} more" if is_same and more > own else ""


def why_fuller(chosen: str, other: str) -> str:
    """Why the other text is believed, beside which the chosen one is thin; nothing where it is not.

    A publisher's structured data may say the whole text twice, and is no fuller for it.
    """
    own, more = count_words(chosen), count_words(other)
    if own >= more * _THIN or _is_said_twice(_runs(chosen), _runs(other)):
        return ""
    return f"beside its {more} words the other's {own} are thin"


def why_thorough(quick: str, thorough: str, witness: Witness) -> str:
    """Why the slower reading is believed; nothing where it says less, has lost what the page says it is about, or goes
    far beyond a text of usual length without anything else that speaks for it.
    """
    found, more = count_words(quick), count_words(thorough)
    if _labels(quick) > _MOST_LABELS and _labels(thorough) <= _FEW_LABELS and more:
        return "it found sentences where the quick one found labels"
    if _runs_together(quick) and not _runs_together(thorough) and more >= found * _THIN:
        return "it found paragraphs where the quick one found one line"
    is_usual = found >= _SHORT_WORDS
    is_lost = is_usual and _says(quick, witness.summary) and not _says(thorough, witness.summary)
    is_far = is_usual and more * _FAR_BEYOND > found and not _speaks_for(witness, thorough, found)
    return (
        "" if more < max(found, 1) or is_lost or is_far else f"it found {more} words where the quick one found {found}"
    )


def _speaks_for(witness: Witness, longer: str, shorter: int) -> bool:
    if witness.words:
        return abs(count_words(longer) - witness.words) < abs(shorter - witness.words)
    return _says(longer, witness.summary)


def _labels(text: str) -> float:
    """The share of lines that are no sentence."""
    lines = text.split("\n")
    return sum(len(line) < _LABEL for line in lines) / len(lines) if len(lines) >= _FEWEST_LINES else 0.0


def _runs_together(text: str) -> bool:
    """As where all else failed and the words of a page were taken as they come, with those of its boxes."""
    longest = max(map(len, text.split("\n")))
    return longest > max(_LONGEST_PARAGRAPH, _MOST_IN_ONE_LINE * len(text))


def _is_said_twice(own: AbstractSet[WordRun], other: AbstractSet[WordRun]) -> bool:
    return len(own) >= len(other) * _THIN and len(own & other) >= _KNOWN_AGAIN * len(own)


def _says(text: str, summary: str) -> bool:
    wanted = _runs(summary)
    return len(wanted) >= _FEWEST_RUNS and len(wanted & _runs(text)) >= _KNOWN_AGAIN * len(wanted)


def _runs(text: str) -> AbstractSet[WordRun]:
    words = tokens(comparable(text))
    return set(zip(*(words[at:] for at in range(_RUN)), strict=False))
