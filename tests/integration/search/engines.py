"""One archive and both engines over it: PostgreSQL, and a real OpenSearch that a sink fills."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import aiohttp
from tests.integration.archive.shelf import SOURCE, Shelf

from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.deliver import store
from headwater.deliver.contexts import open_contexts
from headwater.deliver.delivering import SinkWorker
from headwater.deliver.log import move_changes
from headwater.deliver.search_engine import OpenSearchEngine
from headwater.deliver.search_sink import search_sink
from headwater.log import make_logger
from headwater.search.engine import PostgreSQLEngine
from headwater.search.question import Filters
from headwater.search.search import DEFAULT_BOUNDS, Bounds, Hit, SearchPage
from headwater.settings import Settings
from headwater.urls.domains import NO_VOICE
from headwater.vacancy import NewJob

CONTEXTS = partial(open_contexts, Settings(), random_from(1), make_logger("error", "json"), 8.0)


@dataclass
class Both:
    """`filled` first: OpenSearch knows what the sink has brought."""

    shelf: Shelf
    url: str

    @property
    def database(self) -> Database:
        return self.shelf.database

    async def keep_jobs(self, *jobs: NewJob) -> None:
        async with self.database.transaction() as connection:
            await keep_jobs(connection, Teller(SOURCE, "https://j.example/", NO_VOICE), list(jobs), self.shelf.now)

    async def add_sink(self, name: str = "search", **options: Any) -> UUID:
        given = {"url": self.url, "layout": "search", **options}
        async with self.database.transaction() as connection:
            return await store.add_sink_row(connection, name, "elasticsearch", given, None)

    async def fill(self, name: str = "search") -> None:
        await move_changes(self.database)
        sink = await store.sink_named(self.database, name)
        clock, log = SystemClock(), make_logger("error", "json")
        async with CONTEXTS() as context:
            await SinkWorker(self.database, clock, random_from(1), log, "tester", context).run(sink.id)
        done = await store.sink_named(self.database, name)
        assert (done.behind, done.retrying, done.parked, done.last_error) == (0, 0, 0, None)
        await self.refresh()

    async def refresh(self) -> None:
        await ask(self.url, "POST", "/_refresh")

    async def opensearch(self, bounds: Bounds = DEFAULT_BOUNDS) -> OpenSearchEngine:
        return OpenSearchEngine(self.database, await search_sink(self.database, ""), CONTEXTS, bounds)

    async def answers(
        self, question: str, filters: Filters | None = None, **options: Any
    ) -> tuple[SearchPage, SearchPage]:
        """PostgreSQL's, and OpenSearch's."""
        wanted = {"limit": 50, **options}
        ours = await PostgreSQLEngine(self.database).search(question, filters or Filters(), **wanted)
        theirs = await (await self.opensearch()).search(question, filters or Filters(), **wanted)
        return ours, theirs

    async def all_pages(self, question: str, filters: Filters, limit: int) -> list[list[Hit]]:
        engine, cursor = await self.opensearch(), None
        pages = []
        while True:
            page = await engine.search(question, filters, limit=limit, cursor=cursor)
            pages.append(page.hits)
            if (cursor := page.cursor) is None:
                return pages


def urls_of(hits: Sequence[Hit]) -> list[str]:
    return [hit.url for hit in hits]


async def ask(url: str, method: str, path: str, body: Any = None) -> Any:
    async with aiohttp.ClientSession() as session, session.request(method, url + path, json=body) as answer:
        return await answer.json()


@asynccontextmanager
async def both_engines(database: Database, url: str) -> AsyncIterator[Both]:
    both = Both(Shelf(database), url)
    await both.add_sink()
    yield both
    await ask(url, "DELETE", "/headwater_search_*")
    await ask(url, "DELETE", "/_index_template/headwater_search_*")
