"""Whether a page's text may be read by everybody: the publisher's word, and what its text shows. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from headwater.extraction.paywall import ends_at_a_wall, is_said_to_be_free, is_sold

_LONGEST_TIER = 100
# Of the words a page says it has: with fewer the rest is somewhere else.
_LEAST_SHARE = 0.6


class DeclaredAccess(StrEnum):
    FREE = "free"
    SOLD = "sold"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """`declared` and `tier` are the publisher's word; `ends_at_wall` is what was seen, and never taken from it."""

    declared: DeclaredAccess = DeclaredAccess.UNKNOWN
    tier: str = ""
    ends_at_wall: bool = False


def access_of(
    linked: Mapping[str, Any] | None, tier: str, text: str, words: int, said_words: int | None, *, is_cut: bool
) -> Access:
    """`is_cut`: calls to pay stood in the text, and are left out; `said_words`: how many the page says it has."""
    is_short = said_words is not None and words < said_words * _LEAST_SHARE and is_sold(linked, tier)
    declared = DeclaredAccess.FREE if is_said_to_be_free(linked, tier) else DeclaredAccess.UNKNOWN
    return Access(
        declared=DeclaredAccess.SOLD if is_sold(linked, tier) else declared,
        tier=tier.strip().lower()[:_LONGEST_TIER],
        ends_at_wall=is_cut or is_short or ends_at_a_wall(text),
    )
