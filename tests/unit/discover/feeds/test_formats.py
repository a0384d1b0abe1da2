import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.discover.items import Item, Reading

Read = Callable[..., Reading]

RSS_2 = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
     xmlns:media="http://search.yahoo.com/mrss/" xmlns:atom="http://www.w3.org/2005/Atom">
  <channel>
    <title>The Harbour Post</title>
    <link>https://site.example/</link>
    <language>en-gb</language>
    <ttl>90</ttl>
    <atom:link rel="self" href="https://site.example/news/feed"/>
    <atom:link rel="hub" href="https://hub.example/"/>
    <skipHours><hour>3</hour><hour>24</hour></skipHours>
    <skipDays><day>Sunday</day></skipDays>
    <item>
      <title>Ferries &amp;amp; tides</title>
      <media:title>A picture</media:title>
      <link>
        https://site.example/ferries
      </link>
      <guid isPermaLink="false">post-17</guid>
      <pubDate>Sun, 03 May 2026 08:30:00 +0200</pubDate>
      <dc:creator>Ada Quay</dc:creator>
      <description>&lt;p&gt;Low water&lt;/p&gt;&lt;p&gt;at nine&lt;/p&gt;</description>
      <content:encoded><![CDATA[<p>All of <b>it</b></p>]]></content:encoded>
    </item>
  </channel>
</rss>"""

RDF = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
         xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="https://site.example/"><title>Old news</title><dc:language>de</dc:language></channel>
  <item rdf:about="https://site.example/1"><title>One</title><link>https://site.example/one</link>
    <dc:date>2026-05-01T10:00:00Z</dc:date></item>
  <item rdf:about="https://site.example/2"><title>Two</title></item>
</rdf:RDF>"""

RSS_091 = """<?xml version="1.0"?>
<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="0.91"><channel><title>Caf&eacute;</title>
<item><title>First</title><link>https://site.example/first</link></item></channel></rss>"""

ATOM_1 = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="fr" xml:base="https://site.example/blog/">
  <title type="html">Le &lt;em&gt;blog&lt;/em&gt;</title>
  <author><name>Zoé</name><uri>https://site.example/zoe</uri></author>
  <link rel="hub" href="https://hub.example/"/>
  <entry xml:lang="en">
    <id>tag:site.example,2026:1</id>
    <title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">Bits <b>and</b> bobs</div></title>
    <link rel="self" href="https://site.example/self"/>
    <link rel="alternate" type="application/pdf" href="1.pdf"/>
    <link type="text/html" href="1.html"/>
    <updated>2026-05-02T12:00:00.25+02:00</updated>
    <published>2026-05-01T12:00:00Z</published>
    <summary>1 &lt; 2</summary>
    <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Text<br/></p></div></content>
  </entry>
  <entry><id>https://site.example/2</id><title>Plain &lt;text&gt; title</title><updated>2026-05-02T12:00:00Z</updated>
    <author><name>Yves</name></author></entry>
