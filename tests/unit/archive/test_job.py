from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from headwater.archive.job import (
    Ignored,
    JobStatus,
    SeenAgain,
    SeenElsewhere,
    StandingJob,
    Teller,
    Write,
    is_over,
    judge_sighting,
    merge,
    row_of,
)
from headwater.errors import UsageError
from headwater.extraction.jobs.answers import as_json, harvest_from
from headwater.extraction.jobs.normalise import Harvest
from headwater.urls.domains import Voice
from headwater.urls.fingerprint import DocumentKey
from headwater.vacancy import NewJob, jobs_on

NOW = datetime(2026, 6, 15, 6, tzinfo=UTC)
PAST, FUTURE = date(2026, 6, 1), date(2026, 7, 1)


def job(**fields: Any) -> NewJob:
    ours = {"canonical_hash": b"h" * 32, "title": "Nurse", "org_name": "Org", "apply_url": "https://jobs.org.test/1"}
    return NewJob(**ours | fields)


def teller(source: int = 1, *, speaks: bool = True, **fields: Any) -> Teller:
    return Teller(UUID(int=source), "https://list.test/", Voice("org.test" if speaks else "list.test"), **fields)


def standing(status: JobStatus = JobStatus.ACTIVE, *, spoken: bool = True, **fields: Any) -> StandingJob:
    is_deleted = status is JobStatus.DELETED
    return StandingJob(job(**fields), status, 4, UUID(int=1), is_spoken_for=spoken, is_deleted_by_person=is_deleted)


def test_a_vacancy_nobody_knew_is_written() -> None:
    assert judge_sighting(None, job(), teller(), NOW) == Write(job(), 1, True)


def test_a_vacancy_that_is_over_before_it_was_seen_is_ignored() -> None:
    assert judge_sighting(None, job(deadline=PAST), teller(), NOW) == Ignored()


def test_a_vacancy_that_says_the_same_is_only_seen_again() -> None:
    assert judge_sighting(standing(city="Rome"), job(city="Rome"), teller(), NOW) == SeenAgain(job().key)


def test_how_it_was_read_is_no_change() -> None:
    read_otherwise = job(raw_metadata={"a": 1}, data_provenance="api", language="en", is_detailed=True)
    assert judge_sighting(standing(language="fr"), read_otherwise, teller(), NOW) == SeenAgain(job().key)


def test_a_page_that_says_that_it_is_over_is_believed_where_no_later_day_is_known() -> None:
    seen = judge_sighting(standing(), job(deadline=PAST, is_detailed=True), teller(), NOW)
    assert isinstance(seen, Write)
    assert seen.job.deadline == PAST
    put_off = judge_sighting(standing(deadline=FUTURE), job(deadline=PAST, is_detailed=True), teller(), NOW)
    assert put_off == SeenAgain(job().key)


def test_a_language_that_nobody_knew_is_written_once() -> None:
    seen = judge_sighting(standing(), job(language="en"), teller(), NOW)
    assert isinstance(seen, Write)
    assert (seen.job.language, seen.version) == ("en", 5)
    assert judge_sighting(standing(language="en"), job(), teller(), NOW) == SeenAgain(job().key)


def assuming(*names: str, **fields: Any) -> NewJob:
    return job(raw_metadata={"facts": {}, "assumed": list(names)}, **fields)


@pytest.mark.parametrize(
    ("name", "assumed", "said"),
    [
        ("org_name", "The board", "The employer"),
        ("org_type", "un", "ngo"),
        ("level_norm", "mid", "senior"),
        ("work_modality", "onsite", "remote"),
        ("career_type", "staff", "consultancy"),
    ],
)
@pytest.mark.parametrize("is_said_first", [True, False])
@pytest.mark.parametrize("is_page_assuming", [True, False])
def test_what_was_assumed_never_outranks_what_was_said(
    name: str, assumed: str, said: str, is_said_first: bool, is_page_assuming: bool
) -> None:
    guess = assuming(name, **{name: assumed, "is_detailed": is_page_assuming})
    word = job(**{name: said, "is_detailed": not is_page_assuming})
    merged = merge(word, guess) if is_said_first else merge(guess, word)
    assert getattr(merged, name) == said
    assert name not in merged.raw_metadata.get("assumed", ())
    # However often both are read again.
    assert getattr(merge(merge(merged, guess), word), name) == said
    assert merge(merge(merged, guess), word).tracked == merged.tracked


