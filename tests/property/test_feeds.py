import json
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from html import escape

from hypothesis import example, given
from hypothesis import strategies as st

from headwater.discover.feeds import read_feed
from headwater.discover.feeds.dates import EARLIEST, moment
from headwater.discover.feeds.draft import LONGEST_GUID
from headwater.discover.feeds.pace import LONGEST, SHORTEST
from headwater.discover.feeds.read import mend
from headwater.discover.feeds.words import LONGEST_LINK, LONGEST_SUMMARY, LONGEST_TITLE, absolute, is_http, plain
from headwater.discover.items import Item, Reading, Unreadable

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
BASE = "https://site.example/feed"
any_text = st.text(st.characters(exclude_categories=()))
xml_text = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")))
instants = st.integers(int(EARLIEST.timestamp()), int(NOW.timestamp())).map(lambda s: datetime.fromtimestamp(s, UTC))
pieces = st.sampled_from(
    [
        *('<?xml version="1.0"?>', "<rss>", "<channel>", "<item>", "</item>", "<link>", "</link>", "http://a.example/"),
        *(
            "<feed xmlns='http://www.w3.org/2005/Atom'>",
            "<entry>",
            "<link href='",
            "'/>",
            "<title type='xhtml'>",
            "<b>",
        ),
        *("<content src='x'/>", "<![CDATA[", "]]>", "<!--", "-->", "&", "&amp;", "&#0;", "&nbsp;", "<!DOCTYPE a", "["),
        *("<!ENTITY a 'b'>", "]>", "<pubDate>", "Feb 30", "<ttl>", "-1", "<guid>", "xml:base='//['", "\x00", "\ufffe"),
        *("</title>", "<title>", "<author>", "<name>", "<skipHours>", "<hour>", "<a:b/>", "</rss>", "{", '"items":['),
    ]
)
documents = st.lists(pieces | st.text(max_size=3), max_size=40).map("".join)
anything_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text | st.sampled_from(["http://a.example/", "/a"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=8,
)
NAMES = ["url", "id", "title", "summary", "content_html", "authors", "author", "name", "date_published", "language"]


def check(found: Reading | Unreadable) -> None:
    if isinstance(found, Unreadable):
        assert found.why
        return
    assert len({item.url for item in found.items}) == len(found.items)
    assert found.ttl is None or SHORTEST <= found.ttl <= LONGEST
    assert not found.hub or is_http(found.hub)
    for item in found.items:
        check_item(item)


def check_item(item: Item) -> None:
    assert is_http(item.url)
    assert len(item.url) <= LONGEST_LINK + len(BASE)
    assert len(item.title) <= LONGEST_TITLE
    assert len(item.summary) <= LONGEST_SUMMARY
    assert len(item.guid) <= LONGEST_GUID
    texts = (item.url, item.title, item.guid, item.author, item.summary, item.content, item.language)
    "".join(texts).encode()
    assert "\x00" not in "".join(texts)
    for at in (item.published_at, item.updated_at):
        assert at is None or (at.tzinfo is UTC and EARLIEST <= at <= NOW)


@given(st.binary(), any_text)
@example(b"<rss><channel><item><link>http://[/</link></item>", "")
def test_no_bytes_raise(body: bytes, content_type: str) -> None:
    check(read_feed(body, content_type, BASE, NOW))


@given(documents, st.sampled_from(["utf-8", "utf-16", "latin-1"]))
def test_no_document_raises(document: str, charset: str) -> None:
    check(read_feed(document.encode(charset, "replace"), f"text/xml; charset={charset}", BASE, NOW))


@given(st.lists(st.dictionaries(st.sampled_from(NAMES), anything_json), max_size=3) | anything_json)
@example([{"url": "0\x00"}])
def test_no_json_raises(items: object) -> None:
    feed = {"version": "https://jsonfeed.org/version/1", "items": items}
    check(read_feed(json.dumps(feed).encode(), "application/json", BASE, NOW))


@given(st.integers(0, 400), st.sampled_from(["</title>", "</link>", "\xff", "&", "<"]))
def test_a_feed_broken_anywhere_keeps_what_stands_before(place: int, breaker: str) -> None:
    items = "".join(f"<item><title>{n}</title><link>https://site.example/{n}</link></item>" for n in range(8))
    head = f'<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>{items}'
    found = read_feed((head[:place] + breaker).encode("latin-1"), "", BASE, NOW)
    check(found)
    whole = head[:place].count("</item>")
    assert not whole or (isinstance(found, Reading) and len(found.items) >= whole)


@given(xml_text, xml_text)
def test_what_is_well_formed_is_told_as_it_was_written(title: str, guid: str) -> None:
    entry = f"<link>https://site.example/1</link><title>{escape(escape(title))}</title><guid>{escape(guid)}</guid>"
    body = f"<rss><channel><item>{entry}</item></channel></rss>".encode()
    found = read_feed(body, "", BASE, NOW)
    assert isinstance(found, Reading)
    assert found.items[0].title == " ".join(title.split())[:LONGEST_TITLE].rstrip()
    assert found.items[0].guid == " ".join(guid.split())[:LONGEST_GUID].rstrip()


@given(xml_text)
def test_mending_what_is_whole_changes_nothing(text: str) -> None:
    assert mend(escape(text)) == escape(text)


@given(any_text)
def test_mending_twice_is_mending_once(text: str) -> None:
    assert mend(mend(text)) == mend(text)


@given(instants, st.integers(-23, 23))
def test_a_date_survives_both_standards(at: datetime, hours: int) -> None:
    there = at.astimezone(timezone(timedelta(hours=hours)))
    assert moment(format_datetime(there), NOW) == moment(there.isoformat(), NOW) == at


@given(any_text)
def test_any_text_is_a_moment_or_none(text: str) -> None:
    at = moment(text, NOW)
    assert at is None or EARLIEST <= at <= NOW


@given(any_text | pieces, any_text)
def test_a_link_is_http_or_nothing(raw: str, base: str) -> None:
    link = absolute(raw, base)
    assert not link or is_http(link)


@given(any_text)
@example("\x1b\x850")
def test_plain_text_is_one_short_line(text: str) -> None:
    line = plain(text, 100)
    assert len(line) <= 100
    assert line == " ".join(line.split())
