from datetime import timedelta

from headwater.run.chores import LEAST_LONGEST_WAIT, wait_before_next

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def test_a_chore_that_succeeds_is_done_again_at_its_time() -> None:
    assert wait_before_next(HOUR, failures=0) == HOUR


def test_a_rare_chore_that_failed_is_tried_again_soon_and_then_less_often() -> None:
    assert [wait_before_next(HOUR, failures) / SECOND for failures in (1, 2, 3, 10, 13, 100)] == [
        1,
        2,
        4,
        512,
        3600,
        3600,
    ]


def test_a_frequent_chore_that_keeps_failing_is_tried_less_often() -> None:
    assert wait_before_next(SECOND, failures=1) == SECOND
    assert wait_before_next(SECOND, failures=50) == LEAST_LONGEST_WAIT
