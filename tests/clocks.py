"""A clock for tests and benchmarks."""

import asyncio
from datetime import datetime, timedelta


class ManualClock:
    """Stands still until moved; sleeping moves it."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._elapsed = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        self.move(timedelta(seconds=seconds))
        await asyncio.sleep(0)

    def move(self, by: timedelta) -> None:
        self._now += by
        self._elapsed += by.total_seconds()
