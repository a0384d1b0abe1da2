from typing import Any

import pytest

from headwater.extract.jobs.records import vacancies_in_answer, vacancy_recorded

BASE = "https://aid.test/api/jobs"


@pytest.mark.parametrize(
    "answer",
    [
        [{"title": "Nurse"}],
        {"results": [{"name": "Nurse"}]},
        {"data": {"vacancies": [{"job_title": "Nurse"}]}},
        {"jobs": [], "items": [{"position": "Nurse"}]},
    ],
)
def test_records_are_found_under_their_usual_names(answer: Any) -> None:
    assert [found.title for found in vacancies_in_answer(answer, BASE)] == ["Nurse"]


@pytest.mark.parametrize("answer", [None, 3, "jobs", {"jobs": "none"}, {"jobs": [1, None]}, {}])
def test_an_answer_without_records_has_no_vacancies(answer: Any) -> None:
    assert vacancies_in_answer(answer, BASE) == ()


def test_the_vacancys_own_page_comes_before_its_form() -> None:
    found = vacancy_recorded({"title": "Nurse", "apply_url": "/apply/1", "url": "/jobs/1"}, BASE)
    assert (found.url, found.facts["application_form"]) == ("https://aid.test/jobs/1", "https://aid.test/apply/1")
    assert vacancy_recorded({"title": "Nurse", "apply_url": "/apply/1"}, BASE).url == "https://aid.test/apply/1"


def test_nested_values_are_said_in_words() -> None:
    record = {
        "title": "Nurse",
        "location": {"city": "Goma", "country": "DRC", "id": 7},
        "sectors": ["Health", {"name": "WASH"}],
        "closingDate": "2026-09-14",
        "description": "<p>Care &amp; cure</p>",
        "surge": True,
    }
    found = vacancy_recorded(record, BASE)
    assert found.description == "Care & cure"
    assert found.facts == {
        "location": "Goma, DRC",
        "mission_tags": "Health, WASH",
        "deadline": "2026-09-14",
        "surge_required": "yes",
    }
