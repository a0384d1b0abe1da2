"""The facts of a channel that policies judge, and their answers. Values only."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headwater.discover.cadence.forecast import Price
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.cadence.rhythm import FLAT, Floats, Rhythm
from headwater.discover.cadence.windows import TimeWindow
from headwater.discover.publisher_hints import NO_WAIT, PublisherHints
from headwater.sources.causes import HeldBy


@dataclass(frozen=True, slots=True)
class PollBounds:
    shortest: timedelta = timedelta(minutes=15)
    shortest_if_allowed: timedelta = timedelta(minutes=5)  # by a max-age that is no longer
    longest: timedelta = timedelta(days=7)
    jitter: float = 0.10


@dataclass(frozen=True, slots=True)
class ChannelFacts:
    """As of the poll that has just ended: its outcome is counted in already."""

    interval: timedelta = timedelta(hours=1)  # set by a person, or as it was before the errors
    last_success_at: datetime | None = None
    last_item_at: datetime | None = None  # publication of the newest item, where it is dated
    last_item_seen_at: datetime | None = None  # when we first saw the newest item
    consecutive_no_change: int = 0
    consecutive_errors: int = 0
    errors_of_class: int = 0  # the last of them that are of class `error`
    error: ErrorClass | None = None
    is_deadly: bool = False  # it ended a process of ours
    status: int | None = None  # of the last answer, where there was one
    changes: int = 0  # items added or changed by this poll
    org_type: str = ""
    frequency_days: float | None = None
    rhythm: Rhythm = field(default_factory=Rhythm)
    price: Price = field(default_factory=Price)
    common: Floats = field(default_factory=lambda: FLAT, compare=False)
    items_span: timedelta | None = None  # set when the feed has overflowed: the time that its items span
    turnover: timedelta | None = None  # the time in which its whole list is replaced, at the pace of the last poll
    publisher_hints: PublisherHints = field(default_factory=PublisherHints)
    host_delay: timedelta = NO_WAIT
    crowding: float = 1.0  # polls that all channels of its host deserve, as a multiple of those that it has room for
    time_window: TimeWindow | None = None
    is_pushed: bool = False  # by a hub that is trusted, and the interval is no person's
    bounds: PollBounds = field(default_factory=PollBounds)


@dataclass(frozen=True, slots=True)
class Plan:
    """The wish of a policy alone, before anyone else is heard."""

    wait: timedelta
    reason: str
    jitter: float
    shortest: timedelta
    longest: timedelta
    is_never_early: bool = False  # jitter may only lengthen it


@dataclass(frozen=True, slots=True)
class NextPoll:
    at: datetime
    interval: timedelta  # that it deserves; a crowded host may have no room for it
    reason: str
    is_disabled_for_now: bool = False
    is_loud: bool = False
    held_by: HeldBy | None = None
