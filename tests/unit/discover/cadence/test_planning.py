from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from headwater.chance import random_from
from headwater.discover.cadence.channel import ChannelFacts, NextPoll, PollBounds
from headwater.discover.cadence.planning import next_poll
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.cadence.windows import TimeWindow
from headwater.discover.publisher_hints import PublisherHints
from headwater.errors import UsageError

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
HOURLY = ChannelFacts(interval=HOUR)
STILL = PollBounds(jitter=0.0)
NIGHT = TimeWindow(time(22), time(5), "Europe/Paris")


def polls(facts: ChannelFacts, policy: str = "fixed") -> list[NextPoll]:
    return [next_poll(policy, facts, NOW, random_from(seed)) for seed in range(200)]


def only(facts: ChannelFacts, policy: str = "fixed") -> NextPoll:
    return next_poll(policy, replace(facts, bounds=STILL), NOW, random_from(1))


def test_equal_seeds_give_equal_polls() -> None:
    assert polls(HOURLY) == polls(HOURLY)


@pytest.mark.parametrize(
    ("policy", "middle", "share"), [("fixed", HOUR, 0.10), ("tiers", HOUR, 0.10), ("frequency", 3 * DAY, 0.15)]
)
def test_jitter_spreads_both_ways_and_as_far_as_it_should(policy: str, middle: timedelta, share: float) -> None:
    shares = [one.interval / middle - 1 for one in polls(HOURLY, policy)]
    assert -share <= min(shares) < -0.9 * share
    assert share >= max(shares) > 0.9 * share


def test_bounds_hold_after_jitter() -> None:
    assert min(one.interval for one in polls(ChannelFacts(interval=MINUTE))) == 15 * MINUTE
    assert max(one.interval for one in polls(ChannelFacts(consecutive_errors=9), "frequency")) == 7 * DAY


@pytest.mark.parametrize(("max_age", "shortest"), [(None, 15), (0, 15), (1, 5), (5, 5), (6, 15)])
def test_five_minutes_only_if_the_publisher_allows_it(max_age: int | None, shortest: int) -> None:
    wishes = PublisherHints(max_age=None if max_age is None else max_age * MINUTE)
    assert only(ChannelFacts(interval=MINUTE, publisher_hints=wishes)).interval == shortest * MINUTE


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (replace(HOURLY, publisher_hints=PublisherHints(fresh_for=90 * MINUTE)), "server asked to wait: max-age 1.5 h"),
        (
            replace(HOURLY, publisher_hints=PublisherHints(retry_after=90 * MINUTE)),
            "server asked to wait: Retry-After 1.5 h",
        ),
        (replace(HOURLY, publisher_hints=PublisherHints(ttl=90 * MINUTE)), "feed asks to wait: ttl 1.5 h"),
        (replace(HOURLY, host_delay=90 * MINUTE), "delay of the host: 1.5 h"),
    ],
)
def test_what_was_asked_for_is_only_lengthened(facts: ChannelFacts, reason: str) -> None:
    found = polls(facts)
    assert all(90 * MINUTE <= one.interval <= 99 * MINUTE for one in found)
    assert len({one.interval for one in found}) > 100
    assert {one.reason for one in found} == {reason}


def test_the_greatest_wish_counts() -> None:
    wishes = PublisherHints(fresh_for=2 * HOUR, retry_after=5 * HOUR, ttl=3 * HOUR)
    assert only(replace(HOURLY, publisher_hints=wishes)).interval == 5 * HOUR


def test_a_small_wish_changes_nothing() -> None:
    assert only(replace(HOURLY, publisher_hints=PublisherHints(fresh_for=MINUTE))) == only(HOURLY)


@pytest.mark.parametrize("lifetime", [365 * DAY, timedelta.max])
def test_a_cache_lifetime_of_a_year_does_not_stop_a_channel(lifetime: timedelta) -> None:
    assert (
        max(one.interval for one in polls(replace(HOURLY, publisher_hints=PublisherHints(fresh_for=lifetime))))
        == 7 * DAY
    )


def test_retry_after_beats_the_wait_of_its_class() -> None:
    facts = replace(
        HOURLY,
        consecutive_errors=1,
        error=ErrorClass.RATE_LIMITED,
        publisher_hints=PublisherHints(retry_after=20 * HOUR),
    )
    assert only(facts).interval == 20 * HOUR


