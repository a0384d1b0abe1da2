"""Which due channels a claim takes: those with a rhythm on time, first polls beside them, and none is overlooked."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from random import Random
from uuid import UUID

import asyncpg
import pytest
from benchmarks.scale_measuring import cost_of
from tests.clocks import ManualClock
from tests.integration.discover.conftest import STARTED, Desk

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.polls.polling import FIRST_EVERY, MARKS_HOLD, Marks

MINUTE = timedelta(minutes=1)
# On `hosts` hosts, due since `age`; polled before or never.
FILL = """
    with own as (insert into sources (name, url, url_hash)
                 values ($1, 'https://' || $1 || '.example/', sha256(convert_to($1, 'utf8'))) returning id)
    insert into channels (source_id, kind, url, url_hash, bucket, host, is_active, next_poll_at, last_polled_at)
    select (select id from own), 'listing', 'https://' || $1::text || n % $3::integer || '.example/' || n,
           sha256(convert_to($1 || n, 'utf8')), (n % $3) % 256, $1 || n % $3 || '.example', true,
           $4::timestamptz + n * interval '1 millisecond', $5::timestamptz
    from generate_series(1, $2::integer) as n
"""
END_POLLS = """
    update channels set token = null, leased_by = null, lease_until = null, last_polled_at = $1::timestamptz,
                        next_poll_at = $1 + interval '1 hour'
    where token is not null
"""


async def fill(database: Database, name: str, count: int, hosts: int, since: timedelta, *, is_known: bool) -> None:
    await database.execute(FILL, name, count, hosts, STARTED - since, STARTED - timedelta(days=1) if is_known else None)


async def claim_one_batch(desk: Desk, most: int = 10) -> Counter[str]:
    """What was leased, by the first word of its host; its polls end at once."""
    rows = await desk.path.database.fetch(
        str(load_queries("headwater.discover").claim_channels),
        *("tester", most, MINUTE, desk.now[0], 5, 10, MINUTE, None, desk.polling.first_polls.among(most)),
    )
    ids = [row["id"] for row in rows if row["id"]]
    hosts = await desk.path.database.fetch("select host from channels where id = any ($1)", ids)
    await desk.path.database.execute(END_POLLS, desk.now[0])
    return Counter(row["host"].rstrip("0123456789.exampl") for row in hosts)


async def test_a_large_import_does_not_delay_what_was_there(desk: Desk) -> None:
    await fill(desk.path.database, "new-", 5_000, 5_000, timedelta(hours=1), is_known=False)
    await fill(desk.path.database, "old-", 100, 100, timedelta(seconds=1), is_known=True)
    batches = [await claim_one_batch(desk) for _ in range(14)]
    assert sum(batch["old-"] for batch in batches) == 100
    assert sum(batch["new-"] for batch in batches) == 40
    assert {batch.total() for batch in batches} == {10}


async def test_first_polls_have_all_room_that_is_left(desk: Desk) -> None:
    await fill(desk.path.database, "new-", 200, 200, timedelta(hours=1), is_known=False)
    assert await claim_one_batch(desk) == {"new-": 10}


@pytest.mark.parametrize("most", [1, 2, 3, 5])
async def test_small_claims_have_first_polls_too(desk: Desk, most: int) -> None:
    await fill(desk.path.database, "new-", 200, 200, timedelta(hours=1), is_known=False)
    await fill(desk.path.database, "old-", 200, 200, timedelta(seconds=1), is_known=True)
    taken = Counter[str]()
    for _ in range(2 * FIRST_EVERY):
        taken += await claim_one_batch(desk, most)
    assert taken == {"new-": 2 * most, "old-": 2 * most * (FIRST_EVERY - 1)}


async def test_one_host_is_asked_one_thing_at_a_time_and_what_was_there_comes_first(desk: Desk) -> None:
    """Its first polls wait their turn behind three of the others each."""
    await fill(desk.path.database, "one-", 1_000, 1, timedelta(hours=1), is_known=False)
    await desk.path.database.execute("update channels set last_polled_at = $1 where url ~ '/[1-6]$'", STARTED)
    assert (await claim_one_batch(desk)).total() == 1
    turns = await desk.path.database.fetch(
        "select is_unpolled from channels where next_poll_at > $1 and next_reason like 'waits%' order by next_poll_at"
        " limit 8",
        STARTED,
    )
    assert [row["is_unpolled"] for row in turns] == [False, False, False, True, False, False, True, True]


@asynccontextmanager
async def old_snapshot(database: Database) -> AsyncIterator[None]:
    """As a dump that takes long, or a session that somebody forgot."""
    async with database.borrowed() as connection:
        await connection.execute("begin isolation level repeatable read")
        await connection.fetchval("select count(*) from channels")
        try:
            yield
        finally:
            await connection.execute("rollback")


ONE_ROUND = (
    "update channels set token = gen_random_uuid(), leased_by = 'other', lease_until = now() + interval '1 minute'",
    """update channels set token = null, leased_by = null, lease_until = null,
                           next_poll_at = next_poll_at + interval '1 minute'""",
)


@pytest.mark.long
async def test_an_old_snapshot_does_not_slow_the_claim(desk: Desk) -> None:
    database, claim = desk.path.database, str(load_queries("headwater.discover").claim_channels)
    await fill(database, "old-", 2_000, 2_000, timedelta(hours=2), is_known=True)
    await fill(database, "new-", 2_000, 2_000, timedelta(hours=2), is_known=False)
    arguments = ("tester", 10, MINUTE, STARTED, 5, 10, MINUTE)
    async with old_snapshot(database):
        for statement in ONE_ROUND * 10:
            await database.execute(statement)
        await database.execute("update channels set next_poll_at = $1::timestamptz + interval '1 minute'", STARTED)
        *_, last = await database.fetch(claim, *arguments, None, 0)
        connection = await asyncpg.connect(desk.path.services.dsn)
        try:
            everywhere = await cost_of(connection, claim, (*arguments, None, 0))
            marked = await cost_of(connection, claim, (*arguments, last["marks"], 0))
        finally:
            await connection.close()
    assert everywhere.blocks > 20_000
    assert marked.blocks < 200


LEASE_AND_END = (
    """update channels set token = gen_random_uuid(), leased_by = 'other', lease_until = now() - interval '1 minute'
       where host like 'busy-%'""",
    "update channels set token = null, leased_by = null, lease_until = null where host like 'busy-%'",
)


@pytest.mark.long
async def test_an_old_snapshot_does_not_slow_the_count_of_leases_of_job_sources(desk: Desk) -> None:
    database, claim = desk.path.database, str(load_queries("headwater.discover").claim_channels)
    # Else the table might be analyzed in between, and the claim planned by what stands in it then.
    await database.execute("alter table channels set (autovacuum_enabled = off)")
    await fill(database, "busy-", 2_000, 2_000, timedelta(hours=-1), is_known=True)
    await fill(database, "jobs-", 1, 1, timedelta(hours=1), is_known=True)
    await database.execute("update sources set kind = 'jobs'")
    lease, end = LEASE_AND_END
    await database.execute(lease)
    await database.execute("vacuum analyze channels")
    await database.execute(end)
    async with old_snapshot(database):
        for statement in (lease, end) * 10:
            await database.execute(statement)
        connection = await asyncpg.connect(desk.path.services.dsn)
        try:
            cost = await cost_of(connection, claim, ("tester", 10, MINUTE, STARTED, 5, 10, MINUTE, None, 0))
        finally:
            await connection.close()
    assert cost.rows == 2
    assert cost.blocks < 1_000


MAKE_DUE = "update channels set next_poll_at = $1::timestamptz where id = any ($2) and token is null"
LOSE = """
    update channels set token = gen_random_uuid(), leased_by = 'dead', lease_until = now() - interval '1 second',
                        next_poll_at = $1::timestamptz
    where id = any ($2) and token is null
