import json
from datetime import UTC, datetime

import pytest

from headwater.discover.items import Item
from headwater.extraction.jobs.answers import harvest_from, harvest_page
from headwater.extraction.jobs.normalise import Employer, harvest_of
from headwater.extraction.jobs.records import vacancy_listed

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
URL = "https://aid.test/careers"
FRENCH = (
    "Nous cherchons une personne qui coordonne notre équipe à Dakar et qui veille à la qualité des soins. "
    "Elle travaille avec les autorités locales, forme le personnel et rend compte de l'avancement du projet."
)


def read(html: str, **task: str) -> list[str]:
    answer = harvest_page({"html": html, "url": URL, "now": NOW.isoformat()} | task)
    return [vacancy.language for vacancy in harvest_from(answer).vacancies]


def listed(item: Item) -> str:
    return harvest_of([vacancy_listed(item)], Employer(), NOW).vacancies[0].language


def posting(declared: str, **data: object) -> str:
    node = {"@type": "JobPosting", "title": "Engineer"} | data
    return f'<html lang="{declared}"><script type="application/ld+json">{json.dumps(node)}</script></html>'


@pytest.mark.parametrize(("declared", "language"), [("en-GB", "en"), ("FR", "fr"), ("nb", "nb"), ("xx", ""), ("", "")])
def test_a_vacancy_in_a_list_has_the_language_of_the_page(declared: str, language: str) -> None:
    item = '<li class="job"><a href="/jobs/1">Engineer</a></li>'
    assert read(f'<html lang="{declared}"><ul>{item}</ul></html>') == [language]


def test_a_vacancy_on_its_own_page_has_the_language_of_the_page() -> None:
    assert read('<html lang="en"><main><h1>Engineer</h1><p>Wells.</p></main></html>', listed_as="Engineer") == ["en"]


def test_a_posting_has_its_own_language_before_that_of_its_page() -> None:
    assert read(posting("en")) == ["en"]
    assert read(posting("en", inLanguage="fr-FR")) == ["fr"]
    assert read(posting("en", inLanguage={"@type": "Language", "name": "French", "alternateName": "fr"})) == ["fr"]
    assert read(posting("en", inLanguage=["fr", "de"])) == ["en"]


def test_a_vacancy_in_a_feed_has_the_language_of_the_feed() -> None:
    assert listed(Item("https://aid.test/jobs/1", "Engineer", language="en-us")) == "en"


def test_where_nothing_is_declared_the_text_tells_if_it_is_sure() -> None:
    assert listed(Item("https://aid.test/jobs/1", "Coordination", summary=FRENCH)) == "fr"
    assert listed(Item("https://aid.test/jobs/1", "Coordinateur/trice de projet", summary="Basé à Dakar.")) == "fr"
    assert listed(Item("https://aid.test/jobs/1", "Officer, Juba")) == ""


def test_a_long_text_overrules_the_language_of_the_page() -> None:
    assert read(posting("en", description=FRENCH)) == ["fr"]
