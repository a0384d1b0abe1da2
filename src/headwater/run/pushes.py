"""Push in, beside the polls of a process: hubs asked in time, and what they pushed read."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from headwater.database.heartbeat import Heartbeat
from headwater.database.listen import Listener
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.reader import ChannelReader
from headwater.discover.polls.submit_items import IntakeLimits
from headwater.discover.push.keeping import forget_pushes, look_after_quiet
from headwater.discover.push.subscribing import Subscriber
from headwater.discover.push.taking import NOTICE, PushReading
from headwater.fetch.fetcher import Follower
from headwater.lease_worker import LeaseWorker
from headwater.run.chores import Chore
from headwater.services import Services
from headwater.settling import Settling
from headwater.sources.push import may_subscribe
from headwater.web import Web

HUBS_EVERY = timedelta(seconds=5)
QUIET_EVERY, FORGET_EVERY = timedelta(minutes=1), timedelta(hours=1)
# They are read in moments.
PUSHES_AT_ONCE = 4


def pushed_channels(services: Services) -> Listener:
    """Hears that something was pushed."""
    return services.listeners.on(NOTICE)


def push_chores(services: Services, web: Web) -> list[Chore]:
    """Hubs are asked only where they could reach us; what they said before is kept in order everywhere."""
    database = services.database
    kept = [
        Chore("look_after_quiet", QUIET_EVERY, partial(look_after_quiet, database)),
        Chore("forget_pushes", FORGET_EVERY, partial(forget_pushes, database)),
    ]
    if not may_subscribe(services.settings.web.public_url):
        return kept
    follower = Follower(web.fetcher, web.reservations)
    subscriber = Subscriber(
        database,
        follower,
        services.settings.web.public_url,
        services.random,
        services.log,
        bool(services.settings.network.allow),
    )
    return [Chore("ask_hubs", HUBS_EVERY, subscriber.ask_due), *kept]


def push_worker_of(
    services: Services, reader: ChannelReader, listener: Listener, heart: Heartbeat
) -> LeaseWorker[Leased]:
    """Under an owner of its own: what one of the two workers of a process gives back must not be the other's."""
    reading = replace(push_reading_of(services, reader, listener, f"{heart.owner} pushes"), heart=heart)
    return LeaseWorker(
        reading,
        services.clock,
        services.log,
        PUSHES_AT_ONCE,
        services.settings.lease.duration,
        settling=reading.settling,
        figures=services.figures,
        drain=services.drain,
    )


def push_reading_of(services: Services, reader: ChannelReader, listener: Listener, owner: str) -> PushReading:
    settings, poll = services.settings, services.settings.poll
    return PushReading(
        database=services.database,
        clock=services.clock,
        log=services.log,
        listener=listener,
        reader=reader,
        settling=Settling(services.clock, services.log, settings.lease.duration, services.figures),
        limits=IntakeLimits(settings.politeness.delay, poll.foreign_urls_per_day, poll.new_hosts_per_hour),
        owner=owner,
        lease=settings.lease.duration,
        shortest_interval=poll.min_interval,
    )
