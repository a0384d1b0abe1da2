from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import sqrt

import pytest

from headwater.discover.cadence.channel import ChannelFacts, PollBounds
from headwater.discover.cadence.forecast import Price
from headwater.discover.cadence.planning import POLICIES, adaptive, fixed, frequency, tiers
from headwater.discover.cadence.rhythm import Rhythm, in_hours
from headwater.discover.publisher_hints import PublisherHints

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
STEADY = Rhythm(as_of=in_hours(NOW), items=999.5, exposure=976.0)


@pytest.mark.parametrize(
    ("quiet", "hours"),
    [
        (7 * DAY + MINUTE, 24),
        (7 * DAY, 4),
        (DAY + MINUTE, 4),
        (DAY, 1),
        (HOUR, 1),
        (HOUR - MINUTE, 0.5),
        (-9 * DAY, 0.5),
    ],
)
def test_tiers_go_by_the_age_of_the_last_item(quiet: timedelta, hours: float) -> None:
    assert tiers(ChannelFacts(last_item_at=NOW - quiet), NOW).wait == hours * HOUR


@pytest.mark.parametrize(("errors", "hours"), [(1, 2), (2, 4), (3, 8), (4, 16), (500, 168)])
def test_tiers_wait_two_to_the_errors_hours(errors: int, hours: int) -> None:
    assert tiers(ChannelFacts(last_item_at=NOW, consecutive_errors=errors), NOW).wait == hours * HOUR


def test_an_unknown_last_update_is_unknown_and_not_dormant() -> None:
    assert tiers(ChannelFacts(), NOW).wait == HOUR
    assert tiers(ChannelFacts(last_item_seen_at=NOW - 30 * MINUTE), NOW).wait == HOUR / 2


@pytest.mark.parametrize(
    ("facts", "days"),
    [
        (ChannelFacts(org_type="un", changes=1), 1),
        (ChannelFacts(org_type="INGO", changes=1), 2),
        (ChannelFacts(org_type="ngo", changes=1), 3),
        (ChannelFacts(org_type="academic", changes=1), 7),
        (ChannelFacts(org_type="circus", changes=1), 3),
        (ChannelFacts(org_type="un", frequency_days=5, changes=9), 5),
        (ChannelFacts(frequency_days=5, changes=10), 4),
        (ChannelFacts(frequency_days=1, changes=10), 0.5),
        (ChannelFacts(frequency_days=5, consecutive_no_change=2), 5),
        (ChannelFacts(frequency_days=5, consecutive_no_change=3), 6),
        (ChannelFacts(frequency_days=14, consecutive_no_change=9), 14),
    ],
)
def test_frequency_follows_the_changes(facts: ChannelFacts, days: float) -> None:
    assert frequency(facts, NOW).wait == days * DAY


def test_frequency_counts_failures_from_the_first() -> None:
    waits = [frequency(ChannelFacts(consecutive_errors=n), NOW).wait / HOUR for n in (1, 2, 3, 4, 5, 6, 10**6)]
    assert waits == [12, 24, 48, 96, 168, 168, 168]


def test_fixed_keeps_the_interval_a_person_set_even_a_long_one() -> None:
    plan = fixed(ChannelFacts(interval=30 * DAY), NOW)
    assert plan.wait == 30 * DAY <= plan.longest


def test_fixed_says_where_the_interval_is_shorter_than_is_allowed() -> None:
    facts = ChannelFacts(interval=5 * MINUTE)
    assert fixed(facts, NOW).reason == "every 15 min, the least allowed; 5 min was set"
    welcome = replace(facts, publisher_hints=PublisherHints(max_age=5 * MINUTE))
    assert fixed(welcome, NOW).reason == "every 5 min"


@pytest.mark.parametrize("policy", ["adaptive", "fixed"])
def test_errors_double_the_interval(policy: str) -> None:
    facts = ChannelFacts(interval=2 * HOUR, consecutive_errors=3, rhythm=STEADY)
    assert POLICIES[policy](facts, NOW).wait == 16 * HOUR


@pytest.mark.parametrize("policy", POLICIES)
def test_after_an_error_nobody_comes_early(policy: str) -> None:
    assert POLICIES[policy](ChannelFacts(consecutive_errors=1), NOW).is_never_early


def test_adaptive_polls_when_the_expected_waiting_is_worth_the_price() -> None:
    facts = ChannelFacts(rhythm=STEADY, price=Price(2.0), last_success_at=NOW)
    plan = adaptive(facts, NOW)
    assert plan.wait / HOUR == pytest.approx(2.0)
    assert plan.reason == "by its rhythm: about 2 new items by then"


def test_adaptive_comes_back_before_a_list_is_replaced() -> None:
    facts = ChannelFacts(rhythm=STEADY, price=Price(2.0), last_success_at=NOW, turnover=HOUR)
    plan = adaptive(facts, NOW)
    assert (plan.wait, plan.reason) == (HOUR / 2, "at this pace its whole list is new in 1 h")
    assert adaptive(replace(facts, turnover=5 * HOUR), NOW).wait / HOUR == pytest.approx(2.0)


def test_an_interval_that_a_person_set_is_not_shortened_by_a_pace() -> None:
    assert POLICIES["fixed"](ChannelFacts(interval=2 * HOUR, turnover=HOUR), NOW).wait == 2 * HOUR


def test_adaptive_lets_a_slow_channels_items_weigh_more() -> None:
    slow = replace(STEADY, items=9.5)
    wait = adaptive(ChannelFacts(rhythm=slow, price=Price(2.0), last_success_at=NOW), NOW).wait
    assert wait / HOUR == pytest.approx(sqrt(2 * 2.0 / (0.01 * 0.01**-0.25)))


def test_adaptive_counts_from_the_last_success_and_not_from_now() -> None:
    facts = ChannelFacts(rhythm=STEADY, price=Price(2.0), last_success_at=NOW - HOUR)
    assert adaptive(facts, NOW).wait / HOUR == pytest.approx(1.0)
    long_ago = replace(facts, last_success_at=NOW - 300 * DAY)
    assert adaptive(long_ago, NOW).wait < timedelta(0)


@pytest.mark.parametrize("interval", [HOUR, 20 * MINUTE])
def test_a_channel_nothing_is_known_of_is_polled_at_the_default_interval_however_dear_polls_are(
    interval: timedelta,
) -> None:
    plan = adaptive(ChannelFacts(price=Price(1e5), interval=interval), NOW)
    assert plan.wait == interval
    assert plan.reason == "nothing is known of its rhythm yet"


def test_a_wait_is_at_most_as_long_as_the_channel_was_watched() -> None:
    facts = ChannelFacts(price=Price(1e5), rhythm=Rhythm(as_of=in_hours(NOW), exposure=30.0))
    plan = adaptive(facts, NOW)
    assert plan.wait == 30 * HOUR
    assert plan.reason == "little is known of its rhythm: only its last 30 h"
    watched = replace(facts, rhythm=Rhythm(as_of=in_hours(NOW), exposure=200.0), bounds=PollBounds(longest=3 * DAY))
    assert adaptive(watched, NOW).wait == 3 * DAY


def test_a_busier_channel_is_polled_sooner() -> None:
    busier = replace(STEADY, items=STEADY.items * 9)
    quiet, busy = (adaptive(ChannelFacts(rhythm=one, price=Price(2.0)), NOW).wait for one in (STEADY, busier))
    assert busy < quiet / 2
