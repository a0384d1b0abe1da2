"""A pool of extraction children: a page that hangs, crashes or eats memory costs one child and nothing else.

    pool (asyncio) ── one fork server with the work imported ── children, forked from it, one task at a time each

The parent keeps no thread and no pickle. The end of the pool's process ends the fork server, and with it every child.
"""

import asyncio
import math
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import orjson

from headwater.clock import Clock
from headwater.extraction.pool.frames import CRASHED, DONE, OUT_OF_MEMORY, pack
from headwater.extraction.pool.links import ChildEnd, ChildLink, ForkServerGone, ForkServerLink, within_our_limits
from headwater.extraction.pool.turns import HEAVY_S, Turns

MEMORY_BYTES = 512 << 20
ANSWER_BYTES = 64 << 20
TASKS_PER_CHILD = 2_000
USUAL_WEIGHT = 0.1
# After a child was killed, doubled until one has answered again.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
SIGNAL_NAMES = {int(one): one.name for one in signal.Signals}


@dataclass(frozen=True, slots=True)
class Done:
    value: Any
    seconds: float


@dataclass(frozen=True, slots=True)
class Crashed:
    """`how` is an exception's class, a signal's name or an exit; `where` the file and line of a raise."""

    how: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class TimedOut:
    pass


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    pass


@dataclass(frozen=True, slots=True)
class Killed:
    """Ended from outside, as the kernel does for want of memory: what its page had to do with it is not known."""


WorkOutcome = Done | Crashed | TimedOut | OutOfMemory
ToldOfKill = Callable[[float], None]
_ChildTicket = asyncio.Future[ChildLink | None]


class ExtractionPool:
    """At most `size` tasks run at once; `run` waits for its turn: `Turns` says whose it is.

    A task that takes long gets the processor time that is left over, and its place is lent to another child meanwhile.
    At most `size` places are lent.
    """

    def __init__(
        self,
        work: str,
        *,
        size: int,
        timeout: float,
        clock: Clock,
        memory_bytes: int = MEMORY_BYTES,
        tasks_per_child: int = TASKS_PER_CHILD,
        answer_bytes: int = ANSWER_BYTES,
    ) -> None:
        self._work = work
        self._timeout = timeout
        self._clock = clock
        self._memory_bytes = memory_bytes
        self._tasks_per_child = tasks_per_child
        self._answer_bytes = answer_bytes
        # How long it is waited until a page whose child was killed is read again.
        self.on_kill: ToldOfKill = lambda _pause: None
        self._pause = FIRST_PAUSE_S
        self._trying_again = asyncio.Lock()
        self._beside: ExtractionPool | None = None
        self._fork_server: ForkServerLink | None = None
        self._opening = asyncio.Lock()
        self._is_closed = False
        self._size = size
        self._usual_seconds = 0.0
        # Last in, first out: a quiet pool keeps using its warm child. None is a place without one.
        self._free: list[ChildLink | None] = [None] * size
        self._lenders: set[ChildLink] = set()
        self._turns: Turns[_ChildTicket] = Turns(size)

    async def __aenter__(self) -> Self:
        await self._open_fork_server()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def beside(self, size: int) -> "ExtractionPool":
        """Other children from the same fork server: neither kind of task waits for a place of the other's."""
        others = ExtractionPool(
            self._work,
            size=size,
            timeout=self._timeout,
            clock=self._clock,
            memory_bytes=self._memory_bytes,
            tasks_per_child=self._tasks_per_child,
            answer_bytes=self._answer_bytes,
        )
        others.on_kill = self.on_kill
        others._beside = self
        return others

    async def close(self) -> None:
        self._is_closed = True
        while self._free:
            if child := self._free.pop():
                child.kill()
        if self._fork_server is not None:
            await self._fork_server.close()

    async def run(self, payload: Any, share: str = "") -> WorkOutcome:
        """The work's answer to bytes or to anything JSON can say. Raises DependencyDown if no child can be had.

        Tasks of one `share`, a registrable domain, wait in one line; the lines take turns.
        """
        kind, body = pack(payload)
        outcome = await self._run_once(kind, body, share)
        if not isinstance(outcome, Killed):
            return outcome
        # One of them at a time: whichever is killed again, with no other that was killed beside it, is to blame.
        async with self._trying_again:
            await self._pause_after_kill()
            outcome = await self._run_once(kind, body, share)
        return OutOfMemory() if isinstance(outcome, Killed) else outcome

    async def _pause_after_kill(self) -> None:
        wait, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE_S)
        self.on_kill(wait)
        # Real seconds whatever the clock: memory is short on this machine.
        await asyncio.sleep(wait)

    async def _run_once(self, kind: bytes, body: bytes, share: str) -> WorkOutcome | Killed:
        child = await self._place(share)
        began = self._clock.monotonic()
        kept = None
        try:
            child = await self._alive(child)
            outcome, is_fit = await self._ask(child, kind, body, share)
            kept = child if is_fit and not child.is_behind and child.tasks < self._tasks_per_child else None
            return outcome
        finally:
            # Also when the caller was cancelled: the child is in the middle of something nobody wants any more.
            if child is not None and kept is None:
                child.kill()
            self._end_turn(share, child, kept, self._clock.monotonic() - began)

    def backlog_of(self, share: str) -> float:
        """How long a task given now would wait, if all before it took as long as the last ones did."""
        return self._turns.waiting(share) * self._usual_seconds / self._size

    async def _place(self, share: str) -> ChildLink | None:
        ticket: _ChildTicket = asyncio.get_running_loop().create_future()
        self._turns.wait(share, ticket)
        self._hand_out()
        try:
            return await ticket
        except asyncio.CancelledError:
            if ticket.cancelled():
                self._turns.withdraw(share, ticket)
            else:
                # Cancelled in the moment in which its turn came.
                self._end_turn(share, None, ticket.result())
            raise

    def _end_turn(
        self, share: str, used: ChildLink | None, kept: ChildLink | None, seconds: float | None = None
    ) -> None:
        if used in self._lenders:
            self._lenders.remove(used)
        else:
            self._free.append(kept)
        self._turns.ended(share, seconds, self._clock.monotonic())
        self._hand_out()

    def _put_behind(self, child: ChildLink, share: str) -> None:
        child.put_behind()
        self._turns.found_heavy(share)
        if len(self._lenders) < self._size:
            self._lenders.add(child)
            self._free.append(None)
            self._hand_out()

    def _hand_out(self) -> None:
        while self._free and (turn := self._turns.next(self._clock.monotonic())):
            share, ticket = turn
            if ticket.cancelled():
                self._turns.ended(share)
            else:
                ticket.set_result(self._free.pop())

    async def _ask(self, child: ChildLink, kind: bytes, body: bytes, share: str) -> tuple[WorkOutcome | Killed, bool]:
        """The outcome of the task, and whether the child is fit for another."""
        began = self._clock.monotonic()
        slow = asyncio.get_running_loop().call_later(HEAVY_S, self._put_behind, child, share)
        try:
            # Real seconds whatever the clock: they guard this machine, not the simulated day.
            async with asyncio.timeout(self._timeout):
                answer = await child.ask(kind, body, self._answer_bytes)
        except TimeoutError:
            return TimedOut(), False
        finally:
            slow.cancel()
        if answer is None:
            end = await child.end()
            if is_kill(end) and not child.was_ended_by_us:
                return Killed(), False
            return outcome_of(end, self._memory_bytes), False
        self._pause = FIRST_PAUSE_S
        seconds = self._clock.monotonic() - began
        if not self._turns.is_heavy(share):
            self._usual_seconds += (seconds - self._usual_seconds) * USUAL_WEIGHT
        return _read(*answer, seconds)

    async def _alive(self, child: ChildLink | None) -> ChildLink:
        if child is not None and child.is_alive:
            return child
        if child is not None:
            child.kill()
        return await self._new_child()

    async def _new_child(self) -> ChildLink:
        with within_our_limits():
            child = ChildLink(await self._open_fork_server())
        try:
            await child.open()
        except BaseException:
            child.kill()
            raise
        return child

    async def _open_fork_server(self) -> ForkServerLink:
        async with self._opening:
            if self._is_closed:
                raise ForkServerGone
            if self._beside is not None:
                return await self._beside._open_fork_server()  # noqa: SLF001 - one of its own kind
            if self._fork_server is None or self._fork_server.is_gone:
                self._fork_server = await self._opened()
            return self._fork_server

    async def _opened(self) -> ForkServerLink:
        if self._fork_server is not None:
            await self._fork_server.close()
        fork_server = ForkServerLink()
        try:
            # One second more than the pool waits: the limit is for the day when the pool itself has stopped.
            await fork_server.open(self._work, self._memory_bytes, math.ceil(self._timeout) + 1)
        except BaseException:
            await fork_server.close()
            raise
        return fork_server


