from datetime import UTC, datetime, timedelta

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simhashes import hamming

from headwater.extraction.article import Article
from headwater.extraction.dates import moment_from
from headwater.extraction.extractor import extract
from headwater.extraction.page import FeedHints, Page, answer_from
from headwater.extraction.robots import robots_of
from headwater.extraction.similarity import simhash
from headwater.extraction.text import content_hash, count_words, page_line, storable, tidy

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
any_text = st.text(st.characters(exclude_categories=()))
words = st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=60, max_size=90).map(" ".join)
tags = st.sampled_from(
    [
        "html",
        "head",
        "body",
        "title",
        "meta",
        "link",
        "base",
        "script",
        "style",
        "p",
        "div",
        "article",
        "main",
        "h1",
        "a",
        "time",
        "table",
        "tr",
        "td",
        "ul",
        "li",
        "br",
        "noscript",
    ]
)
names = st.sampled_from(["name", "property", "content", "href", "rel", "class", "datetime", "type", "lang", "itemprop"])
values = st.one_of(
    any_text.map(lambda text: text.replace('"', "")),
    st.sampled_from(
        [
            "robots",
            "noindex",
            "canonical",
            "og:title",
            "article:published_time",
            "2026-05-03",
            "application/ld+json",
            "/",
            "//x",
            "?q",
            "http://[",
        ]
    ),
)
attributes = st.lists(st.tuples(names, values), max_size=3).map(lambda pairs: "".join(f' {n}="{v}"' for n, v in pairs))
opened = st.builds("<{}{}>".format, tags, attributes)
closed = st.builds("</{}>".format, tags)
linked = st.recursive(
    st.none() | st.integers() | any_text,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["@type", "@id", "headline", "author", "name", "image", "url", "articleBody", "@graph"]),
            inner,
        )
    ),
    max_leaves=10,
).map(lambda value: f'<script type="application/ld+json">{{"@type":"Article","x":{as_json(value)}}}</script>')
pages = st.lists(st.one_of(opened, closed, words, any_text, linked), max_size=15).map("".join)


def as_json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):  # surrogates, or a number of more than 64 bits
        return "null"


@given(pages, any_text, pages)
@settings(max_examples=60, deadline=None)
def test_whatever_the_page_the_answer_is_storable_and_bounded(html: str, header: str, content: str) -> None:
    page = Page(
        url="https://example.com/a",
        body=html.encode("utf-8", "surrogatepass"),
        robots_headers=(header,),
        hints=FeedHints(title=header, content=content),
    )
    found = extract(page, NOW)
    written = orjson.dumps(found)
    assert b"\\u0000" not in written.replace(b"\\\\", b"")
    assert answer_from(orjson.loads(written)) == found
    if isinstance(found, Article):
        assert found.word_count >= 50
        assert 0 <= found.quality.score <= 100
        assert found.published_at is None or found.published_at <= NOW + timedelta(days=1)


@given(any_text)
def test_strings_become_storable_and_stay_as_they_are(text: str) -> None:
    once = storable(text)
    once.encode()
    assert storable(once) == once
    assert page_line(page_line(text)) == page_line(text)
    assert tidy([tidy(text.split("\n"))]).split() == tidy(text.split("\n")).split()


@given(any_text, st.timezones())
def test_a_date_is_aware_or_none(text: str, zone: object) -> None:
    moment = moment_from(text, zone)  # type: ignore[arg-type]
    assert moment is None or moment.tzinfo is UTC


@given(st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2100, 1, 1)), st.timezones())  # noqa: DTZ001
def test_an_instant_survives_being_written_down(naive: datetime, zone: object) -> None:
    moment = naive.replace(tzinfo=UTC, microsecond=0)
    assert moment_from(moment.isoformat(), zone) == moment  # type: ignore[arg-type]


@given(any_text, any_text, any_text)
def test_directives_of_any_shape_are_read(header: str, name: str, content: str) -> None:
    robots = robots_of([(name, content)], [header], "headwater", UTC, NOW)
    assert robots.noindex or "noindex" not in [word.strip() for word in header.lower()[:4000].split(",")]


@given(any_text)
def test_equal_texts_are_alike_and_every_hash_has_its_size(text: str) -> None:
    clean = storable(text)
    assert hamming(simhash(clean), simhash(clean)) == 0
    assert 0 <= simhash(clean) < 2**64
    assert content_hash(f" {clean}\n") == content_hash(clean)
    assert count_words(clean) <= len(clean)


def as_stored(character: str) -> str:
    """By the book: line breaks nobody else knows are spaces, and what PostgreSQL or XML refuses is left out."""
    code = ord(character)
    if code in (0x0B, 0x0C, 0x85):
        return " "
    is_control = (code < 0x20 and character not in "\t\n\r") or 0x7F <= code <= 0x9F
    return "" if is_control or 0xD800 <= code <= 0xDFFF or code in (0xFFFE, 0xFFFF) else character


ODD = st.sampled_from("\0\x08\t\n\x0b\x0c\r\x0e\x1f\x7f\x80\x84\x85\x86\x9f\xa0ÂÃï¿\ud800\udfff\ufffd\ufffe\uffff😀")


@given(st.text(st.one_of(ODD, st.characters(codec="utf-8"))))
def test_what_cannot_be_stored_is_found_however_little_of_it_there_is(text: str) -> None:
    assert storable(text) == "".join(map(as_stored, text))
