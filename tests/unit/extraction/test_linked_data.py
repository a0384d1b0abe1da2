import json
from datetime import UTC, datetime

import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.elements import Elements
from headwater.extraction.linked_data import LinkedData, linked_data_of

URL = "https://example.com/a"
STORY = {"@type": "NewsArticle", "headline": "Storm"}


def read(*scripts: object) -> LinkedData:
    texts = (script if isinstance(script, str) else json.dumps(script) for script in scripts)
    html = "".join(f'<script type="application/ld+json">{text}</script>' for text in texts)
    return linked_data_of(Elements(LexborHTMLParser(html)), URL, UTC)


@pytest.mark.parametrize(
    "written",
    [
        STORY,
        [STORY],
        {"@graph": [{"@type": "WebSite"}, STORY]},
        {"@type": "WebPage", "mainEntity": {"inner": [STORY]}},
        {"@type": ["Thing", "http://schema.org/NewsArticle"], "headline": "Storm"},
        {"@type": "BlogPosting", "headline": ["Storm", "Other"]},
        '<!-- {"@type": "Article", "headline": "Storm"} -->',
        '{"@type": "Article", "headline": "Storm", "description": "two\nlines"}',
    ],
)
def test_the_story_is_found_wherever_it_is_written(written: object) -> None:
    found = read(written)
    assert found.headline == "Storm"
    assert found.is_about_this_page


def test_all_fields_are_read() -> None:
    found = read(
        STORY
        | {
            "description": "What &amp; why",
            "author": [{"name": "Ann"}, {"@id": "#bo"}, "https://example.com/profile"],
            "publisher": {"@type": "Organization", "name": "The Example"},
            "image": [{"url": "https://example.com/1.png"}, "https://example.com/2.png"],
            "datePublished": "2026-05-03T08:00:00+02:00",
            "dateModified": "2026-05-03",
            "wordCount": "500",
            "keywords": ["a", "b"],
            "articleSection": "Local",
            "inLanguage": "en",
            "contentLocation": {"name": "Harbour"},
            "mainEntityOfPage": {"@id": URL},
            "articleBody": "Text",
        },
        {"@graph": [{"@type": "Person", "@id": "#bo", "name": "Bo"}]},
    )
    assert (found.description, found.author, found.publisher_name) == ("What & why", "Ann, Bo", "The Example")
    assert found.images == ("https://example.com/1.png", "https://example.com/2.png")
    assert found.date_published == datetime(2026, 5, 3, 6, tzinfo=UTC)
    assert (found.word_count, found.keywords, found.location) == (500, ("a", "b"), "Harbour")
    assert (found.url, found.article_body, found.schema_type) == (URL, "Text", "NewsArticle")
    assert found.raw is not None
    assert "articleBody" not in found.raw


def test_references_in_a_circle_end() -> None:
    found = read({"@graph": [STORY | {"@id": "#a", "author": {"@id": "#a"}}, {"@id": "#b", "author": {"@id": "#a"}}]})
    assert found.author == ""


def test_of_many_stories_the_one_about_this_page_is_taken() -> None:
    others = [STORY | {"headline": f"Other {n}", "url": f"https://example.com/{n}"} for n in range(5)]
    assert not read(others).is_about_this_page
    found = read([*others, STORY | {"url": URL}])
    assert (found.headline, found.is_about_this_page) == ("Storm", True)


@pytest.mark.parametrize("written", ["", "{", "null", "[[[", '"text"', "1e999", '{"@type": 5}', '{"@type": {"a": []}}'])
def test_what_is_no_linked_data_is_none(written: str) -> None:
    assert read(written) == LinkedData()


def test_a_broken_script_does_not_hide_the_next() -> None:
    assert read("{broken", STORY).headline == "Storm"


def test_a_script_that_is_too_large_is_not_read() -> None:
    assert read(STORY | {"x": "y" * 1_000_000}).headline == "Storm"
    assert read(STORY | {"x": "y" * 3_000_000}) == LinkedData()


def test_nothing_unstorable_is_kept() -> None:
    found = read(r'{"@type": "Article", "headline": "a\u0000b", "x": {"deep": ["\u0000", "\\u0000", "c\\\u0000d"]}}')
    assert found.headline == "ab"
    assert found.raw == {"@type": "Article", "headline": "ab", "x": {"deep": ["", "\\u0000", "c\\d"]}}
