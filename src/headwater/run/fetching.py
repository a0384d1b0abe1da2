"""`fetch` as a process: one worker with its own way to the web, and children to read pages in."""

import asyncio
from collections.abc import Callable

from aiohttp.abc import AbstractResolver

from headwater.archive.stores.known import BodyWriter
from headwater.clock import SystemClock
from headwater.database.heartbeat import Heartbeat
from headwater.database.listen import Listener
from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.frontier.claim import Claimer, Shares
from headwater.frontier.entry import Lease
from headwater.frontier.verdicts import RetryPolicy
from headwater.frontier.wake import CHANNEL, Sleeper
from headwater.ingest.journey import Fetching, Finished, Journey, PageReaders
from headwater.ingest.page_context import Context
from headwater.ingest.page_reader import ChildReader, PageReader
from headwater.ingest.page_store import PageStore
from headwater.ingest.template_trainer import TemplateTrainer
from headwater.learning.template_cache import TemplateCache
from headwater.lease_worker import LeaseWorker
from headwater.run.extraction_pools import page_pool
from headwater.run.heartbeat import heartbeat_of
from headwater.run.patience import patient_worker
from headwater.run.presence import FETCH, present
from headwater.services import Services
from headwater.settling import Settling
from headwater.supervisor import Supervisor
from headwater.web import Web, open_web


async def run_worker(
    services: Services,
    owner: str,
    stop: asyncio.Event,
    on_finished: Callable[[Finished], None] = lambda _told: None,
    resolver: AbstractResolver | None = None,
) -> None:
    """Until told to stop."""
    async with (
        open_web(services, owner, resolver) as web,
        page_pool(services) as pool,
        services.listeners.on(CHANNEL) as listener,
        heartbeat_of(services, owner) as heart,
        Supervisor(services.clock, services.log, services.figures) as supervisor,
        present(services, heart, FETCH, [FETCH]),
    ):
        page_reader = start_reading_pages(supervisor, services, web.identity.product_token, pool)
        worker = worker_of(services, web, page_reader, listener, heart, on_finished)
        await supervisor.keep("fetch", lambda: worker.run(stop))


def worker_of(
    services: Services,
    web: Web,
    page_reader: PageReaders,
    listener: Listener,
    heart: Heartbeat,
    on_finished: Callable[[Finished], None] = lambda _told: None,
) -> LeaseWorker[Lease]:
    settings, journey = services.settings, journey_of(services, web, page_reader)
    fetching = Fetching(
        database=services.database,
        claimer=Claimer(services.database, services.clock, heart.owner, settings.lease.duration),
        sleeper=Sleeper(services.database, listener, heart.owner, settings.fetch.claim_retry_delay),
        journey=journey,
        shares=Shares(settings.fetch.concurrency),
        on_finished=on_finished,
        heart=heart,
    )
    return patient_worker(services, fetching, settings.fetch.concurrency, journey.settling)


def start_reading_pages(
    supervisor: Supervisor, services: Services, product_token: str, pool: ExtractionPool
) -> PageReader:
    """Reading pages, and learning from them in the background."""
    database, clock, settings = services.database, services.clock, services.settings.extract
    template_cache = TemplateCache(clock, services.random, settings.audit_percent / 100, settings.templates)
    context = Context(database, clock, template_cache, services.stores)
    reader = ChildReader(pool, product_token, settings.hurry_after.total_seconds(), services.log)
    template_trainer = TemplateTrainer(
        database, pool, context, template_cache, product_token, clock, services.log, services.stores
    )
    supervisor.keep("learn_templates", template_trainer.run)
    return PageReader(context, reader, template_cache.note)


def writer_of(services: Services) -> BodyWriter | None:
    """By the machine's clock: whatever days are simulated, a store is real."""
    chosen = services.stores.chosen
    return BodyWriter(chosen, SystemClock(), services.log, services.figures) if chosen else None


def journey_of(services: Services, web: Web, page_reader: PageReaders) -> Journey:
    settings = services.settings
    return Journey(
        web.fetcher,
        web.regranter,
        PageStore(services.database, settings.politeness.delay, settings.poll.new_hosts_per_hour, writer_of(services)),
        page_reader,
        services.clock,
        services.random,
        RetryPolicy(settings.fetch.max_retries),
        services.log,
        Settling(services.clock, services.log, settings.lease.duration, services.figures),
        web.rendering,
    )
