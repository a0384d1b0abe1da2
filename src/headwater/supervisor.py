"""Tasks that go on whatever happens: each death is logged and counted, and the task is started again after a pause."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from headwater.clock import Clock
from headwater.figures import DIED, FAILED, Figures
from headwater.log import Logger

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
# A task that lived for so long did not die of its surroundings: its pauses begin anew.
LONG_LIFE_SECONDS = 120.0


@dataclass(slots=True)
class TaskHealth:
    """`deaths` are exceptions that nobody expected, `failures` rounds that failed for a known reason."""

    deaths: int = 0
    failures: int = 0
    last_error: str = ""
    is_failing: bool = False  # and has not succeeded or begun anew since


@dataclass(slots=True)
class Supervisor:
    """Used as a context: at its end all its tasks are cancelled and waited for."""

    clock: Clock
    log: Logger
    figures: Figures = field(default_factory=Figures)
    _health: dict[str, TaskHealth] = field(default_factory=dict, init=False)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list, init=False)

    @property
    def health(self) -> Mapping[str, TaskHealth]:
        """Of every task, by its name."""
        return self._health

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def keep(self, name: str, work: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
        """Start it, and again whenever an exception ends it. A task that returns has done its work."""
        self._health.setdefault(name, TaskHealth())
        task = asyncio.create_task(self._keep(name, work), name=name)
        self._tasks.append(task)
        return task

    def note_failure(self, name: str, error: str) -> None:
        """A round of a task failed, for a reason that may pass; the task goes on by itself."""
        health = self._health.setdefault(name, TaskHealth())
        health.failures += 1
        health.last_error, health.is_failing = error, True
        self._count(FAILED, name, error)
        self.log.warning("chore_failed", chore=name, failures=health.failures, error=error)

    def note_success(self, name: str) -> None:
        """A round of a task went well, or it begins anew."""
        self._health.setdefault(name, TaskHealth()).is_failing = False
        self.figures.failing.pop(name, None)

    async def wait(self) -> None:
        """Until all its tasks have returned."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _keep(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        pause = FIRST_PAUSE
        while True:
            began = self.clock.monotonic()
            self.note_success(name)
            try:
                await work()
                return
            except (Exception, asyncio.CancelledError) as error:
                # Cancelled by nobody who may: something it waited for was.
                if isinstance(error, asyncio.CancelledError) and is_told_to_end():
                    raise
                lived = self.clock.monotonic() - began
                pause = FIRST_PAUSE if lived > LONG_LIFE_SECONDS else pause
                self._note_death(name, error, pause)
            await self.clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _note_death(self, name: str, error: BaseException, pause: float) -> None:
        health = self._health[name]
        health.deaths += 1
        health.last_error, health.is_failing = f"{type(error).__name__}: {error}", True
        self._count(DIED, name, health.last_error)
        self.log.error("task_died", task=name, deaths=health.deaths, again_in_seconds=pause, exc_info=error)

    def _count(self, kind: str, name: str, error: str) -> None:
        self.figures.add(f"{kind}{name}", error)
        self.figures.failing[name] = error


def is_told_to_end() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
