"""Hosts relaunch and deceive in mid-run: what a template wrote down is right, whatever it is shown."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any
from uuid import UUID

import pytest
from tests.clocks import ManualClock
from tests.endtoend.conftest import settings_for

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.extraction.templates.guide import agreement
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.run.fetching import run_worker
from headwater.services import Services, open_services
from headwater.settings import Given, load
from headwater.simweb.mischief.content import Disguise
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb
from headwater.simweb.world import GUISE_NAMES, Item, Publisher, World
from headwater.sources.store import create_source

DELAY = timedelta(milliseconds=5)
HOSTS, BEFORE, REFUSED, AFTER = 3, 12, 16, 12
# A byline that came through is one line of nine.
RIGHT = 0.85
OPEN = "select count(*) from url_frontier where status in ('pending', 'fetching')"


@dataclass
class Newsstand:
    services: Services
    web: SimWeb
    world: World
    papers: list[Publisher]
    source: UUID

    def items(self, paper: Publisher) -> list[Item]:
        return list(islice(self.world.items(paper, WORLD_BEGINS), BEFORE + REFUSED + AFTER))

    async def read(self, urls: Iterable[str]) -> None:
        """Queued, fetched, read and kept by the worker that is running."""
        async with self.services.database.transaction() as connection:
            found = [FoundUrl(url) for url in urls]
            await submit(connection, Submitter(self.source, EntryOrigin.FEED), found, default_delay=DELAY)
        await self.until(f"select ({OPEN}) = 0")

    async def until(self, holds: str) -> None:
        # Only so that a hang ends.
        async with asyncio.timeout(300):
            while not await self.services.database.fetchval(holds):
                await asyncio.sleep(0.1)

    async def documents(self) -> list[Any]:
        return await self.services.database.fetch(
            "select url, text, produced_by from documents where deleted_at is null"
        )

    async def producers(self, items: Iterable[Item]) -> Counter[str]:
        wanted = {item.url for item in items}
        return Counter(row["produced_by"] for row in await self.documents() if row["url"] in wanted)


@asynccontextmanager
async def newsstand(database_url: str) -> AsyncIterator[Newsstand]:
    clock, stop = SystemClock(), asyncio.Event()
    world = World(5, 40, start=WORLD_BEGINS, rate=6.0, crawl_delays=())
    papers = [
        one
        for one in world.publishers
        if one.kind == "news"
        and one.template != "soup"
        and not one.reprints
        and len(list(islice(world.items(one, WORLD_BEGINS), BEFORE + REFUSED + AFTER))) == BEFORE + REFUSED + AFTER
    ][:HOSTS]
    assert len(papers) == HOSTS
    web = SimWeb(world.sites, clock=ManualClock(WORLD_BEGINS), real=clock, random=random_from(1))
    port = await web.start()
    async with open_services(load(Given(flags=settings_for(database_url, port)))) as services:
        async with services.database.transaction() as connection:
            source = await create_source(connection, "Papers", "http://papers.test/", "news")
        running = asyncio.create_task(run_worker(services, "tester", stop, resolver=SimResolver(port, clock=clock)))
        try:
            yield Newsstand(services, web, world, papers, source)
        finally:
            stop.set()
            await running
            await web.stop()


def of_all(stand: Newsstand, first: int, last: int) -> list[Item]:
    return [item for paper in stand.papers for item in stand.items(paper)[first:last]]


@pytest.mark.long
async def test_a_relaunch_in_mid_run_costs_fallbacks_and_a_training_but_no_text(database_url: str) -> None:
    async with newsstand(database_url) as stand:
        learned = f"select count(*) = {HOSTS} from templates where status = 'active' and version = "
        before, refused, after = BEFORE, BEFORE + REFUSED, BEFORE + REFUSED + AFTER
        await stand.read(item.url for item in of_all(stand, 0, before))
        await stand.until(learned + "1")
        for paper in stand.papers:
            stand.web.script(paper.host, Disguise(guise="renamed"))
        await stand.read(item.url for item in of_all(stand, before, refused))
        await stand.until(learned + "2")
        await stand.read(item.url for item in of_all(stand, refused, after))

        assert set(await stand.producers(of_all(stand, before, refused))) <= {"trafilatura", "structured", "template@2"}
        served = await stand.producers(of_all(stand, refused, after))
        assert served["template@2"] >= HOSTS * AFTER * 0.9, served
        texts = {row["url"]: row["text"] for row in await stand.documents()}
        for item in of_all(stand, 0, after):
            assert agreement(texts[item.url], item.text) >= RIGHT, item.url
        kinds = Counter(
            row["kind"]
            for row in await stand.services.database.fetch("select kind from events where kind ~ 'template'")
        )
        assert kinds["template_learned"] == 2 * HOSTS
        whys = await stand.services.database.fetch("select why from learning_hosts")
        assert all("refuses" in row["why"] for row in whys), "the training's reason is told"


@pytest.mark.long
async def test_what_only_looks_like_an_article_is_never_read_by_a_template(database_url: str) -> None:
    async with newsstand(database_url) as stand:
        await stand.read(item.url for item in of_all(stand, 0, BEFORE))
        await stand.until(f"select count(*) = {HOSTS} from templates where status = 'active'")
        guises = {
            guise.url: guise
            for paper in stand.papers
            for name in GUISE_NAMES
            for guise in islice(stand.world.guises(paper, name, WORLD_BEGINS), 2)
        }
        await stand.read(guises)
        read = [row for row in await stand.documents() if row["url"] in guises]
        by_template = [row for row in read if row["produced_by"].startswith("template")]
        for row in by_template:
            truth = guises[row["url"]].truth
            assert truth is not None, row["url"]
            assert agreement(row["text"], truth.text) >= RIGHT, row["url"]
        assert len(by_template) < len(guises) / 2, "most are refused"
        await stand.until("select sum(refused) > 0 from templates")
