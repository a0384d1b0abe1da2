"""Rows 80 to 93 of the hostile inputs: XML and JSON made to exhaust, to leak or to act."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from socket import create_server, socket

import pytest

from headwater.discover.feeds import read_feed
from headwater.discover.feeds.draft import LONGEST_GUID, MOST_ENTRIES
from headwater.discover.feeds.pace import LONGEST
from headwater.discover.feeds.words import LONGEST_TITLE
from headwater.discover.items import Item, Reading, Unreadable

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
LINK = "<link>https://site.example/1</link>"
LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))


def read(document: str | bytes) -> Reading | Unreadable:
    body = document.encode() if isinstance(document, str) else document
    return read_feed(body, "application/xml", "https://site.example/feed", NOW)


def rss(inside: str) -> str:
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>{inside}</channel></rss>'


def readable(document: str | bytes) -> Reading:
    found = read(document)
    assert isinstance(found, Reading), found
    return found


def only(document: str) -> Item:
    (item,) = readable(document).items
    return item


@pytest.fixture
def listener() -> Iterator[socket]:
    with create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def documents_with_a_doctype(system: str) -> Iterator[str]:
    item = f"<item>{LINK}<title>&x;</title></item>"
    feed = f"<rss><channel>{item}</channel></rss>"
    for subset in (
        f'<!ENTITY x SYSTEM "{system}">',
        f'<!ENTITY % p SYSTEM "{system}"> %p;',
        f'<!ENTITY x PUBLIC "-//x" "{system}">',
        f'<!ENTITY l0 "ha">{LAUGHS}<!ENTITY x "&l9;">',
        f'<!ENTITY x "{"a" * 60_000}">',
    ):
        yield f"<!DOCTYPE rss [{subset}]>{feed}"
        yield f'<?xml version="1.0"?><!-- <a> -->\n<!doctype rss [{subset}]>{feed}'
        # Taking the first out must not let the second in.
        yield f"<!DOCTYPE rss><!DOCTYPE rss [{subset}]>{feed}"
        # Not XML any more, so that the tolerant parser gets it.
        yield f"junk<!DOCTYPE rss [{subset}]>{feed}"
        yield f"<!DOCTYPE rss><x/><!DOCTYPE rss [{subset}]>{feed}<"


def test_no_entity_is_ever_expanded_and_nothing_is_opened(listener: socket, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("kept to itself")
    for system in (secret.as_uri(), f"http://127.0.0.1:{listener.getsockname()[1]}/x"):
        for document in documents_with_a_doctype(system):
            found = read(document)
            if isinstance(found, Reading):
                assert "kept" not in repr(found)
                assert "hahaha" not in repr(found)
                assert len(repr(found)) < 3_000
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_an_external_document_type_is_not_fetched(listener: socket) -> None:
    system = f"http://127.0.0.1:{listener.getsockname()[1]}/rss.dtd"
    assert only(f'<!DOCTYPE rss SYSTEM "{system}">{rss(f"<item>{LINK}</item>")[21:]}').url == "https://site.example/1"
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.parametrize("subset", ['<!ENTITY a "b">', "", "<!ELEMENT a ANY>"])
def test_a_document_type_of_its_own_is_refused_outright(subset: str) -> None:
    found = read(f'<?xml version="1.0"?><!DOCTYPE rss [{subset}]><rss><channel/></rss>')
    assert found == Unreadable("The feed brings a document type of its own, which may hide entities: refused.")


def test_bytes_that_name_a_file_are_not_opened(tmp_path: Path) -> None:
    """feedparser opens bytes that happen to be a path."""
    feed = tmp_path / "<rss>"
    feed.write_text(rss(f"<item>{LINK}</item>"))
    found = read(str(feed))
    assert isinstance(found, Unreadable) or not found.items


def test_an_attribute_of_megabytes_is_only_long() -> None:
    assert only(rss(f'<item a="{"x" * (4 << 20)}">{LINK}</item>')).url == "https://site.example/1"


def test_nesting_has_an_end() -> None:
    for deep in ("<a>" * 200_000 + "</a>" * 200_000, "<item>" * 200_000, "<description>" * 200_000):
        assert isinstance(read(rss(deep)), Unreadable)


@pytest.mark.parametrize("tag", ["<a>", "<item>", "<description>", "<div>"])
def test_nesting_does_not_overflow_the_tolerant_way(tag: str) -> None:
    assert "Read tolerantly" in readable("&" + rss(f"<item>{LINK}</item>" + tag * 20_000)).notes[0]


@pytest.mark.long
def test_a_million_items_are_ten_thousand() -> None:
    reading = readable(rss("".join(f"<item><link>https://site.example/{n}</link></item>" for n in range(1_000_000))))
    assert len(reading.items) == MOST_ENTRIES
    assert "Only the first 10,000 entries were read." in reading.notes


@pytest.mark.long
def test_entries_without_links_count_too() -> None:
    reading = readable(rss("<item/>" * 400_000))
    assert reading.items == ()
    assert reading.notes[0] == "Skipped 10,000 entries without a link that can be fetched."


@pytest.mark.long
def test_an_item_of_fifty_megabytes_is_cut() -> None:
    item = only(rss(f"<item>{LINK}<description>{'x' * (50 << 20)}</description></item>"))
    assert len(item.content) <= 1_000_000


def test_ten_thousand_enclosures_are_passed_by() -> None:
    enclosures = '<enclosure url="https://site.example/e.mp3"/>' * 10_000
    assert only(rss(f"<item>{enclosures}{LINK}</item>")).url == "https://site.example/1"


@pytest.mark.parametrize("piece", ["<", "&", "<![CDATA[", "<!--", "<a ", '<a b="', "&a;", "<?", "<!x ", "]]>", "</a>"])
def test_the_tolerant_way_ends(piece: str) -> None:
    reading = readable(rss(f"<item>{LINK}</item>" + piece * (100_000 // len(piece)))[:-20])
    assert [item.url for item in reading.items] == ["https://site.example/1"]


def test_a_tag_of_many_attributes_does_not_reach_the_slow_path() -> None:
    attributes = " ".join(f'b{n}="1"' for n in range(30_000))
    assert only(rss(f"<item>{LINK}</item>") + f"<a {attributes}>").url == "https://site.example/1"


def test_identities_are_taken_as_they_come() -> None:
    reading = readable(
        rss(
            "<item><link>https://site.example/1</link><guid>same</guid></item>"
            "<item><link>https://site.example/2</link><guid>same</guid></item>"
            f"<item><link>https://site.example/3</link><guid>{'g' * 1_000_000}</guid></item>"
        )
    )
    assert [item.url[-1] for item in reading.items] == ["1", "2", "3"]
    assert len(reading.items[2].guid) == LONGEST_GUID


@pytest.mark.parametrize("date", ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "Mon, 30 Feb 2026 10:00:00 GMT", "x"])
def test_a_date_that_cannot_be_is_left_out(date: str) -> None:
    assert only(rss(f"<item>{LINK}<pubDate>{date}</pubDate></item>")).published_at is None


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("<![CDATA[<script>alert(1)</script>]]>", "alert(1)"),
        ("&lt;img src=x onerror=alert(1)&gt;Tea", "Tea"),
        ("<![CDATA[<svg onload=alert(1)>Tea]]>", "Tea"),
        ("<script>alert(1)</script>", "alert(1)"),
        ("&amp;lt;script&amp;gt;", "<script>"),
        ("<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b"),
        ("a\u202eb\u200bc", "a\u202eb\u200bc"),
        ("two\nlines", "two lines"),
        ("&amp;#" + "9" * 10_000 + ";", "9" * 0),
    ],
)
def test_a_title_is_inert_text(raw: str, title: str) -> None:
    assert only(rss(f"<item>{LINK}<title>{raw}</title></item>")).title == title


def test_a_title_of_a_megabyte_is_cut() -> None:
    for raw in ("t" * 1_000_000, "&lt;b&gt;" * 100_000, "&lt;" * 250_000, "&amp;#1;" * 100_000):
        assert len(only(rss(f"<item>{LINK}<title>{raw}</title></item>")).title) <= LONGEST_TITLE


@pytest.mark.parametrize(
    "link",
    [
        *("javascript:alert(1)", " JavaScript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "vbscript:x"),
        *("file:///etc/passwd", "ftp://site.example/", "http:", "http://", "tag:a", "//[", "x" * 10_000),
    ],
)
def test_a_link_that_cannot_be_fetched_is_dropped(link: str) -> None:
    entries = f"<item><link>{link}</link></item>"
    as_json = json.dumps({"version": "https://jsonfeed.org/version/1", "items": [{"url": link, "id": link}]})
    for document in (rss(entries), rss(entries)[:-8], as_json):
        assert readable(document).items == ()


@pytest.mark.parametrize("ttl", ["0", "-1", "1000000000", "1e9", "NaN"])
def test_a_wish_about_polling_is_within_reason(ttl: str) -> None:
    said = readable(rss(f"<ttl>{ttl}</ttl>")).ttl
    assert said is None or said == LONGEST


@pytest.mark.parametrize(
    "items",
    ["[" * 10_000 + "]" * 10_000, "[" + "9" * 400 + "]", "[1e400]", "[NaN]", '["\\ud800"]', "[{}," * 9],
)
def test_json_beyond_reason_is_unreadable(items: str) -> None:
    assert isinstance(read(f'{{"version": "https://jsonfeed.org/version/1", "items": {items}}}'), Unreadable)


def test_json_of_more_values_than_a_feed_needs_is_refused() -> None:
    found = read('{"version": "https://jsonfeed.org/version/1", "items": [' + "{}," * 600_000 + "{}]}")
    assert found == Unreadable("The JSON holds more values than a feed needs.")


def test_of_repeated_keys_the_last_counts() -> None:
    item = '{"url": "https://site.example/1", "url": "https://site.example/2"}'
    assert only(f'{{"version": "https://jsonfeed.org/version/1", "items": [{item}]}}').url == "https://site.example/2"


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], {}, [[]], [{}], {"name": []}])
def test_json_of_any_shape_is_no_surprise(value: object) -> None:
    names = ("url", "id", "title", "summary", "content_html", "content_text", "authors", "author", "date_published")
    feed = {"title": value, "hubs": value, "authors": value, "language": value}
    items = [dict.fromkeys(names, value) | {"external_url": "/x"}, value]
    document = json.dumps(feed | {"version": "https://jsonfeed.org/version/1.1", "items": items})
    assert len(readable(document).items) == 1
    assert readable(json.dumps(feed | {"version": "https://jsonfeed.org/version/1.1", "items": value})).items == ()


def test_no_text_holds_a_character_that_cannot_be_stored() -> None:
    item = {
        "url": "https://site.example/1",
        "title": "a\x00b",
        "content_html": "a\x00b",
        "id": "a\x00b",
        "summary": "\x00",
    }
    found = only(json.dumps({"version": "https://jsonfeed.org/version/1", "items": [item]}))
    assert "\x00" not in f"{found.title}{found.content}{found.guid}{found.summary}"