"""
LONGEST_STEP = 3.0
DUE = "select id from channels where is_active and next_poll_at <= $1"
FREE = f"{DUE} and token is null and lost_count = 0"


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_made_due_is_claimed_before_the_marks_end(desk: Desk, seed: int) -> None:
    """Also long before the marks, and by nobody who says so: resumed, given back, lost by a poller that died."""
    random, database, clock = Random(seed), desk.path.database, ManualClock(STARTED)
    await fill(database, "old-", 12, 12, timedelta(hours=-1), is_known=True)
    await fill(database, "new-", 12, 12, timedelta(hours=-1), is_known=False)
    ids = [row["id"] for row in await database.fetch("select id from channels")]
    polling = replace(desk.polling, clock=clock, marks=Marks(clock))
    end_these = END_POLLS.replace("is not null", "= any ($2)")
    due_since, taken = dict[UUID, float](), 0
    for _ in range(50):
        past = desk.now[0] - timedelta(seconds=random.choice([0, 1, 5, 60, 600]))
        happens = random.choice([MAKE_DUE, MAKE_DUE, LOSE])
        await database.execute(happens, past, random.sample(ids, random.randint(0, 3)))
        leases = list((await polling.claim(30))[0])
        taken += len(leases)
        if leases and random.random() < 0.2:
            await polling.release([leases.pop()])
        await database.execute(end_these, desk.now[0], [one.token for one in leases])
        free = {row["id"] for row in await database.fetch(FREE, desk.now[0])}
        due_since = {one: due_since.get(one, clock.monotonic()) for one in free}
        longest = clock.monotonic() - min(due_since.values(), default=clock.monotonic())
        assert longest <= MARKS_HOLD.total_seconds() + LONGEST_STEP
        step = timedelta(seconds=random.choice([0.1, 1.0, LONGEST_STEP]))
        clock.move(step)
        desk.now[0] += step
    # A claim takes one suspect at a time.
    clock.move(MARKS_HOLD + timedelta(seconds=1))
    for _ in ids:
        leases = list((await polling.claim(30))[0])
        await database.execute(end_these, desk.now[0], [one.token for one in leases])
    assert await database.fetch(DUE, desk.now[0]) == []
    assert taken > 25
