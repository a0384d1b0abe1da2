"""F29 and F30: clocks that are set while we work. Delays hold, nothing lapses early, and nothing waits for hours."""

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest
from tests.faults.standing import all_fetched, flags_for, queue, role, roles, small_web, until

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.database.postmaster import running_pid
from headwater.database.programs import ENVIRONMENT
from headwater.database.queries import load_queries
from headwater.frontier.claim import Claimer
from headwater.frontier.clock_steps import ClockLook, ClockWatch
from headwater.frontier.settle import settle
from headwater.frontier.verdicts import HostSaysWait, RetryLater, RetryPolicy, settlement_of
from headwater.politeness.slots import Slot, SlotKeeper, Visit
from headwater.simweb.questions import by_host, smallest_gaps
from headwater.simweb.visits import Visit as Visited

frontier = load_queries("headwater.frontier")

HOURS = timedelta(hours=2)
LEASE = timedelta(seconds=60)
DELAY = timedelta(seconds=1)
HOSTS = [f"h{number}.test" for number in range(4)]

# Adds the seconds in a file to the wall clock of whatever it is loaded into; the monotonic clock stays as it is.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long offset(void) {
    char text[32] = {0};
    int file = open(getenv("CLOCK_OFFSET_FILE"), O_RDONLY);
    if (file < 0) return 0;
    if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
    close(file);
    return atol(text);
}
int clock_gettime(clockid_t which, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(which, at);
    if (which == CLOCK_REALTIME) at->tv_sec += offset();
    return done;
}
int gettimeofday(struct timeval *at, void *zone) {
    static int (*real)(struct timeval *, void *);
    if (!real) real = dlsym(RTLD_NEXT, "gettimeofday");
    int done = real(at, zone);
    at->tv_sec += offset();
    return done;
}
time_t time(time_t *at) {
    struct timeval now;
    gettimeofday(&now, 0);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


class Shim:
    """A wall clock that can be set, for every process started with its environment."""

    def __init__(self, folder: Path) -> None:
        self.library = folder / "shim.so"
        self.file = folder / "offset"
        source = folder / "shim.c"
        source.write_text(SHIM)
        subprocess.run(("cc", "-shared", "-fPIC", "-o", self.library, source, "-ldl"), check=True)
        for file in (self.library, self.file):
            file.touch()
            file.chmod(0o755)
        self.set(timedelta())

    def set(self, ahead: timedelta) -> None:
        self.file.write_text(f"{ahead.total_seconds():.0f}\n")

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "CLOCK_OFFSET_FILE": str(self.file)}


@pytest.fixture
def shim(disk_folder: Path) -> Shim:
    if shutil.which("cc") is None:
        pytest.skip("no compiler")
    return Shim(disk_folder)


@pytest.fixture
async def shifting(shim: Shim, open_folder: Path) -> AsyncIterator[str]:
    """The address of a migrated database whose clock the shim sets."""
    server = EmbeddedServer(open_folder / "pg", settings={"fsync": "off", "shared_buffers": "32MB"})
    dsn = await server.start()
    async with await Database.connect(dsn, size=1) as database:
        await migrate(database)
    process = await started_again(server, shim)
    yield dsn
    await server.stop()
    await process.wait()


async def started_again(server: EmbeddedServer, shim: Shim) -> asyncio.subprocess.Process:
    """The same server, with the shim in it."""
    data = server.directory / "data"
    pid = running_pid(data)
    assert pid
    command = shlex.split((data / "postmaster.opts").read_text())
    os.kill(pid, signal.SIGINT)
    while running_pid(data):
        await asyncio.sleep(0.01)
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=server.directory,
        env={**ENVIRONMENT, **shim.environment},
        stderr=asyncio.subprocess.DEVNULL,
        user=data.stat().st_uid if os.geteuid() == 0 else None,
        start_new_session=True,
    )
    await until(server._cluster.answers)
    return process


def rude(gaps: dict[str, float], delay: float) -> dict[str, float]:
    return {host: gap for host, gap in gaps.items() if gap < delay - 0.005}


