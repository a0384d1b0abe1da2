"""Whole simulated hosts: what their templates serve is true, whoever's page it is."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from headwater.extract.article import Article
from headwater.extract.extractor import extract
from headwater.extract.page import Page
from headwater.extract.templates.learner import TrainingPage, learn
from headwater.extract.templates.server import Served, serve
from headwater.extract.templates.template import Template
from headwater.simweb.message import Request
from headwater.simweb.world import Item, Publisher, World

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
HOSTS = 6
PAGES = 6
TRAINING = 4


class Host(NamedTuple):
    publisher: Publisher
    template: Template
    unseen: list[tuple[Item, str]]


@pytest.fixture(scope="module")
def world() -> World:
    return World(11, 14, start=NOW, rate=0.5)


@pytest.fixture(scope="module")
def hosts(world: World) -> list[Host]:
    news = [publisher for publisher in world.publishers if publisher.kind == "news"][:HOSTS]
    return [host(world, publisher) for publisher in news]


def host(world: World, publisher: Publisher) -> Host:
    items = list(islice(world.items(publisher, NOW), PAGES))
    template = learn([lesson(page_at(world, publisher, item.url)) for item in items[:TRAINING]])
    assert isinstance(template, Template)
    return Host(publisher, template, [(one, page_at(world, publisher, one.url).html()) for one in items[TRAINING:]])


def page_at(world: World, publisher: Publisher, url: str) -> Page:
    place = urlsplit(url)
    page = world.sites[place.netloc].page(Request("GET", place.netloc, place.path, place.query, {}), NOW)
    assert page is not None
    return Page(url=url, body=page.body, codec=publisher.charset)


def lesson(page: Page) -> TrainingPage:
    found = extract(page, NOW)
    assert isinstance(found, Article)
    return TrainingPage(
        url=page.url,
        html=page.html(),
        general=found.text,
        title=found.title,
        author=found.author,
        published_at=found.published_at,
    )


def f1(truth: str, found: str) -> float:
    wanted, got = Counter(truth.split()), Counter(found.split())
    return 2 * (wanted & got).total() / (wanted.total() + got.total())


def others(hosts: list[Host]) -> Iterator[tuple[Template, Item, str]]:
    for one in hosts:
        for other in hosts:
            if other is not one:
                yield from ((one.template, item, html) for item, html in other.unseen)


def test_unseen_pages_of_a_host_are_read_as_they_were_written(hosts: list[Host]) -> None:
    for one in hosts:
        for item, html in one.unseen:
            found = serve(one.template, html)
            assert isinstance(found, Served)
            assert f1(item.text, found.text) >= 0.97
            assert (found.title, found.published_at) == (item.title, item.published)


def test_another_hosts_page_is_refused_or_read_rightly(hosts: list[Host]) -> None:
    wrong = [
        (template.variants[0].selector, item.url)
        for template, item, html in others(hosts)
        if isinstance(found := serve(template, html), Served) and f1(item.text, found.text) < 0.9
    ]
    assert not wrong


@pytest.mark.parametrize("path", ["", "latest"])
def test_no_front_page_is_served(world: World, hosts: list[Host], path: str) -> None:
    pages = [(one.template, page_at(world, one.publisher, one.publisher.home + path).html()) for one in hosts]
    assert not [template for template, html in pages if isinstance(serve(template, html), Served)]
