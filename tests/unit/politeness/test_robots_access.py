from datetime import UTC, datetime, timedelta

import pytest

from headwater.fetch.robots import (
    RobotsAccess,
    RobotsFailure,
    WhileUnreachable,
    access_from_response,
    fresh_for,
    while_unreachable,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("statuses", "access"),
    [
        ((200, 203, 204, 206), RobotsAccess.RULES),
        ((304,), RobotsAccess.UNCHANGED),
        ((400, 401, 403, 404, 410, 418, 451, 499), RobotsAccess.ALLOW_ALL),
        ((300, 301, 302, 307, 308), RobotsAccess.ALLOW_ALL),
        ((429, 500, 502, 503, 504, 599), RobotsAccess.UNREACHABLE),
        ((0, 100, 199, 600, 999), RobotsAccess.UNREACHABLE),
    ],
)
def test_a_status_says_what_holds(statuses: tuple[int, ...], access: RobotsAccess) -> None:
    assert {access_from_response(status) for status in statuses} == {access}


@pytest.mark.parametrize("failure", RobotsFailure)
def test_no_answer_is_no_permission(failure: RobotsFailure) -> None:
    assert access_from_response(failure) is RobotsAccess.UNREACHABLE


@pytest.mark.parametrize(
    ("max_age", "is_job_host", "expected"),
    [
        (None, False, 24 * HOUR),
        (None, True, 12 * HOUR),
        (365 * 24 * HOUR, False, 24 * HOUR),
        (24 * HOUR, True, 12 * HOUR),
        (3 * HOUR, False, 3 * HOUR),
        (3 * HOUR, True, 3 * HOUR),
        (timedelta(), False, HOUR),
        (-HOUR, True, HOUR),
    ],
)
def test_the_server_may_shorten_our_term_to_an_hour(
    max_age: timedelta | None, is_job_host: bool, expected: timedelta
) -> None:
    assert fresh_for(max_age, is_job_host=is_job_host) == expected


def test_a_copy_serves_while_the_file_is_unreachable() -> None:
    assert while_unreachable(NOW, NOW, has_copy=True) is WhileUnreachable.USE_COPY
    assert while_unreachable(NOW, NOW + timedelta(days=29), has_copy=True) is WhileUnreachable.USE_COPY


def test_without_a_copy_entries_wait() -> None:
    assert while_unreachable(NOW, NOW + timedelta(days=29), has_copy=False) is WhileUnreachable.WAIT


@pytest.mark.parametrize("has_copy", [True, False])
def test_after_thirty_days_we_give_up(has_copy: bool) -> None:
    assert while_unreachable(NOW, NOW + timedelta(days=30), has_copy=has_copy) is WhileUnreachable.GIVE_UP