def test_what_nobody_says_is_assumed_at_the_end() -> None:
    merged = merge(assuming("org_name", org_name="The board", is_detailed=True), assuming("org_name", org_name="Board"))
    assert (merged.org_name, merged.raw_metadata["assumed"]) == ("The board", ["org_name"])
    row = row_of(Write(merged, 2))
    assert (row["work_modality"], row["career_type"]) == ("onsite", "staff")
    assert row["raw_metadata"]["assumed"] == ["career_type", "org_name", "work_modality"]


def test_words_that_nobody_understood_are_no_reason_to_assume() -> None:
    guess = assuming("work_modality", work_modality="onsite")
    word = job(raw_metadata={"facts": {}, "unknown": {"work_modality": "by moonlight"}, "assumed": []})
    assert merge(guess, word).work_modality is None


def test_rows_from_before_assumptions_were_marked_tell_them_by_their_facts() -> None:
    old = job(org_name="The board", work_modality="onsite", raw_metadata={"facts": {"city": "Rome"}}, is_detailed=True)
    merged = merge(old, job(org_name="The employer", work_modality="remote"))
    assert (merged.org_name, merged.work_modality) == ("The employer", "remote")
    said = job(org_name="The employer", raw_metadata={"facts": {"org_name": "The employer"}}, is_detailed=True)
    assert merge(said, job(org_name="Another")).org_name == "The employer"


def test_a_deadline_that_is_put_off_moves_the_window_with_it() -> None:
    old = job(deadline=FUTURE, application_window={"opens": "2026-06-01", "closes": "2026-07-01"}, is_detailed=True)
    new = job(deadline=date(2026, 8, 1), application_window={"closes": "2026-08-01"})
    assert merge(old, new).application_window == {"opens": "2026-06-01", "closes": "2026-08-01"}


def test_a_vacancy_that_says_something_else_is_written_anew() -> None:
    assert judge_sighting(standing(city="Rome"), job(city="Oslo"), teller(), NOW) == Write(job(city="Oslo"), 5, True)


def test_an_expired_vacancy_that_is_listed_again_is_back() -> None:
    assert judge_sighting(standing(JobStatus.EXPIRED), job(), teller(), NOW) == Write(job(), 5, True)


def test_an_expired_vacancy_whose_day_has_passed_stays_expired() -> None:
    over = standing(JobStatus.EXPIRED, deadline=PAST)
    assert judge_sighting(over, job(city="Oslo"), teller(), NOW) == SeenAgain(job().key)


def test_a_new_deadline_brings_it_back() -> None:
    told = judge_sighting(standing(JobStatus.EXPIRED, deadline=PAST), job(deadline=FUTURE), teller(), NOW)
    assert told == Write(job(deadline=FUTURE), 5, True)


def test_what_a_person_took_out_stays_out() -> None:
    assert judge_sighting(standing(JobStatus.DELETED), job(city="Oslo"), teller(), NOW) == Ignored()


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
    row = row_of(Write(job(compensation_min_usd=Decimal("1.50"), document=DocumentKey(7, b"d" * 32)), 3))
    assert (row["bucket"], row["version"], row["compensation_min_usd"]) == (ord("h"), 3, "1.50")
    assert (row["document_bucket"], row["document_hash"]) == (7, "\\x" + "64" * 32)
    assert row_of(Write(job(), 1))["document_hash"] is None


