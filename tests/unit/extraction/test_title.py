"""Titles without what stands around them, and which of several is chosen."""

import pytest
from tests.unit.extraction.conftest import PROSE, Read

from headwater.extraction.site_names import site_names
from headwater.extraction.title import best_title, headline_in, surroundings, without_surroundings

AROUND = surroundings(site_names("https://www.harbour-news.co.uk/a", ["The Daily Tide", "港新聞"]), ["Politics, World"])


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Storm hits the city | The Daily Tide", "Storm hits the city"),
        ("Storm hits the city - World | The Daily Tide", "Storm hits the city"),
        ("Storm hits the city – Daily Tide – 13.06.2026", "Storm hits the city"),
        ("Storm hits the city * The Daily Tide * by Ann Lee", "Storm hits the city"),
        ("Storm hits the city | Harbour News Online", "Storm hits the city"),
        ("Harbour-News: Storm hits the city", "Storm hits the city"),
        ("Harbour-News Extra: Storm hits the city", "Harbour-News Extra: Storm hits the city"),
        ("A night at the Harbour-News: Part 1", "A night at the Harbour-News: Part 1"),
        ("Harbour-News Extra | Storm hits the city", "Storm hits the city"),
        ("嵐が街を襲った-港新聞", "嵐が街を襲った"),
        ("嵐が街を襲った：港新聞", "嵐が街を襲った"),
        ("Storm hits - Our Old Harbour-News", "Storm hits"),
        ("Storm: what the world knows", "Storm: what the world knows"),
        ("Storm hits the city - a report", "Storm hits the city - a report"),
        ("»We will not give up«", "»We will not give up«"),
        ("Mayor: «No more storms» - World | The Daily Tide", "Mayor: «No more storms»"),
        ("Mayor: »No more storms« - World", "Mayor: »No more storms«"),
        ("Storm hits the city » The Daily Tide", "Storm hits the city"),
        ("The Daily Tide", "The Daily Tide"),
        ("", ""),
    ],
)
def test_a_title_loses_site_section_date_and_author_and_nothing_else(title: str, expected: str) -> None:
    assert without_surroundings(title, AROUND) == expected


def test_the_link_to_the_front_page_names_the_site(read: Read) -> None:
    title = "<title>Storm hits the city - The Old Tide</title>"
    for logo in ("The Old Tide", "<img src=l.png alt='The Old Tide'>"):
        body = f"<a href='https://www.example.com/'>{logo}</a><article>{PROSE}</article>"
        assert read(title, body).title == "Storm hits the city"
    far = f"<a href='https://elsewhere.example/'>The Old Tide</a><article>{PROSE}</article>"
    long = "<title>Storm hits the city of many towers - The Old Tide of the North Sea</title>"
    assert read(long, far.replace("Tide", "Tide of the North Sea")).title.endswith("North Sea")


def test_another_title_tells_where_the_headline_ends() -> None:
    known = "Storm hits the city"
    assert without_surroundings(f"{known} | Nobody knows me", AROUND, known) == known
    assert without_surroundings(f"{known} again", AROUND, known) == f"{known} again"


def test_a_heading_that_is_the_sites_name_is_no_headline() -> None:
    assert headline_in("What is a storm? | StormBlog", "StormBlog", AROUND) == "What is a storm?"
    assert headline_in("Storm hits | StormBlog", "Storm hits", AROUND) == "Storm hits"


@pytest.mark.parametrize(
    ("headline", "shared", "heading", "page_title", "expected"),
    [
        ("A storm", "A storm", "Other", "Other", "A storm"),
        ("A storm", "", "Other", "Other", "A storm"),
        ("", "A storm", "Other", "Other", "A storm"),
        ("Kicker: a storm", "A storm", "Kicker: a storm", "Kicker: a storm", "A storm"),
        ("Search words", "A storm", "A storm", "Search words", "A storm"),
        ("A storm", "Search words", "A storm", "Search words", "A storm"),
        ("A storm", "Shared", "A storm", "Search words", "A storm"),
        ("A storm", "Tide Magazine | A storm", "A storm", "A storm", "A storm"),
        ("A storm", "Harbour: A storm", "A storm", "A storm", "Harbour: A storm"),
        ("", "Mayor calls it", 'Mayor calls it "a storm"', "Other", ""),
        ("", "Mayor calls it a", 'Mayor calls it "a storm"', "Other", "Mayor calls it a"),
        ("", "Releases", "A storm hits the city", "A storm hits the city", ""),
        ("", "Storm", "The storm", "The storm of 1703", "Storm"),
        ("", "嵐", "嵐が街を襲った", "The storm of 1703", "嵐"),
    ],
)
def test_of_two_declared_titles_the_one_that_was_written_on_purpose_is_chosen(
    headline: str, shared: str, heading: str, page_title: str, expected: str
) -> None:
    assert best_title(headline, shared, heading, page_title) == expected


