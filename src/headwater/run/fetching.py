"""`fetch` as a process: one worker with its own way to the web, and children to read pages in."""

import asyncio
from collections.abc import Callable

from aiohttp.abc import AbstractResolver

from headwater.crew import Crew
from headwater.database.heartbeat import Heartbeat
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
from headwater.run.heartbeat import heartbeat_of
from headwater.run.patience import patient_crew
from headwater.run.presence import FETCH, present
from headwater.services import Services
from headwater.settling import Settling
from headwater.supervisor import Supervisor
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
        heartbeat_of(services, owner) as heart,
        Supervisor(services.clock, services.log, services.figures) as supervisor,
        present(services, heart, FETCH, [FETCH]),
    ):
        study = start_studying(supervisor, services, web.identity.product_token, children)
        worker = worker_of(services, web, study, listener, heart, told)
        await supervisor.keep("fetch", lambda: worker.run(stop))


def worker_of(
    services: Services,
    web: Web,
    study: Studies,
    listener: Listener,
    heart: Heartbeat,
    told: Callable[[Told], None] = lambda _told: None,
) -> Crew[Lease]:
    settings, journey = services.settings, journey_of(services, web, study)
    fetching = Fetching(
        database=services.database,
        claimer=Claimer(services.database, services.clock, heart.owner, settings.lease.duration),
        sleeper=Sleeper(services.database, listener, heart.owner, settings.fetch.claim_retry_delay),
        journey=journey,
        shares=Shares(settings.fetch.concurrency),
        told=told,
        heart=heart,
    )
    return patient_crew(services, fetching, settings.fetch.concurrency, journey.settling)


def start_studying(supervisor: Supervisor, services: Services, product_token: str, children: Children) -> Study:
    """Reading pages, and learning from them in the background."""
    database, clock, settings = services.database, services.clock, services.settings.extract
    shelf = Shelf(clock, services.random, settings.audit_percent / 100, settings.templates)
    context = Context(database, clock, shelf)
    reader = Reader(children, product_token, settings.hurry_after.total_seconds(), services.log)
    classroom = Classroom(database, children, context, shelf, product_token, clock, services.log)
    supervisor.keep("learn_templates", classroom.run)
    return Study(context, reader, shelf.note)


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
        Settling(services.clock, services.log, settings.lease.duration, services.figures),
        web.rendering,
    )
