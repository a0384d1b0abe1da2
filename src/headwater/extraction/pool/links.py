"""The pool's view of its fork server and of one child: both are only descriptors and news of their end."""

import asyncio
import errno
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from headwater.errors import DependencyDown, OutOfResources
from headwater.extraction.pool.frames import (
    ENDED,
    HEAD,
    KILL,
    READY,
    REFUSED,
    REPORT,
    REQUEST,
    RULES,
    START,
    STARTED,
    TOO_LONG,
    frame,
)
from headwater.urls.rules import NO_RULES, HostRules, rules_in_use, rules_to_json

_START_SECONDS = 60.0
_CLOSING_SECONDS = 5.0
_DYING_SECONDS = 1.0
_LOWEST_PRIORITY = 19
_ChildAnswer = TypeVar("_ChildAnswer")
_LIMITS = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How a child ended: as waitpid tells it, with the most memory it ever held."""

    status: int
    peak_bytes: int


@dataclass(slots=True)
class Spawned:
    pid: int
    end: asyncio.Future[ChildEnd]


class ForkServerGone(OutOfResources):
    """Nobody's page is to blame: the process all children come from has ended."""

    def __init__(self) -> None:
        super().__init__(
            "The extraction children were closed.", fix="Try again: a new fork server is started when needed."
        )


def no_child(why: str) -> OutOfResources:
    return OutOfResources(
        f"No extraction child can be started: {why}.",
        fix="Look at the limits on processes, file descriptors (`ulimit -n`) and memory.",
    )


@contextmanager
def within_our_limits() -> Iterator[None]:
    """That we ran out of something is said as such: no page is to blame."""
    try:
        yield
    except OSError as error:
        if error.errno not in _LIMITS:
            raise
        raise no_child(error.strerror or str(error)) from error


class ForkServerLink:
    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._expected: deque[asyncio.Future[Spawned]] = deque()
        self._living: dict[int, asyncio.Future[ChildEnd]] = {}
        self._unread = b""
        self._process: asyncio.subprocess.Process | None = None
        self.is_gone = False

    async def open(self, work: str, memory_bytes: int, cpu_seconds: int) -> None:
        asyncio.get_running_loop().add_reader(self._ours, self._listen)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "headwater.extraction.pool.fork_server"),
            *(str(self._theirs.fileno()), work, str(memory_bytes), str(cpu_seconds)),
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=(self._theirs.fileno(),),
            # A group of its own: Ctrl-C reaches us alone. No session of its own: Linux shares the processor out between
            # sessions first, and a child that was put behind would be behind its siblings only.
            process_group=0,
        )
        self._theirs.close()
        await _soon(self._ready)

    async def start_child(self, descriptor: int) -> Spawned:
        if self.is_gone:
            raise ForkServerGone
        spawned: asyncio.Future[Spawned] = asyncio.get_running_loop().create_future()
        self._expected.append(spawned)
        try:
            socket.send_fds(self._ours, [REQUEST.pack(START, 0)], [descriptor])
        except OSError:
            self._close()
        return await _soon(spawned)

    def kill(self, pid: int) -> None:
        if not self.is_gone and pid in self._living:
            try:
                self._ours.send(REQUEST.pack(KILL, pid))
            except OSError:
                self._close()

    async def close(self) -> None:
        self._close()
        self._theirs.close()
        if self._process is not None:
            await _ended(self._process)

    def _listen(self) -> None:
        try:
            heard = self._ours.recv(1 << 16)
        except ConnectionError:
            heard = b""
        if not heard:
            self._close()
        for report in self._reports(heard):
            self._note(*report)

    def _reports(self, heard: bytes) -> Iterator[tuple[Any, ...]]:
        self._unread += heard
        whole = len(self._unread) - len(self._unread) % REPORT.size
        reports, self._unread = self._unread[:whole], self._unread[whole:]
        return REPORT.iter_unpack(reports)

    def _note(self, what: bytes, first: int, second: int, third: int) -> None:
        if what == READY:
            _answer(self._ready, None)
        elif what == STARTED:
            self._living[first] = asyncio.get_running_loop().create_future()
            _answer(self._expected.popleft(), Spawned(first, self._living[first]))
        elif what == REFUSED:
            _fail(self._expected.popleft(), no_child(os.strerror(first)))
        elif what == ENDED:
            # Linux counts in kilobytes.
            _answer(self._living.pop(first), ChildEnd(second, third * 1024))

    def _close(self) -> None:
        """Tasks that wait for the fork server are told; without it its children die too."""
        if self.is_gone:
            return
        self.is_gone = True
        asyncio.get_running_loop().remove_reader(self._ours)
        self._ours.close()
        waiting: tuple[asyncio.Future[Any], ...] = (self._ready, *self._expected, *self._living.values())
        for one in waiting:
            _fail(one, ForkServerGone())


