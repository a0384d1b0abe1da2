"""All roles there are, in one process: what a laptop needs."""

import asyncio
from collections.abc import Callable

from aiohttp.abc import AbstractResolver

from headwater.discover.polls.poll import Ran
from headwater.discover.polls.reader import ChannelReader
from headwater.frontier.wake import CHANNEL
from headwater.ingest.journey import Finished
from headwater.run.extraction_pools import FOR_BOTH, most_for_channels, page_pool
from headwater.run.fetching import start_reading_pages, worker_of
from headwater.run.heartbeat import heartbeat_of
from headwater.run.maintenance import maintenance_of
from headwater.run.polling import Calendar, by_the_database, poller_of, start_chores_beside
from headwater.run.presence import FETCH, MAINTAIN, POLL, present
from headwater.run.stopping import owner_name
from headwater.services import Services
from headwater.sources.channels import NOTICE
from headwater.supervisor import Supervisor
from headwater.web import open_web


async def run_everything(
    services: Services,
    stop: asyncio.Event,
    polled: Callable[[Ran], None],
    fetched: Callable[[Finished], None],
    resolver: AbstractResolver | None = None,
    calendar: Calendar = by_the_database,
    supervisor: Supervisor | None = None,
) -> None:
    """Until told to stop; then what is under way is finished or given back. A supervisor can be asked how tasks are."""
    owner = owner_name("up", services.random)
    async with (
        open_web(services, owner, resolver) as web,
        page_pool(services, FOR_BOTH) as pool,
        pool.beside(most_for_channels(services.settings.extract)) as others,
        services.listeners.on(CHANNEL) as entries,
        services.listeners.on(NOTICE) as channels,
        heartbeat_of(services, owner) as heart,
        supervisor or Supervisor(services.clock, services.log, services.figures) as tasks,
        present(services, heart, "up", [POLL, FETCH, MAINTAIN]),
    ):
        maintenance_of(services).start(tasks)
        start_chores_beside(tasks, services, web, calendar)
        page_reader = start_reading_pages(tasks, services, web.identity.product_token, pool)
        poller = poller_of(services, web, ChannelReader(others), channels, heart, polled, calendar)
        worker = worker_of(services, web, page_reader, entries, heart, fetched)
        await asyncio.wait(
            [tasks.keep("poll", lambda: poller.run(stop)), tasks.keep("fetch", lambda: worker.run(stop))]
        )
