"""Polls on a real database against small sites of the simulated web."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from tests.integration.fetch.conftest import Path, SmallSite, opened_path

from headwater.database.listen import Listener
from headwater.discover.adding import WantedSource, take_up
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.polling import Polling, Ran
from headwater.run.polling import channel_reader, polling_of
from headwater.simweb.message import Page
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile
from headwater.sources.store import NOTICE, ChannelState, channels_of

STARTED = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
DELAY = timedelta(milliseconds=50)
# Nobody here claims pages: a poll that left a second to claims after each request would wait in vain.
NOBODY_CLAIMS = """
    create function owe_nothing() returns trigger language plpgsql
        as $$ begin new.owes_claim := false; return new; end $$;
    create trigger owe_nothing before update of owes_claim on hosts for each row execute function owe_nothing();
"""
# Of sources of vacancies, whose hosts are asked every three seconds.
QUICK = """
    with slow as (update host_policies set source_delay_ms = null where source_delay_ms > 50)
    update hosts set delay_ms = 50, base_delay_ms = 50 where delay_ms > 50
"""


def rss(*items: tuple[str, str, datetime], ttl: int | None = None) -> Page:
    """Items as (path, title, published)."""
    entries = "".join(
        f"<item><link>http://a.test{path}</link><title>{title}</title><guid>{path}</guid>"
        f"<pubDate>{published:%a, %d %b %Y %H:%M:%S} GMT</pubDate></item>"
        for path, title, published in items
    )
    asked = f"<ttl>{ttl}</ttl>" if ttl else ""
    text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>A</title>{asked}{entries}</channel></rss>'
    return Page(text.encode(), "application/rss+xml")


def ask_sitemaps(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """So many answers of an index in one run."""
    sitemap = ChannelKind.SITEMAP
    monkeypatch.setattr(sitemap, "traits", replace(sitemap.traits, most_answers=most))


def stories(count: int, before: datetime = STARTED, first: int = 0) -> list[tuple[str, str, datetime]]:
    return [(f"/story-{n}", f"Story {n}", before - timedelta(hours=n - first + 1)) for n in range(first, first + count)]


@dataclass
class Desk:
    """A poller whose days are told to it: schedules follow `now`, slots the real clock."""

    path: Path
    polling: Polling
    now: list[datetime] = field(default_factory=lambda: [STARTED])
    ran: list[Ran] = field(default_factory=list)

    @property
    def site(self) -> SmallSite:
        site = self.path.sim.sites["a.test"]
        assert isinstance(site, SmallSite)
        return site

    async def follow(self, url: str = "http://a.test/", **wanted: object) -> UUID:
        """Hosts are asked quickly, but for `keeps_delay`: where their delay is what is looked at."""
        keeps_delay = wanted.pop("keeps_delay", False)
        profile = {name: wanted.pop(name) for name in list(wanted) if name in Profile.__dataclass_fields__}
        async with self.path.database.transaction() as connection:
            chosen = WantedSource(Profile(url, **profile), **wanted)  # type: ignore[arg-type]
            source = await take_up(connection, chosen, "tester", DELAY)
        # Created by the database's clock, which is not the one of these days.
        await self.path.database.execute(
            "update channels set next_poll_at = $1 where last_polled_at is null", self.now[0]
        )
        if not keeps_delay:
            await self.path.database.execute(QUICK)
        return source

    async def claim(self, most: int = 10) -> list[Leased]:
        leases, _ = await self.polling.claim(most)
        return list(leases)

    async def poll(self) -> list[Ran]:
        """Everything that is due, until nothing is."""
        before = len(self.ran)
        while leases := await self.claim():
            for lease in leases:
                await self.polling.work(lease)
        return self.ran[before:]

    async def poll_again(self, after: timedelta | None = None) -> list[Ran]:
        """At the time of the next poll, or so much later."""
        if after is None:
            due = await self.path.database.fetchval("select min(next_poll_at) from channels where is_active")
            self.now[0] = max(self.now[0], due)
        else:
            self.now[0] += after
        return await self.poll()

    async def channels(self, source: UUID) -> list[ChannelState]:
        return (await channels_of(self.path.database, [source]))[source]

    async def channel(self, source: UUID) -> ChannelState:
        [one] = await self.channels(source)
        return one

    async def entries(self) -> set[str]:
        return {row["url"] for row in await self.path.database.fetch("select url from url_frontier")}

    async def events(self) -> list[str]:
        return [row["kind"] for row in await self.path.database.fetch("select kind from events order by id")]


@asynccontextmanager
async def opened_desk(
    database_url: str, sites: Mapping[str, SmallSite], flags: Mapping[str, str] | None = None
) -> AsyncIterator[Desk]:
    async with (
        opened_path(
            database_url, sites, {"poll.jitter_percent": "0", "poll.sitemaps": "false", **(flags or {})}
        ) as path,
        channel_reader(path.services) as reader,
        Listener(path.services.dsn, [NOTICE], path.services.random) as listener,
    ):
        await path.database.execute(NOBODY_CLAIMS)
        desk = Desk(path, None)  # type: ignore[arg-type]
        desk.polling = polling_of(
            path.services, path.web, reader, listener, "tester", desk.ran.append, calendar=lambda: desk.now[0]
        )
        yield desk


@pytest.fixture
async def desk(database_url: str) -> AsyncIterator[Desk]:
    async with opened_desk(database_url, {"a.test": SmallSite({}), "b.test": SmallSite({})}) as opened:
        yield opened
