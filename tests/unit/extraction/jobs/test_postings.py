"""Postings as different employers write them, in lists, feeds and on pages of their own, without structured data."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from headwater.discover.items import Item
from headwater.extraction.jobs.answers import harvest_page
from headwater.extraction.jobs.normalise import Employer, harvest_of, normalise
from headwater.extraction.jobs.pages import vacancies_in, vacancies_of_page
from headwater.extraction.jobs.prose import facts_in_text
from headwater.extraction.jobs.records import vacancy_listed
from headwater.extraction.jobs.vacancy import FoundBy, RawVacancy
from headwater.vacancy import NewJob

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
URL = "https://aid.test/careers"
EMPLOYER = Employer("Open Hands", "ingo", URL)
JUNE = date(2026, 6, 12)


def in_feed(summary: str, title: str = "Nurse", content: str = "") -> NewJob:
    item = Item("https://aid.test/jobs/1", title, summary=summary, content=content)
    [vacancy] = harvest_of([vacancy_listed(item)], EMPLOYER, NOW).vacancies
    return vacancy


def on_page(body: str, title: str = "Nurse") -> NewJob:
    page = f"<html><body><nav><a href='/jobs/9'>Other job</a></nav><main><h1>{title}</h1>{body}</main></body></html>"
    [vacancy] = harvest_of(vacancies_of_page(page, "https://aid.test/jobs/1", title), EMPLOYER, NOW).vacancies
    return vacancy


def in_list(items: str, **fields: str) -> list[NewJob]:
    found = vacancies_in(f"<html><body>{items}</body></html>", URL, "", fields)
    return list(harvest_of(found, EMPLOYER, NOW).vacancies)


# What an employer writes, the country's code, the town, and the last day.
WRITTEN = {
    "joined by spaces": ("Location: Kampala, Uganda Closing date: 12 June 2026 We look for a nurse.", "UG", "Kampala"),
    "a duty station in the middle": (
        "Duty station: Goma, Democratic Republic of the Congo Contract type: Fixed Deadline: 12/06/2026 About us:",
        *("CD", "Goma"),
    ),
    "a sentence behind the place": (
        "Location: Juba, South Sudan The nurse will work in the clinic. Apply by: June 12, 2026",
        *("SS", "Juba"),
    ),
    "line breaks": (
        "Nurse wanted<br>Location: Amman, Jordan<br/>Deadline: 12 June 2026<br>Salary: good",
        "JO",
        "Amman",
    ),
    "bold labels in paragraphs": (
        "<p><strong>Location:</strong> Dhaka, Bangladesh</p><p><b>Application deadline:</b> 12 June 2026</p>",
        *("BD", "Dhaka"),
    ),
    "bullets": ("Nurse • Location: Erbil, Iraq • Type: Full time • Deadline: 12 June 2026 • Ref: 12", "IQ", "Erbil"),
    "bars": ("Duty Station: Freetown, Sierra Leone | Closing Date: 2026-06-12 | Grade: P3", "SL", "Freetown"),
    "middle dots": ("Clear Water · Location: Lima, Peru · Closes: 12 June 2026 · Full-time", "PE", "Lima"),
    "a list of items": (
        "<ul><li>Organization: Clear Water</li><li>Place of work: Mopti, Mali</li><li>Deadline: 12.06.2026</li></ul>",
        *("ML", "Mopti"),
    ),
    "terms": (
        "<dl><dt>Duty station</dt><dd>Maiduguri, Nigeria</dd><dt>Closing date</dt><dd>12 June 2026</dd></dl>",
        *("NG", "Maiduguri"),
    ),
    "a table": (
        "<table><tr><th>Location</th><td>Tunis, Tunisia</td></tr><tr><th>Deadline</th><td>12 June 2026</td></table>",
        *("TN", "Tunis"),
    ),
    "a remark behind the label": (
        "Duty station (city, country): Beirut, Lebanon\nDeadline (23:59 local time): 12 June 2026",
        *("LB", "Beirut"),
    ),
    "a label on a line of its own": ("Location:\nAden, Yemen\nClosing date:\n12 June 2026\n", "YE", "Aden"),
    "a town alone": ("Duty station: Nairobi | Deadline: 12 June 2026", "KE", "Nairobi"),
    "French joined by spaces": (
        "Lieu d'affectation : Bamako, Mali Date limite de candidature : 12 juin 2026 Nous recherchons une infirmière.",
        *("ML", "Bamako"),
    ),
    "French in lines": (
        "<p>Lieu : N'Djamena, Tchad<br>Type de contrat : CDD<br>Date limite : 12 juin 2026</p>",
        *("TD", "N'Djamena"),
    ),
    "French bullets": ("• Localisation : Abidjan, Côte d’Ivoire • Date de clôture : 12/06/2026", "CI", "Abidjan"),
    "Spanish joined by spaces": (
        "Ubicación: Bogotá, Colombia Fecha límite: 12 de junio de 2026 Buscamos una enfermera.",
        *("CO", "Bogotá"),
    ),
    "Spanish in lines": (
        "<div>Lugar de trabajo: Tegucigalpa, Honduras</div><div>Fecha de cierre: 12 de junio de 2026</div>",
        *("HN", "Tegucigalpa"),
    ),
    "Spanish bars": ("Sede: Quito, Ecuador | Plazo: 12/06/2026 | Modalidad: remoto", "EC", "Quito"),
    "German": ("Dienstort: Bonn, Deutschland Bewerbungsfrist: 12. Juni 2026 Wir suchen", "DE", "Bonn"),
    "a dash in a place": ("Location: Masaka – Uganda – Deadline: 12 June 2026", "UG", "Masaka"),
    "a code in brackets": ("Location: Gulu (UG) | Deadline: 12 June 2026", "UG", "Gulu"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_feeds_words_name_the_place_and_the_last_day(name: str) -> None:
    written, country, city = WRITTEN[name]
    told = in_feed(written)
    assert (told.country_iso, told.city, told.deadline) == (country, city, JUNE)
    assert in_feed("Short.", content=written).country_iso == country


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_without_structured_data_says_the_same(name: str) -> None:
    written, country, city = WRITTEN[name]
    told = on_page(written if "<" in written else f"<p>{written.replace(chr(10), '<br>')}</p>")
    assert (told.country_iso, told.city, told.deadline) == (country, city, JUNE)
    assert told.data_provenance == "page"


@pytest.mark.parametrize("name", WRITTEN)
def test_an_item_of_a_list_says_the_same(name: str) -> None:
    written, country, city = WRITTEN[name]
    item = written if "<" in written else written.replace("\n", "<br>")
    [told] = in_list(f'<div class="job-item"><h3><a href="/jobs/1">Nurse</a></h3><div>{item}</div></div>')
    assert (told.title, told.country_iso, told.city, told.deadline) == ("Nurse", country, city, JUNE)


def test_a_row_of_a_table_is_read_by_the_heads_of_its_columns() -> None:
    rows = "".join(
        f'<tr class="job-row"><td><a href="/jobs/{n}">Engineer {n}</a></td><td>{place}</td><td>12 June 2026</td></tr>'
        for n, place in enumerate(("Lomé, Togo", "Accra, Ghana"))
    )
    table = f"<table><tr><th>Position</th><th>Duty station</th><th>Closing date</th></tr>{rows}</table>"
    assert [(one.country_iso, one.deadline) for one in in_list(table)] == [("TG", JUNE), ("GH", JUNE)]


def test_a_place_in_a_title_counts_where_nothing_else_does() -> None:
    assert in_feed("We look for a nurse.", "Nurse – Kabul, Afghanistan").country_iso == "AF"
    assert in_feed("We look for a nurse.", "Nurse (Port-au-Prince, Haiti)").country_iso == "HT"
    assert in_feed("Location: Amman, Jordan", "Nurse – Kabul, Afghanistan").country_iso == "JO"
    assert in_feed("We look for a nurse.", "Head of Georgia and Armenia Desk").country_iso is None


def test_a_value_does_not_run_into_what_follows() -> None:
    joined = (
        "Organisation: Clear Water Location: Kampala, Uganda Contract type: Fixed term Duration: 12 months "
        "Salary: USD 40,000 per year Work modality: Hybrid Reports to: Country Director We are looking for "
        "somebody who works well with others, in a team of twelve that speaks three languages and travels often."
    )
    told = in_feed(joined)
    assert (told.org_name, told.location_raw) == ("Clear Water", "Kampala, Uganda")
    assert (told.contract_type, told.contract_duration_months, told.work_modality) == ("fixed_term", 12, "hybrid")
    assert told.compensation_min_usd == Decimal(40000)


@pytest.mark.parametrize(
    "text",
    [
        "Our work in this location: we built a well. The experience: hard.",
        "https://aid.test/location:8080/",
        "The base: a village. In brief: nothing.",
        "Location:",
        "Deadline: " + "soon " * 40,
        "location : " * 3000,
        "Location: " + "a" * 10_000,
    ],
)
def test_text_that_labels_nothing_makes_no_country_and_takes_no_time(text: str) -> None:
    assert len(facts_in_text(text)) <= 2
    told = in_feed(text)
    assert (told.country_iso, told.deadline) == (None, None)


def test_a_page_adds_to_what_its_list_said_and_takes_nothing_back() -> None:
    told = on_page("<p>Salary: EUR 3,000 per month</p><p>You care for people in three villages.</p>")
    assert (told.location_raw, told.work_modality, told.career_type) == ("", None, None)
    assert told.org_name == EMPLOYER.org_name
    assert told.raw_metadata["assumed"] == ["org_name", "org_type", "level_norm"]
    assert told.compensation_currency == "EUR"
    assert "three villages" in told.description_snippet
    assert "Other job" not in told.description_snippet


def test_structured_data_stands_before_the_text_of_its_page() -> None:
    posting = '{"@type": "JobPosting", "title": "Midwife", "jobLocation": {"address": {"addressCountry": "KE"}}}'
    page = f'<script type="application/ld+json">{posting}</script><main><p>Location: Kampala, Uganda</p></main>'
    [told] = harvest_of(vacancies_of_page(page, "https://aid.test/jobs/1", "Nurse"), EMPLOYER, NOW).vacancies
    assert (told.title, told.country_iso) == ("Midwife", "KE")


@pytest.mark.parametrize("named", [True, False])
def test_a_posting_that_names_no_organisation_assumes_the_sources(named: bool) -> None:
    said = ', "hiringOrganization": {"name": "Well Aid"}' if named else ""
    page = f'<script type="application/ld+json">{{"@type": "JobPosting", "title": "Midwife"{said}}}</script>'
    [told] = harvest_of(vacancies_of_page(page, "https://aid.test/jobs/1", "Nurse"), EMPLOYER, NOW).vacancies
    assert told.org_name == ("Well Aid" if named else EMPLOYER.org_name)
    assert ("org_name" in told.raw_metadata["assumed"]) is not named


def test_a_page_tells_that_its_vacancy_is_over() -> None:
    posting = '{"@type": "JobPosting", "title": "Midwife", "validThrough": "2020-01-31"}'
    html = f'<script type="application/ld+json">{posting}</script>'
    task = {"html": html, "url": "https://aid.test/jobs/1", "now": NOW.isoformat(), "listed_as": "Midwife"}
    [vacancy] = harvest_page(task)["vacancies"]
    assert vacancy["deadline"] == "2020-01-31"


def test_a_name_beside_a_title_is_no_description() -> None:
    page = '<ul><li class="job"><a href="/jobs/1">Nurse</a> <span class="org">Well Aid</span></li></ul>'
    [told] = harvest_of(vacancies_in(page, URL), EMPLOYER, NOW).vacancies
    assert (told.org_name, told.description_snippet) == ("Well Aid", "")


def test_a_child_reads_a_listed_page_under_its_listed_title() -> None:
    task = {"html": "<main><h1>Join us</h1><p>Location: Dakar, Senegal</p></main>", "url": "https://aid.test/jobs/1"}
    answer = harvest_page({**task, "now": NOW.isoformat(), "listed_as": "Nurse"})
    [vacancy] = answer["vacancies"]
    assert (vacancy["title"], vacancy["country_iso"]) == ("Nurse", "SN")
    assert harvest_page({**task, "now": NOW.isoformat()})["vacancies"] == []


@pytest.mark.parametrize(
    ("written", "modality"),
    [
        ("Location: Remote", "remote"),
        ("Work arrangement: Fully remote", "remote"),
        ("Location: Home-based", "home_based"),
        ("Modality: home-based (remote)", "home_based"),
        ("Modality: Remote, home based", "home_based"),
        ("Modalité de travail : hybride", "hybrid"),
        ("Modalidad: teletrabajo", "remote"),
        ("Modality: nomadic", None),
        ("Nothing is said.", None),
    ],
)
def test_how_one_works_is_what_is_said(written: str, modality: str | None) -> None:
    assert in_feed(written).work_modality == modality


def test_home_based_says_more_than_remote() -> None:
    told = normalise(
        RawVacancy("Consultant (home-based)", URL, FoundBy.JSON_LD, "", {"work_modality": "TELECOMMUTE"}), EMPLOYER, NOW
    )
    assert isinstance(told, NewJob)
    assert told.work_modality == "home_based"


@pytest.mark.parametrize(
    ("title", "level"),
    [
        ("Logistics Coordinator", "mid"),
        ("Country Director", "executive"),
        ("Deputy Country Director, Programmes", "executive"),
        ("Regional Director", "executive"),
        ("Director of Finance", "senior"),
        ("Finance Assistant", "junior"),
        ("Directeur Pays", "executive"),
        ("Coordinatrice de projet", "mid"),
        ("Chargé de programme", "mid"),
        ("Asistente administrativo", "junior"),
        ("Gerente de proyecto", "senior"),
        ("Stagiaire communication", "intern"),
    ],
)
def test_a_title_says_how_high_it_is(title: str, level: str) -> None:
    assert in_feed("", title).level_norm == level


def test_money_is_written_in_full() -> None:
    posting = '{"@type": "JobPosting", "title": "Nurse", "baseSalary": {"currency": "USD", "value": {"value": "4E+4"}}}'
    page = f'<script type="application/ld+json">{posting}</script>'
    answer = harvest_page({"html": page, "url": "https://aid.test/jobs/1", "now": NOW.isoformat()})
    [vacancy] = answer["vacancies"]
    assert vacancy["compensation_min_usd"] == "40000"
    assert vacancy["raw_metadata"]["compensation"]["min"] == "40000"


def test_a_sources_own_selectors_name_the_facts_of_an_item() -> None:
    item = (
        '<li class="job"><a href="/jobs/1">Nurse</a><i class="x1">Posted at Clear Water</i><i class="x2">Lomé, Togo</i>'
        '<time datetime="2026-06-12">in five weeks</time><p class="x3">Care for people.</p></li>'
    )
    fields = {"org_name": ".x1", "location": ".x2", "deadline": "time", "description": ".x3"}
    [told] = in_list(item, **fields)
    assert (told.org_name, told.country_iso, told.deadline) == ("Posted at Clear Water", "TG", JUNE)
    assert told.description_snippet == "Care for people."
    [without] = in_list(item, location=".missing")
    assert without.org_name == "Open Hands"
