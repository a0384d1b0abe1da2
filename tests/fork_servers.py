"""Fork servers that are forked from a process which has imported their work: hundreds of tests each need one.

    a worker of the run ── one process for each kind of work ── fork servers, forked from it ── their children

All that comes after the import is the fork server as it is. Tests of the pool start theirs as users do: `as_users_do`.
Run as `python -m tests.fork_servers DESCRIPTOR MODULE:FUNCTION`.
"""

import asyncio
import gc
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from threading import Lock

from headwater.extraction.language import language_model
from headwater.extraction.pool.child import ChildLimits, Work
from headwater.extraction.pool.fork_server import ForkServer, work_named
from headwater.extraction.pool.links import ForkServerLink, _soon

LIMITS = struct.Struct("=qq")
PID = struct.Struct("=i")
ROOT = Path(__file__).parents[1]
as_users_do = ForkServerLink.open


class Source:
    """A process that has imported one kind of work, started when it is first needed."""

    def __init__(self, work: str) -> None:
        self._asking, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                (sys.executable, "-m", "tests.fork_servers", str(theirs.fileno()), work),
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                process_group=0,
                cwd=ROOT,
            )
        self._lock = Lock()

    def fork(self, descriptor: int, limits: ChildLimits) -> int:
        """The number of a new fork server whose pool is at the other end of the descriptor."""
        with self._lock:
            socket.send_fds(self._asking, [LIMITS.pack(limits.memory_bytes, limits.cpu_seconds)], [descriptor])
            number: int = PID.unpack(self._asking.recv(PID.size, socket.MSG_WAITALL))[0]
            return number

    def close(self) -> None:
        self._asking.close()
        self._process.wait()


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


class Sources:
    def __init__(self) -> None:
        self._by_work: dict[str, Source] = {}

    def of(self, work: str) -> Source:
        if work not in self._by_work:
            self._by_work[work] = Source(work)
        return self._by_work[work]

    def close(self) -> None:
        for one in self._by_work.values():
            one.close()

    def opening(self) -> object:
        """To stand in for `ForkServerLink.open`."""

        async def open_forked(link: ForkServerLink, work: str, memory_bytes: int, cpu_seconds: int) -> None:
            asyncio.get_running_loop().add_reader(link._ours, link._listen)
            limits = ChildLimits(memory_bytes, cpu_seconds)
            pid = await asyncio.to_thread(self.of(work).fork, link._theirs.fileno(), limits)
            link._process = Forked(pid)  # type: ignore[assignment]
            link._theirs.close()
            await _soon(link._ready)

        return open_forked


def serve(asked: socket.socket, work: Work) -> None:
    """Until the run hangs up; fork servers live as long as their pools."""
    while True:
        request, descriptors, _, _ = socket.recv_fds(asked, LIMITS.size, 1)
        if not request:
            return
        pid = os.fork()
        if not pid:
            live_as_fork_server(asked, descriptors[0], work, ChildLimits(*LIMITS.unpack(request)))
        os.close(descriptors[0])
        asked.sendall(PID.pack(pid))


def live_as_fork_server(asked: socket.socket, descriptor: int, work: Work, limits: ChildLimits) -> None:
    status = 1
    try:
        asked.close()
        os.setpgid(0, 0)
        ForkServer(descriptor, work, limits).serve()
        status = 0
    finally:
        os._exit(status)


def main(descriptor: str, name: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nobody here waits for fork servers: each is watched by its pool.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.putenv("OPENBLAS_NUM_THREADS", "1")
    work = work_named(name)
    # Children of a poller load it with their first vacancy, which is longer than most tests take.
    language_model()
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(descriptor)) as asked:
        serve(asked, work)


if __name__ == "__main__":
    main(*sys.argv[1:])
