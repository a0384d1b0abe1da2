"""Whether failures are the hosts' own or ours: decided by numbers alone."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.net.outage import (
    FEW_DOMAINS,
    FEWEST_DOMAINS,
    HELD_S,
    LONGEST_PAUSE_S,
    SOON_S,
    WINDOW_S,
    Window,
    held_until,
    is_cleared,
    is_outage,
    next_pause,
)

numbers = st.integers(0, 10_000)


def test_a_dozen_domains_that_fail_while_none_answers_are_an_outage() -> None:
    assert is_outage(FEWEST_DOMAINS, 0)
    assert not is_outage(FEWEST_DOMAINS - 1, 0)


@given(numbers, numbers)
def test_a_fleet_of_which_half_answers_has_its_network(failing: int, answering: int) -> None:
    if answering and failing <= answering:
        assert not is_outage(failing, answering)


@given(numbers, numbers)
def test_more_answers_never_make_an_outage_and_more_failures_never_end_one(failing: int, answering: int) -> None:
    if is_outage(failing, answering):
        assert is_outage(failing + 1, answering)
    else:
        assert not is_outage(failing, answering + 1)


def test_a_failure_is_cleared_by_answers_that_came_after_it() -> None:
    assert is_cleared(failing=1, answers_since=1)
    assert is_cleared(failing=10, answers_since=2)
    assert not is_cleared(failing=11, answers_since=2)
    assert not is_cleared(failing=0, answers_since=0)


def test_a_host_that_fails_alone_is_blamed_at_once() -> None:
    assert held_until((1, 0), began=100, failed=110, others_work=False, others_come=False) == 110


def test_a_failure_waits_for_the_others_that_are_under_way_or_about_to_be() -> None:
    assert held_until((1, 0), began=100, failed=110, others_work=True, others_come=False) == 110 + HELD_S
    assert held_until((1, 0), began=100, failed=110, others_work=False, others_come=True) == 110 + SOON_S
    assert held_until((FEW_DOMAINS, 0), began=100, failed=110, others_work=False, others_come=False) == 110 + HELD_S


def test_with_many_failures_answers_from_before_are_given_time_to_age() -> None:
    assert (
        held_until((FEWEST_DOMAINS, 3), began=100, failed=101, others_work=False, others_come=False) == 100 + WINDOW_S
    )


def test_pauses_between_probes_grow_up_to_the_longest() -> None:
    pause, pauses = 1.0, []
    for _ in range(8):
        pauses.append(pause)
        pause = next_pause(pause)
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE_S


def test_the_window_counts_the_last_word_of_each_domain() -> None:
    window = Window()
    window.note("a.test", 1, is_failure=True)
    window.note("a.test", 2, is_failure=False)
    window.note("b.test", 2, is_failure=True)
    assert window.counted(3) == (1, 1)


def test_a_slow_failure_that_began_before_an_answer_does_not_outweigh_it() -> None:
    window = Window()
    window.note("a.test", 5, is_failure=False)
    window.note("a.test", 1, is_failure=True)
    assert window.counted(6) == (0, 1)


def test_the_window_forgets() -> None:
    window = Window()
    window.note("a.test", 1, is_failure=True)
    assert window.counted(1 + WINDOW_S) == (1, 0)
    assert window.counted(1.1 + WINDOW_S) == (0, 0)
