from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headwater.chance import Random
from headwater.discover.cadence.channel import ChannelFacts, Plan
from headwater.discover.cadence.hubs import (
    FIRST_PROOFS,
    FORGIVEN_AFTER,
    MOST_PROOFS,
    PUSHED,
    SAFETY_EVERY,
    SHORTEST_QUIET,
    HubRecord,
    after_poll,
    after_push,
    longest_quiet,
    safety_plan,
)
from headwater.discover.cadence.planning import POLICIES, next_poll
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.cadence.rhythm import Observation, Rhythm, observe

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
SINCE = NOW - timedelta(days=7)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


UNKNOWN = HubRecord()


def proved(times: int, record: HubRecord = UNKNOWN) -> HubRecord:
    for _ in range(times):
        record = after_push(record, [NOW - MINUTE], NOW, SINCE)
    return record


def test_a_hub_is_trusted_after_proofs_in_a_row_and_not_before() -> None:
    assert not proved(FIRST_PROOFS - 1).is_trusted
    assert proved(FIRST_PROOFS).is_trusted
    assert proved(FIRST_PROOFS).last_push_at == NOW


def test_what_bears_no_date_is_a_proof_when_it_is_pushed() -> None:
    assert after_push(HubRecord(), [None], NOW, SINCE).proofs == 1


def test_a_push_that_brings_nothing_new_changes_nothing() -> None:
    assert after_push(proved(1), [], NOW + HOUR, SINCE) == proved(1)


def test_what_was_published_before_the_subscription_proves_nothing() -> None:
    told = after_push(HubRecord(), [SINCE - DAY, SINCE - HOUR], NOW, SINCE)
    assert (told.proofs, told.missed, told.pushes) == (0, 0, 1)


def test_one_late_item_ends_the_row() -> None:
    late = after_push(proved(FIRST_PROOFS), [NOW - MINUTE, NOW - HOUR], NOW, SINCE)
    assert not late.is_trusted
    assert (late.proofs, late.missed) == (0, 1)


def test_an_item_that_a_poll_found_first_ends_the_row() -> None:
    found = after_poll(proved(FIRST_PROOFS), [NOW - HOUR], NOW, NOW - DAY, SINCE)
    assert (found.is_trusted, found.missed) == (False, 1)


def test_a_poll_that_came_before_the_hub_could_push_takes_no_trust() -> None:
    assert after_poll(proved(3), [NOW - MINUTE], NOW, NOW - DAY, SINCE).is_trusted


def test_an_undated_item_was_missed_where_nobody_looked_for_long() -> None:
    assert after_poll(proved(3), [None], NOW, NOW - 5 * MINUTE, SINCE).is_trusted
    assert not after_poll(proved(3), [None], NOW, NOW - DAY, SINCE).is_trusted


def test_what_came_before_the_subscription_was_not_missed() -> None:
    record = proved(3)
    assert after_poll(record, [SINCE - HOUR], NOW, SINCE - DAY, SINCE) == record
    assert after_poll(record, [None], NOW, SINCE - DAY, SINCE) == record
    assert after_poll(record, [None], NOW, None, SINCE) == record


def test_trust_that_was_lost_is_twice_as_dear_up_to_a_bound() -> None:
    record = proved(FIRST_PROOFS)
    for _ in range(10):
        record = after_poll(record, [NOW - HOUR], NOW, NOW - DAY, SINCE)
        assert not proved(record.needed - 1, record).is_trusted
        record = proved(record.needed, record)
    assert record.needed == MOST_PROOFS


def test_a_hub_that_was_never_trusted_pays_nothing_for_its_silence() -> None:
    silent = HubRecord()
    for _ in range(100):
        silent = after_poll(silent, [NOW - HOUR], NOW, NOW - HOUR, SINCE)
    assert (silent.needed, silent.missed) == (FIRST_PROOFS, 100)


def test_long_good_conduct_is_rewarded() -> None:
    betrayed = HubRecord(needed=2 * FIRST_PROOFS)
    assert proved(FORGIVEN_AFTER * betrayed.needed, betrayed).needed == FIRST_PROOFS


def test_the_safety_poll_comes_within_a_day_whatever_the_jitter() -> None:
    for jitter in (0.0, 0.02, 0.1, 0.5):
        plan = safety_plan(Plan(HOUR, "by its rhythm", jitter, MINUTE, 7 * DAY))
        assert plan.wait * (1 + jitter) <= SAFETY_EVERY
        assert plan.reason == PUSHED


def test_a_policy_that_waits_longer_anyway_is_left_alone() -> None:
    plan = Plan(3 * DAY, "every 3 d", 0.1, MINUTE, 7 * DAY)
    assert safety_plan(plan) == plan


def test_a_pushed_channel_is_polled_once_a_day_and_its_reason_says_so() -> None:
    facts = ChannelFacts(last_success_at=NOW, last_item_at=NOW, is_pushed=True)
    for policy in POLICIES:
        following = next_poll(policy, facts, NOW, Random(7))
        assert following.interval <= SAFETY_EVERY or policy == "frequency"
        if policy != "frequency":
            assert following.reason == PUSHED
            assert following.interval > SAFETY_EVERY / 2


def test_errors_and_overflows_come_before_a_hub() -> None:
    facts = ChannelFacts(last_success_at=NOW, is_pushed=True)
    failing = replace(facts, consecutive_errors=1, errors_of_class=1, error=ErrorClass.UPSTREAM)
    assert next_poll("adaptive", failing, NOW, Random(7)).reason != PUSHED
    overflown = replace(facts, items_span=2 * HOUR)
    assert next_poll("adaptive", overflown, NOW, Random(7)).interval <= HOUR


def test_a_busy_channel_is_looked_at_sooner_when_its_hub_says_nothing() -> None:
    busy = Rhythm()
    for hour in range(24 * 7):
        at = SINCE + hour * HOUR
        busy = observe(busy, Observation(at, at - HOUR, [at - MINUTE * minute for minute in (5, 25, 45)]))
    slow = observe(Rhythm(), Observation(NOW, SINCE, [NOW - DAY]))
    assert SHORTEST_QUIET <= longest_quiet(busy, NOW) < 3 * HOUR
    assert longest_quiet(slow, NOW) == SAFETY_EVERY
