"""A publisher, its hub and both roles of ours: the poller in this process, the web role behind a socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.integration.discover.conftest import NOBODY_CLAIMS, QUICK
from tests.integration.fetch.conftest import Path, SmallSite, opened_path
from tests.integration.serve.callers import ApiCaller, api_on

from headwater.database.listen import Listener
from headwater.discover.adding import WantedSource, take_up
from headwater.discover.polls.polling import Polling, Ran
from headwater.discover.push.subscribing import Subscriber
from headwater.discover.push.taking import NOTICE as PUSHED
from headwater.discover.push.taking import PushReading, PushTaken
from headwater.fetch.fetcher import Follower
from headwater.run.polling import channel_reader, polling_of
from headwater.run.pushes import push_reading_of
from headwater.simweb.hubs import Hub, HubCall, HubHears
from headwater.simweb.message import Page
from headwater.sources.source import Profile
from headwater.sources.store import NOTICE

PUBLIC = "https://push.test"
HUB = "http://hub.test/"
FEED = "http://a.test/feed"
DELAY = timedelta(milliseconds=50)


def feed(*stories: str, hub: str = HUB, topic: str = FEED, at: datetime | None = None, more: str = "") -> Page:
    """RSS with a story for each name, published a minute ago unless said otherwise."""
    published = (at or datetime.now(UTC) - timedelta(minutes=1)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    links = f'<atom:link rel="hub" href="{hub}"/>' if hub else ""
    links += f'<atom:link rel="self" href="{topic}"/>' if topic else ""
    items = "".join(
        f"<item><link>http://a.test/{name}</link><title>{name}</title><pubDate>{published}</pubDate></item>"
        for name in stories
    )
    text = (
        '<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>'
        f"<title>A</title>{links}{more}{items}</channel></rss>"
    )
    return Page(text.encode(), "application/rss+xml")


@dataclass
class PushStage:
    path: Path
    api: ApiCaller
    hub: Hub
    polling: Polling
    pushes: PushReading
    subscriber: Subscriber
    pushed: Listener
    ran: list[Ran] = field(default_factory=list)
    taken: list[PushTaken] = field(default_factory=list)

    @property
    def database(self) -> Any:
        return self.path.database

    @property
    def site(self) -> SmallSite:
        site = self.path.sim.sites["a.test"]
        assert isinstance(site, SmallSite)
        return site

    async def follow(self, url: str = FEED, **profile: Any) -> UUID:
        async with self.database.transaction() as connection:
            wanted = WantedSource(Profile("http://a.test/", **profile), feeds=(url,))
            source = await take_up(connection, wanted, "tester", DELAY)
        await self.database.execute(QUICK)
        return source

    async def poll(self) -> list[Ran]:
        """Every channel, whatever its time."""
        await self.database.execute("update channels set next_poll_at = now() where is_active")
        before = len(self.ran)
        leases, _ = await self.polling.claim(10)
        for lease in leases:
            await self.polling.work(lease)
        return self.ran[before:]

    async def subscribe(self) -> None:
        """Everything that is due, and all that hubs do about it."""
        await self.subscriber.ask_due()
        await self.hub.settle()

    async def follow_and_subscribe(self, page: Page | None = None) -> None:
        self.site.pages["/feed"] = page or feed("old")
        await self.follow()
        await self.poll()
        await self.subscribe()

    async def publish(self, page: Page, topic: str = FEED) -> None:
        """To subscribers alone: no poll sees it. Until it was read."""
        before = len(self.taken)
        await self.hub.publish(topic, page.body, page.content_type)
        await self.read(before + 1)

    async def read(self, least: int = 0) -> None:
        """What was pushed, until so much was read in all."""
        while True:
            leases, _ = await self.pushes.claim(10)
            for lease in leases:
                await self.pushes.work(lease)
            if len(self.taken) >= least and not leases:
                return
            if not leases:
                await self.pushed.wait(0.5)

    async def subscription(self) -> dict[str, Any]:
        return dict(await self.database.fetchrow("select * from subscriptions"))

    async def channel(self) -> dict[str, Any]:
        return dict(await self.database.fetchrow("select * from channels where kind = 'feed'"))

    async def entries(self) -> set[str]:
        return {row["url"] for row in await self.database.fetch("select url from url_frontier")}

    async def waiting(self) -> int:
        count: int = await self.database.fetchval("select count(*) from pushes")
        return count

    async def state(self) -> tuple[Any, ...]:
        """Everything that a push could change."""
        await self.read()
        channel = await self.channel()
        kept = ("url", "next_poll_at", "next_reason", "last_new_at", "newest_item_at", "rhythm", "etag", "last_ok_at")
        items = await self.database.fetch("select * from channel_items order by url_hash")
        subscription = await self.subscription()
        return ([channel[name] for name in kept], [tuple(row) for row in items], await self.entries(), subscription)


@asynccontextmanager
async def opened_stage(
    database_url: str, public_url: str = PUBLIC, log_level: str = "error", *, claims: bool = False
) -> AsyncIterator[PushStage]:
    shared = {"web.public_url": public_url, "log.level": log_level}
    flags = {**shared, "poll.sitemaps": "false", "poll.jitter_percent": "0"}
    async with api_on(database_url, shared) as api:

        async def reach(call: HubCall) -> HubHears:
            """As by the operator's proxy, which ends https."""
            assert call.url.startswith(PUBLIC), call.url
            target = call.url.removeprefix(PUBLIC).removeprefix(":443")
            reply = await api.ask(call.method, target, call.body, host="push.test", **dict(call.headers))
            return HubHears(reply.status, reply.body)

        hub = Hub(HUB, reach)
        sites: dict[str, Any] = {"a.test": SmallSite({}), "b.test": SmallSite({}), "hub.test": hub}
        async with (
            opened_path(database_url, sites, flags) as path,
            channel_reader(path.services) as reader,
            Listener(path.services.dsn, [NOTICE], path.services.random) as listener,
            Listener(path.services.dsn, [PUSHED], path.services.random) as pushed,
        ):
            if not claims:
                await path.database.execute(NOBODY_CLAIMS)
            services = path.services
            ran: list[Ran] = []
            taken: list[PushTaken] = []
            polling = polling_of(services, path.web, reader, listener, "tester", ran.append)
            pushes = replace(push_reading_of(services, reader, pushed, "tester pushes"), on_finished=taken.append)
            follower = Follower(path.web.fetcher, path.web.reservations)
            subscriber = Subscriber(
                path.database, follower, public_url, services.random, services.log, has_network=True
            )
            yield PushStage(path, api, hub, polling, pushes, subscriber, pushed, ran, taken)
            await hub.settle()


@pytest.fixture
async def stage(database_url: str) -> AsyncIterator[PushStage]:
    async with opened_stage(database_url) as opened:
        yield opened
