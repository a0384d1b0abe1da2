from datetime import UTC, date, datetime

from hypothesis import given, settings
from hypothesis import strategies as st
from orjson import dumps, loads

from headwater.extraction.jobs import words
from headwater.extraction.jobs.answers import as_json, harvest_from
from headwater.extraction.jobs.countries import country_called, country_in, name_of
from headwater.extraction.jobs.dates import first_day_in
from headwater.extraction.jobs.identity import canonical_hash
from headwater.extraction.jobs.normalise import Employer, harvest_of
from headwater.extraction.jobs.pages import vacancies_in
from headwater.extraction.jobs.pay import pay_in, pay_in_prose
from headwater.extraction.jobs.places import CITIES
from headwater.extraction.jobs.vacancy import FoundBy, RawVacancy
from headwater.extraction.jobs.vocabulary import Vocabulary, words_of

BASE = "https://aid.test/careers"
NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)

any_text = st.text(st.characters(exclude_categories=()), max_size=80)
days = st.dates(date(2000, 1, 1), date(2099, 12, 31))
markup = st.lists(
    st.sampled_from(
        [
            *(
                '<li class="job">',
                "</li>",
                '<a href="/jobs/1">',
                '<a href="x:y">',
                "</a>",
                "<h3>",
                "</h3>",
                "<tr class=job-row>",
            ),
            *(
                "<table>",
                "<td>",
                "<th>",
                "Location: ",
                "Closing date",
                "14/09/2026",
                "Kenya",
                "Nurse",
                "<dl><dt>",
                "<dd>",
            ),
            *(
                '<script type="application/ld+json">',
                '{"@type":"JobPosting","title":"Nurse"}',
                "</script>",
                "<base href=/x>",
            ),
        ]
    ),
    max_size=25,
).map("".join)
facts = st.dictionaries(
    st.sampled_from(["location", "country", "deadline", "salary", "level_norm", "mission_tags", "contract_duration"]),
    any_text,
)


@settings(max_examples=200)
@given(markup, any_text)
def test_no_page_is_an_error(html: str, noise: str) -> None:
    found = vacancies_in(html + noise, BASE, noise)
    harvest = harvest_of(found, Employer("Aid", "", BASE), NOW)
    assert len(harvest.vacancies) + len(harvest.skipped) == len(found)
    assert harvest_from(loads(dumps(as_json(harvest)))) == harvest


@given(any_text, any_text, any_text, facts)
def test_no_value_is_an_error(title: str, url: str, description: str, said: dict[str, str]) -> None:
    raw = RawVacancy(title, url, FoundBy.API, description, said)
    harvest = harvest_of([raw], Employer(), NOW)
    assert len(harvest.vacancies) + len(harvest.skipped) == 1


@given(any_text)
def test_no_text_is_an_error(text: str) -> None:
    pay = pay_in(text)
    assert pay is None or pay.low is None or pay.high is None or pay.low <= pay.high
    in_prose = pay_in_prose(text)
    assert in_prose is None or in_prose.currency
    country = country_in(text)
    assert country is None or name_of(country)


@given(days, st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y"]))
def test_every_day_is_read_as_it_was_written(day: date, form: str) -> None:
    assert first_day_in(f"until {day.strftime(form)}, at noon") == day


@given(st.sampled_from(sorted((iso, city) for iso, cities in CITIES.items() for city in cities)))
def test_every_town_is_in_its_country_with_and_without_its_name(place: tuple[str, str]) -> None:
    iso, city = place
    assert country_in(city) == iso
    assert country_in(f"{city}, {name_of(iso)}") == iso
    assert country_called(name_of(iso)) == iso


@given(any_text, st.sampled_from([words.LEVELS, words.MISSIONS, words.MODALITIES, words.CONTRACTS]))
def test_case_and_surroundings_do_not_change_what_is_found(text: str, vocabulary: Vocabulary) -> None:
    assert vocabulary.found_in(text) == vocabulary.found_in(f"  {text} ")
    assert vocabulary.found_in(text) == vocabulary.found_in(" ".join(words_of(text)))


@given(any_text, any_text, any_text)
def test_identity_is_a_function_of_its_words_behind_one_listing(title: str, org: str, place: str) -> None:
    first = canonical_hash(BASE, title, org, place, BASE)
    assert first == canonical_hash(f"{BASE}#x", f" {title} ", org, place, BASE)
    assert first == canonical_hash("mailto:x@aid.test", title, org, place, BASE)
    assert first != canonical_hash(BASE, f"{title} zz", org, place, BASE)
