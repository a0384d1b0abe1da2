"""Processes for all workers of a run that have imported the program: one forks its commands, one its fork servers.

    workers of the run ─┬─ the warm process of commands ── a waiter for each command ── the command
                        └─ the warm process of fork servers ── fork servers ── their children

Two, because children live within a limit on their memory: of what they inherit they pay all. The worker that first
needs one starts it; it ends with the run. Run as `python -m tests.warm_process MODULE DESCRIPTOR`, where the module
has a function `prepare`, which imports, and a function `live`, which a forked process lives by.
"""

import gc
import importlib
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from headwater.database.locks import POLL_SECONDS, FileLock

LARGEST_REQUEST_BYTES = 200_000
MOST_DESCRIPTORS = 3
NUMBER_BYTES = 4
ROOT = Path(__file__).parents[1]
# Not that of the test which happens to need it first.
ENVIRONMENT = dict(os.environ)
# A run that was killed cannot end it.
LEFT_ALONE_SECONDS = 60
# In the folder of the run, with the name of a module in front.
SOCKET, LOCK, NUMBER = "socket", "lock", "pid"


Work = Callable[[bytes, Sequence[int]], None]


class Forks:
    """What a worker has forked, by a process that is reached when the first is wanted."""

    def __init__(self, run_folder: Path, module: str) -> None:
        self._place = run_folder / module
        self._lock = Lock()
        self._connection: socket.socket | None = None

    def fork(self, said: bytes, descriptors: Sequence[int]) -> int:
        """The number of a process that has begun its work with these."""
        with self._lock:
            self._connection = self._connection or _connected(self._place)
            socket.send_fds(self._connection, [said], descriptors)
            return int.from_bytes(self._connection.recv(NUMBER_BYTES))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _connected(place: Path) -> socket.socket:
    """To the warm process of this run, which may still have to be started."""
    lock = FileLock(_beside(place, LOCK))
    while not lock.try_exclusive():
        time.sleep(POLL_SECONDS)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        with suppress(FileNotFoundError, ConnectionRefusedError):
            connection.connect(str(_beside(place, SOCKET)))
            return connection
        _start(place)
        connection.connect(str(_beside(place, SOCKET)))
        return connection
    finally:
        lock.close()


def _start(place: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        _beside(place, SOCKET).unlink(missing_ok=True)
        listener.bind(str(_beside(place, SOCKET)))
        listener.listen()
        listener.set_inheritable(True)
        program = (sys.executable, "-m", "tests.warm_process", place.name, str(listener.fileno()))
        pid = os.posix_spawn(
            sys.executable,
            program,
            ENVIRONMENT | {"PYTHONPATH": str(ROOT)},
            file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)],
            setpgroup=0,
        )
    _beside(place, NUMBER).write_text(str(pid))


def _beside(place: Path, what: str) -> Path:
    return place.with_name(f"{place.name}.{what}")


def stop_all(run_folder: Path) -> None:
    for file in run_folder.glob(f"tests.*.{NUMBER}"):
        with suppress(ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGTERM)


class WarmProcess:
    def __init__(self, listener: socket.socket, live: Work) -> None:
        self._listener = listener
        self._live = live
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def serve(self) -> Callable[[], None]:
        """Until nobody is there. Returns in forked processes as well, with what they are to do."""
        while True:
            is_alone = len(self._selector.get_map()) == 1
            ready = self._selector.select(LEFT_ALONE_SECONDS if is_alone else None)
            if not ready:
                return lambda: None
            for key, _ in ready:
                if key.fileobj is self._listener:
                    self._selector.register(self._listener.accept()[0], selectors.EVENT_READ)
                elif work := self._answer(key.fileobj):  # type: ignore[arg-type]
                    return work

    def _answer(self, asked: socket.socket) -> Callable[[], None] | None:
        said, descriptors, _, _ = socket.recv_fds(asked, LARGEST_REQUEST_BYTES, MOST_DESCRIPTORS)
        if not said:
            self._selector.unregister(asked)
            asked.close()
            return None
        pid = os.fork()
        if not pid:
            self._leave()
            return lambda: self._live(said, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        asked.sendall(pid.to_bytes(NUMBER_BYTES))
        return None

    def _leave(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()


def main(name: str, descriptor: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nobody here waits for what is forked: a command has its waiter, a fork server its pool.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.putenv("OPENBLAS_NUM_THREADS", "1")
    module = importlib.import_module(name)
    module.prepare()
    gc.collect()
    gc.freeze()
    WarmProcess(socket.socket(fileno=int(descriptor)), module.live).serve()()


if __name__ == "__main__":
    main(*sys.argv[1:])
