from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater.discover.cadence.answers import ValidatorRecord, WholeBecause, is_lie, whole_because
from headwater.net.validators import Validators

NOW = datetime(2026, 3, 10, tzinfo=UTC)
DAY = timedelta(days=1)
OVERDUE = ValidatorRecord(last_status=304, is_silent=True, newest_at=NOW - 4 * DAY)
SENT = Validators('"one"', "Mon, 02 Mar 2026 08:00:00 GMT")
OTHER = Validators('"two"', "Tue, 03 Mar 2026 08:00:00 GMT")


def test_only_an_overdue_channel_that_says_not_modified_is_asked_in_full() -> None:
    assert whole_because(OVERDUE, NOW) is WholeBecause.OVERDUE
    assert whole_because(replace(OVERDUE, is_silent=False), NOW) is None
    assert whole_because(replace(OVERDUE, last_status=200), NOW) is None
    assert whole_because(ValidatorRecord(), NOW) is None


@pytest.mark.parametrize(
    ("checked", "is_asked"), [(None, True), (DAY, False), (2 * DAY, True), (3 * DAY, True), (5 * DAY, True)]
)
def test_it_is_asked_in_full_again_when_the_silence_has_doubled(checked: timedelta | None, is_asked: bool) -> None:
    record = replace(OVERDUE, checked_at=None if checked is None else NOW - checked)
    assert (whole_because(record, NOW) is WholeBecause.OVERDUE) is is_asked


def test_distrust_lasts_until_its_day_whatever_else_is_known() -> None:
    record = ValidatorRecord(distrusted_until=NOW)
    assert whole_because(record, NOW - DAY) is WholeBecause.DISTRUSTED
    assert whole_because(record, NOW) is None


def test_news_that_was_there_when_it_said_not_modified_is_a_lie() -> None:
    assert is_lie(SENT, OTHER, [NOW - DAY], NOW)
    assert is_lie(SENT, OTHER, [None], NOW), "of undated news nobody knows better"
    assert is_lie(SENT, OTHER, [NOW], None)


def test_news_that_came_since_with_other_validators_is_none() -> None:
    assert not is_lie(SENT, OTHER, [NOW], NOW - DAY)
    assert not is_lie(SENT, OTHER, [], NOW)
    assert is_lie(SENT, replace(OTHER, etag='"one"'), [NOW], NOW - DAY), "it repeats its ETag"
    assert is_lie(SENT, replace(OTHER, last_modified=SENT.last_modified), [NOW], NOW - DAY)
    assert not is_lie(Validators(), Validators(), [NOW], NOW - DAY), "nothing was sent that could be repeated"