def early_starts(visits: Sequence[Visited], delay: float) -> dict[str, int]:
    """How often each host was asked sooner than its delay allows."""
    found = {}
    for host, group in by_host(visits).items():
        starts = sorted(visit.arrived for visit in group)
        found[host] = sum(later - sooner < delay - 0.005 for sooner, later in pairwise(starts))
    return found


async def clock_of(database: Database) -> datetime:
    found: datetime = await database.fetchval("select clock_timestamp()")
    return found


def urls(pages: int, hosts: Sequence[str] = HOSTS) -> list[str]:
    return [f"http://{host}/{page}" for page in range(pages) for host in hosts]


@pytest.mark.long
async def test_a_database_clock_that_jumps_two_hours_ahead_and_back_closes_no_host(shifting: str, shim: Shim) -> None:
    """A delay that is running when the clock is set forward may end early, once for each host; no other does."""
    async with await Database.connect(shifting, size=2) as database, small_web(HOSTS) as (web, port):
        await queue(database, urls(30))
        flags = flags_for(shifting, port, politeness__delay="300ms", fetch__concurrency="4")
        await database.execute("update hosts set base_delay_ms = 300, delay_ms = 300")
        tasks = [
            {"flags": flags, "port": port, "owner": "one", "maintains": True},
            {"flags": flags, "port": port, "owner": "two"},
        ]
        async with roles(tasks) as two:
            await until(lambda: all_fetched(database, 8))
            shim.set(HOURS)
            assert await clock_of(database) - datetime.now(UTC) > HOURS - timedelta(minutes=1)
            await until(lambda: all_fetched(database, 24))
            shim.set(timedelta())
            await two[0].until_logged("database_clock_was_set")
            await until(lambda: all_fetched(database, 60))
            assert [await one.end() for one in two] == [0, 0]
        early = early_starts(web.visits.all(), 0.3)
        assert await database.fetchval("select count(*) from url_frontier where status = 'dead'") == 0
        steps = [line["by_seconds"] for line in two[0].logged("database_clock_was_set")]
    assert any(step < -7100 for step in steps), steps
    assert max(early.values()) <= 1, early


@pytest.mark.long
async def test_a_worker_whose_own_clock_jumps_is_as_polite_as_before(
    database: Database, database_url: str, shim: Shim
) -> None:
    async with small_web(HOSTS) as (web, port):
        await queue(database, urls(16))
        await database.execute("update hosts set base_delay_ms = 300, delay_ms = 300")
        flags = flags_for(database_url, port, politeness__delay="300ms", fetch__concurrency="4")
        task = {"flags": flags, "port": port, "owner": "shifted"}
        async with role(task, environment={**os.environ, **shim.environment}) as worker:
            for done, ahead in ((10, HOURS), (30, -HOURS), (50, timedelta())):
                await until(lambda done=done: all_fetched(database, done))  # type: ignore[misc]
                shim.set(ahead)
            await until(lambda: all_fetched(database, 64))
            assert await worker.end() == 0
            assert worker.logged("lease_lost") == []
        gaps = smallest_gaps(web.visits.all())
    assert rude(gaps, 0.3) == {}
    assert await database.fetchval("select max(crash_count) from url_frontier") == 0


@pytest.mark.long
async def test_the_second_that_32_bits_cannot_count_is_one_like_any_other(shifting: str, shim: Shim) -> None:
    """The database lives through it, and worker and upkeep go on in the years after it."""
    last_second = datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC)
    shim.set(last_second - datetime.now(UTC) - timedelta(seconds=5))
    async with await Database.connect(shifting, size=2) as database, small_web(HOSTS) as (web, port):
        await queue(database, urls(16))
        await database.execute("update hosts set base_delay_ms = 500, delay_ms = 500")
        flags = flags_for(shifting, port, politeness__delay="500ms", fetch__concurrency="4")
        task = {"flags": flags, "port": port, "owner": "one", "maintains": True}
        async with role(task, environment={**os.environ, **shim.environment}) as worker:
            await until(lambda: all_fetched(database, 64))
            assert await clock_of(database) > last_second
            assert await worker.end() == 0
            assert worker.logged("lease_lost") == []
        assert rude(smallest_gaps(web.visits.all()), 0.5) == {}
        assert await database.fetchval("select max(started_at) > $1 from fetch_log", last_second)
        assert await database.fetchval("select count(*) from documents") == 64


