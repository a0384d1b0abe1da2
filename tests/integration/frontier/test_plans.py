"""On a large frontier every call finds its rows by key: nothing it reads grows with the tables."""

from collections.abc import Awaitable, Callable

import pytest
from tests.integration.frontier.stage import Stage, add_source, seconds

from headwater.database.pool import Database
from headwater.frontier.submit import FoundUrl
from headwater.frontier.verdicts import Fetched

HOSTS, EACH = 20_000, 10
LOAD_HOSTS = """
    INSERT INTO hosts (bucket, host, delay_ms, wake_at, priority)
    SELECT n % 256, 'h' || n || '.example', 1000, $2::timestamptz - n * interval '1 ms', 1 + n % 10
    FROM generate_series(1, $1::integer) AS n"""
LOAD_ENTRIES = """
    INSERT INTO url_frontier (bucket, url_hash, host, url, source_id, origin, priority, next_fetch_at)
    SELECT n % 256, sha256(int8send(n * 100 + m)), 'h' || n || '.example', 'https://h' || n || '.example/' || m,
           $3::uuid, 'feed', 1 + n % 10, $4::timestamptz
    FROM generate_series(1, $1::bigint) AS n CROSS JOIN generate_series(1, $2::integer) AS m"""
Work = Callable[[Stage], Awaitable[object]]


@pytest.fixture
async def large(database: Database) -> Stage:
    stage = Stage(database, await add_source(database))
    await database.execute(LOAD_HOSTS, HOSTS, stage.now)
    await database.execute(LOAD_ENTRIES, HOSTS, EACH, stage.source, stage.now)
    await database.execute("ANALYZE hosts, url_frontier, slots")
    return stage


async def reads(database: Database) -> dict[str, int]:
    """Sequential scans and rows read by index, so far."""
    async with database.transaction() as connection:
        await connection.execute("SELECT pg_stat_force_next_flush()")
    rows = await database.fetch("""
        SELECT relname, seq_scan, seq_tup_read + coalesce(idx_tup_fetch, 0) AS rows FROM pg_stat_user_tables
        WHERE relname IN ('hosts', 'url_frontier')""")
    return {f"{row['relname']} {what}": row[what] for row in rows for what in ("seq_scan", "rows")}


@pytest.mark.long
async def test_no_call_of_the_hot_path_scans_a_table(large: Stage) -> None:
    # More often than PostgreSQL tries out plans made for their arguments: the general plan must be good too.
    spent = {name: await _spent(large, work) for name, work in CALLS.items()}
    scans = {name: cost for name, cost in spent.items() if cost["hosts seq_scan"] or cost["url_frontier seq_scan"]}
    assert scans == {}
    greedy = {name: cost for name, cost in spent.items() if cost["hosts rows"] + cost["url_frontier rows"] > 12 * 400}
    assert greedy == {}


async def _spent(stage: Stage, work: Work) -> dict[str, int]:
    before = await reads(stage.database)
    for _ in range(12):
        await work(stage)
        stage.wait(0.5)
    after = await reads(stage.database)
    return {name: after[name] - before[name] for name in after}


async def claim_and_settle(stage: Stage) -> None:
    leases = await stage.claim(10)
    assert len(leases) == 10
    await stage.settle_all([(lease, Fetched(revisit_in=seconds(60))) for lease in leases])


async def claim_and_die(stage: Stage) -> None:
    await stage.claim(3, owner="mortal")
    stage.wait(60)
    assert await stage.rescue() == (3, 0)


async def claim_suspect(stage: Stage) -> None:
    lease = await stage.claim_suspect("brave")
    assert lease is not None
    assert await stage.extend(lease) == 1
    await stage.settle(lease)


async def claim_one_bucket(stage: Stage) -> None:
    claimer = stage.claimer("local")
    claimer.bucket = 7
    (lease,) = await stage.claim(1, "local")
    await stage.settle(lease)


async def submit_known_and_new(stage: Stage) -> None:
    await stage.submit(
        *(f"https://new{stage.now.timestamp()}{n}.example/" for n in range(5)),
        *(FoundUrl(f"https://new{n}.example/{stage.now.timestamp()}") for n in range(5)),
    )


async def reserve(stage: Stage) -> None:
    await stage.end(await stage.reserve("h77.example.org"))
    stage.wait(2)


CALLS: dict[str, Work] = {
    "claim and settle": claim_and_settle,
    "claim and rescue": claim_and_die,
    "claim a suspect": claim_suspect,
    "claim in one bucket": claim_one_bucket,
    "submit": submit_known_and_new,
    "reserve": reserve,
}
