"""`fetch` as a process: one worker with its own way to the web."""

import asyncio
from collections.abc import Callable

from aiohttp.abc import AbstractResolver

from headwater.crew import Crew
from headwater.database.listen import Listener
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import Lease
from headwater.frontier.verdicts import RetryPolicy
from headwater.frontier.wake import CHANNEL, Sleeper
from headwater.ingest.fetching import Fetching
from headwater.ingest.journey import Journey, Told
from headwater.services import Services
from headwater.web import Web, open_web


async def run_worker(
    services: Services,
    owner: str,
    stop: asyncio.Event,
    told: Callable[[Told], None],
    resolver: AbstractResolver | None = None,
) -> None:
    """Until told to stop."""
    async with (
        open_web(services, owner, resolver) as web,
        Listener(services.dsn, [CHANNEL], services.random) as listener,
    ):
        await worker_of(services, web, listener, owner, told).run(stop)


def worker_of(
    services: Services, web: Web, listener: Listener, owner: str, told: Callable[[Told], None]
) -> Crew[Lease]:
    settings = services.settings
    fetching = Fetching(
        database=services.database,
        claimer=Claimer(services.database, services.clock, owner, settings.lease.duration),
        sleeper=Sleeper(services.database, listener, owner, settings.fetch.claim_retry_delay),
        journey=Journey(
            web.fetcher,
            web.regranter,
            services.database,
            services.clock,
            services.random,
            RetryPolicy(settings.fetch.max_retries),
            settings.politeness.delay,
            web.rendering,
        ),
        told=told,
    )
    return Crew(fetching, services.clock, services.log, settings.fetch.concurrency, settings.lease.duration)
