"""Preferences as pairs, `train-ai=n, search=y`: those of AIPREF's Content-Usage and of Content Signals."""

import re
from collections.abc import Iterator

from headwater.rights.record import Convention, PageUse, StatedIn, UseStatement, statement

LONGEST_VALUE = 4_096
MOST_PAIRS = 100
# The vocabulary of AIPREF still moves: earlier words mean what they say. What is not here is kept as it is written.
_USES = {
    "train-ai": (PageUse.TRAIN,),
    "ai-train": (PageUse.TRAIN,),
    "train-genai": (PageUse.TRAIN,),
    "genai": (PageUse.TRAIN,),
    "ai": (PageUse.TRAIN, PageUse.INPUT),
    "ai-input": (PageUse.INPUT,),
    "ai-output": (PageUse.INPUT,),
    "search": (PageUse.SEARCH,),
    "tdm": (PageUse.TDM,),
}
_YES, _NO = frozenset({"y", "yes", "?1"}), frozenset({"n", "no", "?0"})
_PAIR = re.compile(r"([A-Za-z*][A-Za-z0-9_.*-]{0,63})\s*=\s*\"?([?A-Za-z0-9]{1,16})")


def preferences_in(convention: Convention, place: StatedIn, value: str) -> UseStatement | None:
    """None where there is no pair at all. Of several words on one use any no wins."""
    pairs = list(_pairs(value[:LONGEST_VALUE]))
    if not pairs:
        return None
    allowed = [use for key, word in pairs if word in _YES for use in _USES.get(key, ())]
    refused = [use for key, word in pairs if word in _NO for use in _USES.get(key, ())]
    return statement(convention, place, value, allowed=allowed, refused=refused)


def _pairs(value: str) -> Iterator[tuple[str, str]]:
    # A parameter of a pair, behind a semicolon, says nothing about use.
    for part in value.split(",")[:MOST_PAIRS]:
        if found := _PAIR.match(part.strip()):
            yield found[1].lower(), found[2].lower()


def path_and_pairs(value: str) -> tuple[str, str]:
    """A line of robots.txt may name the path that it is about; without one it is about all of them."""
    if not value.startswith(("/", "*")):
        return "/", value
    path, *rest = value.split(None, 1)
    return path, rest[0] if rest else ""
