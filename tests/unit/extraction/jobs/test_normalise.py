from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from headwater.extraction.jobs.normalise import Employer, harvest_of, normalise
from headwater.extraction.jobs.vacancy import FoundBy, Pay, RawVacancy, Skipped, SkipReason
from headwater.vacancy import NewJob

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
EMPLOYER = Employer("Open Hands", "ingo", "https://aid.test/careers")


def raw(title: str = "Nurse", url: str = "https://aid.test/jobs/1", description: str = "", **facts: str) -> RawVacancy:
    return RawVacancy(title, url, FoundBy.SELECTOR, description, facts)


def read(*given: Any, **facts: str) -> NewJob:
    vacancy = normalise(raw(*given, **facts), EMPLOYER, NOW)
    assert isinstance(vacancy, NewJob)
    return vacancy


def test_the_source_speaks_where_the_page_is_silent() -> None:
    assert (read().org_name, read().org_type) == ("Open Hands", "ingo")
    assert read(org_name="Clear Water").org_name == "Clear Water"
    assert read(author="editor").org_name == "Open Hands"


def test_unknown_values_are_kept_and_not_guessed() -> None:
    vacancy = read(level_norm="P-4", work_modality="nomadic", deadline="when filled", location="Congo", salary="good")
    assert vacancy.level_norm is None
    assert vacancy.deadline is None
    assert vacancy.country_iso is None
    assert vacancy.work_modality is None
    assert vacancy.raw_metadata["unknown"] == {
        "level_norm": "P-4",
        "work_modality": "nomadic",
        "deadline": "when filled",
        "country": "Congo",
        "salary": "good",
    }


def test_a_stated_country_decides_before_the_place() -> None:
    assert read(country="CD", location="Congo").country_iso == "CD"
    assert read(country="Kenya", city="Nairobi").location_raw == "Nairobi, Kenya"


def test_there_are_at_most_three_missions_and_the_stated_come_first() -> None:
    vacancy = read("Health and Education Officer", mission_tags="Climate, WASH")
    assert vacancy.mission_tags == ("climate", "wash", "health")


def test_a_description_is_asked_for_missions_only_in_the_end() -> None:
    assert read("Education Officer", description="We care for health.").mission_tags == ("education",)
    assert read("Officer", description="We care for health.").mission_tags == ("health",)


def test_remote_or_a_word_in_the_title_means_international() -> None:
    assert read(work_modality="Work from home").international_eligible
    assert read("Global Health Officer").international_eligible
    assert not read("Nurse").international_eligible
    assert not read("Global Health Officer", international_eligible="no").international_eligible


def test_a_field_office_in_the_text_does_not_make_the_work_field_work() -> None:
    assert read("Field Coordinator", description="You support the field office.").work_modality is None
    assert read(location="Remote, Kenya").work_modality == "remote"


def test_careers_and_contracts_come_from_their_own_words() -> None:
    assert read("Research Fellow").career_type == "fellowship"
    assert read("International Officer").career_type is None
    assert read("Cook", employment_type="PART_TIME").contract_type == "part_time"
    assert read("Cook", employment_type="CONTRACTOR").career_type == "consultancy"
    assert read("Contractor Manager").career_type is None


@pytest.mark.parametrize(
    ("said", "career", "contract"),
    [
        ("Stage", "internship", None),
        ("Consultance", "consultancy", None),
        ("Volontariat", None, "volunteer"),
        ("CDD 12 mois", None, "fixed_term"),
        ("Contrat à durée déterminée", None, "fixed_term"),
        ("Internship, part-time", "internship", "part_time"),
        ("CDI", None, None),
        ("Permanent", None, None),
    ],
)
def test_a_stated_contract_tells_the_career_too(said: str, career: str | None, contract: str | None) -> None:
    for vacancy in (read("Cook", contract_type=said), read("Cook", employment_type=said)):
        assert (vacancy.career_type, vacancy.contract_type) == (career, contract)
        is_unknown = said in vacancy.raw_metadata["unknown"].values()
        assert is_unknown == (career is None and contract is None)


