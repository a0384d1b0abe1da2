import pytest

from headwater.discover.pages.candidates import Candidate, candidates_in, rank, sitemaps_named
from headwater.sources.kinds import ChannelKind

BASE = "https://h/en/"


def said(html: str) -> list[Candidate]:
    return [one for one in candidates_in(html, BASE) if one.evidence != "guess"]


def alternate(href: str, media_type: str, title: str = "") -> str:
    return f'<link rel="alternate" type="{media_type}" href="{href}" title="{title}">'


@pytest.mark.parametrize(
    "media_type",
    ["application/rss+xml", "Application/Atom+XML; charset=utf-8", "application/feed+json", "application/rdf+xml"],
)
def test_a_declared_feed_is_found_with_its_title(media_type: str) -> None:
    declared = Candidate("https://h/x", ChannelKind.FEED, "All news", "link")
    assert said(alternate("/x", media_type, "All  news")) == [declared]


@pytest.mark.parametrize(
    ("href", "media_type", "found"),
    [
        ("/feed.json", "application/json", True),
        ("/wp-json/posts/1", "application/json", False),
        ("/x", "text/html", False),
        ("/rss.xml", "text/xml", True),
        ("javascript:0", "application/rss+xml", False),
    ],
)
def test_loose_types_need_a_path_that_says_feed(href: str, media_type: str, found: bool) -> None:
    assert bool(said(alternate(href, media_type))) is found


@pytest.mark.parametrize(
    ("href", "text", "kind"),
    [
        ("/rss", "x", "feed"),
        ("/news/feed/", "", "feed"),
        ("/feeds/all.xml", "", "feed"),
        ("/rss/world", "RSS", "feed"),
        ("/?feed=rss2", "", "feed"),
        ("/sitemap.xml", "Map", "sitemap"),
        ("/sitemap-news.xml.gz", "", "sitemap"),
        ("/sitemap", "Sitemap", None),
        ("/news/how-to-feed-a-cat", "How to", None),
        ("/2024/05/storm", "RSS is back", None),
    ],
)
def test_links_that_look_like_channels(href: str, text: str, kind: str | None) -> None:
    assert [one.kind for one in said(f'<a href="{href}">{text}</a>')] == ([kind] if kind else [])


def test_the_usual_places_are_guessed_at_the_root() -> None:
    guesses = candidates_in("", BASE)
    assert {one.evidence for one in guesses} == {"guess"}
    assert [one.url for one in guesses][:2] == ["https://h/feed", "https://h/rss"]
    assert [one.url for one in guesses if one.kind == "sitemap"] == [
        "https://h/sitemap.xml",
        "https://h/news-sitemap.xml",
        "https://h/sitemap_index.xml",
        "https://h/sitemap.xml.gz",
    ]


def test_what_the_page_says_comes_before_guesses_and_comments_come_last() -> None:
    html = (
        '<a href="/blog/rss">RSS</a>'
        + alternate("/comments/feed", "application/rss+xml", "Comments")
        + alternate("/x", "application/rss+xml", "News")
        + '<link rel="sitemap" href="/map.xml">'
    )
    found = [one.url for one in candidates_in(html, BASE)]
    assert found[:4] == ["https://h/x", "https://h/map.xml", "https://h/blog/rss", "https://h/feed"]
    assert found[-1] == "https://h/comments/feed"


def test_each_place_once_under_its_best_evidence() -> None:
    html = '<a href="/feed/">RSS</a>' + alternate("/feed", "application/rss+xml")
    found = [one for one in candidates_in(html, BASE) if "/feed" in one.url and one.url.count(".") == 0]
    assert [(one.url, one.evidence) for one in found] == [("https://h/feed", "link")]


def test_there_are_at_most_thirty() -> None:
    html = "".join(alternate(f"/f{number}", "application/rss+xml") for number in range(100))
    assert len(candidates_in(html, BASE)) == 30


def test_robots_names_sitemaps() -> None:
    named = sitemaps_named(["/s.xml", "file:///etc/passwd"], BASE)
    assert named == (Candidate("https://h/s.xml", ChannelKind.SITEMAP, "", "robots"),)
    assert rank([Candidate("https://h/s.xml", ChannelKind.SITEMAP, "", "guess"), *named]) == named


def test_base_href_is_honoured_for_links_not_for_guesses() -> None:
    html = '<base href="https://cdn/">' + alternate("x", "application/rss+xml")
    assert [one.url for one in candidates_in(html, BASE)][:2] == ["https://cdn/x", "https://h/feed"]
