"""What the tests of standing up again share: a small web, and roles as processes of their own that things happen to.

Started as `python -m tests.faults.standing` it is such a role: told what to do in one line of JSON on standard input,
it says `ready`, works until its input ends, and logs to standard error.
"""

import asyncio
import resource
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import orjson

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.run.fetching import run_worker
from headwater.run.maintenance import run_maintenance
from headwater.run.polling import run_poller
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.message import Page, Request
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb
from headwater.sources.store import create_source

ROOT = Path(__file__).parents[2]
# Only so that a hang ends.
LIMIT_SECONDS = 240
LOOK_EVERY_SECONDS = 0.05
ARTICLE = "The harbour was rebuilt in spring, and the first ships arrived a week before the bridge was opened again. "
CHATTER_LENGTH = 1900

T = TypeVar("T")


class Paper:
    """Every page but robots.txt is an article of its own."""

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/robots.txt":
            return None
        told = f"<p>{request.host}{request.path}: {ARTICLE * 5}</p>" * 5
        title = f"News of {request.host}{request.path}"
        head = f"<html><head><title>{title}</title></head>"
        return Page(f"{head}<article><h1>{title}</h1>{told}</article></html>".encode())


@asynccontextmanager
async def small_web(hosts: Sequence[str]) -> AsyncIterator[tuple[SimWeb, int]]:
    clock = SystemClock()
    web = SimWeb(dict.fromkeys(hosts, Paper()), clock=clock, real=clock, random=random_from(1))
    port = await web.start()
    try:
        yield web, port
    finally:
        await web.stop()


def flags_for(database_url: str | None, port: int, **more: str) -> dict[str, str]:
    given = {"database.url": database_url} if database_url else {}
    return {
        **given,
        "network.allow": f"127.0.0.1:{port}",
        "politeness.delay": "100ms",
        "fetch.contact": "mailto:test@headwater.test",
        "fetch.retries_in_place": "0",
        "extract.children": "1",
        "log.level": "info",
        "log.format": "json",
        **{name.replace("__", "."): value for name, value in more.items()},
    }


async def queue(database: Database, urls: Sequence[str]) -> None:
    async with database.transaction() as connection:
        source = await create_source(connection, "Harbour News", "http://harbour.test/")
        await submit(connection, Submitter(source, EntryOrigin.MANUAL), [FoundUrl(url) for url in urls])


async def until(holds: Callable[[], Awaitable[T]], limit: float = LIMIT_SECONDS) -> T:
    """What it answers, once that is something."""
    async with asyncio.timeout(limit):
        while not (found := await holds()):
            await asyncio.sleep(LOOK_EVERY_SECONDS)
        return found


async def all_fetched(database: Database, count: int) -> bool:
    found = await database.fetchval("select count(*) from url_frontier where status = 'fetched'")
    return bool(found >= count)


@dataclass
class Role:
    """A process of ours, and what it has logged so far."""

    process: asyncio.subprocess.Process
    log: list[dict[str, Any]]

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.log if line.get("event") == event]

    async def until_logged(self, event: str) -> dict[str, Any]:
        async def look() -> list[dict[str, Any]]:
            assert self.process.returncode is None, self.log[-5:]
            return self.logged(event)

        return (await until(look))[-1]

    async def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(LIMIT_SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def role(
    task: Mapping[str, Any], *, environment: Mapping[str, str] | None = None, log_to: int | None = None
) -> AsyncIterator[Role]:
    """Ready when the block begins; killed at its end if it still runs. `log_to`: a descriptor in place of our pipe."""
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-m", "tests.faults.standing")
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe if log_to is None else log_to, cwd=ROOT, env=environment
    )
    started = Role(process, [])
    reading = asyncio.create_task(read_log(process, started.log)) if log_to is None else None
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(orjson.dumps(dict(task)) + b"\n")
        assert await process.stdout.readline() == b"ready\n", started.log
        yield started
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if reading is not None:
            await reading


async def read_log(process: asyncio.subprocess.Process, log: list[dict[str, Any]]) -> None:
    assert process.stderr is not None
    while line := await process.stderr.readline():
        log.append(orjson.loads(line) if line.startswith(b"{") else {"text": line.decode()})


@asynccontextmanager
async def roles(tasks: Sequence[Mapping[str, Any]]) -> AsyncIterator[list[Role]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(role(task)) for task in tasks]


async def work(task: dict[str, Any]) -> None:
    stop, works = asyncio.Event(), run_poller if task.get("polls") else run_worker
    async with open_services(load(Given(flags=task["flags"]))) as services:
        working = [
            asyncio.create_task(
                works(services, task["owner"], stop, resolver=SimResolver(task["port"], clock=SystemClock()))
            ),
            *([asyncio.create_task(run_maintenance(services))] if task.get("maintains") else []),
        ]
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for _ in range(task.get("chatter", 0)):
            services.log.info("chatter", text="x" * CHATTER_LENGTH)
        hearing = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        await asyncio.wait([working[0], hearing], return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await working[0]
        for task_beside in working[1:]:
            task_beside.cancel()


if __name__ == "__main__":
    told = orjson.loads(sys.stdin.readline())
    if most := told.get("descriptors"):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(work(told))
