"""What a soak has to do: pages that are accepted, batch by batch, and feeds that are followed."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import cycle, islice
from uuid import UUID
from zlib import crc32

import asyncpg
from tests.faults.soak.draws import Stage
from tests.faults.soak.town import FORBIDDEN, news_at

from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.errors import HeadwaterError
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.sources.source import Profile
from headwater.sources.store import create_source

# Of the fewest that wait: what each large host gets at once, and all small ones together.
PARTS_FOR_LARGE, PART_FOR_SMALL = 50, 0.7
FORBIDDEN_EVERY = 50
LOOK_EVERY_SECONDS = 1.0
WAITING = "select count(*) from url_frontier where status = 'pending'"


class Queue:
    """`accepted`: what was taken, by its host; `forbidden` what robots.txt does not allow."""

    def __init__(self, stage: Stage, fewest_waiting: int) -> None:
        self._fewest = fewest_waiting
        self._stage = stage
        self._delay = timedelta(seconds=stage.town.plan.delay_seconds)
        self._small = cycle(range(stage.town.plan.small))
        self._pages: dict[str, int] = defaultdict(int)
        self._source = UUID(int=0)
        self.accepted: set[str] = set()
        self.forbidden: set[str] = set()

    async def follow(self) -> None:
        async with await Database.connect(self._stage.dsn, size=1) as database, database.transaction() as connection:
            self._source = await create_source(connection, "Town", "http://town.test/")
            for number in range(self._stage.town.plan.daily):
                home = f"http://daily-{number}.test"
                wanted = WantedSource(Profile(f"{home}/"), feeds=(f"{home}/feed",), is_searched=False)
                await take_up(connection, wanted, "soak", self._delay)

    async def keep_full(self, is_over: asyncio.Event) -> None:
        while not is_over.is_set():
            if await self._stage.ask_one(WAITING) < self._fewest:
                await self._queue(list(self._of_large()), EntryOrigin.MANUAL)
                await self._queue(list(self._of_small()), EntryOrigin.SITEMAP)
            await asyncio.sleep(LOOK_EVERY_SECONDS)

    def note_news(self, count: int) -> None:
        """What the feeds have published when they publish no more."""
        hosts = [f"daily-{number}.test" for number in range(self._stage.town.plan.daily)]
        self.accepted.update(news_at(host, number) for host in hosts for number in range(count))

    def _of_large(self) -> Iterator[str]:
        for number in range(self._stage.town.plan.large):
            for _ in range(-(-self._fewest // PARTS_FOR_LARGE)):
                yield self._next_of(f"large-{number}.test")

    def _of_small(self) -> Iterator[str]:
        for number in islice(self._small, int(PART_FOR_SMALL * self._fewest)):
            yield self._next_of(f"small-{number}.test")

    def _next_of(self, host: str) -> str:
        self._pages[host] += 1
        number = self._pages[host]
        is_forbidden = (crc32(host.encode()) + number) % FORBIDDEN_EVERY == 0
        return f"http://{host}{FORBIDDEN if is_forbidden else '/'}page-{number}"

    async def _queue(self, urls: list[str], origin: EntryOrigin) -> None:
        """The same ones again, until the database has said that it has them."""
        submitter, found, taken = Submitter(self._source, origin), list(map(FoundUrl, urls)), False
        while not taken:
            with suppress(HeadwaterError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
                async with await Database.connect(self._stage.dsn, size=1) as database, database.transaction() as one:
                    await submit(one, submitter, found, default_delay=self._delay)
                taken = True
            await asyncio.sleep(LOOK_EVERY_SECONDS)
        self.accepted.update(urls)
        self.forbidden.update(url for url in urls if FORBIDDEN in url)
