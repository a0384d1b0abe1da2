"""Fork servers that are forked from a process which has imported their work: hundreds of tests each need one.

All that comes after the import is the fork server as it is. Tests of the pool start theirs as users do: `as_users_do`.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence

from tests.warm_process import Forks

from headwater.extraction.language import language_model
from headwater.extraction.pool import links
from headwater.extraction.pool.child import ChildLimits
from headwater.extraction.pool.fork_server import ForkServer, work_named
from headwater.extraction.pool.links import ForkServerLink, _soon

# Other work is imported by each fork server that is asked for it.
USUAL_WORK = "headwater.run.work:read_sent"
as_users_do = ForkServerLink.open
LOWEST_PRIORITY = links._LOWEST_PRIORITY


def opening(forks: Forks) -> Callable[..., Awaitable[None]]:
    """To stand in for `ForkServerLink.open`."""

    async def open_forked(link: ForkServerLink, work: str, memory_bytes: int, cpu_seconds: int) -> None:
        asyncio.get_running_loop().add_reader(link._ours, link._listen)
        said = f"{work} {memory_bytes} {cpu_seconds}".encode()
        pid = await asyncio.to_thread(forks.fork, said, [link._theirs.fileno()])
        link._process = Forked(pid)  # type: ignore[assignment]
        link._theirs.close()
        await _soon(link._ready)

    return open_forked


class Forked:
    """As much of `asyncio.subprocess.Process` as a link to a fork server uses."""

    def __init__(self, pid: int) -> None:
        self._descriptor = os.pidfd_open(pid)

    async def wait(self) -> None:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(self._descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(self._descriptor)
        os.close(self._descriptor)

    def send_signal(self, number: int) -> None:
        signal.pidfd_send_signal(self._descriptor, number)


def prepare() -> None:
    work_named(USUAL_WORK)
    # Children of a poller load it with their first vacancy, which is longer than most tests take.
    language_model()


def live(said: bytes, descriptors: Sequence[int]) -> None:
    work, memory_bytes, cpu_seconds = said.decode().split()
    status = 1
    try:
        os.setpgid(0, 0)
        ForkServer(descriptors[0], work_named(work), ChildLimits(int(memory_bytes), int(cpu_seconds))).serve()
        status = 0
    finally:
        os._exit(status)
