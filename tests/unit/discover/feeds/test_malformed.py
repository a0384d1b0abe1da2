"""What is not well-formed is mended, then read tolerantly; only what holds nothing is unreadable."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from headwater.discover.feeds import read_feed
from headwater.discover.feeds.read import mend
from headwater.discover.items import Reading, Unreadable

Read = Callable[..., Reading]

FEED = (
    '<?xml version="1.0"?><rss version="2.0"><channel><title>t</title><ttl>30</ttl><language>en</language>'
    "<item><title>One</title><link>https://site.example/1</link><pubDate>Sat, 10 Jan 2026 08:30:00 GMT</pubDate></item>"
    "<item><title>Two</title><link>https://site.example/2</link><description>second</description></item></channel></rss>"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a & b", "a &amp; b"),
        ("?a=1&b=2&copy=3", "?a=1&amp;b=2&amp;copy=3"),
        ("&amp;&lt;&#65;&#x41;", "&amp;&lt;&#65;&#x41;"),
        ("&nbsp;&eacute;&LT;", "\xa0é&lt;"),
        ("&bogus;", "&amp;bogus;"),
        ("&#0;&#x1F;&#xFFFF;&#xD800;&#1114112;", ""),
        ("<![CDATA[a & b]]> & <![CDATA[c & d", "<![CDATA[a & b]]> &amp; <![CDATA[c & d"),
        ("a\x00\x0b\ufffeb", "ab"),
    ],
)
def test_mending_touches_only_what_is_broken(before: str, after: str) -> None:
    assert mend(before) == after


def test_a_bare_ampersand_does_not_corrupt_a_link(rss: Read) -> None:
    reading = rss("<item><link>https://site.example/?a=1&b=2&copy=3</link><title>Q&A</title></item>")
    assert [(item.url, item.title) for item in reading.items] == [("https://site.example/?a=1&b=2&copy=3", "Q&A")]
    assert reading.notes[0].startswith("Mended: ")


@pytest.mark.parametrize(
    "broken",
    [
        FEED.replace("</channel>", "<media:x>prefix</media:x></channel>"),
        FEED.replace("second", "sec<br>ond"),
        "PHP warning: headers already sent\n" + FEED,
        FEED + "<script>var a = 1;</script>",
        FEED.replace("</rss>", "</rdf>"),
    ],
    ids=["prefix", "unescaped", "words before", "words after", "wrong end"],
)
def test_what_cannot_be_mended_is_read_tolerantly(read: Read, broken: str) -> None:
    reading = read(broken)
    assert [item.url for item in reading.items] == ["https://site.example/1", "https://site.example/2"]
    assert reading.items[0].published_at == datetime(2026, 1, 10, 8, 30, tzinfo=UTC)
    assert (reading.language, reading.ttl) == ("en", timedelta(minutes=30))
    assert reading.notes[0].startswith("Read tolerantly: ")


def test_a_link_read_tolerantly_is_resolved_and_decoded(read: Read) -> None:
    reading = read('<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/a?b=1&#038;c=2"/></entry><entry>')
    assert [item.url for item in reading.items] == ["https://site.example/a?b=1&c=2"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "The feed is empty."),
        (b" \n\t", "The feed is empty."),
        (b"<!doctype html><html><p>Gone", "An HTML page, not a feed."),
        (b"<html><body>Gone</body></html>", "An HTML page, not a feed."),
        (b"<urlset><url/></urlset>", "XML, but not a feed: it starts with <urlset>."),
        (b'{"error": "gone"}', "JSON, but not a JSON Feed."),
        (b"[1, 2]", "JSON, but not a JSON Feed."),
        (b'{"version": "https://jsonfeed.org/version/1"', "Neither XML nor JSON: "),
        (b"Service unavailable", "Not a feed: "),
        (b"\x89PNG\r\n\x1a\n\x00", "Not a feed: "),
    ],
)
def test_what_is_no_feed_is_unreadable_and_says_why(body: bytes, why: str, now: datetime) -> None:
    found = read_feed(body, "text/xml", "https://site.example/feed", now)
    assert isinstance(found, Unreadable)
    assert found.why.startswith(why)
    assert found.why.endswith(".")
