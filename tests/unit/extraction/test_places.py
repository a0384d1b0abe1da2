"""Links and canonical links: where a page may send us, and what it may say about itself."""

import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.unit.extraction.conftest import Read

from headwater.extraction.canonical import canonical_url
from headwater.extraction.elements import Elements
from headwater.extraction.links import MOST_LINKS, Anchors, absolute, anchors_of, base_of
from headwater.urls.canonical import canonicalise

PAGE = "https://www.example.com/news/a?id=1"


def anchors(html: str, url: str = PAGE) -> Anchors:
    elements = Elements(LexborHTMLParser(html))
    return anchors_of(elements, base_of(elements, url))


def urls(html: str) -> list[str]:
    return list(anchors(html).links)


def test_links_are_absolute_distinct_and_in_order() -> None:
    html = "<a href=../b>B</a><a href='//other.example/c#x'>C</a><a href=/news/../b>again</a><area href=?p=2>"
    assert urls(html) == [
        "https://www.example.com/b",
        "https://other.example/c",
        "https://www.example.com/news/a?p=2",
    ]


def test_what_cannot_be_fetched_is_no_link() -> None:
    assert (
        urls("<a href='javascript:alert(1)'><a href=mailto:a@b.c><a href=#top><a href=''><a href='http://u:p@h/'>")
        == []
    )


def test_links_are_resolved_against_a_usable_base_only() -> None:
    assert urls("<base href=https://cdn.example/x/><a href=y>") == ["https://cdn.example/x/y"]
    assert urls("<base href='javascript:1'><a href=y>") == ["https://www.example.com/news/y"]


def test_a_link_that_is_not_vouched_for_is_told() -> None:
    found = anchors("<a href=/1> Two\n <b>words</b></a><a rel='NoFollow noopener' href=/2>x</a>")
    assert found.links == ("https://www.example.com/1", "https://www.example.com/2")
    assert found.unfollowed == ("https://www.example.com/2",)
    assert found.texts == {"two words", "x"}


def test_a_paragraph_that_is_a_link_is_prose() -> None:
    assert anchors(f"<a href=/1>{'word ' * 100}</a><a href=/2>{' ' * 2_000}A headline</a>").texts == {"a headline"}


@pytest.mark.parametrize(
    "href", ["/a?b=1", "//other.example/x", "/../x", "/ä b", "/x#top", "/", "http://A.example.:80"]
)
def test_a_link_on_this_host_is_the_same_whichever_way_it_is_resolved(href: str) -> None:
    assert urls(f"<a href='{href}'>") == [canonicalise(href, base=PAGE).url]


def test_links_are_capped() -> None:
    found = anchors("".join(f"<a href=/{n}>x</a>" for n in range(MOST_LINKS + 500)))
    assert len(found.links) == MOST_LINKS
    assert found.count == MOST_LINKS + 500


def test_a_page_that_asks_not_to_be_followed_has_no_links(read: Read) -> None:
    body = "<a href=/x>next story</a>"
    assert len(read("", body).links) == 1
    assert read('<meta name=robots content="nofollow">', body).links == ()
    assert read("", body, robots_headers=("headwater: nofollow",)).links == ()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("/news/b", "https://www.example.com/news/b"),
        ("https://example.com/news/a", "https://example.com/news/a"),
        ("http://m.example.com/news/a", "http://m.example.com/news/a"),
        (PAGE, PAGE),
        ("https://other.example/news/a", PAGE),
        ("https://evil-example.com/", PAGE),
        ("https://blog.example.com/news/a", "https://blog.example.com/news/a"),
        ("https://example.com.evil.example/a", PAGE),
        ("https://www.example.com:8443/news/a", PAGE),
        ("http://127.0.0.1/a", PAGE),
        ("http://[::1]/a", PAGE),
        ("https://www.example.com/", PAGE),
        ("https://www.example.com/" + "x" * 1_000_000, PAGE),
        ("javascript:alert(1)", PAGE),
        ("", PAGE),
    ],
)
def test_a_canonical_link_may_name_a_page_of_its_own_site_only(written: str, expected: str) -> None:
    assert canonical_url(PAGE, PAGE, [written]) == expected


def test_canonical_links_that_contradict_each_other_are_not_believed() -> None:
    assert canonical_url(PAGE, PAGE, ["/news/b", "/news/c"]) == PAGE
    assert canonical_url(PAGE, PAGE, ["/news/b", "/news/b#x"]) == "https://www.example.com/news/b"


@pytest.mark.parametrize(
    ("page", "named"),
    [
        ("https://m.com/a", "https://com/a"),
        ("https://mallory.github.io/a", "https://alice.github.io/a"),
        ("https://m.github.io/a", "https://github.io/a"),
        ("https://amp.co.uk/a", "https://www.co.uk/a"),
        ("https://192.0.2.7/a", "https://192.0.2.8/a"),
    ],
)
def test_names_under_a_shared_domain_are_sites_of_their_own(page: str, named: str) -> None:
    assert canonical_url(page, page, [named]) == page


PLAIN = ["/", "/a/b.html?x=1&y=2", "/a;b=c", "/a//b", "/" + "a" * 2_070]
ODD = ["/a/../b", "/./a", "/.well-known/x", "//other.example/a", "///a", "/a b", "/%7Ea", "/a?q=%2e%2e", "/a#b", "/ä"]
OTHER = ["/a\\b", "/a'b", "/" + "a" * 2_100, "?a=b", "a/b"]


@pytest.mark.parametrize("url", [PAGE, "https://www.example.com.:443/news/", "http://EXAMPLE.com:80/a"])
@pytest.mark.parametrize("href", [*PLAIN, *ODD, *OTHER])
def test_a_short_cut_leads_to_the_same_place(href: str, url: str) -> None:
    assert list(anchors(f'<a href="{href}">x</a>', url).links) == [one for one in [absolute(href, url)] if one]
