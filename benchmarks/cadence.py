"""Delay from publication to discovery under each polling policy, at the same number of polls, on real traces.

Every policy plays the same months: August to learn, September to November to be judged. The number of polls is that of
`tiers` as it is written (or `--polls-per-feed-hour`, and then its intervals are all multiplied by one factor, as is
fair); every other policy is steered to that number by the product's own price control, so nobody wins by asking more
often. All keep the product's bounds of 15 minutes to 7 days. `tiers`, `fixed` and `adaptive` run the product's own
code: policies, rhythm, price. The baselines it does not contain, an interval in proportion to 1/rate and to its square
root, use the product's learned rate, so that only the rule differs. Feeds are taken to list enough items that none is
lost between two polls, and no server asks for anything.

Run: python -m benchmarks.cadence [--traces PATH] [--feeds N]
"""

import argparse
import csv
import gzip
import heapq
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headwater.chance import Random, random_from
from headwater.discover.cadence.channel import ChannelFacts, PollBounds
from headwater.discover.cadence.planning import next_poll
from headwater.discover.cadence.price import Price, next_price
from headwater.discover.cadence.rhythm import FLAT, Floats, Observation, Rhythm, common_profile, observe, rate

Times: TypeAlias = NDArray[np.float64]

TRACES = Path(__file__).parents[2] / "shared" / "data" / "publication-traces.csv.gz"
START = datetime(2025, 8, 1, tzinfo=UTC).timestamp()
JUDGED_FROM = datetime(2025, 9, 1, tzinfo=UTC).timestamp()
JUDGED_UNTIL = datetime(2025, 12, 1, tzinfo=UTC).timestamp()
HOUR, DAY = 3_600.0, 86_400.0
TICK = 900.0
BOUNDS = PollBounds()


@dataclass
class Feed:
    """A feed as the policies meet it, and what they have learned of it."""

    times: Times
    seen: int = 0
    polled_at: float | None = None
    rhythm: Rhythm = field(default_factory=Rhythm)


@dataclass
class Ground:
    """What all feeds share: the price of a poll, and the hours at which everybody publishes."""

    price: Price = field(default_factory=Price)
    common: Floats = field(default_factory=lambda: FLAT)


Wait: TypeAlias = Callable[[Feed, float, Ground, Random], float]


@dataclass(frozen=True)
class Rule:
    name: str
    wait: Wait  # seconds until the next poll
    is_learning: bool = False
    is_steered: bool = False


@dataclass(frozen=True)
class Outcome:
    name: str
    polls: int
    delays: tuple[Times, ...]  # in minutes, by feed
    seconds: float

    def per_post(self) -> float:
        return float(np.concatenate(self.delays).mean())

    def per_post_median(self) -> float:
        return float(np.median(np.concatenate(self.delays)))

    def per_feed(self) -> float:
        return float(np.mean([one.mean() for one in self.delays if len(one)]))

    def per_feed_median(self) -> float:
        return float(np.median([one.mean() for one in self.delays if len(one)]))


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def wait_of(policy: str, facts: ChannelFacts, now: float, rng: Random) -> float:
    return next_poll(policy, facts, moment(now), rng).interval.total_seconds()


def fixed_at(interval: timedelta) -> Rule:
    facts = ChannelFacts(interval=interval)
    return Rule("fixed", lambda _feed, now, _ground, rng: wait_of("fixed", facts, now, rng))


def tiers_times(factor: float) -> Rule:
    """Stretched after the product has spoken, and held in bounds again, so that the factor reaches every tier."""

    def wait(feed: Feed, now: float, _ground: Ground, rng: Random) -> float:
        newest = moment(feed.times[feed.seen - 1]) if feed.seen else None
        return within_bounds(factor * wait_of("tiers", ChannelFacts(last_item_at=newest), now, rng))

    return Rule("tiers", wait)


def adaptive_wait(feed: Feed, now: float, ground: Ground, rng: Random) -> float:
    facts = ChannelFacts(last_success_at=moment(now), rhythm=feed.rhythm, price=ground.price, common=ground.common)
    return wait_of("adaptive", facts, now, rng)


def proportional_wait(feed: Feed, _now: float, ground: Ground, _rng: Random) -> float:
    return within_bounds(HOUR * ground.price.hours / rate(feed.rhythm))


def root_wait(feed: Feed, _now: float, ground: Ground, _rng: Random) -> float:
    return within_bounds(HOUR * float(np.sqrt(2 * ground.price.hours / rate(feed.rhythm))))


