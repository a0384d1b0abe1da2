"""A documentation site crawled from its start page to its end: breadth first, complete, nothing fetched twice."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from tests.endtoend.conftest import settings_for

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.discover.adding import WantedSource, take_up
from headwater.discover.crawling import CrawlState, crawl_of, pages_of
from headwater.run.everything import run_everything
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb
from headwater.simweb.world import World
from headwater.sources.source import Profile, SourceKind
from headwater.urls.canonical import canonicalise

WITHOUT_LIMIT = -1


@pytest.mark.long
async def test_a_site_is_crawled_whole_and_known_to_be(database_url: str) -> None:
    clock = SystemClock()
    world = World(2, 40, start=WORLD_BEGINS, crawl_delays=())
    publisher = next(one for one in world.publishers if one.kind == "docs")
    web = SimWeb(world.sites, clock=clock, real=clock, random=random_from(1))
    port = await web.start()
    flags = settings_for(database_url, port) | {"politeness.delay": "5ms", "poll.tick": "100ms"}
    stop = asyncio.Event()
    async with open_services(load(Given(flags=flags))) as services:
        database = services.database
        async with database.transaction() as connection:
            profile = Profile(publisher.home, kind=SourceKind.DOCS, max_depth=WITHOUT_LIMIT)
            source = await take_up(connection, WantedSource(profile), "tester", timedelta(milliseconds=5))
        running = asyncio.create_task(run_everything(services, stop, resolver=SimResolver(port, clock=clock)))
        async with asyncio.timeout(240):
            while (crawl := await crawl_of(database, source)).state is not CrawlState.COMPLETE:
                assert crawl.state is not CrawlState.FAILED
                await asyncio.sleep(0.2)
        stop.set()
        await running
        pages = {canonicalise(page.url).key: page for page in await pages_of(database, source, limit=10_000)}
        titles = await database.fetch("select canonical_url, title from documents where source_id = $1", source)
    await web.stop()
    expected = {canonicalise(item.url).key: item.title for item in world.items(publisher, WORLD_BEGINS)}
    assert set(expected) <= set(pages)
    assert {page.status for key, page in pages.items() if key in expected} == {"completed"}
    assert pages[canonicalise(publisher.home).key].depth == 0
    found = {canonicalise(row["canonical_url"]).key: row["title"] for row in titles}
    assert set(expected) <= set(found)
    asked = Counter(visit.target for visit in web.visits.all() if visit.host == publisher.host)
    asked.pop("/robots.txt", None)
    asked.pop("/.well-known/tdmrep.json", None)
    assert set(asked.values()) == {1}
