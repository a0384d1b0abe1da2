"""All roles there are, in one process: what a laptop needs."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aiohttp.abc import AbstractResolver

from headwater.deliver.delivering import Delivered
from headwater.deliver.log import MOVERS
from headwater.discover.polls.polling import Ran
from headwater.discover.polls.reader import ChannelReader
from headwater.frontier.wake import CHANNEL
from headwater.ingest.journey import Finished
from headwater.run.delivering import deliver
from headwater.run.extraction_pools import FOR_BOTH, most_for_channels, page_pool
from headwater.run.fetching import start_reading_pages, worker_of
from headwater.run.heartbeat import heartbeat_of
from headwater.run.maintenance import maintenance_of
from headwater.run.polling import Calendar, by_the_database, poller_of, start_chores_beside
from headwater.run.presence import DELIVER, FETCH, MAINTAIN, POLL, present
from headwater.run.pushes import push_worker_of, pushed_channels
from headwater.run.stopping import owner_name
from headwater.services import Services
from headwater.sources.store import NOTICE
from headwater.supervisor import Supervisor
from headwater.web import open_web


@dataclass(frozen=True, slots=True)
class Observers:
    """Told of every poll, every page and every batch for a sink."""

    polled: Callable[[Ran], None] = lambda _: None
    fetched: Callable[[Finished], None] = lambda _: None
    delivered: Callable[[Delivered], None] = lambda _: None


NO_OBSERVERS = Observers()


async def run_everything(
    services: Services,
    stop: asyncio.Event,
    observers: Observers = NO_OBSERVERS,
    resolver: AbstractResolver | None = None,
    calendar: Calendar = by_the_database,
    supervisor: Supervisor | None = None,
    besides: Sequence[str] = (),
) -> None:
    """Until told to stop; then what is under way is finished or given back. A supervisor can be asked how tasks are.

    `besides`: roles that the same process does without being told here.
    """
    owner = owner_name("up", services.random)
    async with (
        open_web(services, owner, resolver) as web,
        page_pool(services, FOR_BOTH) as pool,
        pool.beside(most_for_channels(services.settings.extract)) as others,
        services.listeners.on(CHANNEL) as entries,
        services.listeners.on(NOTICE) as channels,
        services.listeners.on(MOVERS) as changes,
        pushed_channels(services) as pushed,
        heartbeat_of(services, owner) as heart,
        supervisor or Supervisor(services.clock, services.log, services.figures) as tasks,
        present(services, heart, "up", [POLL, FETCH, MAINTAIN, DELIVER, *besides]),
    ):
        maintenance_of(services).start(tasks)
        start_chores_beside(tasks, services, web, calendar)
        page_reader = start_reading_pages(tasks, services, web.identity.product_token, pool)
        poller = poller_of(services, web, ChannelReader(others), channels, heart, observers.polled, calendar)
        pushes = push_worker_of(services, ChannelReader(others), pushed, heart)
        worker = worker_of(services, web, page_reader, entries, heart, observers.fetched)
        await asyncio.wait(
            [
                tasks.keep("poll", lambda: poller.run(stop)),
                tasks.keep("read_pushes", lambda: pushes.run(stop)),
                tasks.keep("fetch", lambda: worker.run(stop)),
                tasks.keep("deliver", lambda: deliver(services, owner, stop, changes, observers.delivered)),
            ]
        )
