"""URLs that lead a spider in circles, or that do something when fetched."""

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from headwater.urls.calendars import years_of_articles, years_of_listings
from headwater.urls.canonical import CanonicalUrl
from headwater.urls.effects import Pair, effects_in, pairs_of


class Trap(StrEnum):
    TOO_DEEP = "too_deep"
    REPEATING_PATH = "repeating_path"
    TOO_MANY_PARAMETERS = "too_many_parameters"
    GROWING_VALUE = "growing_value"
    SESSION_ID = "session_id"
    HAS_EFFECTS = "has_effects"
    ENDLESS_CALENDAR = "endless_calendar"


@dataclass(frozen=True, slots=True)
class TrapLimits:
    """The most that is still believed; beyond it the URL is a trap."""

    segments: int = 20
    repeats: int = 2
    parameters: int = 12
    value_length: int = 512
    years_ahead: int = 2
    years_back: int = 30


DEFAULT_LIMITS = TrapLimits()

_LONGEST_PATTERN = 4
_SESSION_NAME = re.compile(
    r"jsessionid|phpsessid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|oscsid|zenid|sess(ion)?_?(id|token)",
)
# Old news scripts number their stories with `sid`; a session's is a token of letters and digits.
_SHORT_SESSION_NAMES = frozenset({"sid", "session", "sess"})
_TOKEN = re.compile(r"(?=.*[a-z])(?=.*\d)[a-z0-9_-]{6,}")
# ASP.NET without cookies writes `/(S(token))/`.
_SESSION_SEGMENT = re.compile(r"\((?:[a-z]\([a-z0-9]+\))+\)")

_READING_VERBS = frozenset({"view", "show", "read", "display", "click", "article", "story", "detail", "details"})
# An escape of an escape of an escape: a URL that carries a URL that carries a URL.
_NESTED = "%2525"


def trap_in(
    url: CanonicalUrl, *, today: date, limits: TrapLimits = DEFAULT_LIMITS, is_told: bool = False
) -> Trap | None:
    """Looks at the key: what the key leaves out cannot multiply.

    `is_told`: a feed, a sitemap or an API named it as a page of its own. Such a page may have a session id, many
    parameters or a far year: only links multiply by them.
    """
    path = url.path.lower()
    segments = path.strip("/").split("/")
    pairs = pairs_of(url.query.lower())
    trap = _trap_in_path(segments, limits) or _growing_trap(pairs, limits)
    if is_told:
        return trap or (Trap.HAS_EFFECTS if effects_in(segments, pairs) else None)
    return (
        trap
        or (Trap.TOO_MANY_PARAMETERS if len(pairs) > limits.parameters else None)
        or _session_trap(segments, pairs)
        or (Trap.HAS_EFFECTS if effects_in(segments, pairs) or any(map(_is_unclear, pairs)) else None)
        or _calendar_trap(path, pairs, today, limits)
    )


def _trap_in_path(segments: list[str], limits: TrapLimits) -> Trap | None:
    if len(segments) > limits.segments:
        return Trap.TOO_DEEP
    return Trap.REPEATING_PATH if _repeats(segments, limits.repeats) else None


def _repeats(segments: list[str], most: int) -> bool:
    """Whether one run of up to four segments follows itself more than `most` times: a/a/a, a/b/a/b/a/b."""
    for width in range(1, _LONGEST_PATTERN + 1):
        equal = 0
        for here, there in zip(segments, segments[width:], strict=False):
            equal = equal + 1 if here == there else 0
            if equal >= width * most:
                return True
    return False


def _growing_trap(pairs: list[Pair], limits: TrapLimits) -> Trap | None:
    grows = any(len(value) > limits.value_length or _NESTED in value for _, value in pairs)
    return Trap.GROWING_VALUE if grows else None


def _session_trap(segments: list[str], pairs: list[Pair]) -> Trap | None:
    in_path = [pairs_of(parameters)[0] for segment in segments for parameters in segment.split(";")[1:] if parameters]
    is_session = any(map(_is_session, pairs + in_path)) or any(map(_SESSION_SEGMENT.fullmatch, segments))
    return Trap.SESSION_ID if is_session else None


def _is_session(pair: Pair) -> bool:
    name, value = pair
    if name in _SHORT_SESSION_NAMES:
        return _TOKEN.fullmatch(value) is not None
    return bool(value) and _SESSION_NAME.fullmatch(name) is not None


def _is_unclear(pair: Pair) -> bool:
    """A link may do anything; a page that a publisher lists is believed unless its address says what it does."""
    name, value = pair
    return name == "action" and value not in _READING_VERBS


def _calendar_trap(path: str, pairs: list[Pair], today: date, limits: TrapLimits) -> Trap | None:
    earliest, latest = today.year - limits.years_back, today.year + limits.years_ahead
    # An old article is an article; only a calendar pages back for ever.
    is_endless = any(year > latest for year in years_of_articles(path)) or any(
        not earliest <= year <= latest for year in years_of_listings(path, pairs, today.year)
    )
    return Trap.ENDLESS_CALENDAR if is_endless else None
