"""Pages of the simulated web, read by real children and kept as a journey keeps them; nothing is fetched."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from urllib.parse import urlsplit
from uuid import UUID

from multidict import CIMultiDict
from tests.integration.archive.bodies import keep_body

from headwater.archive.documents import keep_document
from headwater.archive.raw import KeptBody, RawBody
from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.frontier.verdicts import Fetched
from headwater.ingest.page_context import Context
from headwater.ingest.page_reader import ChildReader, PageReader
from headwater.ingest.page_store import PageEffects
from headwater.ingest.replay import Replay
from headwater.ingest.stored_pages import lease_of
from headwater.ingest.template_trainer import TemplateTrainer
from headwater.learning.template_cache import TemplateCache
from headwater.log import make_logger
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.simweb.message import Request
from headwater.simweb.world import Item, Publisher, World
from headwater.sources.store import create_source
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

WORLD_NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
CHILDREN = 2


@asynccontextmanager
async def reading_pool() -> AsyncIterator[ExtractionPool]:
    work = "headwater.extraction.work:read_sent"
    async with ExtractionPool(work, size=CHILDREN, timeout=300.0, clock=SystemClock(), memory_bytes=512 << 20) as pool:
        yield pool


def a_world() -> World:
    return World(7, 30, start=WORLD_NOW, rate=2.0)


def english(world: World) -> Publisher:
    """One whose pages are put together as most are."""
    return next(
        one
        for one in world.publishers
        if one.kind == "news" and one.language == "en" and one.template == "semantic" and not one.reprints
    )


@dataclass(frozen=True)
class Press:
    database: Database
    world: World
    publisher: Publisher
    source: UUID
    pool: ExtractionPool
    stores: BodyStores = NO_STORES
    template_cache: TemplateCache = field(default_factory=lambda: TemplateCache(SystemClock(), random_from(1)))

    @property
    def page_reader(self) -> PageReader:
        context = Context(self.database, SystemClock(), self.template_cache)
        return PageReader(context, ChildReader(self.pool, "Headwater"), self.template_cache.note)

    @property
    def template_trainer(self) -> TemplateTrainer:
        context, log = Context(self.database, SystemClock(), self.template_cache), make_logger("error", "json")
        return TemplateTrainer(self.database, self.pool, context, self.template_cache, "Headwater", SystemClock(), log)

    @property
    def replay(self) -> Replay:
        return Replay(self.database, self.page_reader, CHILDREN, self.stores)

    def items(self, count: int) -> list[Item]:
        return list(islice(self.world.items(self.publisher, WORLD_NOW), count))

    def html(self, url: str) -> bytes:
        place = urlsplit(url)
        request = Request("GET", place.netloc, place.path, place.query, {})
        page = self.world.sites[place.netloc].page(request, WORLD_NOW)
        assert page is not None
        return page.body

    async def print(self, count: int) -> list[str]:
        """So many articles, fetched; answers with their addresses."""
        urls = [item.url for item in self.items(count)]
        for url in urls:
            await self.keep(url, self.html(url))
        return urls

    async def keep(
        self, url: str, html: bytes, headers: dict[str, str] | None = None, at: datetime | None = None
    ) -> PageEffects:
        address = canonicalise(url)
        said = {"Content-Type": self.publisher.html_type, "Server": "sim"} | (headers or {})
        now: datetime = at or await self.database.fetchval("select clock_timestamp()")
        answer = Response(
            url=address,
            status=200,
            headers=CIMultiDict(said),
            raw_headers=[(name.encode(), value.encode()) for name, value in said.items()],
            content=Complete(html),
            duration=timedelta(),
            is_reused=False,
            address="127.0.0.1",
            at=now,
        )
        raw = RawBody(
            DocumentKey(address.bucket, address.url_hash), self.source, address.url, 200, answer.headers, html
        )
        _, effects = await self.page_reader.read(lease_of(KeptBody(now, raw)), Fetched(), answer)
        async with self.database.transaction() as connection:
            await keep_body(connection, raw, now)
            if effects.document is not None:
                await keep_document(connection, effects.document, now)
        return effects


@asynccontextmanager
async def press_on(database: Database, pool: ExtractionPool) -> AsyncIterator[Press]:
    world = a_world()
    publisher = english(world)
    async with database.transaction() as connection:
        source = await create_source(connection, publisher.name, publisher.home)
    yield Press(database, world, publisher, source, pool)
