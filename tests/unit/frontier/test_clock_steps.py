from datetime import UTC, datetime, timedelta

import pytest

from headwater.frontier.clock_steps import NO_STEP, ClockLook, step_of

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SECOND, HOURS = timedelta(seconds=1), timedelta(hours=2)


def test_a_clock_that_runs_as_ours_was_not_set() -> None:
    assert step_of(NOON + SECOND, 101.0, NOON, ClockLook(NOON, 100.0)) == NO_STEP


def test_a_clock_behind_what_was_seen_was_set_back() -> None:
    assert step_of(NOON - HOURS, 101.0, NOON, ClockLook(NOON, 100.0)) == -HOURS
    assert step_of(NOON - HOURS, 101.0, NOON, None) == -HOURS


def test_a_clock_that_outran_ours_was_set_forward() -> None:
    assert step_of(NOON + HOURS + SECOND, 101.0, NOON, ClockLook(NOON, 100.0)) == HOURS


def test_nobody_follows_a_step_that_another_process_has_seen() -> None:
    assert step_of(NOON + HOURS + SECOND, 101.0, NOON + HOURS, ClockLook(NOON, 100.0)) == NO_STEP


def test_maintenance_that_did_not_run_for_hours_has_seen_no_step() -> None:
    assert step_of(NOON + HOURS, 100.0, NOON, None) == NO_STEP
    assert step_of(NOON + HOURS, 100.0 + HOURS.total_seconds(), NOON, ClockLook(NOON, 100.0)) == NO_STEP


@pytest.mark.parametrize("drift", [-4, -1, 1, 4])
def test_drift_is_no_step(drift: int) -> None:
    assert step_of(NOON + drift * SECOND, 100.0, NOON, ClockLook(NOON, 100.0)) == NO_STEP
