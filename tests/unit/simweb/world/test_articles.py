import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice

from lxml import etree

from headwater.simweb.message import Page
from headwater.simweb.world import Item, Publisher, World

Ask = Callable[..., Page | None]


def shown(page: Page, publisher: Publisher) -> str:
    """The page's text as a reader sees it, white space evened out."""
    tree = etree.HTML(page.body.decode(publisher.charset))
    return re.sub(r"\s+", " ", " ".join(tree.itertext()))


def linked_data(page: Page, publisher: Publisher) -> Iterator[dict[str, object]]:
    tree = etree.HTML(page.body.decode(publisher.charset))
    for script in tree.xpath("//script[@type='application/ld+json']/text()"):
        data = json.loads(script)
        yield from data.get("@graph", [data])


def few_items(world: World, publishers: list[Publisher], now: datetime) -> Iterator[tuple[Publisher, Item]]:
    return ((publisher, item) for publisher in publishers for item in islice(world.items(publisher, now), 2))


def test_every_article_page_holds_its_title_text_and_author(
    world: World, news: list[Publisher], ask: Ask, start: datetime
) -> None:
    for publisher, item in few_items(world, news, start):
        page = ask(item.url)
        assert page is not None
        assert page.last_modified == (item.updated or item.published)
        text = shown(page, publisher)
        assert item.title in text
        assert item.author in text
        for paragraph in item.paragraphs:
            assert paragraph in text


def test_every_address_of_the_world_answers(world: World, ask: Ask, start: datetime) -> None:
    urls = list(islice(world.urls(start), 0, None, 25))
    assert len(urls) > 150
    for url in urls:
        page = ask(url)
        assert page is not None
        assert page.status == 200


def test_articles_have_plausible_lengths(world: World, news: list[Publisher], start: datetime) -> None:
    lengths = [len(item.text.split()) for _, item in few_items(world, news, start)]
    assert min(lengths) >= 200
    assert max(lengths) < 1000
    assert 300 < sum(lengths) / len(lengths) < 600


def test_every_language_template_charset_and_address_style_occurs(news: list[Publisher]) -> None:
    assert {p.language for p in news} == {"en", "de", "fr", "es", "pt", "ar", "ru"}
    assert {p.template for p in news} == {"jsonld", "graph", "opengraph", "semantic", "soup", "wordpress"}
    assert {p.charset for p in news} >= {"utf-8", "iso-8859-1", "windows-1252", "windows-1251"}
    assert {p.url_style for p in news} == {"dated", "section", "story", "query"}
    legacy = {p.is_charset_in_header for p in news if p.charset != "utf-8"}
    assert legacy == {True, False}


def test_the_charset_stands_in_the_page_when_the_header_is_silent(news: list[Publisher], ask: Ask) -> None:
    silent = [p for p in news if not p.is_charset_in_header]
    for publisher in silent:
        page = ask(publisher.home)
        assert page is not None
        assert "charset" not in page.content_type
        assert f'charset="{publisher.charset}"'.encode() in page.body


def test_linked_data_tells_the_truth(world: World, news: list[Publisher], ask: Ask, start: datetime) -> None:
    checked = set()
    for publisher, item in few_items(world, news, start):
        page = ask(item.url)
        assert page is not None
        for data in linked_data(page, publisher):
            if data["@type"] == "NewsArticle":
                checked.add(publisher.template)
                assert data["headline"] == item.title
                assert datetime.fromisoformat(str(data["datePublished"])) == item.published
                assert data["author"] == [{"@type": "Person", "name": item.author}]
    assert checked == {"jsonld", "graph"}


def test_arabic_pages_run_from_right_to_left(news: list[Publisher], ask: Ask) -> None:
    for publisher in news:
        page = ask(publisher.home)
        assert page is not None
        assert (b'dir="rtl"' in page.body) == (publisher.language == "ar")


def test_an_unpublished_article_is_not_there_yet(
    world: World, news: list[Publisher], ask: Ask, start: datetime
) -> None:
    later = start + timedelta(days=2)
    fresh = [item for p in news for item in world.items(p, later) if item.published > start]
    assert len(fresh) > 50
    for item in fresh[:50]:
        assert ask(item.url, item.published - timedelta(seconds=1)) is None
        assert ask(item.url, item.published) is not None


def test_removed_articles_are_gone_from_page_and_truth(
    world: World, news: list[Publisher], ask: Ask, start: datetime
) -> None:
    statuses = set()
    for publisher in news:
        standing = {item.url for item in world.items(publisher, start)}
        for url in world.removed(publisher, start):
            page = ask(url)
            statuses.add(page.status if page else 404)
            assert url not in standing
    assert statuses == {404, 410}


def test_an_update_changes_text_and_time_and_sometimes_the_title(
    world: World, news: list[Publisher], ask: Ask, start: datetime
) -> None:
    updated = [item for p in news for item in islice(world.items(p, start), 40) if item.updated]
    retitled = 0
    for item in updated:
        assert item.updated is not None
        before = ask(item.url, item.updated - timedelta(seconds=1))
        after = ask(item.url, item.updated)
        assert before is not None
        assert after is not None
        assert before.body != after.body
        assert (before.last_modified, after.last_modified) == (item.published, item.updated)
        retitled += item.title not in shown(before, next(p for p in news if p.home in item.url))
    assert 0 < retitled < len(updated)


def test_a_page_changes_only_with_its_article(world: World, news: list[Publisher], ask: Ask, start: datetime) -> None:
    for publisher, item in few_items(world, news, start - timedelta(days=5)):
        later = next((i for i in world.items(publisher, start) if i.url == item.url), None)
        if later == item:
            first, second = ask(item.url, start - timedelta(days=5)), ask(item.url)
            assert first is not None
            assert second is not None
            assert first.body == second.body


def test_reprints_carry_the_very_text_of_the_original(
    world: World, news: list[Publisher], ask: Ask, start: datetime
) -> None:
    by_host = {publisher.host: publisher for publisher in news}
    seen = 0
    for publisher in news:
        if publisher.reprints:
            originals = {item.url: item for item in world.items(by_host[publisher.reprints], start)}
            for item in world.items(publisher, start):
                original = originals.get(item.duplicate_of or "")
                if original and not original.updated:
                    seen += 1
                    assert item.paragraphs == original.paragraphs
                    assert item.published > original.published
    assert seen > 5


def test_tracking_parameters_do_not_hide_the_article(
    world: World, news: list[Publisher], ask: Ask, start: datetime
) -> None:
    for _, item in few_items(world, news, start):
        tracked = item.url + ("&" if "?" in item.url else "?") + "utm_source=feed"
        assert ask(tracked) == ask(item.url)


def test_made_up_addresses_are_not_found(news: list[Publisher], ask: Ask) -> None:
    for path in (
        "nothing",
        "2026/13/45/x/",
        "news/x-999999999.html",
        "article.php?id=38000000",
        "a-700000000",
        "members/x",
    ):
        assert ask(news[0].home + path) is None
