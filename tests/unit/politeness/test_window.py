"""When a granted request may start, and how wide a window a busy process asks for."""

from datetime import timedelta

import pytest

from headwater.politeness.slots import LEASE_MARGIN, SLACK, WIDEST_SLACK, Lag, StartWindow, start_window_for

LEASE = timedelta(seconds=60)
WAIT = timedelta(seconds=2)


def lag_after(*seconds: float) -> Lag:
    lag = Lag()
    for took in seconds:
        lag.heard(10.0, 10.0 + took)
    return lag


def test_a_window_opens_counted_from_the_answer_and_closes_counted_from_the_question() -> None:
    assert start_window_for(10.0, 10.02, WAIT, LEASE, is_alone=False) == pytest.approx((12.02, 12.03, 12.0))


def test_alone_a_request_may_start_until_shortly_before_its_lease_ends() -> None:
    window = start_window_for(10.0, 10.02, WAIT, LEASE, is_alone=True)
    assert window.latest == pytest.approx(10.0 + (LEASE - LEASE_MARGIN).total_seconds())


def test_a_wider_slack_is_a_longer_window_but_never_reaches_the_end_of_the_lease() -> None:
    wide = start_window_for(10.0, 10.02, WAIT, LEASE, is_alone=False, slack=timedelta(seconds=1))
    assert wide.latest == pytest.approx(13.0)
    short = start_window_for(10.0, 10.02, WAIT, timedelta(seconds=7), is_alone=False, slack=timedelta(seconds=1))
    assert short.latest == pytest.approx(12.0)


def test_an_answer_heard_too_late_leaves_no_window_at_all() -> None:
    window = start_window_for(10.0, 10.05, WAIT, LEASE, is_alone=False)
    assert not any(window.allows(moment) for moment in window)


def test_lateness_is_never_less_than_nothing() -> None:
    assert StartWindow(0.0, 1.0, 0.5).lateness(0.4) == timedelta()
    assert StartWindow(0.0, 1.0, 0.5).lateness(0.75) == timedelta(seconds=0.25)


def test_a_calm_process_asks_for_the_usual_slack() -> None:
    assert lag_after(0.001, 0.003).slack == SLACK


def test_a_busy_process_asks_for_a_window_it_will_not_miss() -> None:
    lag = lag_after(0.08)
    window = start_window_for(10.0, 10.08, timedelta(), LEASE, is_alone=False, slack=lag.slack)
    assert window.latest - window.earliest > 0.08


def test_a_bad_moment_is_remembered_and_then_forgotten() -> None:
    assert lag_after(0.08, 0.001).slack > timedelta(seconds=0.08)
    assert lag_after(0.08, *[0.001] * 30).slack == SLACK


def test_no_window_is_wider_than_the_widest() -> None:
    assert lag_after(60.0).slack == WIDEST_SLACK
