"""How much a downstream reader can do with an article: 0 to 100, and what it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater.extraction.metadata import Metadata

_LENGTHS = ((1000, 25), (500, 20), (300, 15), (100, 10), (0, 0))
_READABLE = ((200, 20), (100, 15), (0, 10))
_EACH = 5


@dataclass(frozen=True, slots=True)
class Quality:
    length: int
    metadata: int
    richness: int
    readability: int
    score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QualitySigns:
    words: int
    title: str
    description: str
    published_at: datetime | None
    keywords: Sequence[str]
    has_canonical: bool
    metadata: Metadata


def quality_of(seen: QualitySigns) -> Quality:
    og = seen.metadata
    said = (seen.title, seen.description, seen.published_at, og.og_title, og.og_image, seen.keywords)
    parts = (
        _points(seen.words, _LENGTHS),
        _EACH * sum(map(bool, said)),
        2 * _EACH * bool(og.og_image)
        + _EACH * (bool(seen.keywords) + seen.has_canonical + bool(og.og_type and og.og_url)),
        _points(seen.words, _READABLE),
    )
    return Quality(*parts, sum(parts))


def _points(words: int, steps: Sequence[tuple[int, int]]) -> int:
    return next(points for least, points in steps if words >= least)