# The same by the functions' own arguments, on every machine.


@pytest.fixture
def watch(database: Database) -> ClockWatch:
    return ClockWatch(database, SystemClock(), LEASE)


async def in_the_future(database: Database) -> datetime:
    """The clock as it was before it was set back, noted as maintenance would have."""
    future = await clock_of(database) + HOURS
    await database.execute("update clock_mark set seen_at = $1", future)
    return future


async def open_hosts(database: Database, within: timedelta) -> int:
    found: int = await database.fetchval(
        "select count(*) from hosts where wake_at <= clock_timestamp() + $1 and priority > 0", within
    )
    return found


async def test_hosts_that_were_visited_in_a_future_that_is_none_are_open_again(
    database: Database, watch: ClockWatch
) -> None:
    await queue(database, urls(3))
    future = await in_the_future(database)
    claimed = await Claimer(database, SystemClock(), "w", LEASE).claim(4, future)
    assert len(claimed.leases) == 4
    visit = Visit(timedelta(), timedelta(milliseconds=80), 200, 1000)
    failed = RetryLater("upstream", "HTTP 500")
    ended = [settlement_of(one, failed, visit, RetryPolicy(), random_from(1)) for one in claimed.leases]
    await settle(database, ended, future)
    assert await open_hosts(database, timedelta(hours=1)) == 0
    before = await clock_of(database)
    assert abs(await watch.look() + HOURS) < timedelta(seconds=10)
    assert await open_hosts(database, timedelta(minutes=1)) == 4
    assert await database.fetchval("select min(next_slot_at) from hosts") - before > DELAY
    waits = await database.fetch(
        "select next_fetch_at - clock_timestamp() as wait from url_frontier where status = 'failed'"
    )
    assert all(timedelta(minutes=1) < row["wait"] < timedelta(hours=1) for row in waits)
    assert await watch.look() == timedelta()


async def test_leases_of_that_future_end_within_a_lease_and_their_settlement_closes_nothing(
    database: Database, watch: ClockWatch
) -> None:
    await queue(database, urls(2, HOSTS[:1]))
    future = await in_the_future(database)
    [lease] = (await Claimer(database, SystemClock(), "w", LEASE).claim(1, future)).leases
    await watch.look()
    left = await database.fetchval("select max(expires_at) - clock_timestamp() from slots")
    assert left < LEASE + timedelta(seconds=11)
    visit = Visit(timedelta(), timedelta(milliseconds=80), 503, 10)
    settlement = settlement_of(lease, HostSaysWait(timedelta(minutes=5)), visit, RetryPolicy(), random_from(1))
    assert await settle(database, [settlement]) == {lease.token}
    assert await open_hosts(database, timedelta(minutes=6)) == 1


async def test_a_closure_of_that_future_lasts_as_long_as_it_was_meant_to_and_an_older_one_as_before(
    database: Database, watch: ClockWatch
) -> None:
    await queue(database, urls(1))
    future = await in_the_future(database)
    now = await clock_of(database)
    for host, until_at in zip(HOSTS[:2], (future + timedelta(minutes=10), now + timedelta(hours=3)), strict=True):
        await database.execute(
            "select close_host(bucket, host, 'retry_after', $2, $3) from hosts where host = $1", host, until_at, now
        )
    await database.execute("alter table host_closures disable trigger note_closure")
    await database.execute("update host_closures set noted_at = $1 where host = $2", future, HOSTS[0])
    await database.execute("alter table host_closures enable trigger note_closure")
    await watch.look()
    rows = await database.fetch("select host, closed_until from hosts where closed_until > now()")
    left = {row["host"]: row["closed_until"] - now for row in rows}
    assert timedelta(minutes=9) < left[HOSTS[0]] < timedelta(minutes=11)
    assert abs(left[HOSTS[1]] - timedelta(hours=3)) < timedelta(seconds=1)