def _read(kind: bytes, body: bytes, seconds: float) -> tuple[WorkOutcome, bool]:
    try:
        if kind == DONE:
            return Done(orjson.loads(body), seconds), True
        if kind == CRASHED:
            how, where = orjson.loads(body)
            return Crashed(str(how), str(where)), True
    except ValueError:
        # Our own code does not answer like this; code that took the child over does.
        return Crashed("unreadable answer"), False
    return (OutOfMemory() if kind == OUT_OF_MEMORY else Crashed("answer too long")), False


def end_in_words(outcome: WorkOutcome) -> str:
    """How a task ended that brought nothing to be believed."""
    match outcome:
        case Crashed(how, where):
            return f"{how} {where}".strip()
        case OutOfMemory():
            return "out of memory"
        case TimedOut():
            return "took too long"
        case Done():
            return "its child answered with something else"


def is_kill(end: ChildEnd) -> bool:
    return os.WIFSIGNALED(end.status) and os.WTERMSIG(end.status) == signal.SIGKILL


def outcome_of(end: ChildEnd, memory_bytes: int) -> WorkOutcome:
    """The outcome of a task, by the end of its child."""
    if not os.WIFSIGNALED(end.status):
        return Crashed(f"exit {os.waitstatus_to_exitcode(end.status)}")
    number = os.WTERMSIG(end.status)
    if number == signal.SIGXCPU:
        return TimedOut()
    # A library that could not allocate dies of a null pointer or aborts: near the limit that is no other fault.
    if end.peak_bytes * 4 > memory_bytes * 3:
        return OutOfMemory()
    return Crashed(SIGNAL_NAMES.get(number, f"signal {number}"))
