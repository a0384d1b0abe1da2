"""Long work elsewhere than on a terminal is neither silent nor chatty."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.clocks import ManualClock

from headwater.cli.progress import SAID_EVERY_SECONDS, Progress, saying_now_and_then


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 3, 2, tzinfo=UTC))


def test_a_log_gets_a_line_now_and_then(clock: ManualClock, capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(saying_now_and_then("importing", clock), 100_000)
    for _ in range(20):
        clock.move(timedelta(seconds=SAID_EVERY_SECONDS / 8))
        progress(1_000)
    assert capsys.readouterr().err.splitlines() == ["importing: 8,000 of 100,000", "importing: 16,000 of 100,000"]
    assert progress.done == 20_000


def test_short_work_says_nothing_of_its_progress(clock: ManualClock, capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(saying_now_and_then("pages", clock), None)
    clock.move(timedelta(seconds=SAID_EVERY_SECONDS - 1))
    progress(1)
    assert capsys.readouterr().err == ""


def test_a_total_may_become_known_with_a_step(clock: ManualClock, capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(saying_now_and_then("pages", clock), None)
    for total in (None, 40):
        clock.move(timedelta(seconds=SAID_EVERY_SECONDS))
        progress(1, total)
    assert capsys.readouterr().err.splitlines() == ["pages: 1", "pages: 2 of 40"]
