"""What the API and the console cost at 1 M documents and 10 M entries: lists at both ends and within, searches, pages.

Run: python -m benchmarks.serve [--quick] [--console] [--folder F]

The database is filled once (`benchmarks/serve_world.py`) and kept in the cache of this user; the first run takes half
an hour and some 45 GB, `--quick` a tenth of both. `headwater run web` answers over it, in a process of its own. One
client asks over a connection that is kept alive, one request after the other: each list at its first page, at places
within it and at its last page. A figure is the time until the last byte of an answer has come; of a group, such as all
lists or all pages of the console, the JSON line tells the 95th percentile of its slowest question. The strip of
totals, which the pages of a process share for two seconds, is asked for by the first of them.

`vs_bare_route` compares requests for each second of processor time of the web role with those of a bare FastAPI route
in another process under the same server settings, which returns the same bytes; the database's own time is not in it.
1 would be an API that costs nothing.
"""

import argparse
import asyncio
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson

from benchmarks.frontier_world import plain_connection
from benchmarks.path_weight import cpu_s_of
from benchmarks.scale import server_in
from benchmarks.scale_world import counts_at
from benchmarks.serve_lists import (
    CHANGES,
    CONSOLE,
    EXPLAIN,
    FIGURES,
    FIRST,
    LAST,
    LIST,
    MIDDLE,
    SEARCH,
    Question,
    explained,
    long_lists,
    question_of,
    wishes,
)
from benchmarks.serve_pages import pages
from benchmarks.serve_world import WORLD, cache_folder, described, kept_world, say
from headwater.run.processes import child_processes

WHOLE, TENTH = 1.0, 0.1
GOAL_MS = 100
# Of one question at one place; the first few are not counted: sessions and plans are made then.
ASKED, WARM_UP = 40, 3
# As long as clocks of processes need to tell.
ROUND_S, ROUNDS = 2.0, 3
SAMPLES = 100
VIEW = "benchmark"
# One of each kind, for the comparison with a bare route.
COMPARED = ("/sources", "/frontier", "/documents", "/runs", "/changes", "/search q=harvest", "/explain url")
STOP_SECONDS = 30
# Text as it is: packing would be the same work on both sides.
HEADERS = {"accept-encoding": "identity"}


@dataclass(frozen=True, slots=True)
class Figure:
    p50_ms: float
    p95_ms: float


class Client:
    """One connection, kept alive."""

    def __init__(self, session: aiohttp.ClientSession, base: str) -> None:
        self._session = session
        self._base = base
        self.refused: dict[str, str] = {}

    async def body(self, path: str) -> bytes:
        """A refusal, as of a search that takes too long, is told at the end: its time counts all the same."""
        async with self._session.get(self._base + path) as answer:
            body = await answer.read()
            if answer.status != 200:
                self.refused[path] = f"{answer.status} {body[:300].decode()}"
            return body

    async def fetch(self, path: str) -> Mapping[str, Any]:
        read: Mapping[str, Any] = orjson.loads(await self.body(path))
        return read

    async def ensure_view(self) -> None:
        """Of a rare tag of sources and a common word, as long as an earlier run did not leave it."""
        if any(one["name"] == VIEW for one in (await self.fetch("/api/v1/views"))["views"]):
            return
        wish = {"name": VIEW, "query": "harvest", "tags": ["rare"]}
        async with self._session.post(f"{self._base}/api/v1/views", json=wish) as answer:
            assert answer.status == 201, await answer.text()

    async def asked_ms(self, path: str) -> float:
        began = time.perf_counter()
        await self.body(path)
        return 1000 * (time.perf_counter() - began)


@asynccontextmanager
async def client_at(base: str) -> AsyncIterator[Client]:
    connector = aiohttp.TCPConnector(limit=1)
    async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:
        yield Client(session, base)


@asynccontextmanager
async def web_role(dsn: str, folder: Path) -> AsyncIterator[tuple[int, str]]:
    """Its process and its address."""
    environment = {**os.environ, "HEADWATER_DATABASE__URL": dsn, "HEADWATER_SERVICE__DATA_DIR": str(folder)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "headwater", "run", "web", "--set", "web.port=0", "--set", "log.level=error"),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process.pid, await announced(process)
    finally:
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(STOP_SECONDS):
            await process.communicate()


async def announced(process: asyncio.subprocess.Process) -> str:
    """The address in the first line that tells one."""
    assert process.stdout is not None
    async for line in process.stdout:
        words = line.decode().split()
        if found := next((urlsplit(word) for word in words if word.startswith("http://")), None):
            return f"{found.scheme}://{found.netloc}"
    raise AssertionError("the web role ended before it listened")


async def sample_of(connection: Any) -> dict[str, Any]:
    row = await connection.fetchrow(
        "select s.id, e.host from sources s join url_frontier e on e.source_id = s.id"
        " where s.status = 'active' and e.status = 'pending' limit 1"
    )
    return {"source": row["id"], "host": row["host"], "view": VIEW}


async def questions(connection: Any, client: Client) -> list[Question]:
    cursors = await long_lists(connection)
    asked = [await question_of(wish, cursors, client.fetch) for wish in wishes(await sample_of(connection))]
    urls = await connection.fetch(
        "select (select url from url_frontier where bucket = n order by url_hash limit 1) as url"
        " from generate_series(0, $1 - 1) as n",
        SAMPLES,
    )
    sources = await connection.fetch("select id from sources where status <> 'deleted' order by id limit $1", SAMPLES)
    asked += await pages(connection)
    return asked + explained([row["url"] for row in urls if row["url"]], [str(row["id"]) for row in sources])


