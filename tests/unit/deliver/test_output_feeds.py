"""Atom, JSON Feed and the river page: valid and harmless, whatever records say."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import feedparser
import pytest
from lxml import etree
from tests.unit.deliver.samples import HOSTILE, NOW, document, job, renamed

from headwater.deliver.feeds.atom import FEED_END, entry_xml, feed_start
from headwater.deliver.feeds.entries import FeedAbout, FeedEntry, entry_of, web_address
from headwater.deliver.feeds.jsonfeed import json_feed
from headwater.deliver.feeds.river import river_page

ATOM = "{http://www.w3.org/2005/Atom}"
ABOUT = FeedAbout("urn:headwater:feed:x", "River <of> & all", NOW, "https://x.example/", "https://x.example/atom.xml")


def atom(*entries: FeedEntry) -> str:
    return "".join((feed_start(ABOUT), *map(entry_xml, entries), FEED_END))


def test_atom_has_what_the_rfc_asks_for() -> None:
    root = etree.fromstring(atom(entry_of(document(1)), entry_of(job(1))).encode())
    assert [root.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated")] == [
        "urn:headwater:feed:x",
        "River <of> & all",
        "2026-11-18T14:05:09Z",
    ]
    for entry in root.findall(f"{ATOM}entry"):
        assert re.fullmatch(r"urn:headwater:[0-9a-f]{64}", entry.findtext(f"{ATOM}id"))
        assert all(entry.findtext(f"{ATOM}{name}") for name in ("title", "updated", "published", "summary"))
        assert entry.find(f"{ATOM}link").get("href").startswith("https://")
        assert entry.findtext(f"{ATOM}author/{ATOM}name")


def test_feed_readers_read_it() -> None:
    read = feedparser.parse(atom(entry_of(document(1), with_text=True)))
    assert not read.bozo
    (entry,) = read.entries
    assert (entry.title, entry.link, entry.author) == ("Tides 1", "https://harbour.example/1", "Ann")
    assert entry.content[0].value == "<p>High water.</p>\n<p>Low water 1.</p>"


@pytest.mark.parametrize("title", HOSTILE)
def test_no_title_breaks_out(title: str) -> None:
    said = {"title": title, "text": title, "author": title, "summary": title}
    entry = entry_of(renamed(document(1, **said), title), with_text=True)
    (found,) = etree.fromstring(atom(entry).encode()).findall(f"{ATOM}entry")
    assert "\u202e" not in found.findtext(f"{ATOM}title")
    assert json.loads(json_feed(ABOUT, [entry]))["items"][0]["title"] == found.findtext(f"{ATOM}title")
    page = Elements()
    page.feed(river_page(ABOUT, [entry]))
    assert "script" not in page.seen
    assert "b" not in page.seen
    assert river_page(ABOUT, [entry]).encode()


def test_an_entry_without_an_address_has_its_content() -> None:
    entry = entry_of(document(1, url="javascript:alert(1)", canonical_url="javascript:alert(1)"))
    assert entry.url == ""
    (found,) = etree.fromstring(atom(entry).encode()).findall(f"{ATOM}entry")
    assert found.find(f"{ATOM}link") is None
    assert found.findtext(f"{ATOM}content")
    assert "javascript" not in river_page(ABOUT, [entry])


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "ftp://a/", "", 'https://a/"x', "/a"])
def test_only_addresses_of_the_web_are_links(url: str) -> None:
    assert web_address(url) == ""


def test_a_page_from_the_future_is_as_old_as_our_first_sight_of_it() -> None:
    assert entry_of(document(1, published_at=NOW + timedelta(days=999))).published_at == NOW


def test_json_feed_has_what_its_version_asks_for() -> None:
    told = json.loads(json_feed(ABOUT, [entry_of(document(1)), entry_of(job(2))]))
    assert told["version"] == "https://jsonfeed.org/version/1.1"
    assert told["title"] == ABOUT.title
    assert all(item["id"] and ("content_text" in item) != ("content_html" in item) for item in told["items"])
    assert told["items"][1]["content_text"].startswith("Relief · Nairobi, Kenya · until 2026-11-18 — Care.")


def test_an_entry_comes_back_from_a_state_as_it_was() -> None:
    entry = entry_of(document(1), with_text=True)
    kept = json.loads(json.dumps(entry.as_dict(), default=str))
    assert FeedEntry.from_dict(kept) == entry


def test_the_river_is_grouped_by_day_and_loads_nothing() -> None:
    older = entry_of(document(2, published_at=NOW - timedelta(days=1)))
    page = river_page(ABOUT, [entry_of(document(1)), older])
    elements = Elements()
    elements.feed(page)
    assert elements.seen.count("section") == 2
    assert not {"script", "img", "iframe", "form", "object"} & set(elements.seen)
    assert "Wednesday, 18 November 2026" in page
    assert "default-src &#x27;none&#x27;" in page
    assert not re.search(r" (?:style|on\w+)=", page)


def test_an_empty_river_says_so() -> None:
    assert "Nothing has come down the river yet." in river_page(ABOUT, [])


def test_a_summary_ends_with_a_word() -> None:
    entry = entry_of(document(1, summary="", text="wonder " * 200))
    assert entry.summary.endswith("wonder…")
    assert len(entry.summary) <= 400
    assert replace(entry, text="").html == ""


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
