"""What PostgreSQL's search columns cost, and what it takes to switch them off and on, beside an OpenSearch.

Run: python -m benchmarks.search_engine [--documents N] [--more M]

One archive: pages are stored one by one while the columns are kept, and as many while they are away. Where Java and
Maven can fetch an OpenSearch, the sink of the layout `search` fills one, and it is asked what PostgreSQL was asked.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from random import Random
from statistics import median
from typing import Any
from uuid import uuid4

from aiohttp import ClientSession
from tests.search_servers import NoServer, SearchServer, start_server

from benchmarks.frontier_world import plain_connection
from benchmarks.path_sides import empty_folder
from benchmarks.search import WORDS, Words, write
from headwater.archive.documents import NewDocument, keep_document
from headwater.clock import SystemClock
from headwater.database.pool import Connection
from headwater.deliver import store
from headwater.deliver.answering import engine_for
from headwater.deliver.contexts import open_contexts
from headwater.deliver.delivering import SinkWorker
from headwater.deliver.log import move_changes
from headwater.search.column import ColumnState
from headwater.search.engine import PostgreSQLEngine, SearchEngine
from headwater.search.question import Filters
from headwater.search.switching import switch_to
from headwater.services import Services, data_folder, open_services
from headwater.settings import Given, load
from headwater.settings.groups import SearchSettings
from headwater.urls.canonical import canonicalise

SOURCE = uuid4()
Figures = dict[str, float]


def page(words: Words, number: int) -> NewDocument:
    url = f"https://news.example/page/{number}"
    address, text = canonicalise(url), words.text(WORDS)
    return NewDocument(
        bucket=address.bucket,
        url_hash=address.url_hash,
        source_id=SOURCE,
        url=url,
        canonical_url=url,
        title=words.text(8),
        text=text,
        word_count=WORDS,
        content_hash=sha256(text.encode()).digest(),
        language="en",
    )


@asynccontextmanager
async def written(connection: Connection, found: Figures, name: str, count: int) -> AsyncIterator[None]:
    """WAL and seconds of what is done meanwhile, for each of `count`."""
    await connection.execute("checkpoint")
    began = await connection.fetchval("select pg_current_wal_insert_lsn()::text")
    start = time.perf_counter()
    yield
    found[f"{name}_ms"] = round((time.perf_counter() - start) * 1000 / count, 2)
    wal = await connection.fetchval("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::text::pg_lsn)", began)
    found[f"{name}_wal_kb"] = round(float(wal) / 1024 / count, 1)
    print(name, found[f"{name}_wal_kb"], "kB", found[f"{name}_ms"], "ms", file=sys.stderr, flush=True)


async def keep(services: Services, words: Words, numbers: range) -> None:
    for number in numbers:
        async with services.database.transaction() as connection:
            await keep_document(connection, page(words, number), datetime.now(UTC))


async def search_times(engine: SearchEngine, questions: Sequence[str]) -> float:
    """Milliseconds of a search, the median; each question twice, and the second time counts."""
    times = []
    for question in questions:
        await engine.search(question, Filters(), limit=20)
        start = time.perf_counter()
        await engine.search(question, Filters(), limit=20)
        times.append(time.perf_counter() - start)
    return round(median(times) * 1000, 1)


async def fill_opensearch(services: Services, server: SearchServer, count: int, found: Figures) -> None:
    options: dict[str, Any] = {"url": server.url, "layout": "search"}
    async with services.database.transaction() as connection:
        sink_id = await store.add_sink_row(connection, "search", "elasticsearch", options, None)
        await store.ask_backfill(connection, sink_id, "it is new")
    await move_changes(services.database)
    start, own = time.perf_counter(), time.process_time()
    async with open_contexts(services.settings, services.random, services.log) as context:
        worker = SinkWorker(services.database, SystemClock(), services.random, services.log, "benchmark", context)
        while (await store.sink_named(services.database, "search")).backfill_reason is not None:
            # On a crowded machine its server may seem down for a moment.
            await services.database.execute("UPDATE sinks SET retry_at = '-infinity'")
            await worker.run(sink_id)
    found["opensearch_fill_ms"] = round((time.perf_counter() - start) * 1000 / count, 2)
    found["opensearch_fill_own_cpu_ms"] = round((time.process_time() - own) * 1000 / count, 2)
    async with ClientSession(server.url) as session:
        await session.post("/headwater_search_*/_forcemerge?max_num_segments=1")
        async with session.get("/headwater_search_*/_stats/store,docs") as answer:
            about = (await answer.json())["_all"]["primaries"]
    found["opensearch_documents"] = about["docs"]["count"]
    found["opensearch_kb"] = round(about["store"]["size_in_bytes"] / 1024 / about["docs"]["count"], 1)


async def run(documents: int, more: int) -> Figures:
    words, found = Words(Random(1)), Figures()
    with empty_folder() as folder:
        settings = load(Given(flags={"service.data_dir": str(folder), "log.level": "error"}))
        async with open_services(settings) as services, plain_connection(services.dsn) as connection:
            for at in range(0, documents, 200):
                await write(connection, words, range(at, at + 200))
            await connection.execute("vacuum analyze documents")
            clock, total = SystemClock(), documents + more
            async with written(connection, found, "kept", more):
                await keep(services, words, range(more))
                await connection.execute("select gin_clean_pending_list('documents_search')")
            found["postgresql_search_ms"] = await search_times(PostgreSQLEngine(services.database), words.questions())
            await ask_opensearch(services, words, total, found)
            async with written(connection, found, "switched_off", total):
                await switch_to(services.database, clock, ColumnState.AWAY)
            await connection.execute("vacuum documents")
            async with written(connection, found, "away", more):
                await keep(services, words, range(more, 2 * more))
            async with written(connection, found, "switched_on", total + more):
                await switch_to(services.database, clock, ColumnState.KEPT)
    return found


async def ask_opensearch(services: Services, words: Words, count: int, found: Figures) -> None:
    try:
        server = start_server("opensearch", data_folder(services.settings) / "opensearch")
    except NoServer as error:
        print(f"no OpenSearch: {error}", file=sys.stderr)
        return
    try:
        await fill_opensearch(services, server, count, found)
        settings = services.settings.model_copy(update={"search": SearchSettings(engine="opensearch")})
        engine = engine_for(services.database, settings, services.random, services.log)
        found["opensearch_search_ms"] = await search_times(engine, words.questions())
    finally:
        server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=15_000, help="in the archive beforehand")
    parser.add_argument("--more", type=int, default=3_000, help="stored in each state of the columns")
    asked = parser.parse_args()
    found = asyncio.run(run(asked.documents, asked.more))
    wal = {"wal_share_of_search": round(1 - found["away_wal_kb"] / found["kept_wal_kb"], 2)}
    print(json.dumps({"benchmark": "search_engine", "documents": asked.documents, "more": asked.more} | found | wal))


if __name__ == "__main__":
    main()
