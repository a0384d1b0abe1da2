"""Many names at one address share one pace: counted from the grants, over simulated time."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.integration.frontier.stage import AT_ONCE, Stage, add_source, seconds

from headwater.database.pool import Database
from headwater.frontier.verdicts import Fetched
from headwater.net.addresses import machine_of
from headwater.politeness.addresses import MOST_NAMES, SHARED_FROM, pace_addresses
from headwater.politeness.hosts import pace_of, read_host
from headwater.reports.politeness import AddressLoad, busiest_addresses

NAMES = 300
PACE = timedelta(seconds=1)
HERE = replace(AT_ONCE, address="192.0.2.7")


@pytest.fixture
async def stage(database: Database) -> Stage:
    return Stage(database, await add_source(database))


async def visit_all(stage: Stage, names: list[str]) -> None:
    """Each once, as it is when nobody knows yet where they stand."""
    await stage.submit(*(f"https://{name}/{page}" for name in names for page in range(4)))
    leases = await stage.claim(1_000)
    assert len(leases) == len(names)
    await stage.settle_all([(lease, Fetched()) for lease in leases], HERE)


async def requests_by_minute(stage: Stage, minutes: int) -> list[int]:
    counts: Counter[int] = Counter()
    for second in range(minutes * 60):
        leases = await stage.claim(100)
        counts[second // 60] += len(leases)
        await stage.settle_all([(lease, Fetched()) for lease in leases], HERE)
        stage.wait(1)
    return [counts[minute] for minute in range(minutes)]


@pytest.mark.long
async def test_names_of_one_address_share_a_pace_across_all_who_claim(stage: Stage) -> None:
    names = [f"n{n}.crowd.test" for n in range(NAMES)]
    await visit_all(stage, names)
    assert await pace_addresses(stage.database, PACE, stage.now) == NAMES
    counted = await requests_by_minute(stage, 6)
    assert max(counted) <= 2 * 60
    assert sum(counted) >= 3 * 60
    row = await read_host(stage.database, names[0])
    assert pace_of(row).decided_by == "its address 192.0.2.7, which has 300 names"
    assert pace_of(row).delay == timedelta(seconds=NAMES)
    # What has not changed is not written again.
    assert await pace_addresses(stage.database, PACE, stage.now) == 0


async def test_a_shared_host_is_not_slowed(stage: Stage) -> None:
    await visit_all(stage, [f"www.n{n}.test" for n in range(SHARED_FROM)])
    assert await pace_addresses(stage.database, PACE, stage.now) == 0


async def test_a_few_names_are_not_slowed(stage: Stage) -> None:
    await visit_all(stage, [f"n{n}.few.test" for n in range(MOST_NAMES)])
    assert await pace_addresses(stage.database, PACE, stage.now) == 0


async def test_a_crowd_that_turns_out_to_be_a_shared_host_is_freed(stage: Stage) -> None:
    names = [f"n{n}.test" for n in range(SHARED_FROM)]
    await visit_all(stage, names[:30])
    assert await pace_addresses(stage.database, PACE, stage.now) == 30
    await visit_all(stage, names[30:])
    assert await pace_addresses(stage.database, PACE, stage.now) == 30
    row = await stage.host(names[0])
    assert (row["address_delay_ms"], row["delay_ms"]) == (0, 1_000)
    stage.wait(2)
    assert names[0] in {lease.host for lease in await stage.claim(1_000)}


async def test_switched_off_nothing_is_slowed_and_what_was_is_freed(stage: Stage) -> None:
    await visit_all(stage, [f"n{n}.crowd.test" for n in range(30)])
    await pace_addresses(stage.database, PACE, stage.now)
    assert await pace_addresses(stage.database, timedelta(), stage.now) == 30
    assert await stage.database.fetchval("SELECT max(delay_ms) FROM hosts") == 1_000


async def test_where_no_address_is_known_nothing_is_shared(stage: Stage) -> None:
    """So it is in networks of our own, and behind a proxy."""
    names = [f"n{n}.crowd.test" for n in range(30)]
    await stage.submit(*(f"https://{name}/" for name in names))
    await stage.settle_all([(lease, Fetched()) for lease in await stage.claim(100)])
    assert await pace_addresses(stage.database, PACE, stage.now) == 0


async def test_the_audit_counts_requests_by_address(stage: Stage) -> None:
    await visit_all(stage, [f"n{n}.crowd.test" for n in range(30)])
    [load] = await busiest_addresses(stage.database, timedelta(hours=1))
    assert (load.address, load.names, load.requests, load.most_in_a_second) == ("192.0.2.7", 30, 30, 30)
    assert not load.is_broken(PACE)


def test_a_pace_is_broken_by_twice_as_many_requests_in_a_minute() -> None:
    load = AddressLoad("192.0.2.7", 30, 500, 4, 120)
    assert not load.is_broken(PACE)
    assert replace(load, paced_in_a_minute=121).is_broken(PACE)
    assert replace(load, paced_in_a_minute=3).is_broken(seconds(60))


def test_an_ipv6_network_is_one_place() -> None:
    assert machine_of("2001:db8:1:2:3:4:5:6") == machine_of("2001:db8:1:2::1") == "2001:db8:1:2::/64"
    assert machine_of("192.0.2.7") == "192.0.2.7"
    assert machine_of("nonsense") is None
