from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.errors import UsageError
from headwater.sources.exchange.fields import FIELDS, Row
from headwater.sources.exchange.reading import ListFormat, ReadSources, read_sources
from headwater.sources.exchange.writing import write_sources
from headwater.sources.source import tags_from
from headwater.storable import one_line

any_text = st.text(st.characters(exclude_categories=()), max_size=40)
names = st.one_of(
    any_text, st.sampled_from(["=1", "'=x", "''-", "\t+", 'a"b,c;d|e', "# x", "{}", "<&>", "NULL", "'NULL", "\\N"])
).map(one_line)
tags = st.lists(any_text, max_size=4).map(";".join).map(tags_from)
addresses = st.builds(
    "{}://h{}.example/{}".format,
    st.sampled_from(["http", "https"]),
    st.integers(0, 10**9),
    st.text("abc/?&=;,|'@~-.%", max_size=12).map(lambda path: path.lstrip("/").replace("..", "a").replace("./", "b")),
)
hints = st.text("ab{}\":,.\n\t #>'=", max_size=30).map(str.strip)
durations = st.none() | st.integers(1000, 10**9).map(lambda milliseconds: timedelta(milliseconds=milliseconds))


def said(*words: str) -> st.SearchStrategy[str]:
    return st.sampled_from(["", *words])


def several_of(one: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(one, max_size=3).map(tuple)


rows = st.builds(
    Row,
    line=st.just(0),
    url=addresses,
    name=names,
    feed_url=st.just("") | addresses,
    sitemap_url=st.just("") | addresses,
    kind=said("news", "jobs", "docs"),
    source_type=said("html", "rss", "api"),
    ingestion_mode=said("feed", "spider", "both"),
    status=said("active", "paused"),
    tags=tags,
    priority=st.none() | st.integers(1, 10),
    interval=durations,
    rate_limit=durations,
    max_depth=st.none() | st.integers(-1, 1000),
    timezone=said("Europe/Paris", "UTC", "America/Argentina/Buenos_Aires"),
    org_type=names,
    parser_hint=hints,
    crawl_frequency_days=st.none() | st.floats(0.04, 365),
    time_window=said("22:00-05:00"),
    more_sitemaps=several_of(addresses),
    country=said("FR", "ke"),
    policy=said("adaptive", "tiers", "frequency", "fixed"),
    revisit_every=st.lists(durations.filter(bool), max_size=3).map(tuple),
    max_pages=st.none() | st.integers(1, 1_000_000),
    start_urls=several_of(addresses),
    allowed_domains=several_of(st.sampled_from(["a.example", "b.example"])),
    include_paths=several_of(st.text("/ab,;| '=-", max_size=9)),
    exclude_paths=several_of(st.text("/ab,;| '=-", max_size=9)),
    allow_external=st.booleans(),
    skips_tdmrep=st.booleans(),
    speaks_for=several_of(st.sampled_from(["a.example", "b.example"])),
    article_patterns=several_of(st.sampled_from([r"/\d{4}/[^/]+", "a|b", "[0-9] x", "=1", "ü"])),
    selectors=st.sampled_from([{}, {"list": {"container": "ul > li, ol", "exclude_from_list": [".ad"]}}]),
)
CARRIED = {
    ListFormat.CSV: {field.name for field in FIELDS},
    ListFormat.JSONL: {field.name for field in FIELDS},
    ListFormat.OPML: {"url", "name", "feed_url", "tags"},
    ListFormat.URLS: {"url", "tags"},
}


def as_read(row: Row) -> Row:
    """The row with its addresses as the gate spells them."""
    read = read_sources("".join(write_sources([row], ListFormat.JSONL)).encode(), ListFormat.JSONL)
    assert read.bad_lines == ()
    return replace(read.rows[0], line=0)


def carried(row: Row, by: ListFormat) -> Row:
    kept = {name: getattr(row, name) for name in CARRIED[by]}
    if by is ListFormat.OPML:
        # A reader of OPML wants some text for every outline.
        kept["name"] = row.name or row.url
    return Row(0, **kept)


several = st.lists(
    rows, min_size=1, max_size=5, unique_by=(lambda row: host(row.feed_url or row.url), lambda row: host(row.url))
)


def host(url: str) -> str:
    return url.split("/")[2]


# To think of rows costs more than to write and to read them: all formats are shown the same ones.
@pytest.mark.long
@given(found=several)
def test_what_is_exported_is_imported_again(found: list[Row]) -> None:
    brought = [as_read(row) for row in found]
    for as_format in ListFormat:
        again = read_sources("".join(write_sources(brought, as_format)).encode(), as_format)
        expected = [carried(row, as_format) for row in brought]
        assert again.bad_lines == (), as_format
        assert sorted((replace(row, line=0) for row in again.rows), key=repr) == sorted(expected, key=repr), as_format


@pytest.mark.long
@given(found=several)
def test_an_export_is_recognised_without_being_told(found: list[Row]) -> None:
    for as_format in ListFormat:
        assert read_sources("".join(write_sources(found, as_format)).encode()).format is as_format


@given(
    st.binary(max_size=200) | any_text.map(lambda text: text.encode("utf-8", "ignore")),
    st.none() | st.sampled_from(ListFormat),
)
@example(b"<opml><outline xmlUrl='//'/>", None)
@example(b'url\n"', ListFormat.CSV)
@example(b'{"url":[[[]]]}', ListFormat.JSONL)
def test_whatever_the_bytes_there_is_a_report_or_a_refusal(data: bytes, as_format: ListFormat | None) -> None:
    with suppress(UsageError):
        assert isinstance(read_sources(data, as_format), ReadSources)
