"""What the simulated web knows to be true must be read back from its pages; these figures may not fall."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from urllib.parse import urlsplit

import pytest

from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page
from headwater.extraction.page_type import PageType
from headwater.simweb.message import Request
from headwater.simweb.world import GuiseName, Item, Publisher, World

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
LEAST_F1 = 0.98


@pytest.fixture(scope="module")
def world() -> World:
    return World(7, 30, start=NOW, rate=0.5)


@pytest.fixture(scope="module")
def read(world: World) -> list[tuple[Item, Article | NotAnArticle]]:
    return [(item, page_at(world, publisher, item.url)) for publisher, item in items(world)]


def news(world: World) -> list[Publisher]:
    return [publisher for publisher in world.publishers if publisher.kind == "news"]


def items(world: World) -> Iterator[tuple[Publisher, Item]]:
    return ((publisher, item) for publisher in news(world) for item in islice(world.items(publisher, NOW), 1))


def page_at(world: World, publisher: Publisher, url: str) -> Article | NotAnArticle:
    place = urlsplit(url)
    page = world.sites[place.netloc].page(Request("GET", place.netloc, place.path, place.query, {}), NOW)
    assert page is not None
    return extract(Page(url=url, body=page.body, codec=publisher.charset), NOW)


def f1(truth: str, found: str) -> float:
    wanted, got = Counter(truth.split()), Counter(found.split())
    return 2 * (wanted & got).total() / (wanted.total() + got.total())


def test_every_layout_language_and_charset_is_covered(world: World) -> None:
    assert {publisher.template for publisher in news(world)} == {
        "jsonld",
        "graph",
        "opengraph",
        "semantic",
        "soup",
        "wordpress",
    }
    assert len({publisher.language for publisher in news(world)}) == 7
    assert len({publisher.charset for publisher in news(world)}) >= 3


def test_every_text_is_read_whole_and_without_its_surroundings(read: list[tuple[Item, Article | NotAnArticle]]) -> None:
    assert len(read) >= 20
    scores = [f1(item.text, found.text) if isinstance(found, Article) else 0 for item, found in read]
    assert sum(scores) / len(scores) >= LEAST_F1
    assert min(scores) >= 0.95


def test_every_fact_is_read_as_it_is(read: list[tuple[Item, Article | NotAnArticle]]) -> None:
    for item, found in read:
        assert isinstance(found, Article)
        assert (found.title, found.author, found.language) == (item.title, item.author, item.language)
        assert (found.published_at, found.page_type) == (item.published, PageType.ARTICLE)
        assert found.canonical_url == item.url
        assert set(found.keywords) == set(item.keywords)


def test_texts_that_differ_never_share_a_hash(read: list[tuple[Item, Article | NotAnArticle]]) -> None:
    by_text = {item.text: found.content_hash for item, found in read if isinstance(found, Article)}
    assert len(set(by_text.values())) == len(by_text) > 20


@pytest.mark.parametrize("path", ["", "latest"])
def test_front_pages_are_never_articles(world: World, path: str) -> None:
    types = [page_at(world, publisher, publisher.home + path).page_type for publisher in news(world)]
    assert set(types) == {PageType.LISTING}


@pytest.mark.parametrize("name", ["partial_main", "split_story", "teaser_river"])
def test_a_story_is_read_whole_and_alone_wherever_its_parts_stand(world: World, name: GuiseName) -> None:
    scores: list[float] = []
    for publisher in news(world):
        guise = next(world.guises(publisher, name, NOW))
        found = page_at(world, publisher, guise.url)
        assert isinstance(found, Article)
        assert guise.truth is not None
        scores.append(f1(guise.truth.text, found.text))
    assert sum(scores) / len(scores) >= 0.95
    assert min(scores) >= 0.8


def test_lines_that_lead_to_other_stories_are_no_part_of_one(world: World) -> None:
    for publisher in news(world):
        guise = next(world.guises(publisher, "cross_references", NOW))
        found = page_at(world, publisher, guise.url)
        assert isinstance(found, Article)
        assert guise.truth is not None
        assert f1(guise.truth.text, found.text) >= LEAST_F1


@pytest.mark.parametrize("name", ["named_titles", "co_authors"])
def test_titles_go_without_section_and_site_and_authors_are_names(world: World, name: GuiseName) -> None:
    for publisher in news(world):
        guise = next(world.guises(publisher, name, NOW))
        found = page_at(world, publisher, guise.url)
        assert isinstance(found, Article)
        assert guise.truth is not None
        assert (found.title, found.author) == (guise.truth.title, guise.truth.author)
        assert len(found.authors) == (2 if name == "co_authors" else 1)
