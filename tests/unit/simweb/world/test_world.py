from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from lxml import etree

from headwater.errors import UsageError
from headwater.simweb.world import World
from headwater.simweb.world.cache import Cache
from headwater.simweb.world.dice import Dice
from headwater.simweb.world.markup import in_html, in_script, in_xml, slug_of

START = datetime(2026, 5, 4, 10, tzinfo=UTC)


def test_every_host_of_the_world_has_a_site(world: World) -> None:
    hosts = {publisher.host for publisher in (*world.publishers, *world.specials)}
    assert hosts | {"mirror.test", "near.test"} == set(world.sites)
    assert len(world.publishers) == 72
    assert all(host.endswith(".test") and host.isascii() for host in hosts)


def test_an_unknown_host_has_none(world: World) -> None:
    assert "example.test" not in world.sites
    with pytest.raises(KeyError):
        world.sites["example.test"]


def test_the_first_publisher_is_always_harbour_news() -> None:
    for seed in range(5):
        first = World(seed, 1, start=START).publishers[0]
        assert (first.host, first.feeds[0].path, first.language) == ("harbour-news.test", "/feed.xml", "en")


def test_a_dozen_publishers_already_show_every_kind() -> None:
    world = World(5, 12, start=START)
    assert {publisher.kind for publisher in world.publishers} == {"news", "jobs", "docs"}
    assert len({publisher.language for publisher in world.publishers}) == 7


def test_urls_only_grow_by_what_was_published_since(world: World) -> None:
    now, later = set(world.urls(START)), set(world.urls(START + timedelta(hours=6)))
    assert len(now) > 3_000
    assert 0 < len(later - now) < len(now) / 10


def test_the_rate_scales_what_is_published() -> None:
    calm, busy = World(4, 12, start=START, rate=0.5), World(4, 12, start=START, rate=2.0)
    ratio = sum(1 for _ in busy.urls(START)) / sum(1 for _ in calm.urls(START))
    assert ratio > 2


def test_nothing_is_older_than_the_history() -> None:
    world = World(4, 12, start=START, history=timedelta(days=3))
    oldest = min(item.published for p in world.publishers if p.kind == "news" for item in world.items(p, START))
    assert oldest > START - timedelta(days=4)


def test_crawl_delays_are_those_asked_for() -> None:
    world = World(4, 120, start=START, crawl_delays=(0.05,))
    assert {publisher.robots.crawl_delay for publisher in world.publishers} == {None, 0.05}


def test_a_world_without_publishers_is_refused() -> None:
    with pytest.raises(UsageError):
        World(1, 0, start=START)


def test_opml_lists_every_feed_once(world: World) -> None:
    outlines = etree.fromstring(world.opml().encode()).findall("body/outline")
    assert [outline.get("xmlUrl") for outline in outlines] == [f.url for p in world.publishers for f in p.feeds]


def test_the_cache_forgets_what_was_used_longest_ago() -> None:
    cache: Cache[int] = Cache(2)
    made: list[str] = []

    def make(key: str) -> int:
        made.append(key)
        return len(made)

    for key in ("a", "b", "a", "c", "a", "b"):
        cache.get(key, partial(make, key))
    assert made == ["a", "b", "c", "b"]
    assert len(cache) == 2


def test_dice_of_one_name_fall_alike_and_of_another_do_not() -> None:
    assert Dice(1, "a").key() == Dice(1, "a").key() != Dice(1, "b").key()


def test_text_is_escaped_for_where_it_stands() -> None:
    assert in_html('<a href="x">&') == "&lt;a href=&quot;x&quot;&gt;&amp;"
    assert in_xml("a\x00b<") == "ab&lt;"
    assert "</script" not in in_script({"said": "</script><b>"})


def test_slugs_are_latin_where_there_is_a_spelling_and_encoded_elsewhere() -> None:
    assert slug_of("Größere Häfen: à l’été!") == "groessere-haefen-a-l-ete"
    assert slug_of("Новый мост") == "novyi-most"
    assert slug_of("أقر") == "%D8%A3%D9%82%D8%B1"
