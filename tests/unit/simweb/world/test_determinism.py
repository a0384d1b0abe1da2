from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from urllib.parse import urlsplit

import pytest

from headwater.simweb.message import Page, Request
from headwater.simweb.world import World

START = datetime(2026, 5, 4, 10, tzinfo=UTC)


def sampled_pages(world: World, now: datetime) -> Iterator[Page | None]:
    for publisher in (*world.publishers, *world.specials):
        urls = [publisher.home, f"{publisher.home}robots.txt", f"{publisher.home}latest", f"{publisher.home}careers"]
        urls += [feed.url for feed in publisher.feeds] + [sitemap.url for sitemap in publisher.sitemaps]
        urls += [item.url for item in islice(world.items(publisher, now), 2)]
        urls += [vacancy.url for vacancy in islice(world.vacancies(publisher, now), 2)]
        for url in urls:
            parts = urlsplit(url)
            yield world.sites[publisher.host].page(Request("GET", publisher.host, parts.path, parts.query, {}), now)


@pytest.mark.long
def test_two_worlds_of_one_seed_agree_byte_by_byte() -> None:
    first = list(sampled_pages(World(1, 24, start=START), START))
    second = list(sampled_pages(World(1, 24, start=START), START))
    assert len(first) > 150
    assert first == second


def test_another_seed_casts_other_publishers() -> None:
    first, second = World(1, 24, start=START), World(2, 24, start=START)
    assert {(p.host, p.rate) for p in first.publishers}.isdisjoint((p.host, p.rate) for p in second.publishers)


def test_another_seed_makes_the_same_host_write_something_else() -> None:
    first, second = World(1, 1, start=START), World(2, 1, start=START)
    for one, other in zip(first.specials, second.specials, strict=True):
        assert one == other
        texts = {item.text for item in first.items(one, START)}
        assert texts.isdisjoint(item.text for item in second.items(other, START))


@pytest.mark.long
def test_the_order_of_looking_does_not_matter() -> None:
    later = START + timedelta(days=3)
    forward, backward = World(1, 12, start=START), World(1, 12, start=START)
    early = list(sampled_pages(forward, START))
    list(sampled_pages(backward, later))
    assert list(sampled_pages(backward, START)) == early


def test_a_small_cache_changes_nothing_but_speed() -> None:
    roomy, tight = World(1, 12, start=START), World(1, 12, start=START, cached_pages=1)
    assert list(sampled_pages(roomy, START)) == list(sampled_pages(tight, START))