def within_bounds(wait: float) -> float:
    return min(max(wait, BOUNDS.shortest.total_seconds()), BOUNDS.longest.total_seconds())


PROPORTIONAL = Rule("rate-proportional", proportional_wait, is_learning=True, is_steered=True)
SQUARE_ROOT = Rule("square root", root_wait, is_learning=True, is_steered=True)
ADAPTIVE = Rule("adaptive", adaptive_wait, is_learning=True, is_steered=True)


class Play:
    """One policy through the months, feed by feed in the order of their polls."""

    def __init__(self, rule: Rule, traces: Sequence[Times], polls_per_hour: float = 0.0) -> None:
        self._rule = rule
        self._feeds = [Feed(times) for times in traces]
        self._delays: list[list[Times]] = [[] for _ in traces]
        self._allowed = polls_per_hour
        self._ground = Ground()
        self._rng = random_from(7)
        self._polls = 0

    def run(self) -> Outcome:
        began = time.perf_counter()
        due = [(START + HOUR * self._rng.random(), number) for number in range(len(self._feeds))]
        heapq.heapify(due)
        hour, made = START + HOUR, 0
        while due:
            now, number = heapq.heappop(due)
            while now >= hour:
                self._end_hour(hour, made)
                hour, made = hour + HOUR, 0
            made += 1
            wait = self._poll(number, now)
            if now < JUDGED_UNTIL:
                heapq.heappush(due, (now + wait, number))
        report(f"{self._rule.name}: {self._polls:,} polls judged, {time.perf_counter() - began:.0f} s")
        delays = tuple(np.concatenate([np.empty(0), *one]) for one in self._delays)
        return Outcome(self._rule.name, self._polls, delays, time.perf_counter() - began)

    def _poll(self, number: int, now: float) -> float:
        feed = self._feeds[number]
        new = feed.times[feed.seen : int(np.searchsorted(feed.times, now, side="right"))]
        feed.seen += len(new)
        if len(new) and new[-1] >= JUDGED_FROM:
            judged = new[(new >= JUDGED_FROM) & (new < JUDGED_UNTIL)]
            self._delays[number].append((now - judged) / 60)
        self._polls += JUDGED_FROM <= now < JUDGED_UNTIL
        if self._rule.is_learning:
            since = None if feed.polled_at is None else moment(feed.polled_at)
            feed.rhythm = observe(feed.rhythm, Observation(moment(now), since, [moment(one) for one in new]))
        feed.polled_at = now
        return self._rule.wait(feed, now, self._ground, self._rng)

    def _end_hour(self, hour: float, made: int) -> None:
        if self._rule.is_steered:
            self._ground.price = next_price(self._ground.price, made, self._allowed)
        if self._rule.is_learning and (hour - START) % DAY == 0:
            self._ground.common = common_profile(feed.rhythm for feed in self._feeds)
        if (hour - START) % (20 * DAY) == 0:
            report(f"{self._rule.name}: {moment(hour):%d %B}, price {self._ground.price.hours:.3g}")


def at_equal_polls(traces: Sequence[Times], per_feed_hour: float | None) -> list[Outcome]:
    tiers = Play(tiers_times(1.0), traces).run()
    wanted = tiers.polls if per_feed_hour is None else round(per_feed_hour * len(traces) * judged_hours())
    factor, trials = 1.0, 0
    # A budget beyond its bounds is never met; `polls_difference` then shows it.
    while abs(tiers.polls / wanted - 1) > 0.005 and trials < 8:
        factor, trials = factor * tiers.polls / wanted, trials + 1
        tiers = Play(tiers_times(factor), traces).run()
    per_hour = wanted / judged_hours()
    fixed = Play(fixed_at(timedelta(hours=len(traces) / per_hour)), traces).run()
    return [fixed, tiers, *(Play(rule, traces, per_hour).run() for rule in (PROPORTIONAL, SQUARE_ROOT, ADAPTIVE))]


def judged_hours() -> float:
    return (JUDGED_UNTIL - JUDGED_FROM) / HOUR


def report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def read_traces(path: Path) -> list[Times]:
    by_feed: dict[str, list[float]] = {}
    with gzip.open(path, "rt") as lines:
        for row in csv.DictReader(lines):
            by_feed.setdefault(row["feed_id"], []).append(float(row["unix_ts"]))
    return [np.sort(np.array(times)) for times in by_feed.values()]


def invented_traces(count: int = 300) -> list[Times]:
    """Rhythms of all sizes: office hours or round the clock, at the full hour or any time, in bursts or one by one."""
    rng = random_from(11)
    return [invented_trace(rng, 10 ** rng.uniform(-1.2, 1.8)) for _ in range(count)]