async def test_a_channel_polled_in_that_future_is_polled_when_it_was_meant_to_be(
    database: Database, watch: ClockWatch, channel: UUID
) -> None:
    future = await in_the_future(database)
    await database.execute(
        "update channels set next_poll_at = $1, last_polled_at = $2, updated_at = $2, token = gen_random_uuid(), "
        "lease_until = $1",
        future + timedelta(minutes=15),
        future,
    )
    await watch.look()
    row = await database.fetchrow(
        "select next_poll_at - clock_timestamp() as wait, lease_until - clock_timestamp() as lease, "
        "last_polled_at <= clock_timestamp() as is_past from channels where id = $1",
        channel,
    )
    assert row is not None
    assert timedelta(minutes=14) < row["wait"] < timedelta(minutes=16)
    assert row["lease"] <= LEASE
    assert row["is_past"]


@pytest.mark.long
async def test_a_clock_that_was_set_forward_ends_no_lease_early(database: Database, watch: ClockWatch) -> None:
    await queue(database, urls(2))
    claimed = await Claimer(database, SystemClock(), "w", LEASE).claim(4)
    assert len(claimed.leases) == 4
    # As if all this had been two hours ago, and the clock was set since.
    await database.execute("update slots set expires_at = expires_at - $1::interval, starts_at = starts_at - $1", HOURS)
    await database.execute("update hosts set next_slot_at = next_slot_at - $1::interval", HOURS)
    seen_at = await clock_of(database) - HOURS
    await database.execute("update clock_mark set seen_at = $1", seen_at)
    watch._last = ClockLook(seen_at, SystemClock().monotonic())
    before = await clock_of(database)
    assert abs(await watch.look() - HOURS) < timedelta(seconds=10)
    assert await database.fetchval("select min(next_slot_at) from hosts") > before
    left = await database.fetchval("select min(expires_at) - clock_timestamp() from slots")
    assert left > LEASE / 2


async def test_of_four_who_look_at_once_one_follows(database: Database, database_url: str) -> None:
    await in_the_future(database)
    steps = await asyncio.gather(*(ClockWatch(database, SystemClock(), LEASE).look() for _ in range(4)))
    assert sum(bool(step) for step in steps) == 1


async def test_a_slot_reserved_in_that_future_does_not_keep_its_host(database: Database, watch: ClockWatch) -> None:
    future = await in_the_future(database)
    page_store = SlotKeeper(database, SystemClock(), "poller", LEASE, DELAY)
    slot = await page_store.ask("a.test", "poll", future)
    assert isinstance(slot, Slot)
    before = await clock_of(database)
    await watch.look()
    row = await database.fetchrow(
        "select expires_at, starts_at, next_slot_at from slots join hosts using (bucket, host)"
    )
    assert row is not None
    after = await clock_of(database)
    assert row["expires_at"] - after <= LEASE + timedelta(seconds=11)
    assert row["starts_at"] <= after
    assert DELAY < row["next_slot_at"] - before < timedelta(minutes=1)


@pytest.fixture
async def channel(database: Database) -> UUID:
    await queue(database, [])
    made: UUID = await database.fetchval(
        "insert into channels (source_id, kind, url, url_hash, bucket, host, is_active) "
        "select id, 'feed', 'http://a.test/feed', sha256('a'), 1, 'a.test', true from sources limit 1 returning id"
    )
    return made


async def test_a_clock_that_goes_on_as_it_should_is_followed_by_one_statement(database_url: str) -> None:
    async with await Database.connect(database_url, size=1) as alone:
        await alone.execute("update clock_mark set seen_at = clock_timestamp() - interval '1 second'")
        before = await clock_of(alone)
        assert not await ClockWatch(alone, SystemClock(), LEASE).look()
        assert await alone.fetchval("select seen_at >= $1 from clock_mark", before)
        rows = await alone.fetch("select statement from pg_prepared_statements where statement ilike '%clock_mark%'")
        asked = [row[0] for row in rows if "seen_at >= $1" not in row[0] and "pg_prepared" not in row[0]]
        assert asked == [frontier.pass_on_clock_mark]