def test_a_stated_duration_tells_the_contract_too() -> None:
    vacancy = read("Cook", contract_duration="Fixed term, 1 year")
    assert (vacancy.contract_type, vacancy.contract_duration_months) == ("fixed_term", 12)
    assert read("Cook", contract_type="Consultancy", contract_duration="Fixed term").contract_type == "fixed_term"
    assert read("Cook", contract_type="CDD 6 mois").contract_duration_months == 6
    assert read("Cook", contract_duration="2 ans").contract_duration_months == 24


def test_a_place_may_be_at_home_in_french() -> None:
    assert read("Rédactrice", location="À domicile").work_modality == "home_based"
    assert read("Rédactrice", location="Télétravail (France)").work_modality == "remote"
    assert read("Rédactrice", location="Télétravail (France)").city is None
    assert read("Aide à domicile", location="Lyon, France").work_modality is None


def test_pay_in_dollars_fills_the_columns_and_any_other_is_kept() -> None:
    dollars = read(salary="USD 45,000 - 54,000 per year")
    assert (dollars.compensation_min_usd, dollars.compensation_max_usd) == (Decimal(45000), Decimal(54000))
    assert (dollars.compensation_type, dollars.policy_flags) == ("year", ("pay_transparent",))
    euros = normalise(replace(raw(), pay=Pay(Decimal(3000), None, "EUR", "month")), EMPLOYER, NOW)
    assert isinstance(euros, NewJob)
    assert (euros.compensation_min_usd, euros.compensation_currency) == (None, "EUR")
    assert euros.raw_metadata["compensation"] == {"min": "3000", "currency": "EUR", "period": "month"}


def test_what_is_no_vacancy_says_why() -> None:
    reasons = [
        (raw(title=" – "), SkipReason.NO_TITLE),
        (raw(url="mailto:jobs@aid.test"), SkipReason.NO_URL),
        (raw(url=""), SkipReason.NO_URL),
        (raw(deadline="2 May 2026"), SkipReason.EXPIRED),
    ]
    for found, reason in reasons:
        outcome = normalise(found, EMPLOYER, NOW)
        assert isinstance(outcome, Skipped)
        assert outcome.reason == reason


def test_a_page_is_counted_once_per_vacancy() -> None:
    found = [raw(), raw(url="https://aid.test/jobs/1?utm_source=x"), raw(url="https://aid.test/jobs/2"), raw(title="")]
    harvest = harvest_of(found, EMPLOYER, NOW)
    assert [one.apply_url for one in harvest.vacancies] == ["https://aid.test/jobs/1", "https://aid.test/jobs/2"]
    assert [one.reason for one in harvest.skipped] == [SkipReason.DUPLICATE, SkipReason.NO_TITLE]


def test_days_of_one_page_are_read_the_same_way() -> None:
    urls = ("https://aid.test/jobs/1", "https://aid.test/jobs/2")
    found = [raw(url=url, deadline=day) for url, day in zip(urls, ("06/05/2026", "06/25/2026"), strict=True)]
    days = [one.deadline for one in harvest_of(found, EMPLOYER, NOW).vacancies]
    assert days == [date(2026, 6, 5), date(2026, 6, 25)]


def test_vacancies_without_an_address_of_their_own_are_told_apart() -> None:
    listing = EMPLOYER.listing_url
    found = [raw("Nurse", listing), raw("Cook", listing), raw("Cook", listing, location="Juba, South Sudan")]
    assert len(harvest_of(found, EMPLOYER, NOW).vacancies) == 3


def test_a_snippet_ends_between_words_within_five_hundred_characters() -> None:
    snippet = read(description="water " * 200).description_snippet
    assert len(snippet) <= 500
    assert snippet.endswith("water…")
