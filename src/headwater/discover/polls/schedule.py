"""Which policy holds for a channel, and when it is polled next. Pure: the decisions themselves are in `cadence`."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib import resources

from headwater.chance import Random
from headwater.discover.cadence.channel import Bounds, ChannelFacts, NextPoll
from headwater.discover.cadence.planning import in_open_hours, next_poll
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.cadence.rhythm import Rhythm
from headwater.discover.cadence.week import Floats, common_from
from headwater.discover.cadence.windows import TimeWindow, window_from
from headwater.discover.polls.classify import Deferred
from headwater.discover.polls.lease import Leased
from headwater.discover.publisher_hints import PublisherHints
from headwater.settings.groups import PollSettings
from headwater.sources.channels import ChannelKind
from headwater.sources.source import Policy, SourceKind

# After these a search is tried again at the default interval: its long one is for sites that have nothing.
TEMPORARY_ERRORS = frozenset({ErrorClass.UPSTREAM, ErrorClass.NETWORK})


@dataclass(frozen=True, slots=True)
class ChannelStanding:
    """How a channel stands after the poll that has just ended."""

    last_ok_at: datetime | None
    newest_item_at: datetime | None
    last_new_at: datetime | None
    rhythm: Rhythm
    changes: int = 0
    no_change: int = 0
    errors: int = 0
    error: ErrorClass | None = None
    class_errors: int = 0
    covers: timedelta | None = None  # after an overflow: the time its items span
    turnover: timedelta | None = None  # the time in which its list is replaced, at the pace of this poll
    publisher_hints: PublisherHints = PublisherHints()  # noqa: RUF009 - a frozen value
    is_deadly: bool = False  # the error: it ended a process of ours
    status: int | None = None  # of the last answer, where there was one


def policy_of(channel: Leased, settings: PollSettings) -> tuple[Policy, timedelta]:
    """And the interval it starts from. What a person set beats what the kind of channel or source suggests."""
    source, usual = channel.source, channel.kind.traits.interval
    if not channel.kind.traits.brings_news:
        return Policy.FIXED, settings.discovery_retry
    interval = source.poll_every or usual or settings.default_interval
    if source.poll_every:
        return Policy.FIXED, interval
    if source.policy:
        return source.policy, interval
    if usual:
        return Policy.FIXED, interval
    if source.kind is SourceKind.JOBS:
        return Policy.FREQUENCY, interval
    return (Policy.ADAPTIVE if settings.adaptive else Policy.FIXED), interval


def next_poll_of(
    channel: Leased, standing: ChannelStanding, settings: PollSettings, now: datetime, rng: Random
) -> NextPoll:
    policy, interval = policy_of(channel, settings)
    if channel.kind is ChannelKind.SEARCH and (standing.error in TEMPORARY_ERRORS or standing.is_deadly):
        interval = settings.default_interval
    facts = ChannelFacts(
        interval=interval,
        last_success_at=standing.last_ok_at,
        last_item_at=standing.newest_item_at,
        last_item_seen_at=standing.last_new_at,
        consecutive_no_change=standing.no_change,
        consecutive_errors=standing.errors,
        errors_of_class=standing.class_errors,
        error=standing.error,
        is_deadly=standing.is_deadly,
        status=standing.status,
        changes=standing.changes,
        org_type=channel.source.org_type or "",
        frequency_days=channel.source.crawl_frequency_days,
        rhythm=standing.rhythm,
        price=channel.price,
        common=common_of(channel),
        items_span=standing.covers,
        turnover=standing.turnover,
        publisher_hints=standing.publisher_hints,
        host_delay=channel.host_delay,
        time_window=window_of(channel),
        bounds=Bounds(
            shortest=settings.min_interval,
            longest=max(settings.max_interval, interval),
            jitter=settings.jitter_percent / 100,
        ),
    )
    return next_poll(policy, facts, now, rng)


def wait_until_open(channel: Leased, now: datetime, rng: Random) -> Deferred | None:
    """A window holds for whatever is due, also where it was set after that: all but what a person asks for."""
    if channel.is_by_hand:
        return None
    opening, why = in_open_hours(now, window_of(channel), PublisherHints(), rng)
    return Deferred(opening - now, why) if opening > now else None


def common_of(channel: Leased) -> Floats:
    return common_from(channel.common)


def window_of(channel: Leased) -> TimeWindow | None:
    """In the source's own zone, else in that of its country."""
    source = channel.source
    if source.time_window is None:
        return None
    return window_from(source.time_window, source.timezone or zone_of_country(source.country))


def zone_of_country(country: str | None) -> str | None:
    return _zones().get((country or "").upper())


@cache
def _zones() -> dict[str, str]:
    """From the table of zones that comes with the package of time zones."""
    table = resources.files("tzdata.zoneinfo").joinpath("zone.tab").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines() if line and not line.startswith("#")]
    zones = Counter(row[0] for row in rows)
    return {row[0]: row[2] for row in rows if zones[row[0]] == 1}
