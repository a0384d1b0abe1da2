"""`fetch` as a process: one worker with its own way to the web, and children to read pages in."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp.abc import AbstractResolver

from headwater.crew import Crew
from headwater.database.listen import Listener
from headwater.extract.children import Children
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import Lease
from headwater.frontier.shares import Shares
from headwater.frontier.verdicts import RetryPolicy
from headwater.frontier.wake import CHANNEL, Sleeper
from headwater.ingest.classroom import Classroom
from headwater.ingest.context import Context
from headwater.ingest.fetching import Fetching
from headwater.ingest.journey import Journey, Studies, Told
from headwater.ingest.keeping import Keeper
from headwater.ingest.reading import Reader
from headwater.ingest.study import Study
from headwater.learning.shelf import Shelf
from headwater.run.children import page_children
from headwater.services import Services
from headwater.web import Web, open_web


async def run_worker(
    services: Services,
    owner: str,
    stop: asyncio.Event,
    told: Callable[[Told], None] = lambda _told: None,
    resolver: AbstractResolver | None = None,
) -> None:
    """Until told to stop."""
    async with (
        open_web(services, owner, resolver) as web,
        page_children(services) as children,
        services.listeners.on(CHANNEL) as listener,
        studying(services, web.identity.product_token, children) as study,
    ):
        await worker_of(services, web, study, listener, owner, told).run(stop)


def worker_of(
    services: Services,
    web: Web,
    study: Studies,
    listener: Listener,
    owner: str,
    told: Callable[[Told], None] = lambda _told: None,
) -> Crew[Lease]:
    settings = services.settings
    fetching = Fetching(
        database=services.database,
        claimer=Claimer(services.database, services.clock, owner, settings.lease.duration),
        sleeper=Sleeper(services.database, listener, owner, settings.fetch.claim_retry_delay),
        journey=journey_of(services, web, study),
        shares=Shares(settings.fetch.concurrency),
        told=told,
    )
    return Crew(fetching, services.clock, services.log, settings.fetch.concurrency, settings.lease.duration)


@asynccontextmanager
async def studying(services: Services, product_token: str, children: Children) -> AsyncIterator[Study]:
    """Reading pages, and learning from them in the background."""
    database, clock, settings = services.database, services.clock, services.settings.extract
    shelf = Shelf(clock, services.random, settings.audit_percent / 100, settings.templates)
    context = Context(database, clock, shelf)
    reader = Reader(children, product_token, settings.hurry_after.total_seconds())
    classroom = Classroom(database, children, context, shelf, product_token, clock, services.log)
    learning = asyncio.create_task(classroom.run(), name="classroom")
    try:
        yield Study(context, reader, shelf.note)
    finally:
        learning.cancel()
        await asyncio.wait([learning])


def journey_of(services: Services, web: Web, study: Studies) -> Journey:
    settings = services.settings
    return Journey(
        web.fetcher,
        web.regranter,
        Keeper(services.database, settings.politeness.delay, settings.poll.new_hosts_per_hour),
        study,
        services.clock,
        services.random,
        RetryPolicy(settings.fetch.max_retries),
        services.log,
        web.rendering,
    )
