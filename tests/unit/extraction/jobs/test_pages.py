import json
from typing import Any

import pytest

from headwater.extraction.jobs.pages import MOST_LINKS, is_selector, vacancies_in
from headwater.extraction.jobs.vacancy import FoundBy

BASE = "https://aid.test/careers"
POSTING = {"@type": "JobPosting", "title": "Nurse", "url": "/jobs/1", "validThrough": "2026-09-14"}


def with_data(*blocks: Any, body: str = "") -> str:
    texts = (block if isinstance(block, str) else json.dumps(block) for block in blocks)
    scripts = "".join(f'<script type="application/ld+json">{text}</script>' for text in texts)
    return f"<html><head>{scripts}</head><body>{body}</body></html>"


@pytest.mark.parametrize(
    "data",
    [
        POSTING,
        [POSTING],
        {"@graph": [{"@type": "WebSite"}, POSTING]},
        {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": POSTING}]},
        {**POSTING, "@type": ["JobPosting", "Thing"]},
        {**POSTING, "@type": "https://schema.org/JobPosting"},
        '{"@type": "JobPosting", "title": "Nurse", "url": "/jobs/1", "description": "two\nlines"};',
    ],
    ids=["alone", "array", "graph", "item list", "two types", "full type", "line break and semicolon"],
)
def test_a_posting_is_found_however_it_is_wrapped(data: Any) -> None:
    (found,) = vacancies_in(with_data("{broken", data), BASE)
    assert (found.title, found.url, found.found_by) == ("Nurse", "https://aid.test/jobs/1", FoundBy.JSON_LD)


def test_a_posting_follows_references_once_and_circles_lead_nowhere() -> None:
    circle = {"@id": "#a", "name": {"@id": "#a"}}
    organisation = {"@id": "#org", "@type": "Organization", "name": "Aid & Co"}
    posting = POSTING | {"hiringOrganization": {"@id": "#org"}, "industry": {"@id": "#a"}}
    (found,) = vacancies_in(with_data({"@graph": [circle, posting, organisation]}), BASE)
    assert found.org_name == "Aid & Co"


def test_an_address_is_written_out_for_people() -> None:
    address = {"addressLocality": "Kinshasa", "addressCountry": "CD"}
    (found,) = vacancies_in(with_data(POSTING | {"jobLocation": {"address": address}}), BASE)
    assert found.location_raw == "Kinshasa, Democratic Republic of the Congo"


def test_a_page_about_one_vacancy_adds_what_its_data_leaves_out() -> None:
    body = "<dl><dt>Work modality</dt><dd>Hybrid</dd><dt>Closing date</dt><dd>1 May 2020</dd></dl>"
    (found,) = vacancies_in(with_data(POSTING, body=body), BASE)
    assert found.facts["work_modality"] == "Hybrid"
    assert found.deadline == "2026-09-14"


def test_a_posting_without_an_address_of_its_own_is_the_page() -> None:
    (found,) = vacancies_in(with_data({"@type": "JobPosting", "title": "Nurse"}), BASE)
    assert found.url == BASE


def test_the_hint_comes_before_the_known_selectors() -> None:
    html = '<section class="opening"><h2><a href="/o/1">Nurse</a></h2></section><li class="job"><a href="/o/2">Cook</a>'
    (found,) = vacancies_in(html, BASE, "section.opening")
    assert (found.title, found.url, found.found_by) == ("Nurse", "https://aid.test/o/1", FoundBy.HINT)


@pytest.mark.parametrize("hint", ["", "  ", "[[[", "p:nosuch(", ".absent"])
def test_a_hint_that_finds_nothing_leaves_the_known_selectors(hint: str) -> None:
    (found,) = vacancies_in('<li class="job"><a href="/o/2">Cook</a> – Juba, South Sudan', BASE, hint)
    assert (found.title, found.location_raw) == ("Cook", "Juba, South Sudan")


def test_a_hint_can_be_checked_beforehand() -> None:
    assert is_selector("ul.jobs > li")
    assert not is_selector("[[[")
    assert not is_selector("")


def test_a_class_on_the_whole_list_is_not_one_vacancy() -> None:
    rows = "".join(f'<p><a href="/jobs/{n}">Officer number {n}</a></p>' for n in range(5))
    found = vacancies_in(f'<div class="job-listing">{rows}</div>', BASE)
    assert [one.title for one in found] == [f"Officer number {n}" for n in range(5)]


def test_columns_are_read_by_their_heads() -> None:
    html = """<table><tr><th>Closing date</th><th>Position</th><th>Duty station</th></tr>
    <tr class="job-row"><td>14/09/2026</td><td><a href="/jobs/1">Nurse</a></td><td>Goma</td></tr></table>"""
    (found,) = vacancies_in(html, BASE)
    assert (found.title, found.deadline, found.location_raw) == ("Nurse", "14/09/2026", "Goma")


def test_labels_classes_and_properties_are_read() -> None:
    html = """<div class="job-item"><h3>Nurse</h3><span class="employer">Aid</span><p>Grade: Senior</p>
    <time itemprop="validThrough" datetime="2026-09-14">soon</time><a href="/jobs/1">Read more</a>
    <a href="/apply/1">Apply now</a></div>"""
    (found,) = vacancies_in(html, BASE)
    assert (found.title, found.org_name, found.deadline) == ("Nurse", "Aid", "2026-09-14")
    assert found.facts["level_norm"] == "Senior"
    assert found.facts["application_form"] == "https://aid.test/apply/1"
    assert found.url == "https://aid.test/jobs/1"


def test_a_page_headed_by_its_vacancy_is_its_own_address() -> None:
    html = '<article class="job"><h1>Nurse</h1><dl><dt>Location</dt><dd>Goma</dd></dl><a href="/apply/1">Apply now</a>'
    (found,) = vacancies_in(html, "https://aid.test/jobs/1")
    assert (found.url, found.location_raw) == ("https://aid.test/jobs/1", "Goma")


def test_a_vacancy_without_a_link_is_behind_the_listing_itself() -> None:
    (found,) = vacancies_in('<div class="vacancy"><h3>Nurse</h3><p>Write to jobs@aid.test</p></div>', BASE)
    assert (found.title, found.url) == ("Nurse", BASE)


def test_links_to_vacancies_are_told_from_furniture() -> None:
    html = """<header><a href="/jobs/about-us">About our jobs</a></header>
    <nav><a href="/careers">Vacancies</a></nav>
    <p><a href="/careers/jobs/17-nurse">Nurse</a> <a href="/careers/jobs/17-nurse">Read more</a></p>
    <p><a href="/vacancy.php?id=4">Cook</a></p> <p><a href="/news/1">News</a></p>
    <p><a href="mailto:job@aid.test">Write to us</a></p>
    <p><a href="https://hire.test/aid/position/9">Driver</a></p>
    <a rel="next" href="/careers?page=2">More vacancies here</a> <a href="/">Home</a>
    <a href="/careers?page=3">Older jobs on page three</a> <a href="https://aid.test/">All about our jobs</a>"""
    found = vacancies_in(html, BASE)
    assert [one.title for one in found] == ["Nurse", "Cook", "Driver"]
    assert {one.found_by for one in found} == {FoundBy.LINK}


def test_links_end_at_fifty() -> None:
    html = "".join(f'<a href="/jobs/{n}">Officer number {n}</a>' for n in range(80))
    assert len(vacancies_in(html, BASE)) == MOST_LINKS


def test_a_base_element_moves_the_links() -> None:
    (found,) = vacancies_in('<base href="https://other.test/x/"><li class="job"><a href="1">Cook</a>', BASE)
    assert found.url == "https://other.test/x/1"


@pytest.mark.parametrize(
    "path",
    [
        *("emploi/12-infirmier", "offres/12", "postes/infirmier", "recrutement/12", "stages/12", "offre-emploi/12"),
        *("stellen/12", "stellenangebote/12", "karriere/12", "empleos/12", "vacante/12", "ofertas/12", "vagas/12"),
        *("emprego/12", "lavoro/12", "posizioni/12", "vacature/12", "voir.php?offre=12"),
    ],
)
def test_links_to_vacancies_are_known_in_other_languages(path: str) -> None:
    (found,) = vacancies_in(f'<p><a href="/{path}">Infirmier Bamako</a></p>', "https://aid.test/fr")
    assert (found.title, found.url) == ("Infirmier Bamako", f"https://aid.test/{path}")


@pytest.mark.parametrize(
    "path", ["news/on-stage-with-us", "shop/special-oferta-12", "hotel/cinque-stelle-roma", "stage"]
)
def test_words_that_mean_vacancies_only_in_front_are_no_vacancies_elsewhere(path: str) -> None:
    assert vacancies_in(f'<p><a href="/{path}">The festival in May</a></p>', "https://aid.test/fr") == ()


def test_links_that_lead_to_lists_in_other_languages_are_no_titles() -> None:
    html = (
        '<p><a href="/offres/1">Voir l’offre</a> <a href="/offres/2">Postuler</a> <a href="/vagas/x">Saiba mais</a></p>'
    )
    assert vacancies_in(html, "https://aid.test/fr") == ()


@pytest.mark.parametrize(
    "heads", [("Job title", "Location", "Deadline"), ("Poste", "Lieu", "Date limite"), ("Vaga", "Cidade", "Prazo")]
)
@pytest.mark.parametrize("cell", ["th", "td"])
def test_a_table_headed_as_a_list_of_vacancies_is_one_wherever_its_rows_lead(heads: tuple[str, ...], cell: str) -> None:
    head = "".join(f"<{cell}>{one}</{cell}>" for one in heads)
    rows = "".join(
        f'<tr><td><a href="/node/{n}">Nurse number {n}</a></td><td>Goma</td><td>14/09/2026</td></tr>' for n in range(3)
    )
    found = vacancies_in(f"<table><tr>{head}</tr>{rows}<tr><td>No more</td></tr></table>", BASE)
    assert [(one.title, one.url) for one in found] == [
        (f"Nurse number {n}", f"https://aid.test/node/{n}") for n in range(3)
    ]
    assert {one.deadline for one in found} == {"14/09/2026"}
    assert {one.location_raw or one.facts.get("city") for one in found} == {"Goma"}


@pytest.mark.parametrize(
    "heads", [("Name", "Location"), ("Title", "Published"), ("Job title", "Salary"), ("Match", "City")]
)
def test_other_tables_are_no_lists_of_vacancies(heads: tuple[str, str]) -> None:
    head = "".join(f"<th>{one}</th>" for one in heads)
    assert (
        vacancies_in(f'<table><tr>{head}</tr><tr><td><a href="/n/1">Amina</a></td><td>Goma</td></tr></table>', BASE)
        == ()
    )


def test_selectors_for_facts_hold_for_items_that_were_found_by_their_links() -> None:
    rows = "".join(
        f'<div><p><a href="/jobs/{n}">Officer number {n}</a></p><i>Town {n}</i><b>Org {n}</b></div>' for n in range(3)
    )
    found = vacancies_in(f"<main>{rows}</main>", BASE, "", {"location": "i", "org_name": "b"})
    assert [(one.title, one.location_raw, one.org_name, one.found_by) for one in found] == [
        (f"Officer number {n}", f"Town {n}", f"Org {n}", FoundBy.LINK) for n in range(3)
    ]
