"""A street of the simulated web: healthy publishers, their hostile neighbour, and all of our roles in a process."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from tests.endtoend.conftest import started

from headwater.chance import random_from
from headwater.clock import Clock, SystemClock
from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.simweb.message import Page, Request, Site
from headwater.simweb.neighbours import Followed, Neighbourhood, Plan, beside
from headwater.simweb.neighbours.words import Item, article, rss
from headwater.simweb.server import SimWeb
from headwater.simweb.world.markup import in_script
from headwater.sources.source import Profile, SourceKind
from headwater.urls.canonical import canonicalise

DELAY = timedelta(milliseconds=20)
LOOK_EVERY_S = 0.1
LONGEST_WAIT_S = 90
GRACE_S = 20
# As a text shows it, and as the stemmer of a search vector leaves it.
MARK = re.compile(r"mallory-[a-z]|'mallori")
OPEN = "status in ('pending', 'fetching')"


@dataclass(frozen=True, slots=True)
class Story:
    title: str
    lines: tuple[str, ...]
    status: int = 200


def told(subject: str, number: int = 12) -> tuple[str, ...]:
    return tuple(
        f"The {subject} was discussed for hours on day {n}, and nobody left before the vote." for n in range(number)
    )


@dataclass
class Paper:
    """A healthy publisher whose pages say nothing but their title and text: anything else stored was told."""

    host: str
    stories: dict[str, Story]
    forbidden: tuple[str, ...] = ()

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/feed.xml":
            return self._feed()
        if request.path == "/robots.txt":
            rules = "".join(f"Disallow: {path}\n" for path in self.forbidden)
            return Page(f"User-agent: *\n{rules}".encode(), "text/plain")
        story = self.stories.get(request.path)
        if story is None:
            return None
        page = article(story.title, story.lines)
        return Page(page.body, status=story.status)

    def _feed(self) -> Page:
        return rss(self.host, [Item(self.url(path), story.title) for path, story in self.stories.items()])

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(map(self.url, self.stories))

    @property
    def followed(self) -> Followed:
        return Followed("stolen_words", f"http://{self.host}/", feeds=(self.url("/feed.xml"),), is_hostile=False)


def paper(host: str = "paper.test", count: int = 3) -> Paper:
    return Paper(
        host, {f"/story-{n}": Story(f"Story {n} of {host}", told(f"bridge {n} of {host}")) for n in range(count)}
    )


def with_data(data: str) -> Page:
    return Page(f'<title>Jobs</title><script type="application/ld+json">{data}</script>'.encode())


@dataclass(frozen=True)
class Employer:
    """A healthy employer: a careers page with its vacancies in structured data."""

    host: str = "careers.aid.test"
    count: int = 3

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/careers":
            data = in_script(
                {"@context": "https://schema.org", "@graph": [self._posting(n) for n in range(self.count)]}
            )
            return with_data(data)
        found = [n for n, url in enumerate(self.urls) if url.endswith(request.path)]
        return with_data(in_script({"@context": "https://schema.org", **self._posting(found[0])})) if found else None

    def _posting(self, number: int) -> dict[str, object]:
        return {
            "@type": "JobPosting",
            "title": f"Water engineer {number}",
            "description": " ".join(told(f"well {number}", 4)),
            "hiringOrganization": {"@type": "Organization", "name": "Clear Water Aid"},
            "validThrough": "2030-05-01",
            "url": self.urls[number],
        }

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(f"http://{self.host}/jobs/{n}" for n in range(self.count))

    @property
    def followed(self) -> Followed:
        return Followed("stolen_vacancies", f"http://{self.host}/careers", "jobs", is_hostile=False)


@dataclass
class Street:
    database: Database
    web: SimWeb
    neighbours: Neighbourhood
    task: Mapping[str, Any]
    sources: dict[str, UUID] = field(default_factory=dict)

    async def follow(self, *followed: Followed) -> None:
        for one in followed:
            wanted = WantedSource(Profile(one.url, kind=SourceKind(one.kind)), feeds=one.feeds, sitemaps=one.sitemaps)
            async with self.database.transaction() as connection:
                self.sources[one.url] = await take_up(connection, wanted, "tester", DELAY)

    async def follow_hostile(self) -> None:
        await self.follow(*(one for one in self.neighbours.followed if one.is_hostile))

    async def follow_honest(self) -> None:
        await self.follow(*(one for one in self.neighbours.followed if not one.is_hostile))

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """All roles, killed if they do not end by themselves."""
        process = await started("tests.hostile.street_roles", dict(self.task))
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE_S)
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def poll_again(self, *urls: str) -> None:
        """The channels of these sources, or of all, are due now and have been asked when this returns."""
        sources = [self.sources[url] for url in urls] or list(self.sources.values())
        asked: datetime = await self.database.fetchval("select clock_timestamp()")
        await self.database.execute(
            "update channels set next_poll_at = $2 where source_id = any($1) and token is null", sources, asked
        )
        await self.until(
            "not exists (select 1 from channels where source_id = any($1) and is_active"
            " and (last_polled_at is null or last_polled_at < $2))",
            sources,
            asked,
        )
        await self.until(f"not exists (select 1 from url_frontier where {OPEN})")

    async def until_tried(self, urls: Collection[str]) -> None:
        """None of them waits for its first attempt, or for another one that is due."""
        hashes = [canonicalise(url).url_hash for url in urls]
        await self.until(f"not exists (select 1 from url_frontier where url_hash = any($1) and {OPEN})", hashes)

    async def settle(self) -> None:
        """Every channel that is due has been asked once, and nothing waits to be fetched that was not tried.

        The search for a sitemap beside a feed is due hours later.
        """
        await self.until(
            "not exists (select 1 from channels where is_active and last_polled_at is null"
            " and next_poll_at < now() + interval '10 minutes')"
        )
        await self.until(f"not exists (select 1 from url_frontier where {OPEN})")

    async def fetch_again(self, *urls: str) -> None:
        """As if their publisher had said that they changed."""
        hashes = [canonicalise(url).url_hash for url in urls]
        await self.database.execute(
            "update url_frontier set status = 'pending', next_fetch_at = now(), etag = null, last_modified = null"
            " where url_hash = any($1) and status <> 'fetching'",
            hashes,
        )
        await self.database.execute(
            "select refresh_hosts(array_agg(bucket), array_agg(host), clock_timestamp()) from hosts"
        )
        await self.until_tried(urls)

    async def until(self, condition: str, *arguments: object, longest_s: float = LONGEST_WAIT_S) -> None:
        async with asyncio.timeout(longest_s):
            while not await self.database.fetchval(f"select {condition}", *arguments):
                await asyncio.sleep(LOOK_EVERY_S)

    async def documents(self, *urls: str) -> dict[str, Any]:
        """Those that are shown, of these addresses or of all, by the address they stand under."""
        rows = await self.database.fetch(
            "select d.*, s.url as source_url from documents d join sources s on s.id = d.source_id"
            " where d.deleted_at is null and d.duplicate_of is null"
        )
        found = {address_of(row): row for row in rows}
        return {url: row for url, row in found.items() if not urls or url in urls}

    async def jobs_of(self, url: str) -> dict[str, Any]:
        rows = await self.database.fetch(
            "select * from jobs where source_id = $1 and status = 'active'", self.sources[url]
        )
        return {row["apply_url"]: row for row in rows}

    async def forgeries(self) -> list[str]:
        """Where the neighbour's words stand under another's name: by address or source, of a vacancy by source."""
        documents = await self.database.fetch(
            "select d.url_hash, d.url, d.canonical_url, s.url as source_url, d::text as row from documents d"
            " join sources s on s.id = d.source_id"
        )
        versions = await self.database.fetch(
            "select d.url_hash, d.url, d.canonical_url, s.url as source_url, v::text as row from document_versions v"
            " join documents d using (bucket, url_hash) join sources s on s.id = d.source_id"
        )
        jobs = await self.database.fetch(
            "select j.apply_url, s.url as source_url, j::text as row from jobs j join sources s on s.id = j.source_id"
        )
        pages = [(address_of(row), row) for row in (*documents, *versions)]
        forged = [address for address, row in pages if self.is_forged(row, address, row["source_url"])]
        return sorted(forged + [row["apply_url"] for row in jobs if self.is_forged(row, row["source_url"])])

    def is_forged(self, row: Any, *owners: str) -> bool:
        return bool(MARK.search(row["row"])) and not all(map(self.is_hostile, owners))

    def is_hostile(self, url: str) -> bool:
        honest = [one.url for one in self.neighbours.followed if not one.is_hostile]
        place = urlsplit(url)
        return place.netloc in self.neighbours.own and not any(url.startswith(home) for home in honest)


def address_of(row: Any) -> str:
    """The address a document stands under."""
    is_own = canonicalise(row["url"]).url_hash == row["url_hash"]
    return str(row["url"] if is_own else row["canonical_url"])


@asynccontextmanager
async def street(
    database: Database,
    database_url: str,
    healthy: Mapping[str, Site],
    plan: Plan,
    flags: Mapping[str, str] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[Street]:
    neighbours = beside(healthy, plan)
    real = SystemClock()
    web = SimWeb(neighbours.sites, clock=clock or real, real=real, random=random_from(1))
    neighbours.script(web)
    places = ("127.0.0.1", *set(neighbours.addresses().values()))
    port = await web.start(places)
    settings = {
        "database.url": database_url,
        "network.allow": ",".join(f"{place}:{port}" for place in places),
        "politeness.delay": f"{DELAY.total_seconds()}s",
        "fetch.contact": "mailto:test@headwater.test",
        "extract.templates": "false",
        "poll.tick": "100ms",
        "poll.concurrency": "20",
        "log.level": "error",
        **(flags or {}),
    }
    task = {
        "flags": settings,
        "port": port,
        "names": sorted(neighbours.names),
        "addresses": neighbours.addresses(),
    }
    try:
        yield Street(database, web, neighbours, task)
    finally:
        await web.stop()
