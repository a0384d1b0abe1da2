"""Traces of publications, real or invented, the months they are judged in, and the hubs that push them."""

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOBase
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from headwater.chance import Random, random_from

Times: TypeAlias = NDArray[np.float64]

HOUR, DAY = 3_600.0, 86_400.0
LONGEST_WARM_UP = 28 * DAY
# Items with a date long before or after all others are slips of their publishers, and no beginning of the data.
STRAY = 0.0005
# A hub's delay: exponential, so half of the pushes take less than its median, and one in 30,000 over 15 minutes.
MEDIAN_DELAY = 60.0
SILENT_ONE_IN = 10


@dataclass(frozen=True, slots=True)
class Window:
    """Policies learn from `start` on, and are judged by what is published from `judged_from` until `judged_until`."""

    start: float
    judged_from: float
    judged_until: float

    @property
    def hours(self) -> float:
        return (self.judged_until - self.judged_from) / HOUR

    @property
    def in_words(self) -> str:
        days = [f"{moment(one):%Y-%m-%d}" for one in (self.start, self.judged_from, self.judged_until)]
        return f"learning from {days[0]}, judged from {days[1]} until {days[2]}"


@dataclass(frozen=True, slots=True)
class Hub:
    """`arrivals` has the moment of each item's push; a silent hub is subscribed to and never pushes."""

    arrivals: Times
    is_silent: bool


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def window_of(traces: Sequence[Times]) -> Window:
    """By the calendar where there are four months or more: the first is for learning, the last may be incomplete.

    Of less, the first quarter is for learning, four weeks at most, and the rest is judged.
    """
    every = np.sort(np.concatenate(traces))
    first, last = (float(one) for one in np.quantile(every, (STRAY, 1 - STRAY)))
    months = list(months_between(first, last))
    if len(months) >= 4:
        return Window(months[0], months[1], months[-1])
    start = first - first % DAY
    return Window(start, start + min((last - start) / 4, LONGEST_WARM_UP), last)


def months_between(first: float, last: float) -> Iterator[float]:
    """The beginnings of the months that have data, in UTC."""
    month = moment(first).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    while month.timestamp() <= last:
        yield month.timestamp()
        month = month.replace(year=month.year + month.month // 12, month=month.month % 12 + 1)


def read_traces(path: Path) -> list[Times]:
    """Feed and seconds since 1970 in the first two columns, with or without a line of names; gzipped or plain."""
    by_feed: dict[str, list[float]] = {}
    with opened(path) as lines:
        for number, row in enumerate(csv.reader(lines)):
            if len(row) >= 2 and (number or is_number(row[1])):
                by_feed.setdefault(row[0], []).append(float(row[1]))
    return [np.sort(np.array(times)) for times in by_feed.values()]


def opened(path: Path) -> TextIOBase:
    is_packed = path.read_bytes()[:2] == b"\x1f\x8b"
    return cast("TextIOBase", gzip.open(path, "rt") if is_packed else path.open())


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def hubs_for(traces: Sequence[Times], share: float, seed: int = 5) -> list[Hub | None]:
    """Drawn by the seed; one hub in ten is silent."""
    rng = random_from(seed)
    with_hub = rng.sample(range(len(traces)), round(share * len(traces)))
    silent = set(with_hub[: round(len(with_hub) / SILENT_ONE_IN)])
    delays = np.random.default_rng(seed)
    hubs: list[Hub | None] = [None] * len(traces)
    for number in with_hub:
        delay = delays.exponential(MEDIAN_DELAY / np.log(2), len(traces[number]))
        is_silent = number in silent
        hubs[number] = Hub(np.full(len(delay), np.inf) if is_silent else traces[number] + delay, is_silent)
    return hubs


INVENTED_FROM = datetime(2025, 8, 1, tzinfo=UTC).timestamp()
INVENTED_DAYS = 153


def invented_traces(count: int = 300) -> list[Times]:
    """Rhythms of all sizes: office hours or round the clock, at the full hour or any time, in bursts or one by one."""
    rng = random_from(11)
    return [invented_trace(rng, 10 ** rng.uniform(-1.2, 1.8)) for _ in range(count)]


def invented_trace(rng: Random, per_day: float) -> Times:
    opens, length = rng.choice((0, 5, 7, 13)), rng.choice((8, 10, 14, 24))
    weekend, is_punctual, burst = rng.choice((0.1, 0.4, 1.0)), rng.random() < 0.3, rng.choice((1, 1, 1, 4))
    times: list[float] = []
    for day in range(INVENTED_DAYS):
        share = per_day * (weekend if moment(INVENTED_FROM + day * DAY).weekday() >= 5 else 1.0)
        events = int(share / burst) + (rng.random() < share / burst % 1)
        for _ in range(events):
            at = INVENTED_FROM + day * DAY + ((opens + length * rng.random()) % 24) * HOUR
            at = at - at % HOUR + 120 * rng.random() if is_punctual else at
            times.extend(at + 30 * n for n in range(burst))
    return np.sort(np.array(times))
