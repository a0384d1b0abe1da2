"""The only place that reads time. Everything else is handed a Clock."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Wall time for people and documents, monotonic time for waiting; the database's clock decides."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class PacedClock:
    """Simulated time: starts at `start` and runs `pace` times as fast as real time."""

    def __init__(self, start: datetime, pace: float, real: Clock, began: float | None = None) -> None:
        self._start = start
        self._pace = pace
        self._real = real
        # When it was `start`, by the real clock, whose monotonic time is the same for all processes of a machine.
        self.began = real.monotonic() if began is None else began

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return (self._real.monotonic() - self.began) * self._pace

    async def sleep(self, seconds: float) -> None:
        await self._real.sleep(seconds / self._pace)


class ArrivingClock(PacedClock):
    """Runs at its pace from some past on until it has reached the present, and is the real time from there on."""

    def now(self) -> datetime:
        until_present = (self._real.now() - self._start).total_seconds()
        return self._start + timedelta(seconds=min(self.monotonic(), until_present))
