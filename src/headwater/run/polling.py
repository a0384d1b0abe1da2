"""`poll` as a process: due channels asked, their price steered, robots.txt kept fresh."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from aiohttp.abc import AbstractResolver

from headwater.database.heartbeat import Heartbeat
from headwater.database.listen import Listener
from headwater.discover.api.secrets import secrets_from
from headwater.discover.api.tokens import Tokens
from headwater.discover.polls.ending import RunEnding
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.polling import Marks, Poll, Polling, Ran, make_everything_due
from headwater.discover.polls.prices import STEERED_EVERY, steer
from headwater.discover.polls.reader import ChannelReader
from headwater.discover.polls.requesting import Asker, ResponseCache
from headwater.discover.polls.run_store import RunStore
from headwater.discover.polls.submit_items import IntakeLimits
from headwater.fetch.fetcher import Follower
from headwater.fetch.robots import RobotsRounds
from headwater.frontier.pause import require_not_paused
from headwater.lease_worker import LeaseWorker, give_back
from headwater.load import FEWEST
from headwater.run.chores import Chore, start_chores
from headwater.run.extraction_pools import channel_pool
from headwater.run.heartbeat import heartbeat_of
from headwater.run.patience import patient_worker
from headwater.run.presence import POLL, present
from headwater.run.pushes import push_chores, push_worker_of, pushed_channels
from headwater.services import Services
from headwater.settling import Settling
from headwater.sources.store import NOTICE
from headwater.supervisor import Supervisor
from headwater.web import Web, open_web

Calendar = Callable[[], datetime | None]
ROBOTS_EVERY = timedelta(seconds=60)


def by_the_database() -> datetime | None:
    return None


async def run_poller(
    services: Services,
    owner: str,
    stop: asyncio.Event,
    on_finished: Callable[[Ran], None] = lambda _ran: None,
    resolver: AbstractResolver | None = None,
    calendar: Calendar = by_the_database,
) -> None:
    """Until told to stop."""
    async with (
        open_web(services, owner, resolver) as web,
        channel_reader(services) as reader,
        services.listeners.on(NOTICE) as listener,
        pushed_channels(services) as pushed,
        heartbeat_of(services, owner) as heart,
        Supervisor(services.clock, services.log, services.figures) as supervisor,
        present(services, heart, POLL, [POLL]),
    ):
        start_chores_beside(supervisor, services, web, calendar)
        poller = poller_of(services, web, reader, listener, heart, on_finished, calendar)
        pushes = push_worker_of(services, reader, pushed, heart)
        # Each until told to stop.
        tasks = [
            supervisor.keep("poll", lambda: poller.run(stop)),
            supervisor.keep("read_pushes", lambda: pushes.run(stop)),
        ]
        await asyncio.wait(tasks)


@asynccontextmanager
async def channel_reader(services: Services) -> AsyncIterator[ChannelReader]:
    async with channel_pool(services) as pool:
        yield ChannelReader(pool)


def start_chores_beside(supervisor: Supervisor, services: Services, web: Web, calendar: Calendar) -> None:
    """Chores of a poller beside its polls."""
    rounds = RobotsRounds(services.database, web.reservations, web.fetcher.preflight.look)
    steering = Chore("steer_price", STEERED_EVERY / 60, lambda: keep_price(services, calendar))
    chores = [steering, Chore("refresh_robots", ROBOTS_EVERY, rounds.go), *push_chores(services, web)]
    start_chores(chores, supervisor, services.random)


def poller_of(
    services: Services,
    web: Web,
    reader: ChannelReader,
    listener: Listener,
    heart: Heartbeat,
    on_finished: Callable[[Ran], None],
    calendar: Calendar = by_the_database,
) -> LeaseWorker[Leased]:
    settings = services.settings
    if not settings.poll.enabled:
        services.log.warning("polling_is_off", setting="poll.enabled = false")
    polling = polling_of(services, web, reader, listener, heart.owner, on_finished, calendar)
    polling = replace(polling, heart=heart, marks=Marks(services.clock))
    return patient_worker(services, polling, settings.poll.concurrency, polling.poll.run_store.settling)


def polling_of(
    services: Services,
    web: Web,
    reader: ChannelReader,
    listener: Listener,
    owner: str,
    on_finished: Callable[[Ran], None],
    calendar: Calendar = by_the_database,
) -> Polling:
    return Polling(
        database=services.database,
        clock=services.clock,
        log=services.log,
        listener=listener,
        poll=poll_of(services, web, reader, calendar),
        owner=owner,
        lease=services.settings.lease.duration,
        tick=services.settings.poll.tick,
        on_finished=on_finished,
    )


def poll_of(services: Services, web: Web, reader: ChannelReader, calendar: Calendar = by_the_database) -> Poll:
    settings = services.settings
    response_cache = ResponseCache(services.clock)
    return Poll(
        asker=Asker(
            Follower(web.fetcher, web.reservations),
            services.database,
            response_cache,
            Tokens(services.clock),
            secrets_from(settings.poll.secrets_file),
        ),
        reader=reader,
        run_store=RunStore(
            services.database,
            services.clock,
            settings.lease.duration,
            IntakeLimits(
                settings.politeness.delay, settings.poll.foreign_urls_per_day, settings.poll.new_hosts_per_hour
            ),
            response_cache,
            Settling(services.clock, services.log, settings.lease.duration, services.figures),
        ),
        settings=settings.poll,
        clock=services.clock,
        random=services.random,
        calendar=calendar,
    )


async def keep_price(services: Services, calendar: Calendar) -> None:
    """Any number of pollers may do it; the row decides who was first."""
    steered = await steer(services.database, services.settings.poll.polls_per_hour, calendar())
    if steered:
        services.log.info("price_steered", hours=steered.price.hours, made=steered.made, allowed=steered.allowed)


# What waits for its turn at a host is still waited for; what is due later is not due.
WAITED_FOR = timedelta(seconds=15)
EVERYTHING = 1_000_000


async def poll_what_is_due(services: Services, tell: Callable[[Leased, RunEnding], None]) -> dict[str, int]:
    """Everything that is due, once, and then an end. Found is what is new to its channel.

    Without adaptive scheduling everything is due, except what rests after errors or was polled just now. Raises Refused
    where everything is paused, or is meanwhile.
    """
    await require_not_paused(services.database)
    services = with_polling_on(services)
    if not services.settings.poll.adaptive:
        await make_everything_due(services.database, services.settings.poll.min_interval)
    counts = {"polled": 0, "failed": 0, "found": 0}

    def on_finished(ran: Ran) -> None:
        if ran.ending is None:
            return
        counts["polled"] += 1
        counts["failed"] += ran.ending.status == "fail"
        counts["found"] += ran.run_state.tally.inserted
        tell(ran.channel, ran.ending)

    async with (
        open_web(services, "headwater crawl run-due") as web,
        channel_reader(services) as reader,
        services.listeners.on(NOTICE) as listener,
    ):
        polling = polling_of(services, web, reader, listener, "headwater crawl run-due", on_finished)
        while True:
            leases, wait = await polling.claim(services.settings.poll.concurrency or FEWEST)
            if leases:
                await work_together(polling, leases)
            elif wait is None or wait > WAITED_FOR:
                return counts
            else:
                await require_not_paused(services.database)
                await services.clock.sleep(max(wait.total_seconds(), 0.1))


def with_polling_on(services: Services) -> Services:
    """`poll.enabled` and batches of job sources are about the schedule; what a person asks for is done."""
    poll = services.settings.poll.model_copy(update={"enabled": True, "jobs_batch": EVERYTHING})
    return replace(services, settings=services.settings.model_copy(update={"poll": poll}))


async def work_together(polling: Polling, leases: Sequence[Leased]) -> None:
    running = {asyncio.create_task(polling.work(lease)): lease for lease in leases}
    try:
        # Not gather, which would end them itself: then nobody could tell what to give back.
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        await give_back(polling, running)
