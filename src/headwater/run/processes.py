"""Child processes that end with us: each hears of our end by the end of its standard input."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import orjson

GRACE_SECONDS = 40


@asynccontextmanager
async def children(module: str, tasks: Sequence[Mapping[str, Any]]) -> AsyncIterator[list[asyncio.subprocess.Process]]:
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
    """What the parent of this process asks for."""
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


async def _start(module: str, task: Mapping[str, Any]) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        # A group of its own: Ctrl-C reaches us alone, and we end our children in order.
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(orjson.dumps(dict(task)) + b"\n")
    # One that died already is noticed by whoever waits for it.
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
