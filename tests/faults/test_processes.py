"""Processes of ours that are killed, frozen or cut off in the middle of their work, while others go on beside them."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.faults import invariants
from tests.faults.standing import Paper, Role, all_fetched, flags_for, role, small_web, until
from tests.faults.world import BESIDE_PAGES, feed
from tests.integration.fetch.conftest import UNHURRIED

from headwater.chance import Random
from headwater.clock import SystemClock
from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.database.postmaster import running_pid
from headwater.discover.adding import WantedSource, take_up
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.simweb.mischief.pace import SlowStart
from headwater.simweb.server import SimWeb
from headwater.simweb.visits import Visit
from headwater.sources.source import Profile
from headwater.sources.store import create_source

pytestmark = pytest.mark.long

HOSTS = [f"h{number}.test" for number in range(8)]
PAGES = [f"http://{host}/{page}" for page in range(6) for host in HOSTS]
DELAY = timedelta(milliseconds=300)
LEASE = timedelta(seconds=15)
KILLS = 3
# As is said of a default lease: a minute, ten seconds until it is looked for, and what a busy machine adds.
RUN_AGAIN_WITHIN = LEASE + timedelta(seconds=30)
BACK_WITHIN = timedelta(seconds=30)


@dataclass
class Scene:
    database: Database
    dsn: str
    web: SimWeb
    port: int

    def task(self, owner: str, **more: Any) -> dict[str, Any]:
        flags = {"politeness__delay": f"{DELAY.total_seconds()}s", "lease__duration": f"{LEASE.total_seconds():g}s"}
        flags |= {"lease__sweep_every": "1s", "poll__tick": "200ms", **UNHURRIED, **more.pop("flags", {})}
        return {"flags": flags_for(self.dsn, self.port, **flags), "port": self.port, "owner": owner, **more}

    async def queue(self, urls: Sequence[str]) -> None:
        async with self.database.transaction() as connection:
            source = await connection.fetchval("select id from sources")
            source = source or await create_source(connection, "Harbour News", "http://harbour.test/")
            await submit(connection, Submitter(source, EntryOrigin.MANUAL), [FoundUrl(url) for url in urls])
        # Hosts that were never asked are begun a few at a time.
        milliseconds = DELAY // timedelta(milliseconds=1)
        await self.database.execute(
            "update hosts set base_delay_ms = $1, delay_ms = $1, is_doubted = false", milliseconds
        )

    def pages(self) -> list[Visit]:
        return [visit for visit in self.web.visits.all() if visit.path not in BESIDE_PAGES]

    async def fetched(self, count: int) -> None:
        await until(lambda: all_fetched(self.database, count))

    async def look_whether_all_is_well(self, urls: Sequence[str]) -> None:
        assert await self.database.fetchval("select count(*) from url_frontier where status = 'fetched'") == len(urls)
        # To be killed is no failure of a page.
        assert await self.database.fetchval("select max(retry_count) from url_frontier") == 0
        assert await invariants.broken(self.database) == []
        assert await invariants.lost_urls(self.database, urls) == []
        assert await invariants.fetched_without_document(self.database) == []
        assert await self.database.fetchval("select max(version) from documents") == 1
        assert invariants.hosts_asked_too_soon(self.web.visits.all(), DELAY) == []


@pytest.fixture
async def scene(database: Database, database_url: str) -> AsyncIterator[Scene]:
    async with small_web(HOSTS) as (web, port):
        yield Scene(database, database_url, web, port)


def frozen(one: Role) -> None:
    one.process.send_signal(signal.SIGSTOP)


def thawed(one: Role) -> None:
    one.process.send_signal(signal.SIGCONT)


async def sleep_through(span: timedelta) -> None:
    clock = SystemClock()
    ends = clock.monotonic() + span.total_seconds()

    async def is_over() -> bool:
        return clock.monotonic() > ends

    await until(is_over)


HELD = "select count(*) from slots where owner = $1 and url_hash is not null"


async def test_fetchers_killed_one_by_one_and_all_together_lose_no_page_and_blame_none(
    scene: Scene, drawn: Random
) -> None:
    size = len(PAGES) // (KILLS + 1)
    parts = [PAGES[number : number + size] for number in range(0, len(PAGES), size)]
    # It leaves hosts to others.
    async with role(scene.task("steady", maintains=True, flags={"fetch__concurrency": "4"})) as steady:
        for number, part in enumerate(parts[:-1]):
            async with role(scene.task(f"victim {number}")) as victim:
                await until(partial(is_at_work, scene.database, victim))
                # A page that is tried alone after one death must not meet a second one.
                await scene.fetched(number * size)
                await scene.queue(part)
                await until(partial(scene.database.fetchval, HELD, f"victim {number}"))
                await asyncio.sleep(drawn.uniform(0, 0.3))
                victim.process.kill()
                await victim.process.wait()
        assert steady.process.returncode is None
        async with role(scene.task("another")) as another:
            await until(partial(is_at_work, scene.database, another))
            await scene.fetched(KILLS * size)
            await scene.queue(parts[-1])
            await until(lambda: scene.database.fetchval(HELD, "another"))
            for one in (steady, another):
                one.process.kill()
                await one.process.wait()
    killed = SystemClock().monotonic()
    async with role(scene.task("the next", maintains=True)) as last:
        await until(lambda: nobody_else_holds(scene.database, "the next"))
        assert SystemClock().monotonic() - killed < RUN_AGAIN_WITHIN.total_seconds()
        await scene.fetched(len(PAGES))
        assert await last.end() == 0
    await scene.look_whether_all_is_well(PAGES)


async def is_at_work(database: Database, one: Role) -> bool:
    """Before that, one that is killed or finds no database has not begun."""
    query = "select exists (select from role_processes where pid = $1)"
    return bool(await database.fetchval(query, one.process.pid))


async def nobody_else_holds(database: Database, owner: str) -> bool:
    return not await database.fetchval("select count(*) from slots where owner <> $1", owner)


async def test_a_fetcher_frozen_past_its_lease_starts_nothing_and_changes_nothing_when_it_wakes(scene: Scene) -> None:
    scene.web.script(HOSTS[0], SlowStart(20_000), "/0", times=1)
    await scene.queue(PAGES)
    async with role(scene.task("sleeper")) as sleeper:
        await scene.web.visits.until(lambda visits: any(visit.path == "/0" for visit in visits))
        frozen(sleeper)
        async with role(scene.task("other", maintains=True)) as other:
            await scene.fetched(len(PAGES))
            woken = scene.web.now()
            thawed(sleeper)
            assert [await one.end() for one in (sleeper, other)] == [0, 0]
    assert [visit for visit in scene.pages() if visit.arrived > woken] == []
    # What it had begun, one page of a host at most, was begun once more, and nothing else.
    asked = Counter((visit.host, visit.path) for visit in scene.pages())
    assert len(asked) == len(PAGES) < asked.total() <= len(PAGES) + len(HOSTS)
    assert set(asked.values()) == {1, 2}
    await scene.look_whether_all_is_well(PAGES)


async def test_a_fetcher_frozen_between_its_slot_and_its_request_asks_for_another_slot(scene: Scene) -> None:
    """It holds four slots of one host, a delay apart; those that pass while it is frozen are no right to ask."""
    delay, urls = timedelta(seconds=3), [f"http://{HOSTS[0]}/{number}" for number in range(8)]
    patient = {"fetch__concurrency": "4", "lease__duration": "60s"}
    await scene.queue(urls)
    milliseconds = delay // timedelta(milliseconds=1)
    await scene.database.execute("update hosts set base_delay_ms = $1", milliseconds)
    policy = "insert into host_policies (bucket, host, max_concurrency) select bucket, host, 8 from hosts"
    await scene.database.execute(policy)
    await scene.database.execute("select apply_host_policies(array_agg(bucket), array_agg(host), now()) from hosts")
    async with role(scene.task("sleeper", flags=patient)) as sleeper:
        # The first one was asked for, and three are waited for.
        await scene.web.visits.until(lambda visits: any(visit.path not in BESIDE_PAGES for visit in visits))
        frozen(sleeper)
        assert await scene.database.fetchval(HELD, "sleeper") >= 3
        async with role(scene.task("other", flags=patient)) as other:
            await sleep_through(3 * delay)
            thawed(sleeper)
            await scene.fetched(len(urls))
            assert [await one.end() for one in (other, sleeper)] == [0, 0]
    assert sorted(visit.path for visit in scene.pages()) == sorted(url.rpartition("test")[2] for url in urls)
    assert invariants.hosts_asked_too_soon(scene.web.visits.all(), delay) == []
    await scene.look_whether_all_is_well(urls)


class Press(Paper):
    """With a feed of three items."""

    def page(self, request: Any, now: Any) -> Any:
        if request.path == "/feed":
            return feed(*(f"http://{request.host}/{number}" for number in range(3)))
        return super().page(request, now)


async def test_of_two_pollers_the_one_that_wakes_too_late_adds_nothing(scene: Scene) -> None:
    scene.web.sites = dict.fromkeys(HOSTS, Press())
    scene.web.script(HOSTS[0], SlowStart(20_000), "/feed", times=1)
    async with scene.database.transaction() as connection:
        for host in HOSTS:
            wanted = WantedSource(Profile(f"http://{host}/"), feeds=(f"http://{host}/feed",), is_searched=False)
            await take_up(connection, wanted, "tester", DELAY)
    async with role(scene.task("sleeper", polls=True)) as sleeper:
        await scene.web.visits.until(lambda visits: any(is_slow_feed(visit) for visit in visits))
        frozen(sleeper)
        async with role(scene.task("other", polls=True, maintains=True)) as other:
            await until(lambda: all_polled(scene.database))
            thawed(sleeper)
            assert [await one.end() for one in (sleeper, other)] == [0, 0]
    listed = [row["url"] for row in await scene.database.fetch("select url from url_frontier")]
    assert sorted(listed) == sorted(f"http://{host}/{number}" for host in HOSTS for number in range(3))
    runs = "select channel_id from runs where status = 'ok' group by channel_id having count(*) <> 1"
    assert await scene.database.fetch(runs) == []
    assert await scene.database.fetchval("select count(*) from channels where consecutive_errors > 0") == 0
    # What the sleeper was asked to wait for, the other asks for again; nothing is asked for a third time.
    asked = Counter(visit.host for visit in scene.web.visits.all() if visit.path == "/feed")
    assert max(asked.values()) <= 2
    assert await invariants.broken(scene.database) == []
    assert invariants.hosts_asked_too_soon(scene.web.visits.all(), DELAY) == []


def is_slow_feed(visit: Visit) -> bool:
    return (visit.host, visit.path) == (HOSTS[0], "/feed")


async def all_polled(database: Database) -> bool:
    return not await database.fetchval("select count(*) from channels where kind = 'feed' and last_ok_at is null")


@pytest.fixture
async def server(open_folder: Path) -> AsyncIterator[EmbeddedServer]:
    embedded = EmbeddedServer(open_folder / "pg", settings={"fsync": "off", "shared_buffers": "32MB"})
    yield embedded
    await embedded.stop()


async def test_a_fast_restart_of_the_database_ends_no_process_and_work_goes_on_at_once(server: EmbeddedServer) -> None:
    dsn = await server.start()
    async with small_web(HOSTS) as (web, port):
        async with await Database.connect(dsn, size=2) as database:
            await migrate(database)
            scene = Scene(database, dsn, web, port)
            async with role(scene.task("one", maintains=True)) as one, role(scene.task("two")) as two:
                for each in (one, two):
                    await until(partial(is_at_work, database, each))
                await scene.queue(PAGES)
                await scene.fetched(12)
                await restart(server)
                came_back = scene.web.now()
                await web.visits.until(lambda visits: visits[-1].arrived > came_back)
                assert scene.web.now() - came_back < BACK_WITHIN.total_seconds()
                await until(lambda: all_fetched_by_now(dsn))
                assert [await each.end() for each in (one, two)] == [0, 0]
        async with await Database.connect(dsn, size=2) as database:
            await replace(scene, database=database).look_whether_all_is_well(PAGES)


async def restart(server: EmbeddedServer) -> None:
    pid = running_pid(server.directory / "data")
    assert pid
    os.kill(pid, signal.SIGINT)

    async def is_gone() -> bool:
        return running_pid(server.directory / "data") != pid

    await until(is_gone)
    await server.start()


async def all_fetched_by_now(dsn: str) -> bool:
    async with await Database.connect(dsn, size=1) as database:
        return await all_fetched(database, len(PAGES))


SESSIONS = """select count(pg_terminate_backend(pid)) from pg_stat_activity
              where datname = current_database() and application_name like 'headwater%' and pid <> pg_backend_pid()"""


async def test_sessions_that_are_ended_again_and_again_end_no_process_and_lose_no_page(scene: Scene) -> None:
    # By a name of its own, so that the test's own pool is the only one beside the roles'.
    ender = await asyncpg.connect(scene.dsn)
    async with role(scene.task("one", maintains=True)) as one, role(scene.task("two")) as two:
        for each in (one, two):
            await until(partial(is_at_work, scene.database, each))
        await scene.queue(PAGES)
        ended = 0
        for part in range(1, 6):
            await until(partial(some_fetched, ender, 6 * part))
            ended += await ender.fetchval(SESSIONS)
        await until(lambda: some_fetched(ender, len(PAGES)))
        assert [await each.end() for each in (one, two)] == [0, 0]
    await ender.close()
    assert ended >= 10
    assert one.logged("lease_lost") == two.logged("lease_lost") == []
    async with await Database.connect(scene.dsn, size=2) as database:
        await replace(scene, database=database).look_whether_all_is_well(PAGES)


async def some_fetched(connection: asyncpg.Connection, count: int) -> bool:
    return bool(await connection.fetchval("select count(*) >= $1 from url_frontier where status = 'fetched'", count))
