"""Delay from publication to discovery under each polling policy, at the same number of polls, on real traces.

Every policy plays the same months: one to learn, the others to be judged, as the traces have them (`window_of`), or as
`--learn-from`, `--judged-from` and `--judged-until` say. The number of polls is that of
`tiers` as it is written (or `--polls-per-feed-hour`, and then its intervals are all multiplied by one factor, as is
fair); every other policy is steered to that number by the product's own price control, so nobody wins by asking more
often. All keep the product's bounds of 15 minutes to 7 days. `tiers`, `fixed` and `adaptive` run the product's own
code: policies, rhythm, price. The baselines it does not contain, an interval in proportion to 1/rate and to its square
root, use the product's learned rate, so that only the rule differs. Feeds are taken to list enough items that none is
lost between two polls, and no server asks for anything.

`adaptive with push` is the same where a share of the feeds (`--push`) has a hub, drawn by a seed: each item is pushed
by itself, after 60 seconds in the median, and one hub in ten takes subscriptions and is silent. Which hub keeps its
word is found out by the product's own judgement, and a trusted one is checked as the product does. Polls of such feeds
count like all others; pushes cost none.

Run: python -m benchmarks.cadence [--traces PATH] [--feeds N] [--push SHARE]
"""

import argparse
import heapq
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import numpy as np

from benchmarks.cadence_traces import (
    DAY,
    HOUR,
    Hub,
    Times,
    Window,
    hubs_for,
    invented_traces,
    moment,
    read_traces,
    window_of,
)
from headwater.chance import Random, random_from
from headwater.discover.cadence.channel import ChannelFacts, PollBounds
from headwater.discover.cadence.forecast import Price, next_price
from headwater.discover.cadence.hubs import SAFETY_EVERY, HubRecord, after_poll, after_push, longest_quiet
from headwater.discover.cadence.planning import next_poll
from headwater.discover.cadence.rhythm import FLAT, Floats, Observation, Rhythm, common_profile, observe, rate
from headwater.discover.publisher_hints import PublisherHints

TRACES = Path(__file__).parents[2] / "shared" / "data" / "publication-traces.csv.gz"
TICK = 900.0
BOUNDS, NO_HINTS = PollBounds(), PublisherHints()
PUSH_SHARE = 0.2
WITH_PUSH = "adaptive with push"


