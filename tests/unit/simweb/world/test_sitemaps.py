import gzip
from collections.abc import Callable
from datetime import datetime, timedelta

from lxml import etree

from headwater.simweb.message import Page
from headwater.simweb.world import Publisher, World

Ask = Callable[..., Page | None]
NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def locations(page: Page | None) -> list[str]:
    assert page is not None
    body = gzip.decompress(page.body) if page.content_type == "application/gzip" else page.body
    return [loc.text for loc in etree.fromstring(body).iter(f"{NAMESPACE}loc")]


def test_the_world_has_every_kind_of_sitemap(world: World) -> None:
    kinds = {sitemap.kind for publisher in world.publishers for sitemap in publisher.sitemaps}
    assert kinds == {"plain", "index", "news", "gzip"}


def test_sitemaps_cover_exactly_the_articles(world: World, news: list[Publisher], ask: Ask, start: datetime) -> None:
    for publisher in news:
        truth = [item.url for item in world.items(publisher, start)]
        for sitemap in publisher.sitemaps:
            found = locations(ask(sitemap.url))
            if sitemap.kind == "index":
                assert len(found) == len(set(found)) > 0
                found = [url for child in found for url in locations(ask(child))]
            if sitemap.kind != "news":
                assert found == truth


def test_a_news_sitemap_reaches_back_two_days(world: World, news: list[Publisher], ask: Ask, start: datetime) -> None:
    for publisher in news:
        for sitemap in publisher.sitemaps:
            if sitemap.kind == "news":
                recent = [i.url for i in world.items(publisher, start) if i.published > start - timedelta(days=2)]
                assert locations(ask(sitemap.url)) == recent


def test_sitemaps_of_career_and_documentation_sites_cover_them(world: World, ask: Ask, start: datetime) -> None:
    others = [p for p in world.publishers if p.kind != "news" and p.sitemaps]
    assert {p.kind for p in others} == {"jobs", "docs"}
    for publisher in others:
        truth = [item.url for item in world.items(publisher, start)]
        truth += [vacancy.url for vacancy in world.vacancies(publisher, start)]
        assert locations(ask(publisher.sitemaps[0].url)) == truth


def test_a_month_without_articles_has_no_child_sitemap(news: list[Publisher], ask: Ask) -> None:
    publisher = next(p for p in news if any(s.kind == "index" for s in p.sitemaps))
    assert ask(f"{publisher.home}sitemap-1999-01.xml") is None
