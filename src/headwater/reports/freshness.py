"""How fresh things are, and what that costs: delays to discovery and to sinks, polls and what they bring."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.figures import MORE, SINK_BOUNDS, SINK_DELAY
from headwater.sources.delays import delay_within
from headwater.sources.kinds import ChannelKind
from headwater.sources.store import ChannelState

queries = load_queries("headwater.reports")

DAYS = 7
# Of so many of its newest documents a source's delays to sinks are told.
NEWEST_DOCUMENTS = 1_000
_SINK_ENDS = tuple(timedelta(milliseconds=one) for one in SINK_BOUNDS)


@dataclass(frozen=True, slots=True)
class Delay:
    """What half of `count` delays did not exceed, and what 95 % did not."""

    count: int
    p50: timedelta | None
    p95: timedelta | None


@dataclass(frozen=True, slots=True)
class SinkDelay:
    sink: str
    delay: Delay


@dataclass(frozen=True, slots=True)
class SourceFreshness:
    """Items of the last week; documents that were changed and delivered in it; polls, fading with half of 14 days."""

    discovery: Delay
    sinks: tuple[SinkDelay, ...]
    polls: float
    vain_polls: float
    new_items: float

    @property
    def polls_per_item(self) -> float | None:
        return polls_per_item(self.polls, self.new_items)


@dataclass(frozen=True, slots=True)
class WastefulChannel:
    """A channel by the polls that brought nothing new, as of its last poll."""

    id: UUID
    source_id: UUID
    source: str
    kind: ChannelKind
    url: str
    interval: timedelta | None
    polls: float
    vain_polls: float
    new_items: float
    last_polled_at: datetime | None
    last_new_at: datetime | None

    @property
    def polls_per_item(self) -> float | None:
        return polls_per_item(self.polls, self.new_items)


def polls_per_item(polls: float, new_items: float) -> float | None:
    """None where too few items came to say."""
    return round(polls / new_items, 2) if new_items >= 1 else None


async def freshness_of(database: Database, source_id: UUID, channels: Sequence[ChannelState]) -> SourceFreshness:
    rows = await database.fetch(queries.delays_of_source, source_id, DAYS)
    counts = [sum(column) for column in zip(*(row["counts"] for row in rows), strict=False)]
    sinks = await database.fetch(queries.sink_delays_of_source, source_id, NEWEST_DOCUMENTS, timedelta(days=DAYS))
    return SourceFreshness(
        discovery=_delay_in(counts),
        sinks=tuple(SinkDelay(row["sink"], Delay(row["count"], *row["delays"])) for row in sinks),
        polls=sum(one.polls_lately for one in channels),
        vain_polls=sum(one.vain_polls_lately for one in channels),
        new_items=sum(one.new_items_lately for one in channels),
    )


async def sink_delays(database: Database) -> tuple[SinkDelay, ...]:
    """Of the last 24 hours, of sinks that were sent something."""
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for row in await database.fetch(queries.sink_delays_lately, SINK_DELAY):
        name, _, bound = row["label"].rpartition(".")
        counts[name][bound] = row["count"]
    return tuple(SinkDelay(name, _in_bounds(found)) for name, found in sorted(counts.items()))


async def polls_avoided(database: Database) -> dict[str, int]:
    """In the last 24 hours against one every hour: by the channels' own `rhythm`, and by `push`."""
    found = {row["label"]: row["count"] for row in await database.fetch(queries.polls_avoided_lately)}
    return {by: found.get(by, 0) for by in ("rhythm", "push")}


async def wasteful_channels(database: Database, limit: int) -> list[WastefulChannel]:
    """Those with the most polls in vain first."""
    rows = await database.fetch(queries.wasteful_channels, limit)
    return [_wasteful(row) for row in rows]


def _wasteful(row: Any) -> WastefulChannel:
    told = {name: row[name] for name in WastefulChannel.__dataclass_fields__}
    return WastefulChannel(**{**told, "kind": ChannelKind(row["kind"])})


def _delay_in(counts: Sequence[int]) -> Delay:
    return Delay(sum(counts), delay_within(counts, 0.5), delay_within(counts, 0.95))


def _in_bounds(found: dict[str, int]) -> Delay:
    counts = [found.get(str(bound), 0) for bound in (*SINK_BOUNDS, MORE)]
    return Delay(sum(counts), delay_within(counts, 0.5, _SINK_ENDS), delay_within(counts, 0.95, _SINK_ENDS))
