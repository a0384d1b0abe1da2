"""A site told to show its articles in a guise, through the script as anybody can write it."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

import orjson
import pytest
from tests.clocks import ManualClock

from headwater.chance import random_from
from headwater.simweb.message import Request
from headwater.simweb.mischief.content import Disguise
from headwater.simweb.mischief.stage import Send
from headwater.simweb.reading import Asked
from headwater.simweb.server import SimWeb
from headwater.simweb.world import Item, World

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)


@pytest.fixture
def world() -> World:
    return World(3, 1, start=NOW)


@pytest.fixture
def web(world: World) -> SimWeb:
    clock = ManualClock(NOW)
    return SimWeb(world.sites, clock=clock, real=clock, random=random_from(1))


@pytest.fixture
def story(world: World) -> Item:
    return next(world.items(world.publishers[0], NOW))


def answered(web: SimWeb, url: str, method: str = "GET", body: bytes = b"") -> bytes:
    place = urlsplit(url)
    request = Request(method, place.netloc, place.path, place.query, {}, body)
    _, said = web.receive(Asked(request, keeps_alive=True, size_bytes=0), 1, 0.0)
    return said if isinstance(said, bytes) else b"".join(step.data for step in said if isinstance(step, Send))


def test_a_relaunched_article_stands_at_its_own_address(web: SimWeb, story: Item) -> None:
    before = answered(web, story.url)
    web.script(urlsplit(story.url).netloc, Disguise("renamed"))
    after = answered(web, story.url)
    assert b'class="story-body"' in before
    assert b'class="next-story-body"' in after
    assert b"/guise/" not in after
    assert f'<link rel="canonical" href="{story.url}">'.encode() in after


def test_a_relaunch_may_wait_for_a_number_of_requests(web: SimWeb, story: Item) -> None:
    web.script(urlsplit(story.url).netloc, Disguise("stripped", after=2))
    assert [b'class="story-body"' in answered(web, story.url) for _ in range(4)] == [True, True, False, False]


def test_feeds_and_fronts_are_not_disguised(web: SimWeb, world: World) -> None:
    publisher = world.publishers[0]
    urls = (publisher.home, publisher.feeds[0].url, f"{publisher.home}robots.txt", f"{publisher.home}no-such-page")
    before = [answered(web, url) for url in urls]
    web.script(publisher.host, Disguise("soft_404"))
    assert [answered(web, url) for url in urls] == before


def test_a_guise_is_scripted_from_outside(web: SimWeb, world: World, story: Item) -> None:
    rule = {"host": world.publishers[0].host, "mischief": {"kind": "disguise", "guise": "consent_wall"}, "times": 1}
    assert b" 201 " in answered(web, "http://simweb.test/script", "POST", orjson.dumps(rule)).partition(b"\r\n")[0]
    assert story.paragraphs[2].encode() not in answered(web, story.url)
    assert story.paragraphs[2].encode() in answered(web, story.url)


def test_an_unknown_guise_is_refused(web: SimWeb) -> None:
    rule = {"host": "a.test", "mischief": {"kind": "disguise", "guise": "nonsense"}}
    assert b" 400 " in answered(web, "http://simweb.test/script", "POST", orjson.dumps(rule)).partition(b"\r\n")[0]
