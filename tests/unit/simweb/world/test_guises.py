"""Pages that are not what they seem: each stands at its address, and its truth is really the truth."""

import re
from collections.abc import Callable
from datetime import datetime
from itertools import islice

import pytest
from lxml import etree

from headwater.simweb.message import Page
from headwater.simweb.world import GUISE_NAMES, Guise, GuiseName, Publisher, World

Ask = Callable[..., Page | None]
UNTRUE = {"listing", "listing_of_leads", "linked_leads", "consent_wall", "soft_404"}
CLASS = re.compile(r"\sclass=\"?([\w-]+)")


def one_of_each_layout(news: list[Publisher]) -> list[Publisher]:
    return list({publisher.template: publisher for publisher in news}.values())


def first(world: World, publisher: Publisher, name: GuiseName, now: datetime) -> Guise:
    return next(world.guises(publisher, name, now))


def html_at(ask: Ask, publisher: Publisher, url: str) -> str:
    page = ask(url)
    assert page is not None, url
    assert page.status == 200
    return page.body.decode(publisher.charset)


def shown(html: str) -> str:
    return re.sub(r"\s+", " ", " ".join(etree.HTML(html).itertext()))


@pytest.mark.parametrize("name", GUISE_NAMES)
def test_every_guise_tells_its_truth_in_every_layout_or_no_story_at_all(
    world: World, news: list[Publisher], ask: Ask, start: datetime, name: GuiseName
) -> None:
    assert len(one_of_each_layout(news)) == 6
    for publisher in one_of_each_layout(news):
        guise = first(world, publisher, name, start)
        own = next(world.items(publisher, start))
        text = shown(html_at(ask, publisher, guise.url))
        assert (guise.truth is None) == (name in UNTRUE)
        if guise.truth is None:
            assert not any(paragraph in text for paragraph in own.paragraphs[1:])
        else:
            assert guise.truth.url == guise.url
            assert all(paragraph in text for paragraph in guise.truth.paragraphs)


@pytest.mark.parametrize("name", GUISE_NAMES)
def test_a_guise_names_itself_as_an_article_where_its_site_does(
    world: World, news: list[Publisher], ask: Ask, start: datetime, name: GuiseName
) -> None:
    for publisher in news:
        if publisher.template == "graph":
            guise = first(world, publisher, name, start)
            html = html_at(ask, publisher, guise.url)
            assert '<meta property="og:type" content="article">' in html
            assert "article:published_time" in html
            assert ('"LiveBlogPosting"' in html) == (name == "live_blog")
            assert f'<link rel="canonical" href="{guise.url}">' in html


def test_nothing_leads_to_a_guise(world: World, news: list[Publisher], ask: Ask, start: datetime) -> None:
    for publisher in one_of_each_layout(news):
        story = next(world.items(publisher, start)).url
        channels = [*(feed.url for feed in publisher.feeds), *(sitemap.url for sitemap in publisher.sitemaps)]
        for url in (publisher.home, f"{publisher.home}latest", story, *channels):
            page = ask(url)
            assert page is not None
            assert b"/guise/" not in page.body


def test_a_relaunched_site_shares_no_name_with_the_old_one(
    world: World, news: list[Publisher], ask: Ask, start: datetime
) -> None:
    for publisher in one_of_each_layout(news):
        story = next(world.items(publisher, start))
        before = set(CLASS.findall(html_at(ask, publisher, story.url)))
        renamed = CLASS.findall(html_at(ask, publisher, first(world, publisher, "renamed", start).url))
        stripped = html_at(ask, publisher, first(world, publisher, "stripped", start).url)
        assert before
        assert renamed
        assert not before & set(renamed)
        assert not CLASS.search(stripped)


def test_a_moved_text_stands_in_a_new_element(world: World, news: list[Publisher], ask: Ask, start: datetime) -> None:
    for publisher in one_of_each_layout(news):
        guise = first(world, publisher, "moved", start)
        assert guise.truth is not None
        tree = etree.HTML(html_at(ask, publisher, guise.url))
        there = tree.xpath("//section[@class='longread']/p")
        assert [element.text for element in there] == list(guise.truth.paragraphs)


def test_a_paywall_shows_the_beginning_alone(world: World, news: list[Publisher], ask: Ask, start: datetime) -> None:
    for publisher in one_of_each_layout(news):
        story, guise = next(world.items(publisher, start)), first(world, publisher, "paywall", start)
        assert guise.truth is not None
        assert guise.truth.paragraphs == story.paragraphs[:1]
        assert story.paragraphs[1] not in shown(html_at(ask, publisher, guise.url))


@pytest.mark.parametrize("path", ["guise/renamed/", "guise/", "guise/nonsense{story}", "guise/renamed/news/no-such-1"])
def test_where_there_is_no_story_there_is_no_guise(world: World, ask: Ask, start: datetime, path: str) -> None:
    publisher = world.publishers[0]
    story = next(world.items(publisher, start)).url.removeprefix(publisher.home[:-1])
    assert ask(publisher.home + path.format(story=story)) is None


def test_guises_of_equal_worlds_are_equal(world: World, start: datetime) -> None:
    again = World(7, 72, start=start, rate=0.5)
    for name in GUISE_NAMES:
        one, other = (list(islice(each.guises(each.publishers[0], name, start), 3)) for each in (world, again))
        assert one == other


def test_only_news_sites_have_guises(world: World, start: datetime) -> None:
    others = [publisher for publisher in world.publishers if publisher.kind != "news"]
    assert others
    assert not any(list(world.guises(publisher, "renamed", start)) for publisher in others)