class ChildLink:
    """One child's wire. `tasks` counts the tasks it was given; `is_behind`: it gets only spare processor time."""

    def __init__(self, fork_server: ForkServerLink) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._fork_server = fork_server
        self._spawning: Spawned | None = None
        self._rules: Mapping[str, HostRules] = NO_RULES
        self.tasks = 0
        self.is_behind = False
        self.was_ended_by_us = False

    async def open(self) -> None:
        try:
            self._spawning = await self._fork_server.start_child(self._theirs.fileno())
        finally:
            self._theirs.close()

    async def ask(self, kind: bytes, body: bytes, most_bytes: int) -> tuple[bytes, bytes] | None:
        """The child's answer, or None if it hung up; TOO_LONG in place of an answer that is larger than allowed."""
        self.tasks += 1
        try:
            await asyncio.get_running_loop().sock_sendall(self._ours, self._news_of_rules() + frame(kind, body))
            length, said = HEAD.unpack(await self._exactly(HEAD.size))
            return (said, await self._exactly(length)) if length <= most_bytes else (TOO_LONG, b"")
        except ConnectionError:
            return None

    def _news_of_rules(self) -> bytes:
        """The rules a child must know before its task: it was forked from a process that knows no host's exceptions."""
        if self._rules is (rules := rules_in_use()):
            return b""
        self._rules = rules
        return frame(RULES, orjson.dumps(rules_to_json(rules)))

    async def end(self) -> ChildEnd:
        """Made to end if it has not yet, and how it did."""
        assert self._spawning is not None
        try:
            # It hung up first, so its own way of ending, if it has one, is already on its way.
            async with asyncio.timeout(_DYING_SECONDS):
                return await asyncio.shield(self._spawning.end)
        except TimeoutError:
            self.kill()
            return await self._spawning.end

    def kill(self) -> None:
        self.was_ended_by_us = True
        self._ours.close()
        if self._spawning is not None:
            self._fork_server.kill(self._spawning.pid)

    def put_behind(self) -> None:
        """From now on it gets the processor time that nobody else wants; there is no way back."""
        self.is_behind = True
        if self._spawning is not None and self.is_alive:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._spawning.pid, _LOWEST_PRIORITY)

    @property
    def is_alive(self) -> bool:
        return self._spawning is not None and not self._spawning.end.done()

    async def _exactly(self, size: int) -> bytes:
        loop = asyncio.get_running_loop()
        buffer = bytearray(size)
        left = memoryview(buffer)
        while left:
            count = await loop.sock_recv_into(self._ours, left)
            if not count:
                raise ConnectionResetError
            left = left[count:]
        return bytes(buffer)


async def _soon(answer: asyncio.Future[_ChildAnswer]) -> _ChildAnswer:
    try:
        async with asyncio.timeout(_START_SECONDS):
            return await answer
    except TimeoutError:
        raise DependencyDown("The fork server of the extraction children does not answer.") from None


async def _ended(process: asyncio.subprocess.Process) -> None:
    try:
        async with asyncio.timeout(_CLOSING_SECONDS):
            await process.wait()
    except TimeoutError:
        process.send_signal(signal.SIGKILL)
        await process.wait()


def _answer(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[Any], failure: Exception) -> None:
    if not future.done():
        future.set_exception(failure)
        # Nobody may be waiting for this one, and then nobody needs to hear it.
        future.exception()
