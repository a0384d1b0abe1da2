"""The end of a piece of work, tried again while the database does not take it and its lease can still hold."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from headwater.clock import Clock
from headwater.errors import DatabaseDown, QueryFailed, as_fields, blames_nobody
from headwater.figures import Figures
from headwater.log import Logger

# Seconds between two tries of one piece of work, doubled up to the longest.
FIRST_WAIT, LONGEST_WAIT = 0.5, 4.0

T = TypeVar("T")


@dataclass(slots=True)
class Settling:
    """Of all the work of one worker. `patience` is a lease: without a heartbeat nothing holds for longer."""

    clock: Clock
    log: Logger
    patience: timedelta
    figures: Figures = field(default_factory=Figures)
    _failed_last: bool = field(default=False, init=False)

    @property
    def fails(self) -> bool:
        """The last try of any piece of work failed: no time to begin with more of it."""
        return self._failed_last

    async def settle(self, work: Callable[[], Awaitable[T]], **named: Any) -> T:
        """The answer to the end of a piece of work, once there is one.

        Only where its token is good for once: the first try may have succeeded unheard.
        """
        began = self.clock.monotonic()
        answer = await self.read(work, **named)
        self._failed_last = False
        self.figures.note_settled(self.clock.monotonic() - began)
        return answer

    async def read(self, work: Callable[[], Awaitable[T]], **named: Any) -> T:
        """The same for what must be known before the end. A database that answers may still take nothing."""
        ends_at = self.clock.monotonic() + self.patience.total_seconds()
        wait = FIRST_WAIT
        while True:
            try:
                return await work()
            except (DatabaseDown, QueryFailed) as error:
                if not blames_nobody(error):
                    raise
                self._failed_last = True
                if self.clock.monotonic() + wait >= ends_at:
                    raise
                self.log.warning("keep_failed", **named, **as_fields(error), again_in_seconds=wait)
            await self.clock.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