@pytest.mark.parametrize("fields", [{"title": ""}, {"canonical_hash": b"short"}])
def test_a_vacancy_without_a_title_or_a_whole_hash_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="lacks"):
        job(**fields)


STRANGER = teller(2, speaks=False)


def test_a_second_teller_adds_a_sighting_and_changes_nothing() -> None:
    for spoken in (True, False):
        assert judge_sighting(standing(spoken=spoken), job(city="Oslo"), STRANGER, NOW) == SeenElsewhere(job().key)


def test_of_two_that_may_speak_the_first_tells_it() -> None:
    assert judge_sighting(standing(), job(city="Oslo"), teller(2), NOW) == SeenElsewhere(job().key)


def test_a_teller_that_may_speak_takes_over_from_one_that_may_not_and_keeps_none_of_its_words() -> None:
    forged = standing(spoken=False, city="Rome", compensation_type="hour")
    for source in (1, 2):
        assert judge_sighting(forged, job(city="Oslo"), teller(source), NOW) == Write(job(city="Oslo"), 5, True)


def test_its_own_source_does_not_overwrite_who_may_speak_with_words_of_a_list_that_may_not() -> None:
    again = judge_sighting(standing(), job(city="Oslo", deadline=PAST), teller(1, speaks=False), NOW)
    assert again == SeenAgain(job().key)


def test_what_nobody_tells_any_more_the_next_teller_tells_in_its_own_words() -> None:
    expired = standing(JobStatus.EXPIRED, city="Rome")
    abandoned = replace(standing(city="Rome"), is_abandoned=True)
    for free in (expired, abandoned):
        assert judge_sighting(free, job(city="Oslo"), STRANGER, NOW) == Write(job(city="Oslo"), 5, False)


def test_what_is_over_by_its_own_words_does_not_come_back_by_a_strangers_silence() -> None:
    over = standing(JobStatus.EXPIRED, deadline=PAST)
    assert judge_sighting(over, job(), STRANGER, NOW) == SeenElsewhere(job().key)
    assert judge_sighting(over, job(deadline=FUTURE), STRANGER, NOW) == Write(job(deadline=FUTURE), 5, False)


def test_what_a_person_deleted_no_teller_brings_back() -> None:
    assert judge_sighting(standing(JobStatus.DELETED), job(), STRANGER, NOW) == Ignored()


def test_what_a_takedown_deleted_comes_back_once_it_is_lifted() -> None:
    deleted = replace(standing(JobStatus.DELETED), is_deleted_by_person=False)
    assert judge_sighting(deleted, job(), teller(), NOW) == Write(job(), 5, True)


@pytest.mark.parametrize(
    ("apply_url", "speaks"),
    [
        ("https://org.test/1", True),
        ("https://Jobs.ORG.test./1", True),
        ("https://org.test.evil.test/1", False),
        ("https://evilorg.test/1", False),
        ("mailto:jobs@org.test", False),
        ("", False),
    ],
)
def test_a_teller_speaks_for_the_places_of_its_domain(apply_url: str, speaks: bool) -> None:
    assert teller().speaks_for(job(apply_url=apply_url)) is speaks


def test_a_teller_speaks_for_the_places_a_person_named() -> None:
    named = Teller(UUID(int=1), "https://org.test/", Voice("org.test", frozenset({"boards.test"})))
    assert named.speaks_for(job(apply_url="https://eu.boards.test/org/1"))


def test_a_vacancy_of_a_child_says_nothing_about_where_it_was_read() -> None:
    told = job(page_url="https://elsewhere.test/", is_detailed=True, document=DocumentKey(1, b"d" * 32))
    [ours] = jobs_on([told], "https://org.test/jobs", is_detailed=False)
    assert (ours.page_url, ours.is_detailed, ours.document) == ("https://org.test/jobs", False, None)
    assert harvest_from(as_json(Harvest((told,), ()))).vacancies == (job(),)