@dataclass
class Feed:
    """A feed as the policies meet it, and what they have learned of it."""

    times: Times
    seen: int = 0
    polled_at: float | None = None
    rhythm: Rhythm = field(default_factory=Rhythm)
    hub: Hub | None = None
    record: HubRecord = field(default_factory=HubRecord)
    quiet_from: float = 0.0  # the hub was heard last, or the feed polled
    safety_at: float = 0.0  # when it is polled whatever its hub says


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
    pushed: int = 0  # items
    trusted: int = 0  # hubs at the end, of those that push
    deceived: int = 0  # hubs at the end that are trusted and silent

    def per_post(self) -> float:
        return float(np.concatenate(self.delays).mean())

    def per_post_median(self) -> float:
        return float(np.median(np.concatenate(self.delays)))

    def per_feed(self) -> float:
        return float(np.mean([one.mean() for one in self.delays if len(one)]))

    def per_feed_median(self) -> float:
        return float(np.median([one.mean() for one in self.delays if len(one)]))


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
    facts = ChannelFacts(
        last_success_at=moment(now),
        rhythm=feed.rhythm,
        price=ground.price,
        common=ground.common,
        is_pushed=feed.record.is_trusted,
        publisher_hints=NO_HINTS,
        bounds=BOUNDS,
    )
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

    def __init__(
        self,
        rule: Rule,
        traces: Sequence[Times],
        window: Window,
        polls_per_hour: float = 0.0,
        hubs: Sequence[Hub | None] = (),
    ) -> None:
        self._rule = rule
        self._feeds = [Feed(times) for times in traces]
        for feed, hub in zip(self._feeds, hubs, strict=False):
            feed.hub = hub
        self._window = window
        self._delays: list[list[Times]] = [[] for _ in traces]
        self._allowed = polls_per_hour
        self._ground = Ground()
        self._rng = random_from(7)
        self._polls = self._pushed = 0

    def run(self) -> Outcome:
        began, window = time.perf_counter(), self._window
        due = [(window.start + HOUR * self._rng.random(), number) for number in range(len(self._feeds))]
        heapq.heapify(due)
        hour, made = window.start + HOUR, 0
        while due:
            now, number = heapq.heappop(due)
            while now >= hour:
                self._end_hour(hour, made)
                hour, made = hour + HOUR, 0
            wait = self._wait_for_hub(self._feeds[number], now)
            if wait is None:
                made += 1
                wait = self._poll(number, now)
            if now < window.judged_until:
                heapq.heappush(due, (now + wait, number))
        report(f"{self._rule.name}: {self._polls:,} polls judged, {time.perf_counter() - began:.0f} s")
        delays = tuple(np.concatenate([np.empty(0), *one]) for one in self._delays)
        trusted = [one.hub for one in self._feeds if one.hub and one.record.is_trusted]
        deceived = sum(one.is_silent for one in trusted)
        seconds = time.perf_counter() - began
        return Outcome(self._rule.name, self._polls, delays, seconds, self._pushed, len(trusted) - deceived, deceived)

    def _wait_for_hub(self, feed: Feed, now: float) -> float | None:
        """A trusted hub that has pushed since need not be checked yet."""
        if feed.hub is None or not feed.record.is_trusted or now >= feed.safety_at:
            return None
        came = feed.hub.arrivals[feed.seen : int(np.searchsorted(feed.times, now, side="right"))]
        heard = came[came <= now]
        if len(heard) == 0 or heard.max() <= feed.quiet_from:
            return None
        feed.quiet_from = float(heard.max())
        due = min(feed.safety_at, feed.quiet_from + self._quiet(feed, feed.quiet_from))
        return due - now if due > now else None

    def _quiet(self, feed: Feed, now: float) -> float:
        return longest_quiet(feed.rhythm, moment(now), self._ground.common).total_seconds()

    def _poll(self, number: int, now: float) -> float:
        feed, window = self._feeds[number], self._window
        new = feed.times[feed.seen : int(np.searchsorted(feed.times, now, side="right"))]
        found = self._found(feed, new, now) if feed.hub else now
        feed.seen += len(new)
        if len(new) and new[-1] >= window.judged_from:
            is_judged = (new >= window.judged_from) & (new < window.judged_until)
            self._delays[number].append(((found - new) / 60)[is_judged])
        self._polls += window.judged_from <= now < window.judged_until
        if self._rule.is_learning:
            since = None if feed.polled_at is None else moment(feed.polled_at)
            feed.rhythm = observe(feed.rhythm, Observation(moment(now), since, [moment(one) for one in new]))
        feed.polled_at = now
        wait = self._rule.wait(feed, now, self._ground, self._rng)
        if not feed.record.is_trusted:
            return wait
        feed.quiet_from, feed.safety_at = now, now + min(wait, SAFETY_EVERY.total_seconds())
        return min(wait, self._quiet(feed, now))

    def _found(self, feed: Feed, new: Times, now: float) -> Times:
        """When each was: by its push, or by this poll. The hub is judged by both."""
        assert feed.hub is not None
        arrivals = feed.hub.arrivals[feed.seen : feed.seen + len(new)]
        is_pushed, since = arrivals <= now, moment(self._window.start)
        looked_at = feed.polled_at
        for place in np.argsort(arrivals)[: int(is_pushed.sum())]:
            looked_at = float(arrivals[place])
            feed.record = after_push(feed.record, [moment(new[place])], moment(looked_at), since)
        polled = [moment(one) for one in new[~is_pushed]]
        looked = None if looked_at is None else moment(looked_at)
        feed.record = after_poll(feed.record, polled, moment(now), looked, since)
        self._pushed += int((is_pushed & (new >= self._window.judged_from) & (new < self._window.judged_until)).sum())
        return np.minimum(arrivals, now)

    def _end_hour(self, hour: float, made: int) -> None:
        start = self._window.start
        if self._rule.is_steered:
            self._ground.price = next_price(self._ground.price, made, self._allowed)
        if self._rule.is_learning and (hour - start) % DAY == 0:
            self._ground.common = common_profile(feed.rhythm for feed in self._feeds)
        if (hour - start) % (20 * DAY) == 0:
            report(f"{self._rule.name}: {moment(hour):%d %B}, price {self._ground.price.hours:.3g}")


def at_equal_polls(
    traces: Sequence[Times], window: Window, hubs: Sequence[Hub | None], per_feed_hour: float | None
) -> list[Outcome]:
    tiers = Play(tiers_times(1.0), traces, window).run()
    wanted = tiers.polls if per_feed_hour is None else round(per_feed_hour * len(traces) * window.hours)
    factor, trials = 1.0, 0
    # A budget beyond its bounds is never met; `polls_difference` then shows it.
    while abs(tiers.polls / wanted - 1) > 0.005 and trials < 8:
        factor, trials = factor * tiers.polls / wanted, trials + 1
        tiers = Play(tiers_times(factor), traces, window).run()
    per_hour = wanted / window.hours
    fixed = Play(fixed_at(timedelta(hours=len(traces) / per_hour)), traces, window).run()
    steered = (Play(rule, traces, window, per_hour).run() for rule in (PROPORTIONAL, SQUARE_ROOT, ADAPTIVE))
    pushed = Play(replace(ADAPTIVE, name=WITH_PUSH), traces, window, per_hour, hubs)
    return [fixed, tiers, *steered, *([pushed.run()] if any(hubs) else [])]


