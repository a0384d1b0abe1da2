"""Child processes that end with us: each hears of our end by the end of its standard input."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import orjson

from headwater.figures import DIED
from headwater.run.heartbeat import heartbeat_of
from headwater.run.presence import present
from headwater.run.service_manager import without_manager
from headwater.run.stopping import owner_name, until_stopped
from headwater.services import Services
from headwater.settings.environment import surroundings

GRACE_SECONDS = 40
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
PARENT = "parent"
# A process that lives this long did not die of its surroundings.
LONG_LIFE_SECONDS = 120.0


@asynccontextmanager
async def child_processes(
    module: str, tasks: Sequence[Mapping[str, Any]]
) -> AsyncIterator[list[asyncio.subprocess.Process]]:
    """One process per task, running `module` with its task as one line of JSON; asked to end, then made to."""
    started: list[asyncio.subprocess.Process] = []
    try:
        # One by one, so that whatever was started is known and ended if the next cannot be.
        for task in tasks:
            started += [await _start(module, task)]
        yield started
    finally:
        await asyncio.gather(*map(_end, started))


def task_given() -> dict[str, Any]:
    """The task that the parent of this process gives."""
    task: dict[str, Any] = orjson.loads(sys.stdin.readline())
    return task


async def until_input_ends(role: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """A role of a child: told to stop when its parent has closed standard input or ended. One that breaks raises."""
    stop, stdin, loop = asyncio.Event(), sys.stdin.fileno(), asyncio.get_running_loop()

    def hear() -> None:
        # No thread that would wait for the end of the input when the role has broken.
        if not os.read(stdin, 4096):
            loop.remove_reader(stdin)
            stop.set()

    loop.add_reader(stdin, hear)
    try:
        await role(stop)
    finally:
        loop.remove_reader(stdin)


async def run_processes(services: Services, module: str, count: int, task: Mapping[str, Any]) -> int:
    """Until told to stop. 1 if processes had to be started again, else 0: the caller should know."""
    deaths = 0

    async def keep_one(stop: asyncio.Event) -> None:
        nonlocal deaths
        wait = FIRST_WAIT
        while not stop.is_set():
            began = services.clock.monotonic()
            async with child_processes(module, [task]) as (process,):
                ending = asyncio.create_task(stop.wait())
                dying = asyncio.create_task(process.wait())
                await asyncio.wait([ending, dying], return_when=asyncio.FIRST_COMPLETED)
                ending.cancel()
            if stop.is_set():
                return
            deaths += 1
            services.figures.add(f"{DIED}worker", in_words(process.returncode))
            services.log.error("worker_died", code=process.returncode, again_in_seconds=wait)
            wait = FIRST_WAIT if services.clock.monotonic() - began > LONG_LIFE_SECONDS else min(2 * wait, LONGEST_WAIT)
            await _sleep_unless(stop, wait)

    async def all_of_them(stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(keep_one(stop))

    async with (
        heartbeat_of(services, owner_name(PARENT, services.random)) as heart,
        present(services, heart, PARENT, []),
    ):
        await until_stopped(all_of_them)
    return int(deaths > 0)


def in_words(code: int | None) -> str:
    """How a process ended."""
    if code is not None and code < 0:
        return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process ended with the code {code}"


async def _start(module: str, task: Mapping[str, Any]) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=without_manager(surroundings()),
        # A group of its own: Ctrl-C reaches us alone, and we end our children in order.
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(orjson.dumps(dict(task)) + b"\n")
    # One that died already is noticed by the caller that waits for it.
    with suppress(ConnectionError):
        await process.stdin.drain()
    return process


async def _end(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _sleep_unless(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