def test_an_error_is_never_retried_early() -> None:
    facts = replace(HOURLY, consecutive_errors=1, errors_of_class=1, error=ErrorClass.UPSTREAM)
    assert min(one.interval for one in polls(facts)) >= 2 * HOUR


def test_errors_rest_by_class_under_every_policy() -> None:
    facts = replace(HOURLY, consecutive_errors=12, errors_of_class=3, error=ErrorClass.NOT_FOUND)
    for policy in ("adaptive", "tiers", "frequency", "fixed"):
        found = only(facts, policy)
        assert 48 * HOUR <= found.interval <= 48 * HOUR * 1.15
        assert (found.is_disabled_for_now, found.is_loud) == (True, True)
        assert found.reason == "rests after 3 errors in a row (not found), then it is tried again"


def test_errors_without_a_class_back_off_all_the_same() -> None:
    found = only(replace(HOURLY, consecutive_errors=2))
    assert (found.interval, found.reason) == (4 * HOUR, "after 2 errors in a row")


def test_a_window_moves_a_poll_to_its_opening_and_spreads_the_crowd() -> None:
    found = polls(replace(HOURLY, time_window=NIGHT))
    opening = datetime(2026, 3, 4, 21, tzinfo=UTC)
    assert all(opening <= one.at <= opening + 10 * MINUTE for one in found)
    assert len({one.at for one in found}) > 100
    assert {one.reason for one in found} == {"every 1 h; time window 22:00–05:00 Europe/Paris"}


def test_a_narrow_window_is_not_overshot() -> None:
    narrow = TimeWindow(time(22), time(22, 5), "UTC")
    assert {
        one.at.replace(second=0, microsecond=0).minute < 5 for one in polls(replace(HOURLY, time_window=narrow))
    } == {True}


@pytest.mark.parametrize("zone", [None, "Mars/Olympus"])
def test_a_window_without_a_known_zone_is_ignored_and_says_so(zone: str | None) -> None:
    found = only(replace(HOURLY, time_window=replace(NIGHT, zone=zone)))
    assert found.interval == HOUR
    assert found.reason == "every 1 h; time window 22:00–05:00 ignored: time zone unknown"


def test_skipped_hours_are_spared() -> None:
    found = only(replace(HOURLY, publisher_hints=PublisherHints(skip_hours=frozenset({13, 14}))))
    assert found.at.hour == 15
    assert found.reason == "every 1 h; the feed asks to skip that hour or day"


def test_a_feed_that_asks_never_to_be_polled_is_polled_and_says_so() -> None:
    found = only(replace(HOURLY, publisher_hints=PublisherHints(skip_hours=frozenset(range(24)))))
    assert found.interval == HOUR
    assert "ignored" in found.reason


def test_an_overflowed_feed_is_polled_twice_in_the_time_it_spans() -> None:
    found = polls(ChannelFacts(interval=DAY, items_span=2 * HOUR))
    assert max(one.interval for one in found) <= HOUR
    assert found[0].reason == "it overflowed: its items span only 2 h"


def test_the_interval_is_the_time_until_the_poll() -> None:
    found = only(replace(HOURLY, time_window=NIGHT))
    assert found.at == NOW + found.interval


def test_an_unknown_policy_is_named() -> None:
    with pytest.raises(UsageError, match="no polling policy 'weekly'"):
        next_poll("weekly", HOURLY, NOW, random_from(1))


def test_at_a_crowded_host_all_intervals_are_lengthened_alike() -> None:
    crowded = only(replace(HOURLY, crowding=2.5))
    assert (crowded.at - NOW, crowded.interval) == (2.5 * HOUR, HOUR)
    assert crowded.reason == "its host has room for 40 % of the polls that its channels deserve: not after 1 h"
    assert only(replace(HOURLY, crowding=0.5)) == only(HOURLY), "room to spare brings no poll"


def test_a_crowd_lengthens_neither_rests_nor_beyond_the_longest_interval() -> None:
    failed = replace(HOURLY, consecutive_errors=2, error=ErrorClass.NETWORK)
    assert only(replace(failed, crowding=9.0)) == only(failed)
    assert only(replace(HOURLY, crowding=1e9)).at == NOW + 7 * DAY
