"""A publisher's hints about polling: said by the head of an answer or in a feed, kept with the channel. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from headwater.net.caching import LONGEST_WAIT, freshness, max_age

NO_WAIT = timedelta(0)
_HOURS, _DAYS = frozenset(range(24)), frozenset(range(7))


@dataclass(frozen=True, slots=True)
class PublisherHints:
    """Nothing is asked unless it is said."""

    max_age: timedelta | None = None  # as declared, before Age is taken off
    fresh_for: timedelta = NO_WAIT  # max-age minus Age, or Expires
    retry_after: timedelta = NO_WAIT
    robots_wait: timedelta = NO_WAIT  # until its robots.txt, which could not be had, is asked for again
    ttl: timedelta = NO_WAIT
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()

    def with_head(self, headers: Iterable[tuple[bytes, bytes]], at: datetime) -> "PublisherHints":
        """With the lifetime that the head of an answer declares."""
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
        declared = next((value for name, value in pairs if name.lower() == "cache-control"), "")
        return replace(self, max_age=max_age(declared), fresh_for=freshness(pairs, at))

    @property
    def has_only_feed_fields(self) -> bool:
        """Whether only fields are set that the body of a feed can set."""
        body = PublisherHints(ttl=self.ttl, skip_hours=self.skip_hours & _HOURS, skip_days=self.skip_days & _DAYS)
        return self == body and NO_WAIT <= self.ttl <= LONGEST_WAIT

    def to_dict(self) -> dict[str, Any]:
        """The hints that a 304 does not repeat, as the channel's row keeps them: only those that were given."""
        said = {
            "ttl": self.ttl.total_seconds(),
            "skip_hours": sorted(self.skip_hours),
            "skip_days": sorted(self.skip_days),
        }
        return {name: value for name, value in said.items() if value}


def publisher_hints_from(stored: object) -> PublisherHints:
    """As a channel's row keeps them. A value that was not written by us asks for nothing."""
    said = stored if isinstance(stored, Mapping) else {}
    ttl = said.get("ttl")
    is_wait = isinstance(ttl, int | float) and 0 <= ttl <= LONGEST_WAIT.total_seconds()
    return PublisherHints(
        ttl=timedelta(seconds=ttl) if is_wait and ttl is not None else NO_WAIT,
        skip_hours=_among(_HOURS, said.get("skip_hours")),
        skip_days=_among(_DAYS, said.get("skip_days")),
    )


def _among(all_there_are: frozenset[int], stored: object) -> frozenset[int]:
    return frozenset(one for one in all_there_are if one in stored) if isinstance(stored, list) else frozenset()
