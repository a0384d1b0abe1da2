"""Whether failures are the hosts' own or ours: decided by numbers alone."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headwater.net.outage import (
    ANSWERED_WITHIN_S,
    FAILING_PER_ANSWER,
    FEW_DOMAINS,
    FEWEST_DOMAINS,
    HELD_S,
    LONGEST_PAUSE_S,
    PERHAPS_OURS,
    SOON_S,
    OutageWindow,
    Seen,
    held_until,
    is_cleared,
    next_pause,
    outage_in,
    outage_window_for,
)
from headwater.net.problems import Problem

NOW = 1_000.0
LONG_AGO = NOW - ANSWERED_WITHIN_S
outcomes = st.lists(st.booleans(), max_size=60)


def asked(*fails: bool, until: float = LONG_AGO) -> list[Seen]:
    """One domain a tenth of a second, the last of them at `until`; newest first."""
    return [(until - 0.1 * number, is_failure) for number, is_failure in enumerate(reversed(fails))]


def test_what_may_be_ours_are_problems_of_requests() -> None:
    assert set(map(str, Problem)) >= PERHAPS_OURS


def test_a_dozen_domains_that_fail_while_none_answers_are_an_outage() -> None:
    assert outage_in(asked(*[True] * FEWEST_DOMAINS), NOW) == (FEWEST_DOMAINS, 0)
    assert outage_in(asked(*[True] * (FEWEST_DOMAINS - 1)), NOW) is None


def test_answers_from_before_the_outage_do_not_hide_it() -> None:
    assert outage_in(asked(*[False] * 500, *[True] * FEWEST_DOMAINS), NOW) == (FEWEST_DOMAINS, 0)


def test_one_that_answers_during_it_needs_more_that_fail() -> None:
    failing = [True] * (FEWEST_DOMAINS + FAILING_PER_ANSWER - 1)
    assert outage_in(asked(*failing, False), NOW) is None
    assert outage_in(asked(True, *failing, False), NOW) == (FEWEST_DOMAINS + FAILING_PER_ANSWER, 1)


def test_quick_failures_are_believed_when_others_have_had_time_to_answer() -> None:
    quick = asked(*[True] * FEWEST_DOMAINS, until=NOW)
    assert outage_in(quick, NOW) is None
    assert outage_in(quick, NOW + ANSWERED_WITHIN_S) == (FEWEST_DOMAINS, 0)


@given(outcomes)
def test_a_fleet_that_answers_half_of_the_time_has_its_network(fails: list[bool]) -> None:
    spread = [one for is_failure in fails for one in (is_failure, False)]
    assert outage_in(asked(*spread), NOW) is None


@given(outcomes)
def test_a_newer_failure_never_ends_an_outage(fails: list[bool]) -> None:
    if outage_in(asked(*fails), NOW):
        assert outage_in(asked(*fails, True), NOW)


def test_a_failure_is_cleared_by_answers_that_came_after_it() -> None:
    assert is_cleared(failing=1, answers_since=1)
    assert is_cleared(failing=10, answers_since=2)
    assert not is_cleared(failing=11, answers_since=2)
    assert not is_cleared(failing=0, answers_since=0)


def test_a_host_that_fails_alone_is_blamed_at_once() -> None:
    assert held_until((1, 0), 110, others_work=False, others_come=False) == 110


def test_a_failure_waits_for_the_others_that_are_under_way_or_about_to_be() -> None:
    assert held_until((1, 0), 110, others_work=True, others_come=False) == 110 + HELD_S
    assert held_until((1, 0), 110, others_work=False, others_come=True) == 110 + SOON_S
    assert held_until((FEW_DOMAINS, 0), 110, others_work=False, others_come=False) == 110 + HELD_S


def test_with_many_failures_more_are_waited_for() -> None:
    assert held_until((FEWEST_DOMAINS, 300), 110, others_work=False, others_come=False) == 110 + HELD_S


def test_pauses_between_probes_grow_up_to_the_longest() -> None:
    pause, pauses = 1.0, []
    for _ in range(8):
        pauses.append(pause)
        pause = next_pause(pause)
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE_S


def test_the_window_keeps_the_last_word_of_each_domain() -> None:
    window = OutageWindow(30)
    window.note("a.test", 1, is_failure=True)
    window.note("a.test", 2, is_failure=False)
    window.note("b.test", 3, is_failure=True)
    assert window.seen(3) == [(3, True), (2, False)]


def test_a_slow_failure_that_began_before_an_answer_does_not_outweigh_it() -> None:
    window = OutageWindow(30)
    window.note("a.test", 5, is_failure=False)
    window.note("a.test", 1, is_failure=True)
    assert window.seen(6) == [(5, False)]


def test_the_window_forgets() -> None:
    window = OutageWindow(30)
    window.note("a.test", 1, is_failure=True)
    assert window.seen(31) == [(1, True)]
    assert window.seen(31.1) == []


def test_a_failure_that_took_as_long_as_it_may_is_still_remembered_while_it_is_held_back() -> None:
    assert outage_window_for(timedelta(seconds=60)) >= 60 + HELD_S
