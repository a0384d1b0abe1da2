"""Texts of any length in any of our languages, drawn from a key: the same key always reads the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from string import Formatter

from headwater.simweb.world.dice import Dice
from headwater.simweb.world.languages import Language, Topic

# Literal text, then the options of the slot that follows it.
Pattern = tuple[tuple[str, Sequence[str]], ...]

NUMBERS = tuple(str(n) for n in range(12, 980))
PERCENTAGES = tuple(str(n) for n in range(2, 48))
YEARS = tuple(str(n) for n in range(2027, 2036))
NOTHING = ("",)
SHORTEST_WORDS = 200
LONGEST_WORDS = 900


@dataclass(frozen=True, slots=True)
class Voice:
    """One language speaking about one topic, its patterns ready to be filled."""

    titles: tuple[Pattern, ...]
    sentences: tuple[Pattern, ...]
    updates: tuple[Pattern, ...]


@cache
def voice_of(language: Language, topic: Topic) -> Voice:
    people = tuple(f"{first} {last}" for first, last in product(language.first_names, language.last_names))
    slots: dict[str | None, Sequence[str]] = {
        "actor": topic.actors,
        "thing": topic.things,
        "verb": language.verbs,
        "when": language.whens,
        "place": language.places,
        "person": people,
        "number": NUMBERS,
        "percent": PERCENTAGES,
        "year": YEARS,
        None: NOTHING,
    }

    def ready(patterns: Sequence[str]) -> tuple[Pattern, ...]:
        return tuple(
            tuple((text, slots[slot]) for text, slot, _, _ in Formatter().parse(pattern)) for pattern in patterns
        )

    return Voice(ready(language.titles), ready(language.sentences), ready(language.updates))


def filled(pattern: Pattern, dice: Dice) -> str:
    fraction = dice.fraction
    parts = [text + options[int(fraction() * len(options))] for text, options in pattern]
    sentence = "".join(parts)
    return sentence[0].upper() + sentence[1:]


def title(voice: Voice, dice: Dice) -> str:
    return filled(dice.one(voice.titles), dice)


def paragraphs(voice: Voice, key: int) -> Iterator[str]:
    """The text of `key`, paragraph by paragraph: a reader of the lead need not pay for the rest."""
    dice = Dice(key)
    # Most articles are short, a few are long.
    left = SHORTEST_WORDS + (LONGEST_WORDS - SHORTEST_WORDS) * dice.fraction() ** 2
    patterns = _shuffled_forever(voice.sentences, dice)
    while left > 0:
        paragraph = " ".join(filled(next(patterns), dice) for _ in range(dice.count(2, 4)))
        left -= paragraph.count(" ") + 1
        yield paragraph


def addition(voice: Voice, key: int) -> str:
    """What an editor appends to the text of `key` when the story moves on."""
    dice = Dice(key, "update")
    return " ".join(filled(pattern, dice) for pattern in (dice.one(voice.updates), dice.one(voice.sentences)))


def person(language: Language, dice: Dice) -> str:
    return f"{dice.one(language.first_names)} {dice.one(language.last_names)}"


def _shuffled_forever(patterns: Sequence[Pattern], dice: Dice) -> Iterator[Pattern]:
    """News first: the first pattern of every language says who did what."""
    yield patterns[0]
    while True:
        yield from dice.some(patterns, len(patterns))
