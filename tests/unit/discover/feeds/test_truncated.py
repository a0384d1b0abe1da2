"""A feed that breaks off keeps every entry that stands whole before the break, exactly as the whole feed tells it."""

import json
from collections.abc import Callable
from datetime import datetime

import pytest

from headwater.discover.feeds import read_feed
from headwater.discover.feeds.read import MOST_BYTES
from headwater.discover.items import Reading, Unreadable

Read = Callable[..., Reading]
PLACE = "https://site.example/ü"
XHTML = '<div xmlns="http://www.w3.org/1999/xhtml"><ul><li>eins <a href="?a=1&amp;b=2">zwei</a></li></ul></div>'
NAMESPACES = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"'


def rss(count: int, text: str) -> str:
    items = "".join(
        f"<item><title>Äpfel &amp; {n}</title><link>{PLACE}{n}?a=1&amp;b={n}</link><guid>g{n}</guid>"
        f"<content:encoded><![CDATA[<p>{text}</p> a ]] b]]></content:encoded><dc:creator>é</dc:creator></item>"
        for n in range(count)
    )
    return f'<rss version="2.0" {NAMESPACES}><channel><title>t</title>{items}</channel></rss>'


def rdf(count: int, text: str) -> str:
    items = "".join(
        f'<item rdf:about="{PLACE}{n}"><title>{n}</title><link>{PLACE}{n}</link>'
        f"<description>{text}</description></item>"
        for n in range(count)
    )
    names = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'
    return f"<?xml version='1.0'?><rdf:RDF {names}><channel><title>t</title></channel>{items}</rdf:RDF>"


def atom(count: int, text: str) -> str:
    entries = "".join(
        f'<entry><title type="html">&lt;b&gt;{n}&lt;/b&gt;</title><link href="/ü{n}"/><id>tag:{n}</id>'
        f'<content type="xhtml">{XHTML}<p>{text}</p></content><updated>2026-01-0{n % 9 + 1}T00:00:00Z</updated></entry>'
        for n in range(count)
    )
    return f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://site.example/">{entries}</feed>'


def json_feed(count: int, text: str) -> str:
    items = [
        {"id": n, "url": f"{PLACE}{n}", "title": 'a "]}" b', "content_html": text, "authors": [{"name": "\\"}]}
        for n in range(count)
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": items, "authors": [{"name": "x"}]}
    return json.dumps(feed, ensure_ascii=False)


Kind = Callable[[int, str], str]
ENDS: dict[Kind, bytes] = {rss: b"</item>", rdf: b"</item>", atom: b"</entry>", json_feed: b'"name": "\\\\"}]}'}
KINDS = pytest.mark.parametrize("kind", ENDS)


@KINDS
def test_an_entry_before_the_break_is_read_as_in_the_whole_feed(kind: Kind, read: Read, now: datetime) -> None:
    body = kind(4, "Wörter &lt;und&gt; mehr").encode()
    whole = read(body).items
    assert len(whole) == 4
    # At every byte: inside of sections, references, tags and characters.
    for place in range(len(body) // 3, len(body)):
        found = read_feed(body[:place], "", "https://site.example/news/feed", now)
        complete = body[:place].count(ENDS[kind])
        items = () if isinstance(found, Unreadable) else found.items
        assert items[:complete] == whole[:complete], (place, body[:place][-40:])
        assert {item.url for item in items} <= {item.url for item in whole}, body[:place][-40:]


@KINDS
def test_a_long_feed_keeps_what_stands_beyond_its_first_megabyte(kind: Kind, read: Read) -> None:
    body = kind(12, "Ein langer Text. " * 16_000).encode()
    whole = read(body).items
    for share in (0.35, 0.6, 0.9):
        cut = body[: int(len(body) * share)]
        complete = cut.count(ENDS[kind])
        assert read(cut).items[:complete] == whole[:complete]
        assert complete > 3


def test_a_long_feed_that_is_broken_early_keeps_what_stands_far_behind(read: Read) -> None:
    body = rss(12, "x" * 200_000).replace("<channel>", "<channel><media:rating>fine</media:rating>", 1)
    assert len(read(body[: len(body) * 9 // 10]).items) == 11


@pytest.mark.long
def test_a_feed_beyond_all_limits_is_read_up_to_them(read: Read) -> None:
    reading = read(rss(40, "x" * (MOST_BYTES // 20)))
    assert 18 <= len(reading.items) <= 20
    assert reading.notes[0].startswith("Too large to be read whole: only the first ")


def test_an_entry_nested_beyond_all_limits_costs_no_other(read: Read) -> None:
    body = atom(6, "x")
    place = body.index("</content>", len(body) // 2)
    assert len(read(body[:place] + "<i>" * 300 + "</i>" * 300 + body[place:]).items) == 6


def test_half_a_link_is_no_link(read: Read) -> None:
    reading = read("<rss><channel><item><link>https://site.example/1</link></item><item><link>https://site.example/2")
    assert [item.url for item in reading.items] == ["https://site.example/1"]
    assert reading.notes[0].startswith("Read up to where it breaks off: ")


def test_half_a_text_is_no_text(read: Read) -> None:
    reading = read("<rss><channel><item><link>https://site.example/1</link><description>Half of what was")
    assert [(item.url, item.summary) for item in reading.items] == [("https://site.example/1", "")]
