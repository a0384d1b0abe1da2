"""One page in, one value out: where each field comes from, and which witness wins."""

import json
from datetime import UTC, datetime, timedelta

import pytest
import trafilatura
from tests.unit.extraction.conftest import NOW, PROSE, URL, Read

from headwater.extraction.article import Article, NoArticleReason, NotAnArticle
from headwater.extraction.body import Producer
from headwater.extraction.page import FeedHints, Selectors
from headwater.extraction.page_type import PageType


def article(found: Article | NotAnArticle) -> Article:
    assert isinstance(found, Article), found
    return found


def linked(**said: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "NewsArticle", **said})}</script>'


TITLES = [
    ("feed", "Feed title"),
    ("selector", "Chosen title"),
    ("linked", "Linked headline"),
    ("og", "Shared title"),
    ("title", "Page title of the story"),
    ("h1", "Heading"),
]


@pytest.mark.parametrize("best", range(len(TITLES)))
def test_titles_are_preferred_in_this_order(best: int, read: Read) -> None:
    there = dict(TITLES[best:])
    head = linked(headline=there["linked"]) if "linked" in there else ""
    head += f'<meta property="og:title" content="{there["og"]}">' if "og" in there else ""
    head += f"<title>{there['title']}</title>" if "title" in there else ""
    found = read(
        head,
        f"<h1>{there['h1']}</h1><b class=t>Chosen title</b>{PROSE}",
        hints=FeedHints(title=there.get("feed", "")),
        selectors=Selectors(fields={"title": ".t"} if "selector" in there else {}),
    )
    assert found.title == TITLES[best][1]


HEADLINE = "Tide tables for November & December"


@pytest.mark.parametrize(
    ("feed", "heading", "shared", "title"),
    [
        ("Feed title: tables & more", HEADLINE, HEADLINE, HEADLINE),
        ("Feed title: tables & more", HEADLINE, "", HEADLINE),
        ("Feed title: tables & more", "", HEADLINE, HEADLINE),
        ("Feed title: tables & more", "The Example", "The Example", "Feed title: tables & more"),
        ("Feed title: tables & more", HEADLINE, "Something shared", "Feed title: tables & more"),
        (HEADLINE, "Tides", "Tides", HEADLINE),
    ],
)
def test_a_feeds_title_gives_way_to_the_one_that_a_page_says_twice(
    feed: str, heading: str, shared: str, title: str, read: Read
) -> None:
    written = HEADLINE.replace("&", "&amp;")
    head = linked(headline=HEADLINE) if HEADLINE in (heading, shared) and shared != "Something shared" else ""
    head += f'<meta property="og:site_name" content="The Example"><title>{written} | The Example</title>'
    head += f'<meta property="og:title" content="{shared.replace("&", "&amp;")}">' if shared else ""
    body = f"<h1>{heading.replace('&', '&amp;')}</h1>{PROSE}" if heading else PROSE
    assert article(read(head, body, hints=FeedHints(title=feed))).title == title


def test_the_text_is_the_article_without_its_surroundings(read: Read) -> None:
    body = f"""<nav><a href=/>Home page of the paper</a></nav><article><h1>Storm over the city</h1>{PROSE}
        <p><b><a href=/other>Flood in the valley after the storm</a></b></p>{PROSE}</article>
        <footer>All rights reserved</footer>"""
    plain = trafilatura.extract(body, fast=True) or ""  # keeps both, or this would prove nothing
    assert "Storm over the city" in plain
    assert "Flood in the valley" in plain
    found = article(read("<title>Storm over the city</title>", body))
    assert found.produced_by is Producer.TRAFILATURA
    assert len(found.text.split("\n")) == 8
    assert found.text.startswith("The mayor of the council")
    assert found.word_count == len(found.text.split())


def test_what_the_source_selects_is_believed_before_anything_else(read: Read) -> None:
    body = f"<div class=s><p>Intro line.</p>{PROSE}<p class=ad>Buy!</p></div><article>{PROSE * 3}</article>"
    found = article(read("", body, selectors=Selectors(fields={"body": ".s"}, exclude=(".ad",))))
    assert found.produced_by is Producer.SELECTORS
    assert found.text.startswith("Intro line.\nThe mayor")
    assert "Buy!" not in found.text
    assert len(found.text.split("\n")) == 5


@pytest.mark.parametrize("place", ["article", "main"])
def test_the_only_place_of_a_story_is_believed_before_what_stands_beside_it(place: str, read: Read) -> None:
    beside = (
        "<div class=post-content>" + "<p>Readers of this site also liked a long text about ships.</p>" * 9 + "</div>"
    )
    found = article(read("", f"{beside}<{place}>{PROSE * 2}</{place}>"))
    assert found.text.startswith("The mayor")
    assert "ships" not in found.text


