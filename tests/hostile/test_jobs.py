"""Pages made to break whoever looks for vacancies in them. What is only slow is the child's time limit's business."""

import json
from datetime import UTC, datetime
from time import process_time
from typing import Any

import pytest

from headwater.discover.items import Item
from headwater.extraction.jobs.normalise import Employer, harvest_of
from headwater.extraction.jobs.pages import MOST_VACANCIES, vacancies_in
from headwater.extraction.jobs.records import vacancy_listed
from headwater.extraction.jobs.vacancy import LONGEST_FACT, SNIPPET_CHARACTERS

BASE = "https://aid.test/careers"
EMPLOYER = Employer("Aid", "ngo", BASE)
NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
ITEM = '<div class="job-item"><a href="/jobs/1">Nurse</a>'


def data(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 5_000,
        ITEM * 3_000,
        "<div class=job-item " + " ".join(f"a{n}=1" for n in range(3_000)) + ">",
        "<a href=/news/1>Something else</a>" * 20_000,
        "x" * 1_000_000,
        "<table>" + "<tr class=job-row>" * 20_000,
        "<plaintext>" + ITEM,
        "<!--" + ITEM,
        "<base href='http://user:pass@[::1'>" + ITEM,
        "\x00\ufffe\U0001f469\u200d\U0001f692\u202e" + ITEM,
        data("[" * 100_000),
        data('{"@type": "JobPosting"}'),
        data('{"@type": {"@type": "JobPosting"}, "title": {"a": []}, "jobLocation": [[[1]], null, "x"]}'),
        data('{"@type": "JobPosting", "title": "N", "baseSalary": {"value": {"minValue": "NaN", "maxValue": 1e999}}}'),
        data('{"@type": "JobPosting", "title": "N", "url": "javascript:alert(1)", "validThrough": "9999999-99-99"}'),
        data('{"@type": "JobPosting", "title": "\\ud800", "description": "\\ud800", "url": "/\\ud800"}'),
        data(json.dumps({"@type": "JobPosting", "title": "x" * 3_000_000})),
    ],
    ids=range(17),
)
def test_a_broken_page_yields_vacancies_or_none_but_never_an_error(html: str) -> None:
    for page in (html, html.encode("utf-8", "surrogatepass")):
        harvest = harvest_of(vacancies_in(page, BASE), EMPLOYER, NOW)
        assert all(vacancy.title and vacancy.apply_url.startswith("https://") for vacancy in harvest.vacancies)


def test_characters_that_no_database_holds_are_dropped() -> None:
    (vacancy,) = vacancies_in(data('{"@type": "JobPosting", "title": "Night\\ud800Nurse\\u0000"}'), BASE)
    assert vacancy.title == "Night Nurse"


def test_nested_items_are_one() -> None:
    assert len(vacancies_in('<div class="job-item">' * 1_000 + '<a href="/jobs/1">Nurse</a>', BASE)) == 1


def test_a_page_has_no_more_vacancies_than_anybody_posts() -> None:
    many = [{"@type": "JobPosting", "title": f"Nurse {n}", "url": f"/jobs/{n}"} for n in range(2_000)]
    assert len(vacancies_in(data(json.dumps(many)), BASE)) == MOST_VACANCIES


def test_a_link_that_is_no_web_address_is_not_followed() -> None:
    html = "".join(f'<li class="job"><a href="{url}">Nurse</a></li>' for url in ("javascript:x()", "data:text/html,x"))
    assert {found.url for found in vacancies_in(html, BASE)} == {BASE}


def test_what_is_stored_is_bounded() -> None:
    long = "deadline 12 salary Kenya " * 4_000
    posting = {"@type": "JobPosting", "title": long, "description": long, "validThrough": long, "industry": long}
    (vacancy,) = harvest_of(vacancies_in(data(json.dumps(posting)), BASE), EMPLOYER, NOW).vacancies
    assert len(vacancy.title) <= 300
    assert len(vacancy.description_snippet) <= SNIPPET_CHARACTERS
    assert all(len(said) <= LONGEST_FACT for said in vacancy.raw_metadata["facts"].values())


@pytest.mark.parametrize("text", ["<div>" * 19_800, "<div " + "a=1 " * 20_000 + ">"], ids=["deep", "wide"])
def test_many_references_to_one_costly_text_cost_it_once(text: str) -> None:
    place = {"@id": "#p", "@type": "Place", "name": text + "Nairobi"}
    org = {"@id": "#o", "@type": "Organization", "name": "Aid " + text}
    many = {"jobLocation": [{"@id": "#p"}] * 220, "hiringOrganization": {"@id": "#o"}, "description": f"Care {text}"}
    postings = [{"@type": "JobPosting", "title": f"Nurse {n}", "url": f"/jobs/{n}", **many} for n in range(10)]
    began = process_time()
    found = vacancies_in(data(json.dumps({"@graph": [place, org, *postings]})), BASE)
    assert process_time() - began < 10  # it took hours
    assert [one.title for one in found] == [f"Nurse {n}" for n in range(10)]
    assert found[0].org_name.startswith("Aid")
    assert found[0].description.startswith("Care")


@pytest.mark.parametrize(
    "fields",
    [
        {"location": ["x"], "apply_url": {"href": 1}},
        {"location": {"a": {"b": "c"}}, "deadline": 10**30},
        {"description": {"data": {"data": []}}},
        {"location": "N" * 100_000, "description": "<p>" * 10_000},
    ],
)
def test_broken_fields_of_a_record_yield_a_vacancy_or_none_but_never_an_error(fields: dict[str, Any]) -> None:
    listed = vacancy_listed(Item(url=f"{BASE}/1", title="Nurse", fields=fields))
    harvest = harvest_of((listed,), EMPLOYER, NOW)
    assert all(vacancy.title for vacancy in harvest.vacancies)
