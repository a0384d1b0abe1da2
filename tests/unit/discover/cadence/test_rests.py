from datetime import timedelta

import pytest

from headwater.discover.cadence.rests import ErrorClass, backoff_after, rest_after

HOUR = timedelta(hours=1)
BACKOFF = timedelta(minutes=77)


@pytest.mark.parametrize(
    ("error", "borne", "rest"),
    [
        (ErrorClass.FORBIDDEN, 5, 24),
        (ErrorClass.NOT_FOUND, 3, 48),
        (ErrorClass.UPSTREAM, 10, 6),
        (ErrorClass.NETWORK, 10, 12),
        (ErrorClass.UNREADABLE, 5, 24),
    ],
)
def test_each_class_is_borne_so_often_and_then_rests(error: ErrorClass, borne: int, rest: int) -> None:
    before, after, later = (rest_after(error, n, BACKOFF) for n in (borne - 1, borne, borne + 50))
    assert (before.wait, before.is_disabled_for_now) == (BACKOFF, False)
    assert (after.wait, after.is_disabled_for_now) == (rest * HOUR, True)
    assert later.wait == rest * HOUR


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (None, "its server failed"),
        (502, "its server failed"),
        (302, "its redirects lead nowhere"),
        (400, "its answer is HTTP 400"),
        (202, "its answer is HTTP 202"),
    ],
)
def test_a_server_that_answers_has_not_failed(status: int | None, said: str) -> None:
    assert rest_after(ErrorClass.UPSTREAM, 1, BACKOFF, status=status).reason == f"after an error ({said})"


def test_gone_is_believed_only_the_second_time_some_minutes_later() -> None:
    first, second = rest_after(ErrorClass.GONE, 1, BACKOFF), rest_after(ErrorClass.GONE, 2, BACKOFF)
    assert (first.wait, first.is_disabled_for_now) == (timedelta(minutes=15), False)
    assert (second.wait, second.is_disabled_for_now) == (72 * HOUR, True)


def test_one_gone_after_other_errors_is_not_confirmed() -> None:
    assert not rest_after(ErrorClass.GONE, 7, BACKOFF, of_this_class=1).is_disabled_for_now


def test_rate_limits_double_to_eight_hours_and_never_disable() -> None:
    waits = [
        rest_after(ErrorClass.RATE_LIMITED, n, BACKOFF).wait / timedelta(minutes=1) for n in (1, 2, 3, 6, 7, 1_000)
    ]
    assert waits == [10, 20, 40, 320, 480, 480]
    assert not rest_after(ErrorClass.RATE_LIMITED, 1_000, BACKOFF).is_disabled_for_now


def test_ten_errors_in_a_row_are_loud_whatever_their_class() -> None:
    assert [rest_after(ErrorClass.NETWORK, n, BACKOFF, of_this_class=1).is_loud for n in (9, 10, 11)] == [
        False,
        True,
        True,
    ]


def test_the_interval_doubles_with_every_error_up_to_a_day() -> None:
    assert [backoff_after(HOUR, n) / HOUR for n in (0, 1, 2, 3, 4, 5, 10**9)] == [1, 2, 4, 8, 16, 24, 24]


def test_backing_off_never_shortens_a_long_interval() -> None:
    assert backoff_after(72 * HOUR, 3) == 72 * HOUR
    assert backoff_after(timedelta.max, 40) == timedelta.max