def test_a_small_article_beside_the_story_hides_nothing(read: Read) -> None:
    found = article(read("", f"<article><p>A note.</p></article><div class=post-content>{PROSE * 2}</div>"))
    assert found.text.startswith("The mayor")


@pytest.mark.parametrize("css", [".nowhere", "p[", "h1"])
def test_selectors_that_find_no_text_leave_the_page_to_the_others(css: str, read: Read) -> None:
    found = article(read("", f"<h1>T</h1><article>{PROSE}</article>", selectors=Selectors(fields={"body": css})))
    assert found.produced_by is Producer.TRAFILATURA


def test_structured_text_is_used_where_the_page_shows_less(read: Read) -> None:
    whole = "The whole story is told here and nowhere else. " * 60
    found = article(read(linked(headline="H", articleBody=whole)))
    assert (found.produced_by, found.word_count) == (Producer.STRUCTURED, 540)
    short = article(read(linked(headline="H", articleBody="The beginning only.")))
    assert short.produced_by is Producer.TRAFILATURA


def test_the_feeds_text_is_used_where_the_page_is_thinner_or_missing(read: Read) -> None:
    hints = FeedHints(title="From the feed", content=f"<h2>Part</h2>{PROSE}", published_at=NOW - timedelta(days=1))
    for body in ("<p>Subscribe to read on.</p>", ""):
        found = article(read("", body, hints=hints))
        assert found.produced_by is Producer.FEED
        assert found.text.startswith("Part\nThe mayor")
        assert (found.title, found.published_at) == ("From the feed", hints.published_at)
    assert article(read(hints=FeedHints(content="<p>A teaser of the story.</p>"))).produced_by is Producer.TRAFILATURA


def test_line_breaks_are_paragraphs_in_plain_text_and_nothing_in_html(read: Read) -> None:
    lines = "One line of the story\nand another line of it\n" * 30
    assert len(article(read("", "", hints=FeedHints(title="T", content=lines))).text.split("\n")) == 60
    assert len(article(read("", "", hints=FeedHints(title="T", content=f"<p>{lines}</p>"))).text.split("\n")) == 1


def test_all_facts_are_read_from_the_head(read: Read) -> None:
    found = article(
        read(
            """<meta name=description content="What happened"><meta name=keywords content="storm, city , storm">
            <meta name=author content="By Ann Lee"><meta property="article:section" content="Local">
            <meta property="article:published_time" content="2026-05-03T08:00:00+02:00">
            <meta property="article:modified_time" content="2026-05-03T09:00:00+02:00">
            <meta property="og:type" content="article"><meta property="og:image" content="/a.png">
            <meta property="og:image:width" content="1200"><meta property="og:site_name" content="The Example">
            <meta property="og:url" content="https://www.example.com/x"><meta name="twitter:card" content="summary">
            <title>Storm over the city | The Example</title><link rel=canonical href="/news/storm">"""
        )
    )
    assert found.title == "Storm over the city"
    assert (found.description, found.keywords, found.author) == ("What happened", ("storm", "city"), "Ann Lee")
    assert (found.section, found.language) == ("Local", "en")
    assert found.published_at == datetime(2026, 5, 3, 6, tzinfo=UTC)
    assert found.updated_at == datetime(2026, 5, 3, 7, tzinfo=UTC)
    assert found.images == ("https://www.example.com/a.png",)
    assert found.canonical_url == "https://www.example.com/news/storm"
    assert (found.metadata.og_type, found.metadata.og_image_width) == ("article", 1200)
    assert (found.metadata.twitter_card, found.metadata.og_site_name) == ("summary", "The Example")
    assert found.page_type is PageType.ARTICLE


def test_a_selector_speaks_in_the_place_of_a_meta_element(read: Read) -> None:
    fields = {"og_image": ".lead", "section": ".kicker", "author": ".who", "published_time": ".when"}
    body = f"""<img class=lead src=/lead.png><b class=kicker>Harbour</b><i class=who>Bo Ek</i>
        <time class=when datetime="2026-05-01T10:00Z">yesterday</time>{PROSE}"""
    found = article(read('<meta name=author content="Somebody">', body, selectors=Selectors(fields=fields)))
    assert (found.metadata.og_image, found.section, found.author) == ("/lead.png", "Harbour", "Bo Ek")
    assert found.published_at == datetime(2026, 5, 1, 10, tzinfo=UTC)


def test_a_time_without_a_zone_is_read_in_the_sources_own(read: Read) -> None:
    head = '<meta name=date content="2026-05-03 08:00">'
    assert article(read(head)).published_at == datetime(2026, 5, 3, 8, tzinfo=UTC)
    assert article(read(head, timezone="America/New_York")).published_at == datetime(2026, 5, 3, 12, tzinfo=UTC)
    assert article(read(head, timezone="No/Where")).published_at == datetime(2026, 5, 3, 8, tzinfo=UTC)


