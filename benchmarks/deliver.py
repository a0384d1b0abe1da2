"""Delivery: changes per second into a bulk sink and a webhook, beside the official client; the log's delay; idle cost.

Run: python -m benchmarks.deliver [--documents N] [--webhooks N]

One archive on an embedded PostgreSQL, one stand-in server in a process of its own that parses every line and answers
for each item. Our side is the whole role: changes are moved into the log, records read as they are, noted, sent, and
settled. The official client's side reads the same documents from the same database, makes the same bulk documents of
them and sends them with `async_bulk`, and remembers nothing. CPU is that of the process that sends; the database's is
told beside it. How soon a document is found by a search is measured on a real OpenSearch, where Java and Maven can
start one; otherwise that figure is null.
"""

import argparse
import asyncio
import json
import os
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any
from uuid import UUID, uuid4

from aiohttp import ClientSession
from elasticsearch import AsyncElasticsearch
from elasticsearch.helpers import async_bulk
from tests.search_servers import NoServer, start_server

from benchmarks.path_sides import empty_folder
from benchmarks.search import Words
from headwater.archive.outbox import WAKE
from headwater.clock import SystemClock
from headwater.database.embedded import EmbeddedServer
from headwater.deliver import store
from headwater.deliver.delivering import SinkWorker
from headwater.deliver.log import move_changes
from headwater.deliver.records import Membership, Record, RecordKey, load_standings
from headwater.deliver.sinks.raw_content import document_of, index_of
from headwater.record_kind import RecordKind
from headwater.run.delivering import run_deliverer, sink_contexts
from headwater.services import Services, data_folder, embedded_server, open_services
from headwater.settings import Given, load

WORDS = 450
DELAY_SECONDS, DELAY_RATE = 6, 100
IDLE_SECONDS = 20
STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*): ([^\n]*(?:\n\t[^\n]*)?)")
FOUND, FOUND_EVERY_SECONDS = 60, 0.2
MUST_PER_S, MUST_DELAY_MS, MUST_FOUND_MS = 2_000, 100, 2_000

INSERT = """
with made as (
    insert into documents (bucket, url_hash, source_id, url, canonical_url, title, text, summary, author, published_at,
        language, section, keywords, images, word_count, page_type, quality_parts, content_hash, produced_by, metadata,
        version, crawled_at, first_seen_at, changed_at, search)
    select ('x' || substr(md5(u), 1, 2))::bit(8)::int, sha256(u::bytea), $4, u, u, title, body, left(body, 200),
        'Ann Author', clock_timestamp(), 'en', 'news', '{}', '{}', 450, 'article', '{}', sha256(body::bytea),
        'benchmark', '{"og_type": "article", "og_title": "A title", "meta_description": "A description."}', 1,
        clock_timestamp(), clock_timestamp(), clock_timestamp(), to_tsvector('simple', title)
    from unnest($1::text[], $2::text[], $3::text[]) as new (u, title, body)
    returning bucket, url_hash
)
insert into outbox (kind, bucket, hash, version, op, at)
select 'document', m.bucket, m.url_hash, 1, 'upsert', clock_timestamp() from made m
"""