async def measured(client: Client, paths: Sequence[str]) -> Figure:
    for path in islice(cycle(paths), WARM_UP):
        await client.body(path)
    times = [await client.asked_ms(path) for path in islice(cycle(paths), ASKED)]
    return Figure(round(statistics.median(times), 1), round(statistics.quantiles(times, n=20)[-1], 1))


async def all_measured(client: Client, asked: Sequence[Question]) -> dict[str, dict[str, Figure]]:
    say(f"{'p50/p95 in ms':58}" + "".join(f"{place:>18}" for place in (FIRST, MIDDLE, LAST)))
    figures = {}
    for question in asked:
        found = {place: await measured(client, paths) for place, paths in question.places.items()}
        figures[question.name] = found
        say(f"{question.name:58}" + "".join(told(found.get(place)) for place in (FIRST, MIDDLE, LAST)))
    return figures


def told(figure: Figure | None) -> str:
    return f"{f'{figure.p50_ms:,.1f} / {figure.p95_ms:,.1f}' if figure else '–':>18}"


async def per_cpu_s(process: int, client: Client, paths: Sequence[str]) -> float:
    """Answers for each second of processor time of the process that gives them."""
    cpu, until, answers = cpu_s_of([process]), time.monotonic() + ROUND_S, 0
    for path in cycle(paths):
        await client.body(path)
        answers += 1
        if time.monotonic() > until:
            break
    return answers / (cpu_s_of([process]) - cpu)


async def beside_bare_route(process: int, client: Client, asked: Sequence[Question]) -> dict[str, dict[str, float]]:
    """Answers for each second of processor time: ours, those of the bare route, and the one beside the other."""
    paths = {one.name: one.places[FIRST][0] for one in asked if one.name in COMPARED}
    bodies = {f"p{n}": (await client.body(path)).decode() for n, path in enumerate(paths.values())}
    compared = {}
    async with (
        child_processes("benchmarks.serve_bare", [{"bodies": bodies}]) as (bare,),
        client_at(await announced(bare)) as bare_client,
    ):
        for number, (name, path) in enumerate(paths.items()):
            rounds = [
                (
                    await per_cpu_s(process, client, [path]),
                    await per_cpu_s(bare.pid, bare_client, [f"/p{number}"]),
                )
                for _ in range(ROUNDS)
            ]
            ours, theirs = (statistics.median(side) for side in zip(*rounds, strict=True))
            compared[name] = {"ours": round(ours), "bare": round(theirs), "ratio": round(ours / theirs, 3)}
            say(f"{name:30} {ours:8,.0f} answers per CPU second, a bare route {theirs:8,.0f}: {ours / theirs:.3f}")
    return compared


def summed_up(
    size: float, asked: Sequence[Question], figures: Mapping[str, Mapping[str, Figure]], compared: Mapping[str, Any]
) -> dict[str, Any]:
    def slowest(group: str) -> float:
        named = (question.name for question in asked if question.group == group)
        return max(one.p95_ms for name in named for one in figures[name].values())

    places = {f"{name}, {place}": one for name, found in figures.items() for place, one in found.items()}
    flat = {name: found[LAST].p50_ms / found[FIRST].p50_ms for name, found in figures.items() if LAST in found}
    least_flat = max(flat, key=lambda name: flat[name])
    return {
        "benchmark": "serve",
        "size": size,
        "list_p95_ms": slowest(LIST),
        "search_p95_ms": slowest(SEARCH),
        "changes_p95_ms": slowest(CHANGES),
        "explain_p95_ms": slowest(EXPLAIN),
        "figures_p95_ms": slowest(FIGURES),
        "console_p95_ms": slowest(CONSOLE),
        "last_page_vs_first": round(flat[least_flat], 2),
        "least_flat": least_flat,
        "vs_bare_route": round(statistics.geometric_mean(one["ratio"] for one in compared.values()), 3),
        "beyond_goal": {name: one.p95_ms for name, one in places.items() if one.p95_ms > GOAL_MS},
        "compared": compared,
        "answers": {name: [one.p50_ms, one.p95_ms] for name, one in places.items()},
    }


def of_console(size: float, figures: Mapping[str, Mapping[str, Figure]]) -> dict[str, Any]:
    answers = {name: found[FIRST] for name, found in figures.items()}
    return {
        "benchmark": "serve",
        "size": size,
        "console_p95_ms": max(one.p95_ms for one in answers.values()),
        "beyond_goal": {name: one.p95_ms for name, one in answers.items() if one.p95_ms > GOAL_MS},
        "answers": {name: [one.p50_ms, one.p95_ms] for name, one in answers.items()},
    }


async def run(size: float, folder: Path, *, only_console: bool) -> dict[str, Any]:
    async with server_in(folder / "database") as (_, server_dsn):
        dsn = await kept_world(server_dsn, size)
        say(described(counts_at(size, WORLD)))
        async with web_role(dsn, folder) as (process, base), client_at(base) as client:
            if only_console:
                async with plain_connection(dsn) as connection:
                    asked = await pages(connection)
                return {**of_console(size, await all_measured(client, asked)), "refused": client.refused}
            await client.ensure_view()
            async with plain_connection(dsn) as connection:
                asked = await questions(connection, client)
            figures = await all_measured(client, asked)
            compared = await beside_bare_route(process, client, asked)
            return {**summed_up(size, asked, figures, compared), "refused": client.refused}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--console", action="store_true", help="only the pages of the console")
    parser.add_argument("--folder", type=Path, default=cache_folder(), help="where the databases are kept")
    given = parser.parse_args()
    # To be told to end is no reason to leave a server behind: treat it like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    given.folder.mkdir(parents=True, exist_ok=True)
    print(json.dumps(asyncio.run(run(TENTH if given.quick else WHOLE, given.folder, only_console=given.console))))


if __name__ == "__main__":
    main()