</feed>"""

ATOM_03 = """<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Old</title>
<entry><title>Entry</title><link rel="alternate" type="text/html" href="https://site.example/old"/><id>old-1</id>
<issued>2026-04-01T00:00:00Z</issued><modified>2026-04-02T00:00:00Z</modified>
<content type="text/html" mode="escaped">&lt;p&gt;Body&lt;/p&gt;</content></entry></feed>"""


def test_rss_2_is_read_whole(read: Read) -> None:
    assert read(RSS_2) == Reading(
        items=(
            Item(
                url="https://site.example/ferries",
                title="Ferries & tides",
                published_at=datetime(2026, 5, 3, 6, 30, tzinfo=UTC),
                guid="post-17",
                author="Ada Quay",
                summary="Low water at nine",
                content="<p>All of <b>it</b></p>",
                language="en-gb",
            ),
        ),
        title="The Harbour Post",
        language="en-gb",
        ttl=timedelta(minutes=90),
        skip_hours=frozenset({0, 3}),
        skip_days=frozenset({6}),
        hub="https://hub.example/",
        topic="https://site.example/news/feed",
    )


def test_rdf_keeps_its_items_beside_the_channel(read: Read) -> None:
    reading = read(RDF)
    assert (reading.title, reading.language) == ("Old news", "de")
    assert [(item.url, item.title) for item in reading.items] == [
        ("https://site.example/one", "One"),
        ("https://site.example/2", "Two"),
    ]
    assert reading.items[0].published_at == datetime(2026, 5, 1, 10, tzinfo=UTC)


def test_a_public_document_type_is_ignored_and_its_entities_are_known(read: Read) -> None:
    reading = read(RSS_091)
    assert reading.title == "Café"
    assert [item.url for item in reading.items] == ["https://site.example/first"]


def test_atom_is_read_whole(read: Read) -> None:
    reading = read(ATOM_1)
    assert (reading.title, reading.language, reading.hub) == ("Le blog", "fr", "https://hub.example/")
    first, second = reading.items
    assert first == Item(
        url="https://site.example/blog/1.html",
        title="Bits and bobs",
        published_at=datetime(2026, 5, 1, 12, tzinfo=UTC),
        updated_at=datetime(2026, 5, 2, 10, tzinfo=UTC),
        guid="tag:site.example,2026:1",
        author="Zoé",
        summary="1 < 2",
        content='<div xmlns="http://www.w3.org/1999/xhtml"><p>Text<br></br></p></div>',
        language="en",
    )
    assert (second.url, second.title, second.author) == ("https://site.example/2", "Plain <text> title", "Yves")
    assert second.published_at == second.updated_at == datetime(2026, 5, 2, 12, tzinfo=UTC)


def test_atom_03_is_read_by_the_same_words(read: Read) -> None:
    (item,) = read(ATOM_03).items
    assert (item.url, item.content) == ("https://site.example/old", "<p>Body</p>")
    assert (item.published_at, item.updated_at) == (datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 4, 2, tzinfo=UTC))


def test_json_feed_is_read_whole(read: Read) -> None:
    feed: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Notes",
        "language": "nl",
        "hubs": [{"type": "WebSub", "url": "https://hub.example/"}],
        "authors": [{"name": "Ada"}],
        "items": [
            {
                "id": 7,
                "url": "/notes/7",
                "title": "Seven &amp; up",
                "content_html": "<p>7</p>",
                "summary": "1 < 2",
                "date_published": "2026-05-01T10:00:00+02:00",
                "date_modified": "2026-05-01T09:00:00Z",
                "language": "en",
            },
            {"id": "https://site.example/8", "content_text": "a < b", "author": {"name": "Bo"}},
            {"id": "9", "external_url": "https://else.example/9"},
        ],
    }
    reading = read(json.dumps(feed), "application/feed+json")
    assert (reading.title, reading.language, reading.hub) == ("Notes", "nl", "https://hub.example/")
    seven, eight, nine = reading.items
    assert seven == Item(
        url="https://site.example/notes/7",
        title="Seven & up",
        published_at=datetime(2026, 5, 1, 8, tzinfo=UTC),
        updated_at=datetime(2026, 5, 1, 9, tzinfo=UTC),
        guid="7",
        author="Ada",
        summary="1 < 2",
        content="<p>7</p>",
        language="en",
    )
    assert (eight.url, eight.author, eight.content) == ("https://site.example/8", "Bo", "a &lt; b")
    assert (eight.summary, eight.language) == ("a < b", "nl")
    assert nine.url == "https://else.example/9"


def test_an_invented_namespace_of_the_root_is_no_obstacle(read: Read) -> None:
    reading = read('<rss xmlns="urn:our-own"><channel><item><link>https://site.example/1</link></item></channel></rss>')
    assert [item.url for item in reading.items] == ["https://site.example/1"]


def test_rdf_of_an_older_namespace_is_read_as_well(read: Read) -> None:
    older = RDF.replace("http://purl.org/rss/1.0/", "urn:rss-0.90")
    assert read(older) == read(RDF)


def test_a_feed_without_entries_is_an_empty_reading(rss: Read, atom: Read, read: Read) -> None:
    empty = '{"version": "https://jsonfeed.org/version/1", "items": []}'
    for reading in (rss("<title>t</title>"), atom("<title>t</title>"), read(empty)):
        assert (reading.items, reading.notes) == ((), ())
