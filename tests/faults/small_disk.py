"""An embedded PostgreSQL on disks of its own that can be filled up, in a mount namespace that ends with this process.

Started as `unshare -m -- python -m tests.faults.small_disk DIRECTORY`. Told what to do by lines on standard input, each
answered by one: `start`, `fill data`, `fill wal`, `enlarge`. Ends with its input, and the server with it.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from headwater.database.embedded import EmbeddedServer

SMALL, LARGE = "size=160m", "size=400m"
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "min_wal_size": "32MB",
    "max_wal_size": "64MB",
    # A server that has lost its log is started by whoever mends the disk, as on most machines.
    "restart_after_crash": "off",
}
FILLER = "filler"
CHUNKS = (1 << 20, 4096)


def refusal() -> str:
    """Why there can be no small disk here; empty if there can."""
    if os.geteuid() != 0:
        return "only root can mount a small disk under a server that does not run as root"
    if shutil.which("unshare") is None:
        return "unshare (util-linux) is not installed"
    probe = subprocess.run(["unshare", "-m", "--", "true"], capture_output=True, text=True, check=False)
    return f"the kernel refuses: {probe.stderr.strip()}" if probe.returncode else ""


@dataclass
class SmallDisk:
    """The process outside: what it asks for is done inside."""

    process: asyncio.subprocess.Process
    dsn: str

    async def ask(self, what: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{what}\n".encode())
        answer = (await self.process.stdout.readline()).decode().strip()
        assert answer, f"{what} was not done"
        return answer


@asynccontextmanager
async def small_disk(directory: Path) -> AsyncIterator[SmallDisk]:
    """A server whose data and whose log lie on 160 MB each."""
    process = await asyncio.create_subprocess_exec(
        *("unshare", "-m", "--", sys.executable, "-m", "tests.faults.small_disk", str(directory)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    disk = SmallDisk(process, "")
    try:
        disk.dsn = await disk.ask("start")
        yield disk
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


class Inside:
    def __init__(self, directory: Path) -> None:
        self.server = EmbeddedServer(directory, settings=SETTINGS)
        self.data = directory / "data"
        self.disks = {"data": self.data, "wal": self.data / "pg_wal"}

    async def start(self) -> str:
        if not self.data.exists():
            await self.server.start()
            await self.server.stop()
            for folder in self.disks.values():
                put_on_small_disk(folder)
        return await self.server.start()

    async def fill(self, which: str) -> str:
        with suppress(OSError), (self.disks[which] / FILLER).open("wb", buffering=0) as filler:
            for size in CHUNKS:
                with suppress(OSError):
                    while filler.write(bytes(size)) == size:
                        pass
        return "full"

    async def enlarge(self) -> str:
        for folder in self.disks.values():
            (folder / FILLER).unlink(missing_ok=True)
            run("mount", "-o", f"remount,{LARGE}", str(folder))
        return "large"


def put_on_small_disk(folder: Path) -> None:
    owner = folder.stat()
    before = folder.parent / f"{folder.name}-before"
    folder.rename(before)
    folder.mkdir()
    options = f"{SMALL},mode=0700,uid={owner.st_uid},gid={owner.st_gid}"
    run("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder))
    run("cp", "-a", f"{before}/.", str(folder))
    shutil.rmtree(before)


def run(*command: str) -> None:
    subprocess.run(command, check=True)


async def obey(directory: Path) -> None:
    inside = Inside(directory)
    try:
        while line := await asyncio.to_thread(sys.stdin.readline):
            word, *which = line.split()
            sys.stdout.write(f"{await getattr(inside, word)(*which)}\n")
            sys.stdout.flush()
    finally:
        await inside.server.stop()


if __name__ == "__main__":
    asyncio.run(obey(Path(sys.argv[1])))
