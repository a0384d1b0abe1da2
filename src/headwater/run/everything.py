"""All roles there are, in one process: what a laptop needs."""

import asyncio
from collections.abc import Callable

from aiohttp.abc import AbstractResolver

from headwater.discover.polls.poll import Ran
from headwater.discover.polls.reader import ChannelReader
from headwater.frontier.wake import CHANNEL
from headwater.ingest.journey import Told
from headwater.run.children import FOR_BOTH, most_for_channels, page_children
from headwater.run.fetching import studying, worker_of
from headwater.run.maintenance import maintenance_of
from headwater.run.polling import Calendar, by_the_database, chores_beside, poller_of
from headwater.run.stopping import owner_name
from headwater.services import Services
from headwater.sources.channels import NOTICE
from headwater.web import open_web


async def run_everything(
    services: Services,
    stop: asyncio.Event,
    polled: Callable[[Ran], None],
    fetched: Callable[[Told], None],
    resolver: AbstractResolver | None = None,
    calendar: Calendar = by_the_database,
) -> None:
    """Until told to stop; then what is under way is finished or given back."""
    owner = owner_name("up", services.random)
    async with (
        open_web(services, owner, resolver) as web,
        page_children(services, FOR_BOTH) as children,
        children.beside(most_for_channels(services.settings.extract)) as others,
        services.listeners.on(CHANNEL) as entries,
        services.listeners.on(NOTICE) as channels,
        studying(services, web.identity.product_token, children) as study,
    ):
        beside = [
            asyncio.create_task(maintenance_of(services).run()),
            *chores_beside(services, web, calendar),
        ]
        poller = poller_of(services, web, ChannelReader(others), channels, owner, polled, calendar)
        worker = worker_of(services, web, study, entries, owner, fetched)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(poller.run(stop))
                group.create_task(worker.run(stop))
        finally:
            for task in beside:
                task.cancel()
            await asyncio.wait(beside)
