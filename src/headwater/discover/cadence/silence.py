"""Is it surprising that a channel says nothing? Pure."""

from dataclasses import dataclass
from datetime import timedelta
from math import log

from headwater.discover.cadence.forecast import forecast
from headwater.discover.cadence.rhythm import FLAT, Floats, Rhythm, before_silence
from headwater.phrases import in_words

# P(nothing) = e^(−expected) below one in a thousand.
SURPRISING = -log(0.001)
_GAPS = 2.0
# With fewer items nothing is known of the usual gaps.
_ENOUGH_ITEMS = 5.0


@dataclass(frozen=True, slots=True)
class Silence:
    quiet: timedelta
    expected: float
    sentence: str


def silence(rhythm: Rhythm, common: Floats = FLAT) -> Silence | None:
    """Judged up to the last successful poll: what we could not see is no silence."""
    if rhythm.newest is None or rhythm.items + rhythm.changes < _ENOUGH_ITEMS:
        return None
    quiet = rhythm.as_of - rhythm.newest
    if quiet <= _GAPS * rhythm.longest_gap:
        return None
    # Rate and hours fall while nothing comes; what was usual then is what we compare with.
    ahead = forecast(before_silence(rhythm), rhythm.newest, common)
    expected = ahead.items_within(quiet) * rhythm.pace / ahead.mean_rate
    if expected <= SURPRISING:
        return None
    quiet_for = timedelta(hours=quiet)
    sentence = f"nothing new for {in_words(quiet_for)}, where about {expected:.0f} items were to be expected"
    return Silence(quiet_for, expected, sentence)
