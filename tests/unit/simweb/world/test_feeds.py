import json
from calendar import timegm
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from urllib.parse import urljoin

import feedparser
import pytest
from lxml import etree

from headwater.simweb.message import Page
from headwater.simweb.world import Feed, Item, Publisher, World

Ask = Callable[..., Page | None]


@pytest.fixture(scope="module")
def feeds(news: list[Publisher]) -> list[tuple[Publisher, Feed]]:
    return [(publisher, feed) for publisher in news for feed in publisher.feeds]


def newest(world: World, publisher: Publisher, feed: Feed, now: datetime) -> list[Item]:
    return list(islice(world.items(publisher, now), feed.window))


def parsed(page: Page) -> Any:
    answer = feedparser.parse(page.body, response_headers={"content-type": page.content_type})
    assert not answer.bozo, answer.bozo_exception
    return answer


def xml_feeds(feeds: list[tuple[Publisher, Feed]]) -> Iterator[tuple[Publisher, Feed]]:
    return ((publisher, feed) for publisher, feed in feeds if feed.kind != "json")


def without_tracking(url: str) -> str:
    return url.partition("utm_source=")[0].rstrip("?&")


def moment(stamp: Any) -> datetime:
    return datetime.fromtimestamp(timegm(stamp), UTC)


def test_the_world_has_every_kind_and_habit_of_feed(feeds: list[tuple[Publisher, Feed]]) -> None:
    assert {feed.kind for _, feed in feeds} == {"rss", "rdf", "atom", "json"}
    for habit in ("has_full_text", "is_linked", "tracks_clicks", "has_permalink_guids"):
        assert {getattr(feed, habit) for _, feed in feeds} == {True, False}
    assert any(feed.has_relative_links for _, feed in feeds)
    assert any(feed.ttl_minutes for _, feed in feeds)


def test_xml_feeds_list_exactly_the_newest_items(
    world: World, feeds: list[tuple[Publisher, Feed]], ask: Ask, start: datetime
) -> None:
    for publisher, feed in xml_feeds(feeds):
        page = ask(feed.url)
        assert page is not None
        entries, items = parsed(page).entries, newest(world, publisher, feed, start)
        assert [without_tracking(urljoin(feed.url, entry.link)) for entry in entries] == [item.url for item in items]
        assert [entry.title for entry in entries] == [item.title for item in items]
        assert [entry.author for entry in entries] == [item.author for item in items]


def test_xml_feeds_tell_the_publication_time_with_its_zone(
    world: World, feeds: list[tuple[Publisher, Feed]], ask: Ask, start: datetime
) -> None:
    for publisher, feed in xml_feeds(feeds):
        page = ask(feed.url)
        assert page is not None
        # Feedparser knows RSS 1.0's dc:date as the time of the last update.
        name = "updated_parsed" if feed.kind == "rdf" else "published_parsed"
        told = [moment(entry[name]) for entry in parsed(page).entries]
        assert told == [item.published for item in newest(world, publisher, feed, start)]


def test_json_feeds_list_exactly_the_newest_items(
    world: World, feeds: list[tuple[Publisher, Feed]], ask: Ask, start: datetime
) -> None:
    for publisher, feed in feeds:
        if feed.kind == "json":
            page = ask(feed.url)
            assert page is not None
            told, items = json.loads(page.body)["items"], newest(world, publisher, feed, start)
            assert [without_tracking(item["url"]) for item in told] == [item.url for item in items]
            assert [datetime.fromisoformat(item["date_published"]) for item in told] == [i.published for i in items]


def test_a_full_text_feed_carries_every_paragraph(
    world: World, feeds: list[tuple[Publisher, Feed]], ask: Ask, start: datetime
) -> None:
    full = [(p, f) for p, f in xml_feeds(feeds) if f.has_full_text and newest(world, p, f, start)]
    assert len(full) > 3
    for publisher, feed in full:
        page = ask(feed.url)
        assert page is not None
        entry, item = parsed(page).entries[0], newest(world, publisher, feed, start)[0]
        text = etree.HTML(entry.content[0].value)
        assert tuple("".join(p.itertext()) for p in text.iter("p")) == item.paragraphs


def test_a_feed_moves_on_with_time(
    world: World, feeds: list[tuple[Publisher, Feed]], ask: Ask, start: datetime
) -> None:
    _, feed = max(feeds, key=lambda pair: pair[0].rate)
    before, after = ask(feed.url), ask(feed.url, start + timedelta(days=1))
    assert before is not None
    assert after is not None
    assert before.body != after.body
    assert before.last_modified is not None
    assert after.last_modified is not None
    assert before.last_modified <= start < after.last_modified


def test_a_feed_that_did_not_change_is_the_same_page(feeds: list[tuple[Publisher, Feed]], ask: Ask) -> None:
    _, feed = feeds[0]
    assert ask(feed.url) is ask(feed.url)


def test_home_pages_announce_the_linked_feeds_and_only_those(feeds: list[tuple[Publisher, Feed]], ask: Ask) -> None:
    for publisher, feed in feeds:
        page = ask(publisher.home)
        assert page is not None
        announced = etree.HTML(page.body.decode(publisher.charset)).xpath("//link[@rel='alternate']/@href")
        assert (feed.path in announced) == feed.is_linked
