"""What a search for channels was answered, for the first polls of the channels it found: nothing is asked twice."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import timedelta

from headwater.clock import Clock
from headwater.discover.polls.hearing import Body

KEPT_FOR = timedelta(minutes=10)
MOST_BYTES = 32 * 1024 * 1024


@dataclass(slots=True)
class Overheard:
    """Only in this process: whoever else polls the channel first has to ask."""

    clock: Clock
    _bodies: OrderedDict[bytes, tuple[float, Body]] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def keep(self, heard: Body) -> None:
        """By where the answer came from, which is where a channel is made."""
        place = heard.response.url.url_hash
        self._drop(place)
        self._bodies[place] = (self.clock.monotonic(), replace(heard, moved_to=None, sitemaps=(), is_overheard=True))
        self._bytes += len(heard.response.body)
        while self._bytes > MOST_BYTES:
            self._drop(next(iter(self._bodies)))

    def take(self, place: bytes) -> Body | None:
        """Once: whatever is asked after that is new."""
        kept = self._drop(place)
        if kept is None:
            return None
        since, heard = kept
        return heard if self.clock.monotonic() - since <= KEPT_FOR.total_seconds() else None

    def _drop(self, place: bytes) -> tuple[float, Body] | None:
        kept = self._bodies.pop(place, None)
        if kept is not None:
            self._bytes -= len(kept[1].response.body)
        return kept
