"""When a host learns, and when its template goes: decided without a database."""

from collections import Counter
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.learning.life import (
    FIRST_TRAINING,
    MOST_OF_EACH,
    HostLearning,
    TemplateStanding,
    Use,
    UseTally,
    after,
    after_use,
    why_drifting,
    why_learn,
    why_off,
)

NOBODY = UUID(int=0)
GOOD = TemplateStanding(section="", version=3, agreement=0.9)
HASHES = st.lists(st.integers(0, 30).map(lambda n: bytes([n])), max_size=20)


def tally(well: int = 0, refused: int = 0) -> UseTally:
    return UseTally(NOBODY, [bytes([n]) for n in range(well)], [bytes([100 + n]) for n in range(refused)])


def refusing(standing: TemplateStanding, times: int, reason: str = "no_container") -> TemplateStanding:
    for _ in range(times):
        standing = after_use(standing, Use(refused=Counter({reason: 1})))
    return standing


def test_a_host_learns_from_its_fourth_page_on() -> None:
    assert why_learn(after(HostLearning(), tally(FIRST_TRAINING - 1)), []) == ""
    assert why_learn(after(HostLearning(), tally(FIRST_TRAINING)), []) != ""


def test_a_training_that_taught_nothing_makes_the_next_one_wait_for_twice_as_many_pages() -> None:
    assert why_learn(HostLearning(fresh=2 * FIRST_TRAINING - 1, failures=1), []) == ""
    assert why_learn(HostLearning(fresh=2 * FIRST_TRAINING, failures=1), []) != ""
    assert why_learn(HostLearning(fresh=1_000, failures=50), []) != "", "but not for ever"


@pytest.mark.parametrize(
    "host_learning", [HostLearning(fresh=100, is_waiting=True), HostLearning(fresh=100, is_disabled=True)]
)
def test_nobody_learns_twice_at_once_or_against_a_persons_will(host_learning: HostLearning) -> None:
    assert why_learn(host_learning, []) == ""


def test_a_page_seen_again_is_not_new() -> None:
    once = after(HostLearning(), tally(3))
    assert after(once, tally(3)) == once


def test_a_template_that_serves_needs_no_training() -> None:
    served = after_use(GOOD, Use(served=500))
    assert why_learn(HostLearning(fresh=100), [served]) == ""


def test_refusals_in_a_row_are_drift_and_say_which() -> None:
    steady = after_use(GOOD, Use(served=500))
    assert why_drifting(refusing(steady, 3)) == ""
    assert "no_container" in why_drifting(refusing(steady, 6))
    assert why_learn(HostLearning(fresh=FIRST_TRAINING), [refusing(steady, 6)]) != ""


def test_a_refusal_now_and_then_is_no_drift() -> None:
    standing = GOOD
    for _ in range(50):
        standing = refusing(after_use(standing, Use(served=8)), 1)
    assert why_drifting(standing) == ""


def test_it_is_measured_by_its_own_past_and_not_by_the_general_extractor() -> None:
    odd_host = replace(GOOD, agreement=0.6)
    assert why_off(after_use(odd_host, Use(served=10, agreements=[0.6] * 10))) == ""
    assert why_off(after_use(GOOD, Use(served=10, agreements=[0.6] * 10))) != ""


def test_one_bad_audit_switches_nothing_off() -> None:
    assert why_off(after_use(GOOD, Use(served=1, agreements=[0.0]))) == ""


@given(HASHES, HASHES, HASHES)
def test_the_pool_is_bounded_and_keeps_the_newest(known: list[bytes], well: list[bytes], refused: list[bytes]) -> None:
    host_learning = after(after(HostLearning(), UseTally(NOBODY, known, [])), UseTally(NOBODY, well, refused))
    assert len(host_learning.pool) == len(set(host_learning.pool)) <= MOST_OF_EACH
    assert set(list(dict.fromkeys(reversed(well)))[:MOST_OF_EACH]) <= set(host_learning.pool)
    assert set(list(dict.fromkeys(reversed(refused)))[:MOST_OF_EACH]) == set(host_learning.refused)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_what_is_counted_adds_up(reports: list[tuple[int, int]]) -> None:
    standing = GOOD
    for served, refused in reports:
        standing = after_use(standing, Use(served, Counter({"too_short": refused}) if refused else Counter()))
    assert standing.served == sum(served for served, _ in reports)
    assert standing.refused == standing.reasons.total() == sum(refused for _, refused in reports)
    assert 0.0 <= standing.refusing <= 1.0
