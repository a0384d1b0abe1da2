"""`deliver`: moves changes into the log, and brings every sink up to date. Any number of processes may run."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from uuid import UUID

from headwater.clock import SystemClock
from headwater.database.listen import Listener
from headwater.database.queries import load_queries
from headwater.deliver import store
from headwater.deliver.contexts import open_contexts
from headwater.deliver.delivering import Delivered, SinkWorker
from headwater.deliver.from_settings import follow_settings
from headwater.deliver.log import MOVERS, move_changes
from headwater.deliver.sink import SinkContext
from headwater.errors import DatabaseDown, QueryFailed, as_fields
from headwater.run.heartbeat import heartbeat_of
from headwater.run.presence import DELIVER, present
from headwater.services import Services
from headwater.supervisor import Supervisor

queries = load_queries("headwater.deliver")

# Between two looks while nothing changes: looking is the truth, a notice only its speed.
LOOK_EVERY = timedelta(seconds=5)
# While changes come, the next ones are moved so soon; so long after the last one a notice is waited for again.
MOVE_EVERY = 0.02
CALM_SECONDS = 1.0
# Where notices cannot be heard, behind a pooler without `database.direct_url`.
LOOK_DEAF_EVERY = timedelta(seconds=1)


def sink_contexts(services: Services) -> AbstractAsyncContextManager[Callable[[str], SinkContext]]:
    return open_contexts(services.settings, services.random, services.log)


async def run_deliverer(
    services: Services,
    owner: str,
    stop: asyncio.Event,
    on_batch: Callable[[Delivered], None] = lambda _: None,
) -> None:
    """A process of this role alone, until told to stop."""
    async with (
        services.listeners.on(MOVERS) as listener,
        heartbeat_of(services, owner) as heart,
        Supervisor(SystemClock(), services.log, services.figures) as tasks,
        present(services, heart, DELIVER, [DELIVER]),
    ):
        task = tasks.keep("deliver", lambda: deliver(services, owner, stop, listener, on_batch))
        await asyncio.wait([task])


async def deliver(
    services: Services,
    owner: str,
    stop: asyncio.Event,
    listener: Listener,
    on_batch: Callable[[Delivered], None] = lambda _: None,
) -> None:
    """Until told to stop; the sinks that settings name are there first."""
    await follow_settings(services.database, services.settings.deliver, services.log)
    async with sink_contexts(services) as context:
        worker = SinkWorker(
            services.database,
            SystemClock(),
            services.random,
            services.log,
            owner,
            context,
            on_batch,
            lease_time=services.settings.lease.duration,
            figures=services.figures,
            stores=services.stores,
        )
        await Deliverer(services, f"{owner} deliver", worker, listener).run(stop)


class Deliverer:
    """Looks, moves, and starts a task for each sink that has work; a sink that hangs holds no other up."""

    def __init__(self, services: Services, owner: str, worker: SinkWorker, listener: Listener) -> None:
        self._services = services
        self._database = services.database
        self._clock = SystemClock()
        self._owner = owner
        self._worker = worker
        self._listener = listener
        self._at_work: dict[UUID, asyncio.Task[None]] = {}
        self._is_over = False

    async def run(self, stop: asyncio.Event) -> None:
        """A sink that is worked on when it is told to stop ends its batch."""
        self._is_over = False
        stopped = asyncio.create_task(stop.wait())
        last_move = float("-inf")
        try:
            while not stop.is_set():
                if not self._services.drain.is_asked and await self._look():
                    last_move = self._clock.monotonic()
                is_calm = self._clock.monotonic() - last_move > CALM_SECONDS
                pause = asyncio.create_task(self._wait(is_calm=is_calm))
                await asyncio.wait([stopped, pause], return_when=asyncio.FIRST_COMPLETED)
                pause.cancel()
            self._is_over = True
            if self._at_work:
                await asyncio.wait(self._at_work.values())
        finally:
            stopped.cancel()
            for task in self._at_work.values():
                task.cancel()
            if self._at_work:
                await asyncio.wait(self._at_work.values())

    async def _look(self) -> bool:
        """Whether anything was moved. A database that is away is waited for."""
        try:
            found = await self._database.fetchrow(queries.look_for_work, self._owner, LOOK_EVERY, store.CHECK_EVERY)
            moved = 0
            if found and found["is_waiting"]:
                moved = await move_changes(self._database)
                found = await self._database.fetchrow(queries.look_for_work, self._owner, LOOK_EVERY, store.CHECK_EVERY)
            for sink_id in found["due"] if found else ():
                self._start(sink_id)
            return bool(moved)
        except (DatabaseDown, QueryFailed) as error:
            self._services.log.warning("log_not_moved", **as_fields(error))
            return False

    def _start(self, sink_id: UUID) -> None:
        if sink_id not in self._at_work:
            task = asyncio.create_task(self._run_sink(sink_id), name=f"sink {sink_id}")
            self._at_work[sink_id] = task
            self._services.drain.under_way += 1
            task.add_done_callback(lambda _: self._forget(sink_id))

    def _forget(self, sink_id: UUID) -> None:
        self._at_work.pop(sink_id, None)
        self._services.drain.under_way -= 1

    async def _run_sink(self, sink_id: UUID) -> None:
        try:
            await self._worker.run(sink_id, lambda: self._is_over)
        except (DatabaseDown, QueryFailed) as error:
            self._services.log.warning("sink_not_settled", sink=str(sink_id), **as_fields(error))

    async def _wait(self, *, is_calm: bool) -> None:
        if is_calm:
            longest = LOOK_EVERY if self._listener.can_hear else LOOK_DEAF_EVERY
            await self._listener.wait(longest.total_seconds())
        else:
            await self._clock.sleep(MOVE_EVERY)