def test_what_stands_before_the_sites_name_in_the_middle_is_the_headline() -> None:
    title = "What is a storm? : StormBlog | Notes on weather | Since 2005"
    assert headline_in(title, "StormBlog", AROUND) == "What is a storm?"
    assert headline_in("What is StormBlog about", "StormBlog", AROUND) == "What is StormBlog about"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Storm hits the city | Weather | The Daily Tide", "Storm hits the city"),
        ("Storm hits the city - Weather | The Daily Tide", "Storm hits the city - Weather"),
        ("Storm hits the city - Seaside | The Daily Tide", "Storm hits the city"),
        ("Storm | Weather | The Daily Tide", "Storm | Weather"),
        ("嵐が街を襲った-天気ㅣ港新聞", "嵐が街を襲った"),
        ("嵐が街を襲った-天気と海と人々ㅣ港新聞", "嵐が街を襲った-天気と海と人々"),
    ],
)
def test_a_section_stands_before_the_sites_name(title: str, expected: str) -> None:
    around = surroundings(
        site_names("https://harbour.example", ["The Daily Tide", "港新聞"]), [], lambda: frozenset({"seaside"})
    )
    assert without_surroundings(title, around) == expected


def test_a_headline_is_spelt_as_most_spell_it() -> None:
    straight, curly = "The city's storm", "The city’s storm"
    assert best_title(curly, straight, curly, "Other") == curly
    assert best_title(curly, straight, straight, "Other") == straight


def test_among_spellings_that_stand_once_the_plain_meta_is_believed(read: Read) -> None:
    straight, curly, mixed = "The 'city's' storm", "The ‘city’s’ storm", "The ‘city's’ storm"
    assert best_title("Other words", straight, curly, "Other", meta=mixed) == mixed
    assert best_title(curly, straight, curly, "Other", meta=mixed) == curly
    assert best_title(curly, straight, curly, "Other", meta="Another title") == curly
    head = f'<meta property="og:title" content="{straight}"><meta name="title" content="{mixed}">'
    head += f'<script type="application/ld+json">{{"@type": "NewsArticle", "headline": "{COMMON}"}}</script>'
    assert read(head, f"<h1>{curly}</h1><article>{PROSE}</article>").title == mixed


def test_long_titles_cost_little() -> None:
    for title in ("| " * 50_000, "a - " * 50_000, "Tide: " * 50_000):
        assert len(without_surroundings(title[:500], AROUND)) <= 500


APART, COMMON = "Storm hits the old city at night", "Nobody expected this from the sea"


@pytest.mark.parametrize(
    ("headline", "shared", "heading", "page_title", "is_named", "best"),
    [
        (COMMON, APART, COMMON, COMMON, True, APART),
        (COMMON, APART, COMMON, COMMON, False, COMMON),
        (APART, COMMON, COMMON, COMMON, True, APART),
        (APART, COMMON, COMMON, COMMON, False, APART),
        (COMMON[:20], COMMON, COMMON, COMMON, True, COMMON),
        (f"Weather: {COMMON}", COMMON, COMMON, COMMON, True, COMMON),
        ("News", COMMON, COMMON, COMMON, True, COMMON),
        (APART, COMMON, COMMON, APART, True, COMMON),
        (APART, COMMON, APART, COMMON, True, APART),
    ],
    ids=["shared apart", "one field", "headline apart", "and unnamed", "cut", "kicker", "department", "two", "heading"],
)
def test_what_stands_alone_was_written_on_purpose(
    headline: str, shared: str, heading: str, page_title: str, *, is_named: bool, best: str
) -> None:
    assert best_title(headline, shared, heading, page_title, is_named=is_named) == best


def test_a_title_that_linked_data_says_as_its_name_is_declared_twice(read: Read) -> None:
    assert best_title(APART, COMMON, APART, COMMON, COMMON) == COMMON
    assert best_title(APART, COMMON, APART, COMMON, "The Daily Tide") == APART
    linked = f'{{"@type": "NewsArticle", "headline": "{APART}", "name": "{COMMON}"}}'
    head = f'<meta property="og:title" content="{COMMON}"><script type="application/ld+json">{linked}</script>'
    assert read(head, f"<h1>{APART}</h1><article>{PROSE}</article>").title == COMMON


def test_a_title_that_the_heading_says_whole_has_no_name_at_its_end() -> None:
    title = "Storm hits the city: towers fall – extreme danger"
    assert headline_in(title, title, AROUND) == title
    assert headline_in(title, "", AROUND) != title
    # The same words, as the title spells them.
    assert headline_in("The city's storm | The Daily Tide", "The city’s storm", AROUND) == "The city's storm"
