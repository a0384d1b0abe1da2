"""Two pollers, a poller that dies, and many channels at one host."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise

import asyncpg
import pytest
from tests.integration.discover.conftest import STARTED, Desk, rss, stories
from tests.integration.discover.test_channels import index, sitemap

from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Connection, Database
from headwater.discover.adding import change_status
from headwater.discover.polls.polling import Poll
from headwater.discover.polls.submit_items import PollLost
from headwater.errors import DatabaseDown
from headwater.fetch.fetcher import FetchRequest
from headwater.fetch.outcomes import FetchOutcome
from headwater.sources.source import SourceStatus
from headwater.sources.store import poll_now

FEED = "http://a.test/feed.xml"
EXPIRE = "update channels set lease_until = clock_timestamp() - interval '1 second' where token is not null"


class Killed(Exception):
    """As if the process had ended here."""


def dying_at(poll: Poll, step: int) -> Poll:
    """Until then it asks as ever."""
    real = poll.asker.follower
    asked: list[FetchRequest] = []

    class Dying:
        async def fetch(self, request: FetchRequest) -> FetchOutcome:
            asked.append(request)
            if len(asked) == step:
                raise Killed
            return await real.fetch(request)

    return replace(poll, asker=replace(poll.asker, follower=Dying()))  # type: ignore[arg-type]


async def test_a_leased_channel_is_not_leased_again_until_its_lease_ends(desk: Desk) -> None:
    await desk.follow(feeds=(FEED,))
    [lease] = await desk.claim()
    assert await desk.claim() == []
    assert list(await desk.polling.extend([lease])) == [lease.token]
    await desk.path.database.execute(EXPIRE)
    [again] = await desk.claim()
    assert again.token != lease.token
    assert list(await desk.polling.extend([lease])) == []


async def test_what_a_late_poller_found_is_dropped_whole(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    [late] = await desk.claim()
    await desk.path.database.execute(EXPIRE)
    [lease] = await desk.claim()
    await desk.polling.work(lease)
    before = await desk.channel(source)
    desk.site.pages["/feed.xml"] = rss(*stories(6))
    with pytest.raises(PollLost):
        await desk.polling.poll.run(late)
    assert len(await desk.entries()) == 3
    assert await desk.channel(source) == before
    assert await desk.path.database.fetchval("select count(*) from runs") == 1


async def test_validators_are_stored_only_when_everything_of_the_run_was(desk: Desk) -> None:
    desk.site.pages |= {
        "/sitemap.xml": index("/one.xml", "/two.xml"),
        "/one.xml": sitemap(("/a", "2026-03-01T12:00:00Z")),
        "/two.xml": sitemap(("/b", "2026-03-02T01:00:00Z")),
    }
    source = await desk.follow(sitemaps=("http://a.test/sitemap.xml",))
    [lease] = await desk.claim()
    with pytest.raises(Killed):
        await dying_at(desk.polling.poll, step=3).run(lease)
    assert await desk.entries() == {"http://a.test/a"}
    assert await desk.path.database.fetchval("select etag from channels where etag is not null") is None
    visits = len(desk.path.visits())
    await desk.path.database.execute(EXPIRE)
    [ran] = await desk.poll()
    assert [visit.target for visit in desk.path.visits()[visits:]] == ["/two.xml"]
    assert (ran.run_state.tally.requests, ran.run_state.tally.inserted) == (3, 2)
    assert await desk.entries() == {"http://a.test/a", "http://a.test/b"}
    assert await desk.path.database.fetchval("select etag from channels where etag is not null") is not None
    assert (await desk.channel(source)).last_ok_at == STARTED


async def test_channels_of_one_host_take_turns_and_hide_nobody(desk: Desk) -> None:
    for n in range(30):
        await desk.follow(f"http://a.test/section-{n}", feeds=(f"http://a.test/feed-{n}.xml",))
    await desk.follow("http://b.test/", feeds=("http://b.test/feed.xml",))
    await desk.path.database.execute("update channels set next_poll_at = $1 where host = 'b.test'", STARTED)
    leased = await desk.claim(2)
    leased += await desk.claim(2)
    assert sorted(lease.url.host for lease in leased) == ["a.test", "b.test"]
    waiting = await desk.path.database.fetch(
        "select next_poll_at, next_reason from channels where host = 'a.test' and token is null order by 1"
    )
    apart = [later["next_poll_at"] - sooner["next_poll_at"] for sooner, later in pairwise(waiting)]
    assert max(apart) > timedelta()
    assert {row["next_reason"] for row in waiting if row["next_poll_at"] > STARTED} == {"waits for its turn at a.test"}


async def test_run_now_ignores_the_schedule_and_is_told_from_it(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    assert await desk.poll() == []
    await poll_now(desk.path.database, source)
    await desk.path.database.execute("update channels set next_poll_at = $1", STARTED)
    [ran] = await desk.poll()
    assert ran.channel.trigger == "manual"
    triggers = await desk.path.database.fetch("select trigger from runs order by at")
    assert sorted(row["trigger"] for row in triggers) == ["manual", "schedule"]


async def test_a_paused_source_is_not_polled_and_a_resumed_one_is(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    await change_status(desk.path.database, source, SourceStatus.PAUSED, "holidays", "tester")
    assert await desk.poll() == []
    await change_status(desk.path.database, source, SourceStatus.ACTIVE, None, "tester")
    assert len(await desk.poll()) == 1
    assert await desk.events() == [
        "source_created",
        "source_created",
        "channel_added",
        "source_paused",
        "source_resumed",
    ]


async def test_a_source_deleted_during_its_poll_gets_nothing_more(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    [lease] = await desk.claim()
    await change_status(desk.path.database, source, SourceStatus.DELETED, "gone", "tester")
    await desk.polling.work(lease)
    assert await desk.entries() == set()
    assert desk.ran == []


async def test_thousands_of_channels_of_one_host_starve_nobody(desk: Desk) -> None:
    source = await desk.follow("http://a.test/", feeds=("http://a.test/feed.xml",))
    copies = (
        "insert into channels (source_id, kind, url, url_hash, bucket, host, is_active, next_poll_at)"
        " select $1, 'sitemap', 'http://a.test/' || n, sha256(n::text::bytea), c.bucket, c.host, true, $2::timestamptz"
        " from generate_series(1, 3000) as n, (select bucket, host from channels limit 1) as c"
    )
    await desk.path.database.execute(copies, source, STARTED - timedelta(days=1))
    await desk.follow("http://b.test/", feeds=("http://b.test/feed.xml",))
    hosts = [lease.url.host for _ in range(3) for lease in await desk.claim(2)]
    assert "b.test" in hosts


async def test_a_poll_that_is_being_settled_holds_and_keeps_no_heartbeat_waiting(desk: Desk, database_url: str) -> None:
    await desk.follow("http://a.test/", feeds=(FEED,))
    await desk.follow("http://b.test/", feeds=("http://b.test/feed.xml",))
    leases = await desk.claim()
    connection = await asyncpg.connect(database_url)
    async with connection.transaction():
        await connection.execute("select 1 from channels where token = $1 for update", leases[0].token)
        assert set(await desk.polling.extend(leases)) == {lease.token for lease in leases}
    await connection.close()


async def test_a_poll_that_its_living_poller_lost_is_not_held_against_its_channel(desk: Desk) -> None:
    await desk.follow(feeds=(FEED,))
    async with Heartbeat(desk.path.database, desk.polling.owner, 30):
        [_] = await desk.claim()
        await desk.path.database.execute(EXPIRE)
        [again] = await desk.claim()
    assert again.lost == 0


@dataclass
class Unheard:
    """The database behind a connection that breaks after every other commit."""

    database: Database
    commits: int = 0

    async def fetch(self, query: str, *values: object) -> list[asyncpg.Record]:
        return await self.database.fetch(query, *values)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        async with self.database.transaction() as connection:
            yield connection
        self.commits += 1
        if self.commits % 2:
            raise DatabaseDown("The answer was lost.")


async def test_a_step_that_was_stored_unheard_is_counted_once(desk: Desk) -> None:
    desk.site.pages |= {
        "/sitemap.xml": index("/one.xml", "/two.xml"),
        "/one.xml": sitemap(("/a", "2026-03-01T12:00:00Z")),
        "/two.xml": sitemap(("/b", "2026-03-02T01:00:00Z")),
    }
    await desk.follow(sitemaps=("http://a.test/sitemap.xml",))
    [lease] = await desk.claim()
    poll, unheard = desk.polling.poll, Unheard(desk.path.database)
    broken = replace(poll, run_store=replace(poll.run_store, database=unheard))  # type: ignore[arg-type]
    # The last step uses its token up: whether it was stored is not to be seen by it.
    with pytest.raises(PollLost):
        await broken.run(lease)
    assert unheard.commits == 5
    row = await desk.path.database.fetchrow("select requests, inserted from runs")
    assert row is not None
    assert tuple(row) == (3, 2)
    assert await desk.entries() == {"http://a.test/a", "http://a.test/b"}
