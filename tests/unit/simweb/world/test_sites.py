from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from lxml import etree

from headwater.simweb.message import Page
from headwater.simweb.world import Publisher, World
from headwater.simweb.world.robots import Robots

Ask = Callable[..., Page | None]


def internal_links(page: Page, url: str) -> set[str]:
    if not page.content_type.startswith("text/html"):
        return set()
    tree = etree.HTML(page.body)
    found = tree.xpath("//a/@href | //link/@href | //img/@src")
    absolute = {urldefrag(urljoin(url, str(link)))[0] for link in found}
    return {link for link in absolute if urlsplit(link).netloc == urlsplit(url).netloc}


def crawled(ask: Ask, home: str, limit: int) -> dict[str, bool]:
    """Addresses reached from the home page, and whether a page stands there."""
    answers: dict[str, bool] = {}
    waiting = [home]
    while waiting and len(answers) < limit:
        url = waiting.pop(0)
        page = ask(url)
        answers[url] = page is not None
        if page is not None:
            waiting += sorted(internal_links(page, url) - answers.keys() - set(waiting))
    return answers


def test_every_internal_link_of_a_news_site_leads_to_a_page(news: list[Publisher], ask: Ask) -> None:
    by_template = {publisher.template: publisher for publisher in news}
    for publisher in by_template.values():
        answers = crawled(ask, publisher.home, 120)
        assert len(answers) > 30
        assert [url for url, found in answers.items() if not found] == []


def test_paging_reaches_every_article(world: World, news: list[Publisher], ask: Ask, start: datetime) -> None:
    for style in ("query", "rel_next"):
        publisher = next(p for p in news if p.pagination == style and p.url_style != "query" and p.rate > 5)
        found: set[str] = set()
        url: str | None = f"{publisher.home}latest"
        while url:
            page = ask(url)
            assert page is not None
            found |= internal_links(page, url)
            following = etree.HTML(page.body).xpath("//a[@class='next']/@href")
            url = urljoin(url, following[0]) if following else None
        assert {item.url for item in world.items(publisher, start)} <= found
        assert ask(f"{publisher.home}latest?page=9999") is None


def test_rel_next_stands_in_the_head_where_the_site_uses_it(news: list[Publisher], ask: Ask) -> None:
    for publisher in news:
        page = ask(f"{publisher.home}latest")
        assert page is not None
        if publisher.pagination == "query":
            assert b'<link rel="next"' not in page.body


def test_robots_files_say_what_the_truth_says(world: World, ask: Ask) -> None:
    for publisher in world.publishers:
        page, robots = ask(f"{publisher.home}robots.txt"), publisher.robots
        assert (page is None) == robots.is_missing
        if page is not None:
            lines = page.body.decode().splitlines()
            assert [f"Disallow: {path}" in lines for path in robots.disallow] == [True] * len(robots.disallow)
            assert (f"Crawl-delay: {robots.crawl_delay or 0:g}" in lines) == (robots.crawl_delay is not None)
            assert any(line.startswith("Sitemap: ") for line in lines) == bool(
                robots.lists_sitemaps and publisher.sitemaps
            )


def test_the_world_has_every_habit_of_robots_files(world: World) -> None:
    habits = [publisher.robots for publisher in world.publishers]
    assert any(robots.is_missing for robots in habits)
    assert any(robots.disallow for robots in habits)
    assert any(robots.crawl_delay for robots in habits)
    assert any(robots.unwelcome for robots in habits)


def test_a_group_for_one_agent_stands_before_the_group_for_all() -> None:
    text = Robots(disallow=("/a",), crawl_delay=0.5, unwelcome=("GreedyBot",)).text(())
    assert text == "User-agent: GreedyBot\nDisallow: /\n\nUser-agent: *\nDisallow: /a\nCrawl-delay: 0.5\n"


def test_behind_every_disallowed_path_there_is_a_page(
    world: World, news: list[Publisher], ask: Ask, start: datetime
) -> None:
    for publisher in news:
        item = next(world.items(publisher, start))
        hidden = {
            "/members/": f"{publisher.home}members/2",
            "/search": f"{publisher.home}search?q=x",
            "/print/": item.url.replace(publisher.home, f"{publisher.home}print/"),
        }
        for path in publisher.robots.disallow:
            assert ask(hidden[path]) is not None


def test_a_documentation_tree_is_four_deep_and_read_by_next_links(world: World, ask: Ask, start: datetime) -> None:
    for publisher in (p for p in world.publishers if p.kind == "docs"):
        truth = [item.url for item in world.items(publisher, start)]
        url, read = truth[0], [truth[0]]
        while following := etree.HTML(_body(ask, url)).xpath("//a[@rel='next']/@href"):
            url = urljoin(url, following[0])
            read.append(url)
        assert read == truth
        assert max(urlsplit(page).path.count("/") - 1 for page in truth) == 4
        assert len({urlsplit(page).path.split("/")[1] for page in truth}) == 2


def test_documentation_pages_hold_their_text(world: World, ask: Ask, start: datetime) -> None:
    publisher = next(p for p in world.publishers if p.kind == "docs")
    for item in world.items(publisher, start):
        text = " ".join(etree.HTML(_body(ask, item.url)).itertext())
        assert item.title in text
        assert all(paragraph in text for paragraph in item.paragraphs)


@pytest.mark.parametrize("kind", ["jobs", "docs"])
def test_every_internal_link_of_other_sites_leads_to_a_page(world: World, ask: Ask, kind: str) -> None:
    for publisher in (p for p in world.publishers if p.kind == kind):
        assert all(crawled(ask, publisher.home, 60).values())


def test_home_pages_follow_the_news(world: World, ask: Ask, start: datetime) -> None:
    publisher = max(world.publishers, key=lambda p: p.rate)
    tomorrow = start + timedelta(days=1)
    newest = next(world.items(publisher, tomorrow))
    page = ask(publisher.home, tomorrow)
    assert page is not None
    assert newest.url in internal_links(page, publisher.home)


def _body(ask: Ask, url: str) -> bytes:
    page = ask(url)
    assert page is not None
    return page.body