def invented_trace(rng: Random, per_day: float) -> Times:
    opens, length = rng.choice((0, 5, 7, 13)), rng.choice((8, 10, 14, 24))
    weekend, is_punctual, burst = rng.choice((0.1, 0.4, 1.0)), rng.random() < 0.3, rng.choice((1, 1, 1, 4))
    days = int((JUDGED_UNTIL - START) / DAY) + 31
    times: list[float] = []
    for day in range(days):
        share = per_day * (weekend if moment(START + day * DAY).weekday() >= 5 else 1.0)
        events = int(share / burst) + (rng.random() < share / burst % 1)
        for _ in range(events):
            at = START + day * DAY + ((opens + length * rng.random()) % 24) * HOUR
            at = at - at % HOUR + 120 * rng.random() if is_punctual else at
            times.extend(at + 30 * n for n in range(burst))
    return np.sort(np.array(times))


def decision_micros(traces: Sequence[Times]) -> float:
    """One observation and one decision of `adaptive`, for a feed with a full memory."""
    busiest = max(traces, key=len)[-2_000:]
    end = moment(busiest[-1])
    rhythm = observe(Rhythm(), Observation(end, None, [moment(one) for one in busiest]))
    feed, ground, rng = Feed(busiest, rhythm=rhythm), Ground(), random_from(1)
    began = time.process_time()
    for step in range(1, 501):
        now = busiest[-1] + step * HOUR
        feed.rhythm = observe(feed.rhythm, Observation(moment(now), moment(now - HOUR), (moment(now - 60),)))
        adaptive_wait(feed, now, ground, rng)
    return (time.process_time() - began) / 500 * 1e6


def shown(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield f"{'policy':20} {'polls':>11} {'per post':>10} {'median':>8} {'per feed':>10} {'median':>8}   (minutes)"
    for one in outcomes:
        post, feed = f"{one.per_post():>10.1f} {one.per_post_median():>8.1f}", f"{one.per_feed():>10.1f}"
        yield f"{one.name:20} {one.polls:>11,} {post} {feed} {one.per_feed_median():>8.1f}"


def figures(outcomes: Sequence[Outcome], feeds: int) -> dict[str, object]:
    by_name = {one.name: one for one in outcomes}
    fixed, tiers, adaptive = (by_name[name] for name in ("fixed", "tiers", "adaptive"))
    ticks = feeds * (JUDGED_UNTIL - JUDGED_FROM) / TICK
    return {
        "feeds": feeds,
        "per_post_vs_tiers": round(tiers.per_post() / adaptive.per_post(), 3),
        "per_feed_vs_tiers": round(tiers.per_feed() / adaptive.per_feed(), 3),
        "per_post_vs_fixed": round(fixed.per_post() / adaptive.per_post(), 3),
        "polls_difference": round(max(abs(one.polls / tiers.polls - 1) for one in outcomes), 4),
        "polls_saved_vs_every_tick": round(1 - adaptive.polls / ticks, 3),
        "table": {
            one.name: {"polls": one.polls, "per_post": round(one.per_post(), 1), "per_feed": round(one.per_feed(), 1)}
            for one in outcomes
        },
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description="Delay under each polling policy at equal polls.")
    arguments.add_argument("--traces", type=Path, default=TRACES, help="CSV of feed_id,unix_ts, gzipped")
    arguments.add_argument("--feeds", type=int, help="a sample of so many feeds")
    arguments.add_argument(
        "--polls-per-feed-hour", type=float, help="the budget; as many as `tiers` makes if not given"
    )
    chosen = arguments.parse_args()
    is_real = chosen.traces.exists()
    if not is_real and chosen.traces != TRACES:
        arguments.error(f"there is no file {chosen.traces}")
    traces = read_traces(chosen.traces) if is_real else invented_traces()
    if chosen.feeds:
        traces = random_from(3).sample(traces, min(chosen.feeds, len(traces)))
    micros = decision_micros(traces)
    outcomes = at_equal_polls(traces, chosen.polls_per_feed_hour)
    print(f"{len(traces)} {'real' if is_real else 'invented'} feeds, September to November, after learning in August")
    print("\n".join(shown(outcomes)))
    print(f"one observation and decision of adaptive: {micros:.0f} µs")
    print(json.dumps(figures(outcomes, len(traces)) | {"decision_micros": round(micros), "is_real": is_real}))


if __name__ == "__main__":
    main()
