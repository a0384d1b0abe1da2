"""The process that extraction children are forked from: it has imported the work, and does nothing else.

A fork from here costs milliseconds and shares what was loaded, and it cannot copy the pool's connections and locks.
Run as `python -m headwater.extraction.pool.fork_server DESCRIPTOR MODULE:FUNCTION MEMORY_BYTES CPU_SECONDS`.
"""

import gc
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module

from headwater.extraction.pool.child import ChildLimits, ChildWork, die_with, work_through
from headwater.extraction.pool.frames import ENDED, KILL, READY, REFUSED, REPORT, REQUEST, STARTED


class ForkServer:
    def __init__(self, descriptor: int, work: ChildWork, limits: ChildLimits) -> None:
        self._pool = socket.fromfd(descriptor, socket.AF_UNIX, socket.SOCK_STREAM)
        os.close(descriptor)
        self._wake_up, self._rung = socket.socketpair()
        self._work = work
        self._limits = limits
        self._alive: set[int] = set()

    def serve(self) -> None:
        """Until the pool hangs up; then every child is ended."""
        self._listen_for_deaths()
        # News of a death may find that the pool has just hung up.
        with suppress(ConnectionError):
            self._tell(READY)
            while self._turn():
                pass
        # The last deaths are rung for nobody: by then the bell may be gone.
        signal.set_wakeup_fd(-1)
        for pid in self._alive:
            os.kill(pid, signal.SIGKILL)

    def _listen_for_deaths(self) -> None:
        self._rung.setblocking(False)
        signal.set_wakeup_fd(self._rung.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def _turn(self) -> bool:
        readable, _, _ = select.select((self._wake_up, self._pool), (), ())
        if self._wake_up in readable:
            self._wake_up.recv(4096)
            self._reap()
        return self._obey() if self._pool in readable else True

    def _obey(self) -> bool:
        request, descriptors, _, _ = socket.recv_fds(self._pool, REQUEST.size, 1)
        if len(request) < REQUEST.size:
            return False
        order, pid = REQUEST.unpack(request)
        if order == KILL:
            self._kill(pid)
        else:
            self._start(descriptors[0])
        return True

    def _kill(self, pid: int) -> None:
        # Only what was not buried yet: the number of a dead child may belong to a stranger by now.
        if pid in self._alive:
            os.kill(pid, signal.SIGKILL)

    def _start(self, wire: int) -> None:
        fork_server = os.getpid()
        try:
            pid = os.fork()
        except OSError as failure:
            self._tell(REFUSED, failure.errno or 0)
        else:
            if not pid:
                self._live_as_child(wire, fork_server)
            self._alive.add(pid)
            self._tell(STARTED, pid)
        os.close(wire)

    def _live_as_child(self, wire: int, fork_server: int) -> None:
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            die_with(fork_server)
            for end in (self._pool, self._wake_up, self._rung):
                end.close()
            work_through(wire, self._work, self._limits)
            status = 0
        finally:
            # Never back into the fork server's loop, whatever happened.
            os._exit(status)

    def _reap(self) -> None:
        while self._alive:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if not pid:
                return
            self._alive.discard(pid)
            self._tell(ENDED, pid, status, used.ru_maxrss)

    def _tell(self, what: bytes, first: int = 0, second: int = 0, third: int = 0) -> None:
        self._pool.sendall(REPORT.pack(what, first, second, third))


def work_named(name: str) -> ChildWork:
    module, _, function = name.partition(":")
    work: ChildWork = getattr(import_module(module), function)
    return work


def main(descriptor: str, name: str, memory_bytes: str, cpu_seconds: str) -> None:
    # Ctrl-C is the parent's business: it ends us in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A numeric library with threads of its own cannot be forked safely, and its stacks eat the address space.
    os.putenv("OPENBLAS_NUM_THREADS", "1")
    work = work_named(name)
    # What is loaded now stays for ever: kept out of collections, its pages stay shared with every child.
    gc.collect()
    gc.freeze()
    ForkServer(int(descriptor), work, ChildLimits(int(memory_bytes), int(cpu_seconds))).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
