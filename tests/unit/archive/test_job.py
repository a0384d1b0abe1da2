from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from headwater.archive.document import Key
from headwater.archive.job import (
    Ignored,
    JobStatus,
    NewJob,
    SeenAgain,
    StandingJob,
    Write,
    is_over,
    judge_sighting,
    merge,
    row_of,
)
from headwater.errors import UsageError

NOW = datetime(2026, 6, 15, 6, tzinfo=UTC)
PAST, FUTURE = date(2026, 6, 1), date(2026, 7, 1)


def job(**fields: Any) -> NewJob:
    return NewJob(**{"canonical_hash": b"h" * 32, "title": "Nurse", "org_name": "Org", "apply_url": "u"} | fields)


def standing(status: JobStatus = JobStatus.ACTIVE, **fields: Any) -> StandingJob:
    return StandingJob(job(**fields), status, 4)


def test_a_vacancy_nobody_knew_is_written() -> None:
    assert judge_sighting(None, job(), NOW) == Write(job(), 1)


def test_a_vacancy_that_is_over_before_it_was_seen_is_ignored() -> None:
    assert judge_sighting(None, job(deadline=PAST), NOW) == Ignored()


def test_a_vacancy_that_says_the_same_is_only_seen_again() -> None:
    assert judge_sighting(standing(city="Rome"), job(city="Rome"), NOW) == SeenAgain(job().key)


def test_how_it_was_read_is_no_change() -> None:
    read_otherwise = job(raw_metadata={"a": 1}, data_provenance="api", language="en", is_detailed=True)
    assert judge_sighting(standing(), read_otherwise, NOW) == SeenAgain(job().key)


def test_a_vacancy_that_says_something_else_is_written_anew() -> None:
    assert judge_sighting(standing(city="Rome"), job(city="Oslo"), NOW) == Write(job(city="Oslo"), 5)


def test_an_expired_vacancy_that_is_listed_again_is_back() -> None:
    assert judge_sighting(standing(JobStatus.EXPIRED), job(), NOW) == Write(job(), 5)


def test_an_expired_vacancy_whose_day_has_passed_stays_expired() -> None:
    assert judge_sighting(standing(JobStatus.EXPIRED, deadline=PAST), job(city="Oslo"), NOW) == SeenAgain(job().key)


def test_a_new_deadline_brings_it_back() -> None:
    told = judge_sighting(standing(JobStatus.EXPIRED, deadline=PAST), job(deadline=FUTURE), NOW)
    assert told == Write(job(deadline=FUTURE), 5)


def test_what_a_person_took_out_stays_out() -> None:
    assert judge_sighting(standing(JobStatus.DELETED), job(city="Oslo"), NOW) == Ignored()


def test_what_is_not_said_takes_nothing_back() -> None:
    rich = job(city="Rome", mission_tags=("health",), international_eligible=True)
    assert merge(rich, job()) == rich


def test_a_list_does_not_overrule_the_vacancys_own_page() -> None:
    detailed = job(is_detailed=True, description_snippet="All of it", city="Rome")
    listed = job(description_snippet="A line", city="Roma", country="Italy")
    merged = merge(detailed, listed)
    assert (merged.description_snippet, merged.city, merged.country) == ("All of it", "Rome", "Italy")
    assert merge(listed, detailed).description_snippet == "All of it"


def test_a_list_may_put_off_the_deadline() -> None:
    assert merge(job(is_detailed=True, deadline=PAST), job(deadline=FUTURE)).deadline == FUTURE


@pytest.mark.parametrize(("hour", "over"), [(11, False), (13, True)])
def test_a_day_is_over_when_it_is_over_everywhere(hour: int, over: bool) -> None:
    assert is_over(job(deadline=date(2026, 6, 14)), datetime(2026, 6, 15, hour, tzinfo=UTC)) is over


def test_a_row_says_in_json_what_the_columns_are_called() -> None:
    row = row_of(Write(job(compensation_min_usd=Decimal("1.50"), document=Key(7, b"d" * 32)), 3))
    assert (row["bucket"], row["version"], row["compensation_min_usd"]) == (ord("h"), 3, "1.50")
    assert (row["document_bucket"], row["document_hash"]) == (7, "\\x" + "64" * 32)
    assert row_of(Write(job(), 1))["document_hash"] is None


@pytest.mark.parametrize("fields", [{"title": ""}, {"canonical_hash": b"short"}])
def test_a_vacancy_without_a_title_or_a_whole_hash_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="lacks"):
        job(**fields)