@dataclass(frozen=True, slots=True)
class Spent:
    count: int
    wall: float
    cpu: float
    database_cpu: float

    @property
    def per_s(self) -> float:
        return self.count / self.wall

    @property
    def per_cpu_s(self) -> float:
        return self.count / self.cpu


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def cpu_of_database(server: EmbeddedServer) -> float:
    """Of the server's processes that live: the pool's connections are open all the time."""
    parent = int((server.directory / "data" / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            if int(entry.name) == parent or int(fields[1]) == parent:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


async def measured(server: EmbeddedServer, count: int, work: Callable[[], Awaitable[object]]) -> Spent:
    cpu, database, began = own_cpu(), cpu_of_database(server), time.perf_counter()
    await work()
    return Spent(count, time.perf_counter() - began, own_cpu() - cpu, cpu_of_database(server) - database)


@asynccontextmanager
async def stand_in() -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.deliver_server", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.stdin.close()
        await process.wait()


async def write(services: Services, words: Words, source: UUID, numbers: range) -> None:
    urls = [f"https://news.example/{number}" for number in numbers]
    titles = [f"{words.text(6)} {number}" for number in numbers]
    await services.database.execute(INSERT, urls, titles, [words.text(WORDS) for _ in numbers], source)


async def add(services: Services, name: str, kind: str, options: dict[str, Any]) -> UUID:
    async with services.database.transaction() as connection:
        return await store.add_sink_row(connection, name, kind, options, None)


async def deliver_all(services: Services, sink_id: UUID) -> None:
    """As the role does it, one sink after the other."""
    await move_changes(services.database)
    async with sink_contexts(services) as context:
        worker = SinkWorker(services.database, SystemClock(), services.random, services.log, "benchmark", context)
        await worker.run(sink_id)


async def send_all_officially(services: Services, address: str, count: int) -> None:
    async with AsyncElasticsearch(address) as client:
        sent, _ = await async_bulk(client, actions(services), chunk_size=500)
    assert sent == count, sent


async def actions(services: Services) -> AsyncIterator[dict[str, Any]]:
    """The same records, read a batch at a time, and the same documents made of them."""
    after = (-1, b"")
    keys = "SELECT bucket, url_hash FROM documents WHERE (bucket, url_hash) > ($1, $2) ORDER BY 1, 2 LIMIT 500"
    while rows := await services.database.fetch(keys, *after):
        after = tuple(rows[-1])
        found = [RecordKey(RecordKind.DOCUMENT, *row) for row in rows]
        for standing in (await load_standings(services.database, found, Membership())).values():
            record = standing.record
            assert isinstance(record, Record)
            yield {"_op_type": "index", "_index": index_of(record.source.name), "_id": record.id, **document_of(record)}


async def log_delays(services: Services, words: Words, source: UUID, first: int) -> list[float]:
    """Milliseconds from a change to its place in the log, while documents come one by one and the role runs."""
    stop, random = asyncio.Event(), Random(2)
    start = await services.database.fetchval("SELECT position FROM change_counter")
    running = asyncio.create_task(run_deliverer(services, "benchmark", stop))
    await asyncio.sleep(2)
    for number in range(DELAY_SECONDS * DELAY_RATE):
        await write(services, words, source, range(first + number, first + number + 1))
        await services.database.follow_up(WAKE)
        await asyncio.sleep(random.expovariate(DELAY_RATE))
    await asyncio.sleep(1)
    stop.set()
    await running
    rows = await services.database.fetch(
        "SELECT extract(epoch FROM at - changed_at) * 1000 AS ms FROM changes WHERE position > $1", start
    )
    return [float(row["ms"]) for row in rows]


async def found_delays(services: Services, words: Words, source: UUID, first: int) -> list[float] | None:
    """Milliseconds from the commit of a document until a search in a real OpenSearch finds it, which refreshes every
    second.
    """
    try:
        search_server = start_server("opensearch", data_folder(services.settings) / "opensearch")
    except NoServer as error:
        say(f"no OpenSearch: {error}")
        return None
    try:
        sink_id = await add(services, "search", "elasticsearch", {"url": search_server.url})
        stop = asyncio.Event()
        running = asyncio.create_task(run_deliverer(services, "benchmark search", stop))
        # The index is made with the first document; a source's first one is not what is measured.
        async with ClientSession(search_server.url) as session:
            await found_after(services, session, words, source, first)
            coming = []
            for number in range(first + 1, first + 1 + FOUND):
                coming.append(asyncio.create_task(found_after(services, session, words, source, number)))
                await asyncio.sleep(FOUND_EVERY_SECONDS)
            delays = list(await asyncio.gather(*coming))
        stop.set()
        await running
        await store.remove_sink_row(services.database, sink_id)
        return delays
    finally:
        search_server.stop()


async def found_after(services: Services, session: ClientSession, words: Words, source: UUID, number: int) -> float:
    await write(services, words, source, range(number, number + 1))
    began = time.monotonic()
    await services.database.follow_up(WAKE)
    question = {"query": {"term": {"url": f"https://news.example/{number}"}}}
    while True:
        async with session.post("/*_raw_content/_search", json=question) as answer:
            said = await answer.json()
        if said.get("hits", {}).get("hits"):
            return (time.monotonic() - began) * 1_000
        await asyncio.sleep(0.05)


async def idle_statements(services: Services, server: EmbeddedServer) -> Counter[str]:
    """Of the role with ten sinks and nothing to do, by the server's own log; the presence of the process included."""
    stop = asyncio.Event()
    running = asyncio.create_task(run_deliverer(services, "benchmark idle", stop))
    await asyncio.sleep(5)
    await services.database.execute("alter system set log_statement = 'all'")
    await services.database.execute("select pg_reload_conf()")
    await asyncio.sleep(1)
    before = len(logged(server))
    await asyncio.sleep(IDLE_SECONDS)
    said = logged(server)[before:]
    await services.database.execute("alter system reset log_statement")
    await services.database.execute("select pg_reload_conf()")
    stop.set()
    await running
    return Counter(" ".join(one.split())[:60] for one in STATEMENT.findall(said))


def logged(server: EmbeddedServer) -> str:
    return "".join(file.read_text(errors="replace") for file in sorted((server.directory / "log").iterdir()))


def shown(name: str, spent: Spent) -> None:
    say(
        f"{name:<24}{spent.per_s:>9,.0f} /s {spent.per_cpu_s:>9,.0f} per CPU second of the sender, "
        f"{spent.count / (spent.cpu + spent.database_cpu):>8,.0f} with the database's"
    )


async def run(documents: int, webhooks: int) -> dict[str, Any]:
    with empty_folder() as folder:
        secret = folder / "secret"
        secret.write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        secret.chmod(0o600)
        flags = {"service.data_dir": str(folder), "log.level": "error", "fetch.contact": "mailto:bench@headwater.test"}
        async with stand_in() as address, open_services(load(Given(flags=flags))) as services:
            server, words, source = embedded_server(services.settings), Words(Random(1)), uuid4()
            await services.database.execute(
                "INSERT INTO sources (id, name, url) VALUES ($1, 'Benchmark News', 'https://news.example/')", source
            )
            bulk = await add(services, "bulk", "elasticsearch", {"url": address})
            say(f"writing {documents:,} documents …")
            for first in range(0, documents, 500):
                await write(services, words, source, range(first, min(first + 500, documents)))
            await services.database.execute("VACUUM ANALYZE documents")
            ours = await measured(server, documents, lambda: deliver_all(services, bulk))
            shown("ours, bulk", ours)
            official = await measured(server, documents, lambda: send_all_officially(services, address, documents))
            shown("official client", official)
            hook = await add(services, "hook", "webhook", {"url": f"{address}/hook", "secret": f"file:{secret}"})
            for first in range(documents, documents + webhooks, 500):
                await write(services, words, source, range(first, min(first + 500, documents + webhooks)))
            hooks = await measured(server, webhooks, lambda: deliver_all(services, hook))
            shown("ours, webhook", hooks)
            for number in range(8):
                await add(services, f"idle-{number}", "elasticsearch", {"url": address})
            delays = await log_delays(services, words, source, documents + webhooks)
            p95 = quantiles(delays, n=20)[-1]
            say(f"delay of the log: p95 {p95:.0f} ms over {len(delays):,} changes")
            statements = await idle_statements(services, server)
            idle = statements.total() / IDLE_SECONDS
            say(f"ten idle sinks: {idle:.2f} statements/s: {dict(statements)}")
            found = await found_delays(services, words, source, documents + webhooks + DELAY_SECONDS * DELAY_RATE)
            found_p95 = float(quantiles(found, n=20)[-1]) if found else None
            say(f"from commit to found in OpenSearch: p95 {round(found_p95) if found_p95 else '?'} ms")
    lag, ratio = timedelta(milliseconds=p95), round(ours.per_cpu_s / official.per_cpu_s, 2)
    result = {
        "documents": documents,
        "changes_per_s": round(ours.per_s),
        "changes_per_cpu_s": round(ours.per_cpu_s),
        "official_per_cpu_s": round(official.per_cpu_s),
        "vs_official_client": ratio,
        "webhooks_per_s": round(hooks.per_s),
        "webhooks_per_cpu_s": round(hooks.per_cpu_s),
        "log_delay_p95_ms": round(p95, 1),
        "idle_statements_per_s": round(idle, 2),
        "found_p95_ms": round(found_p95) if found_p95 else None,
    }
    missed = ["changes_per_s"] * (ours.per_s < MUST_PER_S) + ["vs_official_client"] * (ratio < 1)
    missed += ["log_delay_p95_ms"] * (lag > timedelta(milliseconds=MUST_DELAY_MS))
    missed += ["found_p95_ms"] * (found_p95 is not None and found_p95 > MUST_FOUND_MS)
    return {**result, "missed": missed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--webhooks", type=int, default=2_000)
    given = parser.parse_args()
    result = asyncio.run(run(given.documents, given.webhooks))
    sys.stdout.write(json.dumps(result) + "\n")
    sys.exit(bool(result["missed"]))


if __name__ == "__main__":
    main()
