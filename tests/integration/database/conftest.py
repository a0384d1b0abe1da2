"""Processes that use an embedded server as Headwater does: started, asked, killed."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

import pytest

from headwater.database.embedded import EmbeddedServer

QUICK = {"fsync": "off", "shared_buffers": "16MB"}

PROGRAM = """
import asyncio, os, signal, sys
from pathlib import Path
from headwater.database.embedded import EmbeddedServer

async def main(directory, uid):
    if uid:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    server = EmbeddedServer(directory, settings={"fsync": "off", "shared_buffers": "16MB"})
    print(await server.start(), flush=True)
    if sys.stdin.readline() == "fork\\n":
        fork()
        sys.stdin.readline()
    await server.stop()

def fork():
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        os.close(0)
        os.close(1)
        signal.pause()

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
"""


class UserProcess:
    """Another process that uses the server until it is told to stop, or killed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def line(self) -> str:
        """What it says next: the server's address when it is up."""
        assert self._process.stdout
        return (await self._process.stdout.readline()).decode().strip()

    def say(self, word: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{word}\n".encode())

    async def leave(self) -> int:
        self.say("leave")
        return await self._process.wait()

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


class Join(Protocol):
    async def __call__(self, directory: Path, *, uid: int = 0, python_path: Path | None = None) -> UserProcess: ...


@pytest.fixture
async def join() -> AsyncIterator[Join]:
    """Let another process use the server in a folder; all are gone at the end of the test."""
    joined: list[UserProcess] = []

    async def join(directory: Path, *, uid: int = 0, python_path: Path | None = None) -> UserProcess:
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-c", PROGRAM, directory, str(uid))
        paths = [str(python_path), os.environ.get("PYTHONPATH", "")]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)} if python_path else None
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=env)
        joined.append(UserProcess(process))
        return joined[-1]

    yield join
    for one in joined:
        await one.kill()


@pytest.fixture
async def server(open_folder: Path) -> AsyncIterator[EmbeddedServer]:
    """Not started yet; stopped at the end, whatever the test did to it."""
    embedded = EmbeddedServer(open_folder / "pg", settings=QUICK)
    yield embedded
    await embedded.stop()
