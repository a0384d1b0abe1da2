"""The fetch path put together: everything between a lease and the wire, built once for a process."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver

from headwater.errors import SettingError
from headwater.fetch.browser import Browser
from headwater.fetch.crowds import Crowds
from headwater.fetch.fetcher import DatabasePreflight, Fetcher
from headwater.fetch.held_slot import SlotReservations
from headwater.fetch.passing import PassingReservations, PassingRobots, Strangers
from headwater.fetch.render import Renderer, Rendering
from headwater.fetch.robots import DatabaseRobots, RobotsCache
from headwater.fetch.tdmrep import TdmStore
from headwater.frontier.control import end_where, revive_where
from headwater.frontier.entry import DeadReason
from headwater.net.addresses import LOOPBACK, why_forbidden
from headwater.net.guard import AddressGuard, parse_allowed_place
from headwater.net.identity import Identity, identity_of
from headwater.net.keys import identity_file
from headwater.net.signing import KeyFile, RequestSigner, agent_origin
from headwater.net.transport import Pooling, TransferLimits, Transport
from headwater.politeness.addresses import answering_domains
from headwater.politeness.hosts import follow_address, pace_everybody
from headwater.politeness.robots import LARGEST_BYTES, Robots
from headwater.politeness.slots import Regranter, SlotKeeper
from headwater.services import Services, direct_address
from headwater.settings.groups import FetchSettings, NetworkSettings, WebSettings
from headwater.sources.store import unblock_where
from headwater.urls.canonical import CanonicalUrl
from headwater.urls.origin import Origin

POSTGRESQL_PORT = 5432
# How the owners of a person's single commands begin; those of the roles name their process.
COMMAND = "headwater "


@dataclass(frozen=True, slots=True)
class Web:
    identity: Identity
    transport: Transport
    fetcher: Fetcher
    reservations: SlotReservations
    regranter: Regranter
    rendering: Rendering
    followers: "RulesFollower"
    strangers: Strangers


@asynccontextmanager
async def open_web(
    services: Services,
    owner: str,
    resolver: AbstractResolver | None = None,
    *,
    trust: ssl.SSLContext | None = None,
    leaves_no_trace: bool = False,
) -> AsyncIterator[Web]:
    """`owner` is the name under which slots are held; `resolver` and `trust` as the Transport takes them."""
    settings, clock, database = services.settings, services.clock, services.database
    identity = identity_of(settings.fetch, settings.web.public_url)
    say_what_is_unusual(services)
    if not owner.startswith(COMMAND):
        ask_for_a_contact(services)
    await pace_everybody_unless_off(services)
    limits = limits_of(settings.fetch)
    lease, delay = settings.lease.duration, settings.politeness.delay
    regranter = Regranter(database, clock, lease)
    slots = SlotKeeper(database, clock, owner, lease, delay)
    strangers = Strangers(database, clock, delay)
    reservations = (
        PassingReservations(slots, regranter, clock, strangers)
        if leaves_no_trace
        else SlotReservations(slots, regranter, clock)
    )
    followers = RulesFollower(services)
    own = await own_listeners(services.dsn) | await own_listeners(direct_address(settings.database) or "")
    own |= await own_web_listeners(settings.web)
    transport = transport_of(services, identity, resolver, own)
    transport.trust, transport.signer = trust, signer_of(services)
    if leaves_no_trace:
        transport.dialled = None
    if not owner.startswith(COMMAND):
        # A person who asks for one thing is told how that went.
        transport.network = services.network
    async with transport, Browser(clock) as browser:
        shared = DatabaseRobots(database, delay, followers.follow)
        store = PassingRobots(shared, strangers) if leaves_no_trace else shared
        robots_limits = TransferLimits(limits.total, limits.connect, limits.read, LARGEST_BYTES + 1)
        robots_cache = RobotsCache(transport, reservations, store, robots_limits, identity.user_agent)
        preflight = DatabasePreflight(database, robots_cache, limits.body_bytes, strangers.known)
        retries, redirects = settings.fetch.retries_in_place, settings.fetch.max_redirects
        fetcher = Fetcher(
            transport, preflight, limits, clock, services.random, retries, redirects, tdm_store=TdmStore(database)
        )
        try:
            rendering = Rendering(Renderer(browser, identity.user_agent), fetcher, reservations, database)
            yield Web(identity, transport, fetcher, reservations, regranter, rendering, followers, strangers)
        finally:
            await followers.finish()


def say_what_is_unusual(services: Services) -> None:
    settings = services.settings
    if settings.network.allow:
        services.log.info("private_addresses_allowed", reservations=list(settings.network.allow))
    if not settings.politeness.enabled:
        services.log.warning(
            "politeness_off_for_allowed_places_only",
            reservations=list(settings.network.allow),
            delay_seconds_elsewhere=settings.politeness.delay.total_seconds(),
        )


def ask_for_a_contact(services: Services) -> None:
    """Once for each role: a person who runs one command after another would only learn to look away."""
    fetch = services.settings.fetch
    if not fetch.contact and not fetch.user_agent:
        services.log.warning("no_contact_set", fix="Set fetch.contact, so that a site owner can reach you.")


async def pace_everybody_unless_off(services: Services) -> None:
    """Delays left out for our own hosts while politeness was off must not outlast it."""
    if services.settings.politeness.enabled:
        await pace_everybody(services.database, services.settings.politeness.delay)


async def own_listeners(dsn: str) -> frozenset[tuple[str, int]]:
    """Where our own database listens: no page may lead us there, whatever is allowed."""
    place = urlsplit(dsn)
    if not place.hostname:
        return frozenset()  # a socket in the file system
    return await _listeners_at(place.hostname, place.port or POSTGRESQL_PORT)


async def own_web_listeners(web: WebSettings) -> frozenset[tuple[str, int]]:
    """Where the web role listens for others: whoever asks it from here is no stranger to its network."""
    found = await _listeners_at(web.host.strip("[]"), web.port) if web.port else frozenset()
    # From loopback the guard keeps everybody away, and what is allowed there may be a site of one's own.
    return frozenset(place for place in found if why_forbidden(place[0]) != LOOPBACK)


async def _listeners_at(host: str, port: int) -> frozenset[tuple[str, int]]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return frozenset({(host, port)})
    return frozenset((str(info[4][0]), port) for info in found)


def signer_of(services: Services) -> RequestSigner | None:
    """None where requests are not signed; without a key that can be used nothing is asked at all."""
    settings = services.settings
    if not settings.identity.sign:
        return None
    agent = agent_origin(settings.web.public_url)
    keys = KeyFile(identity_file(settings), services.clock, services.log)
    return RequestSigner(keys, agent, settings.identity.agent_form, settings.identity.nonce)


def transport_of(
    services: Services,
    identity: Identity,
    resolver: AbstractResolver | None,
    own: frozenset[tuple[str, int]] = frozenset(),
) -> Transport:
    network, fetch, politeness = services.settings.network, services.settings.fetch, services.settings.politeness
    return Transport(
        identity=identity,
        guard=guard_of(network, own),
        clock=services.clock,
        pooling=Pooling(fetch.max_idle_connections, fetch.max_connections_per_host, fetch.idle_timeout),
        dns_timeout=network.dns_timeout,
        local_addresses=network.local_addresses,
        proxy=proxy_of(network),
        resolver=resolver,
        dialled=None if politeness.enabled else partial(follow_address, services.database, politeness.delay),
        crowded=Crowds(services.clock, politeness.address_delay, partial(answering_domains, services.database)),
        figures=services.figures,
    )


def guard_of(network: NetworkSettings, own: frozenset[tuple[str, int]] = frozenset()) -> AddressGuard:
    return AddressGuard(frozenset(map(parse_allowed_place, network.allow)), frozenset(network.ports), own)


def proxy_of(network: NetworkSettings) -> str | None:
    """Behind a proxy we never see the address that is dialled: without its word the guard would be for show."""
    if network.proxy is None:
        return None
    if not network.proxy_is_trusted:
        raise SettingError(
            "A proxy is set, and behind it addresses cannot be guarded.",
            fix="Unset it, or set network.proxy_is_trusted = true if it refuses private addresses itself.",
        )
    return network.proxy.get_secret_value()


def limits_of(fetch: FetchSettings) -> TransferLimits:
    return TransferLimits(fetch.total_timeout, fetch.connect_timeout, fetch.read_timeout, fetch.max_body_bytes)


@dataclass(slots=True)
class RulesFollower:
    """Changed rules of robots.txt reach the waiting entries of their origin, beside the fetch that found them."""

    services: Services
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    def follow(self, origin: Origin, robots: Robots | None) -> None:
        task = asyncio.create_task(self._apply(origin, robots))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _apply(self, origin: Origin, robots: Robots | None) -> None:
        def is_allowed(url: CanonicalUrl) -> bool:
            return url.origin == origin and (robots is None or robots.decide(url.target).allowed)

        def is_refused(url: CanonicalUrl) -> bool:
            return url.origin == origin and robots is not None and not robots.decide(url.target).allowed

        database = self.services.database
        ended = await end_where(database, origin.host, is_refused, DeadReason.ROBOTS_BLOCKED)
        revived = await revive_where(database, origin.host, is_allowed)
        unblocked = await unblock_where(database, origin.host, is_allowed)
        self.services.log.info(
            "robots_changed", host=origin.host, ended=ended, revived=revived, unblocked_sources=unblocked
        )