def report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


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


def figures(outcomes: Sequence[Outcome], feeds: int, window: Window) -> dict[str, object]:
    by_name = {one.name: one for one in outcomes}
    fixed, tiers, adaptive = (by_name[name] for name in ("fixed", "tiers", "adaptive"))
    ticks = feeds * window.hours * HOUR / TICK
    return {
        "feeds": feeds,
        "per_post_vs_tiers": round(tiers.per_post() / adaptive.per_post(), 3),
        "per_feed_vs_tiers": round(tiers.per_feed() / adaptive.per_feed(), 3),
        "per_post_vs_fixed": round(fixed.per_post() / adaptive.per_post(), 3),
        "polls_difference": round(max(abs(one.polls / tiers.polls - 1) for one in outcomes), 4),
        "polls_saved_vs_every_tick": round(1 - adaptive.polls / ticks, 3),
        "window": {
            name: f"{moment(at):%Y-%m-%dT%H:%M:%SZ}"
            for name, at in (
                ("learning_from", window.start),
                ("judged_from", window.judged_from),
                ("judged_until", window.judged_until),
            )
        },
        "table": {
            one.name: {"polls": one.polls, "per_post": round(one.per_post(), 1), "per_feed": round(one.per_feed(), 1)}
            for one in outcomes
        },
    }


def figures_of_push(outcomes: Sequence[Outcome], hubs: Sequence[Hub | None]) -> dict[str, object]:
    """A trusted hub that is silent would be a channel that nobody hears of before its safety poll."""
    by_name = {one.name: one for one in outcomes}
    having = [one for one in hubs if one]
    told: dict[str, object] = {"hubs": len(having), "silent_hubs": sum(one.is_silent for one in having)}
    if WITH_PUSH not in by_name:
        return told
    tiers, push = by_name["tiers"], by_name[WITH_PUSH]
    return told | {
        "push_share": round(len(having) / len(hubs), 3),
        "per_post_vs_tiers_with_push": round(tiers.per_post() / push.per_post(), 3),
        "per_feed_vs_tiers_with_push": round(tiers.per_feed() / push.per_feed(), 3),
        "items_pushed": push.pushed,
        "hubs_trusted": push.trusted,
        "silent_hubs_trusted": push.deceived,
    }


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def share(text: str) -> float:
    """Of feeds with hubs: 0.2, or 20 with a sign of per cent."""
    given = float(text.rstrip("% ")) / (100 if text.rstrip().endswith("%") else 1)
    if not 0 <= given <= 1:
        raise ValueError(text)
    return given


def chosen_window(given: argparse.Namespace, found: Window) -> Window:
    return Window(
        found.start if given.learn_from is None else given.learn_from,
        found.judged_from if given.judged_from is None else given.judged_from,
        found.judged_until if given.judged_until is None else given.judged_until,
    )


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Delay under each polling policy at equal polls.")
    parser.add_argument("--traces", type=Path, default=TRACES, help="CSV of feed and Unix time, plain or gzipped")
    parser.add_argument("--feeds", type=int, help="a sample of so many feeds")
    parser.add_argument("--push", type=share, default=PUSH_SHARE, help="the share of feeds with hubs, 0.2 if not given")
    parser.add_argument("--learn-from", type=day, help="a day in UTC; the first month of the traces if not given")
    parser.add_argument("--judged-from", type=day, help="a day in UTC; the second month")
    parser.add_argument("--judged-until", type=day, help="a day in UTC; the last month, which is not judged")
    parser.add_argument("--polls-per-feed-hour", type=float, help="the budget; as many as `tiers` makes if not given")
    return parser


def main() -> None:
    parser = arguments()
    given = parser.parse_args()
    is_real = given.traces.exists()
    if not is_real and given.traces != TRACES:
        parser.error(f"there is no file {given.traces}")
    traces = read_traces(given.traces) if is_real else invented_traces()
    if not traces:
        parser.error(f"{given.traces} has no line of a feed and a time")
    window = chosen_window(given, window_of(traces))
    if not window.start <= window.judged_from < window.judged_until:
        parser.error(f"there is nothing to judge: {window.in_words}")
    if given.feeds:
        traces = random_from(3).sample(traces, min(given.feeds, len(traces)))
    hubs = hubs_for(traces, given.push)
    micros = decision_micros(traces)
    outcomes = at_equal_polls(traces, window, hubs, given.polls_per_feed_hour)
    print(f"{len(traces)} {'real' if is_real else 'invented'} feeds, {window.in_words}; {given.push:.0%} with hubs")
    print("\n".join(shown(outcomes)))
    print(f"one observation and decision of adaptive: {micros:.0f} µs")
    found = figures(outcomes, len(traces), window) | figures_of_push(outcomes, hubs)
    print(json.dumps(found | {"decision_micros": round(micros), "is_real": is_real}))


if __name__ == "__main__":
    main()
