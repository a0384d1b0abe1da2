"""Which entries become items, and what they carry."""

from collections.abc import Callable

import pytest

from headwater.discover.feeds.draft import LONGEST_GUID, MOST_ENTRIES
from headwater.discover.feeds.words import LONGEST_SUMMARY, LONGEST_TITLE
from headwater.discover.items import Item, Reading

Read = Callable[..., Reading]


@pytest.fixture
def item(rss: Read) -> Callable[[str], Item]:
    """The one item of what stands in an RSS entry, which is given a link."""

    def only(inside: str) -> Item:
        (found,) = rss(f"<item><link>https://site.example/1</link>{inside}</item>").items
        return found

    return only


def test_a_guid_stands_in_for_a_link_if_it_is_one(rss: Read) -> None:
    reading = rss("<item><guid> https://site.example/1 </guid></item><item><guid>post-2</guid></item>")
    assert [item.url for item in reading.items] == ["https://site.example/1"]
    assert reading.notes == ("Skipped 1 entry without a link that can be fetched.",)


def test_a_link_beats_a_guid(rss: Read) -> None:
    (item,) = rss("<item><guid>https://site.example/g</guid><link>https://site.example/l</link></item>").items
    assert (item.url, item.guid) == ("https://site.example/l", "https://site.example/g")


def test_the_first_entry_of_a_link_counts(rss: Read) -> None:
    reading = rss(
        "<item><link>https://site.example/1</link><guid>a</guid></item>"
        "<item><link>https://site.example/1</link><guid>b</guid></item>"
        "<item><link>https://site.example/2</link><guid>a</guid></item>"
    )
    assert [(item.url, item.guid) for item in reading.items] == [
        ("https://site.example/1", "a"),
        ("https://site.example/2", "a"),
    ]
    assert reading.notes == ("Skipped 1 entry with the link of an earlier one.",)


@pytest.mark.parametrize(
    ("base", "link", "url"),
    [
        ("", "/a", "https://site.example/a"),
        ("", "a", "https://site.example/news/a"),
        ("", "?p=1", "https://site.example/news/feed?p=1"),
        ("", "//else.example/a", "https://else.example/a"),
        ("https://else.example/x/", "a", "https://else.example/x/a"),
        ("sub/", "a", "https://site.example/news/sub/a"),
        ("javascript:", "a", "https://site.example/news/a"),
        ("", "HTTP://Site.example/A#b", "HTTP://Site.example/A#b"),
        ("", "https://site.example/a\n  b", "https://site.example/a  b"),
    ],
)
def test_a_link_is_resolved_against_the_nearest_base(read: Read, base: str, link: str, url: str) -> None:
    (item,) = read(f'<rss><channel xml:base="{base}"><item><link>{link}</link></item></channel></rss>').items
    assert item.url == url


def test_bases_add_up_on_the_way_down(read: Read, atom: Read) -> None:
    (item,) = read('<rss xml:base="a/"><channel xml:base="b/"><item><link>c</link></item></channel></rss>').items
    assert item.url == "https://site.example/news/a/b/c"
    (item,) = read('<feed xml:base="a/"><entry><link href="c"/></entry></feed>').items
    assert item.url == "https://site.example/news/a/c"
    (item,) = atom('<entry xml:base="https://else.example/a/"><link xml:base="b/" href="c"/></entry>').items
    assert item.url == "https://else.example/a/b/c"


def test_an_atom_link_of_an_rss_entry_is_a_link(rss: Read) -> None:
    (item,) = rss('<item><atom:link rel="alternate" href="/a"/><atom:link rel="replies" href="/b"/></item>').items
    assert item.url == "https://site.example/a"


def test_of_several_links_the_last_page_counts(rss: Read, atom: Read) -> None:
    assert rss("<item><link>/1</link><link>/2</link></item>").items[0].url == "https://site.example/2"
    links = '<link href="/1"/><link href="/2"/><link href="/3" type="application/json"/><link href="/4" rel="self"/>'
    assert atom(f"<entry>{links}</entry>").items[0].url == "https://site.example/2"


def test_a_title_of_another_vocabulary_is_better_than_none(item: Callable[[str], Item]) -> None:
    assert item("<dc:title>Other</dc:title>").title == "Other"
    assert item("<dc:title>Other</dc:title><title>Own</title>").title == "Own"


@pytest.mark.parametrize("raw", ["a@b.example (Ada Quay)", "Ada Quay", " Ada\n Quay "])
def test_an_author_is_a_name(item: Callable[[str], Item], raw: str) -> None:
    assert item(f"<author>{raw}</author>").author == "Ada Quay"


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("Tom &amp;amp; Jerry", "Tom & Jerry"),
        ("<![CDATA[Tom &amp; Jerry]]>", "Tom & Jerry"),
        ("H&lt;sub&gt;2&lt;/sub&gt;O", "H2O"),
        ("1 &lt; 2 and 3 &gt; 2", "1 < 2 and 3 > 2"),
        ("  two\n\tlines ", "two lines"),
        ("<b>Bold</b> as elements", "Bold as elements"),
        ("&amp;#8217;s", "’s"),
        ("", ""),
    ],
)
def test_a_title_is_one_line_of_plain_text(item: Callable[[str], Item], raw: str, title: str) -> None:
    assert item(f"<title>{raw}</title>").title == title


def test_texts_have_lengths(item: Callable[[str], Item]) -> None:
    long = item(f"<title>{'t' * 9_000}</title><description>{'word ' * 9_000}</description><guid>{'g' * 9_000}</guid>")
    assert len(long.title) == LONGEST_TITLE
    assert 0 < len(long.summary) <= LONGEST_SUMMARY
    assert len(long.guid) == LONGEST_GUID


def test_a_description_too_long_for_a_summary_is_the_content(item: Callable[[str], Item]) -> None:
    article = f"<p>{'word ' * LONGEST_SUMMARY}</p>"
    assert item(f"<description><![CDATA[{article}]]></description>").content == article
    assert item("<description>short</description>").content == ""


def test_a_summary_leaves_scripts_out(item: Callable[[str], Item]) -> None:
    summary = item("<description><![CDATA[a<script>b()</script><style>c{}</style> d]]></description>").summary
    assert summary == "a d"


def test_no_more_entries_are_read_than_allowed(rss: Read) -> None:
    entries = "".join(f"<item><link>/{n}</link></item>" for n in range(MOST_ENTRIES + 1))
    reading = rss(entries)
    assert len(reading.items) == MOST_ENTRIES
    assert reading.notes == ("Only the first 10,000 entries were read.",)