def test_a_date_that_nothing_states_is_guessed_from_the_page(read: Read) -> None:
    found = article(read("", f"<article><p class=date>Published 3 May 2026</p>{PROSE}</article>"))
    assert found.published_at == datetime(2026, 5, 3, tzinfo=UTC)


def test_a_date_in_the_future_is_no_witness(read: Read) -> None:
    tomorrow, later, today = NOW + timedelta(hours=20), NOW + timedelta(hours=300), NOW - timedelta(hours=1)
    assert article(read(f'<meta name=date content="{tomorrow.isoformat()}">')).published_at == tomorrow
    head = linked(headline="H", datePublished=later.isoformat(), dateModified=later.isoformat())
    found = article(read(head))
    assert (found.published_at, found.updated_at) == (None, None)
    hints = FeedHints(published_at=today)
    assert article(read(head, hints=hints)).published_at == today
    assert article(read(f'{head}<meta name=dc.created content="{today.isoformat()}">')).published_at == today
    assert article(read(head, f"<time datetime={today.isoformat()}>today</time>{PROSE}")).published_at == today
    assert article(read("", hints=FeedHints(published_at=later))).published_at is None


def test_a_change_before_publication_is_no_change(read: Read) -> None:
    head = linked(headline="H", datePublished="2026-05-02T10:00Z", dateModified="2026-05-01T10:00Z")
    assert article(read(head)).updated_at is None


@pytest.mark.parametrize(
    ("head", "body", "reason"),
    [
        ("", "", NoArticleReason.EMPTY),
        ("<title>Contact</title>", "<p>Write to us.</p>", NoArticleReason.TOO_SHORT),
        ("<title>Just a moment...</title>", "<p>Checking.</p>", NoArticleReason.CHALLENGE),
        ("<title>example.com</title>", "<form id=challenge-form></form>", NoArticleReason.CHALLENGE),
    ],
)
def test_a_page_without_a_story_is_not_an_article_and_keeps_its_links(
    head: str, body: str, reason: NoArticleReason, read: Read
) -> None:
    found = read(head, f"{body}<a href=/next>Next page</a>" if body else "")
    assert isinstance(found, NotAnArticle)
    assert found.reason is reason
    assert found.links == (("https://www.example.com/next",) if body else ())


def test_a_page_that_says_not_found_with_a_200_is_noticed(read: Read) -> None:
    assert read("<title>404 - Page not found</title>", "<p>Sorry.</p>").is_soft_404
    assert not read("<title>The 404 bus is back</title>", PROSE * 2).is_soft_404


def test_equal_texts_have_equal_hashes_whatever_surrounds_them(read: Read) -> None:
    one = article(read("<title>One</title>"))
    other = article(read("<title>Two</title>", f"<nav>Menu</nav><article>{PROSE}\n\n</article>", url=URL + "-2"))
    assert (one.content_hash, one.simhash) == (other.content_hash, other.simhash)
    assert len(one.content_hash) == 64


def test_a_page_inside_one_large_table_is_read_column_by_column(read: Read) -> None:
    body = f"<table><tr><td><a href=/a>Politics and more</a><td><h1>Storm</h1>{PROSE}<td>Advert</table>"
    assert "The mayor of the council" in article(read("", body)).text.split("\n")[0]


def test_an_article_swallowed_by_an_open_noscript_is_still_read(read: Read) -> None:
    assert article(read("", f"<p>x</p><noscript><p>No scripts</noscript><article>{PROSE}</article>")).word_count > 100


def test_a_line_that_is_a_link_to_somebody_else_is_the_authors_word(read: Read) -> None:
    hrefs = {
        "The gauges of the state": "https://water.example.org/gauges",
        "More of our stories": "/stories",
        "Follow us there": "https://www.facebook.com/example",
        "Nowhere at all": "//[",
    }
    lines = "".join(
        f'<p><a href="{href}">{text}</a><br>Two minutes from the station {text[:3]}</p>' for text, href in hrefs.items()
    )
    found = article(read("<title>Storm</title>", f"<article>{PROSE}{lines}{PROSE.replace('a', 'o')}</article>"))
    assert [text for text in hrefs if text in found.text] == ["The gauges of the state"]


def test_a_line_that_a_menu_says_as_well_stays(read: Read) -> None:
    menu = "<nav><ul><li><a href=/runes>The runes of the north</a></ul></nav>"
    story = f"<article>{PROSE}<p>The runes of the north</p>{PROSE.replace('a', 'o')}</article>"
    assert "The runes of the north" in article(read("<title>Storm</title>", menu + story)).text


def test_a_list_of_pages_may_be_brief(read: Read) -> None:
    links = "".join(f"<li><a href=/{n}>Page {n}</a></li>" for n in range(40))
    brief = "The gauges rose by a foot in one night, and nobody slept. " * 3
    found = read("<title>Pages</title>", f"<article><p>{brief}</p></article><ul>{links}</ul>")
    assert (isinstance(found, Article), found.page_type) == (True, PageType.LISTING)
