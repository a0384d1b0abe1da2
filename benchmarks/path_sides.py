"""The two crawlers of the path benchmark, each started from nothing and ended again."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from statistics import mean
from typing import Any

import orjson

from benchmarks.frontier_spent import parent_of
from benchmarks.frontier_world import plain_connection
from headwater import __version__
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.run.processes import child_processes
from headwater.services import Services, open_services
from headwater.settings import Given, load
from headwater.sources.store import create_source

USER_AGENT = f"Headwater/{__version__}"
# In the air at once, over all processes of a side.
CONCURRENCY = 128
# Its outbox row is written in the same transaction; an exact copy of another document has none.
COUNT = "select count(*) from documents"
MEAN_WORDS = "select avg(word_count)::float from documents"
# Four pages teach; some are copies of others, and those do not count.
TRAINING_PAGES = 6
LEARNING_PAUSE_S = 20
PROGRESS = "select (select count(*) from documents), (select count(*) from templates)"
# The first pages of a new template are all audited: here it has been in use for a while.
TAKE_TEMPLATES = """
select coalesce(jsonb_agg(to_jsonb(t) || '{"served": 100}'), '[]')::text from templates t where status = 'active'
"""
GIVE_TEMPLATES = "insert into templates select * from jsonb_populate_recordset(null::templates, $1::text::jsonb)"


@dataclass(frozen=True, slots=True)
class Task:
    port: int
    urls: Sequence[str]
    delay: timedelta


@dataclass(frozen=True, slots=True)
class Crawl:
    """One that is under way: its processes without their children, pages written so far, mean words of a page."""

    processes: Sequence[int]
    done: Callable[[], Awaitable[int]]
    mean_words: Callable[[], Awaitable[float]]


Side = Callable[[Task], AbstractAsyncContextManager[Crawl]]


@contextmanager
def empty_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    # As root the server runs under a user of its own, who has to get through here, but not to look around.
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def headwater(templates: str | None) -> Side:
    """The fetch role with its reading children, and its embedded PostgreSQL with its usual durability.

    It begins with these templates, or learns none at all.
    """

    @asynccontextmanager
    async def crawl(task: Task) -> AsyncIterator[Crawl]:
        async with ours(task, {"extract.templates": "false" if templates is None else "true"}) as (worker, connection):
            if templates:
                await connection.execute(GIVE_TEMPLATES, templates)
            yield Crawl(
                [worker, parent_of(connection.get_server_pid())],
                lambda: connection.fetchval(COUNT),
                lambda: connection.fetchval(MEAN_WORDS),
            )

    return crawl


async def learned(task: Task, hosts: int) -> str:
    """What our workers learn by themselves from the first pages of every host, as JSON."""
    first = replace(task, urls=task.urls[: hosts * TRAINING_PAGES])
    async with ours(first, {}) as (_, connection):
        before = -1, -1
        while (now := tuple(await connection.fetchrow(PROGRESS))) != before:
            before = now
            await asyncio.sleep(LEARNING_PAUSE_S)
        return str(await connection.fetchval(TAKE_TEMPLATES))


@asynccontextmanager
async def ours(task: Task, more_flags: dict[str, str]) -> AsyncIterator[tuple[int, Any]]:
    """Our worker's process, and a connection to its database."""
    with empty_folder() as folder:
        flags = flags_of(folder, task) | more_flags
        async with open_services(load(Given(flags=flags))) as services:
            await fill(services, task)
            order = {"flags": flags, "port": task.port, "owner": "fetch"}
            async with (
                plain_connection(services.dsn) as connection,
                child_processes("benchmarks.path_worker", [order]) as (one,),
            ):
                yield one.pid, connection


def flags_of(folder: Path, task: Task) -> dict[str, str]:
    """The address guard stays on, with one exception: the simulated web's own port on this machine."""
    return {
        "service.data_dir": str(folder),
        "log.level": "error",
        "fetch.user_agent": USER_AGENT,
        "fetch.concurrency": str(CONCURRENCY),
        "politeness.delay": f"{round(task.delay.total_seconds() * 1000)}ms",
        "network.allow": f"127.0.0.1:{task.port}",
    }


async def fill(services: Services, task: Task) -> None:
    async with services.database.transaction() as connection:
        source = await create_source(connection, "Newspapers", "http://newspapers.test/", "news")
        found = [FoundUrl(url) for url in task.urls]
        await submit(connection, Submitter(source, EntryOrigin.FEED), found, default_delay=task.delay)


def scrapy(processes: int, *, is_fast: bool = False) -> Side:
    """So many Scrapys beside each other, each with its own share of the hosts: it has no other way to a second core."""

    @asynccontextmanager
    async def crawl(task: Task) -> AsyncIterator[Crawl]:
        with empty_folder() as folder:
            shares = [task.urls[n::processes] for n in range(processes)]
            orders = [scrapy_order(task, folder / str(n), urls) | {"is_fast": is_fast} for n, urls in enumerate(shares)]
            written = [Path(order["folder"]) / "documents.jsonl" for order in orders]
            async with child_processes("benchmarks.path_scrapy", orders) as started:
                try:
                    yield Crawl([one.pid for one in started], lambda: lines_in(written), lambda: words_in(written))
                finally:
                    # It would finish all it has begun, and what it writes now counts no more.
                    for one in started:
                        one.kill()

    return crawl


def scrapy_order(task: Task, folder: Path, urls: Sequence[str]) -> dict[str, Any]:
    folder.mkdir()
    addresses = folder / "addresses"
    addresses.write_text("".join(f"{with_port(url, task.port)}\n" for url in urls))
    return {
        "folder": str(folder),
        "addresses": str(addresses),
        "user_agent": USER_AGENT,
        "concurrency": CONCURRENCY,
        "delay": task.delay.total_seconds(),
    }


def with_port(url: str, port: int) -> str:
    host, slash, path = url.removeprefix("http://").partition("/")
    return f"http://{host}:{port}{slash}{path}"


async def lines_in(files: Sequence[Path]) -> int:
    return sum(file.read_bytes().count(b"\n") for file in files if file.exists())


async def words_in(files: Sequence[Path]) -> float:
    # The last line may be half written.
    lines = (line for file in files for line in file.read_bytes().split(b"\n")[:-1])
    return mean(len(orjson.loads(line)["text"].split()) for line in lines)
