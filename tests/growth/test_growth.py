"""No statement grows with the tables: each named one is called on two databases that differ in size alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from os import getpid
from typing import Any, NamedTuple

import asyncpg
import pytest
from benchmarks.scale_measuring import Cost, cost_of, teach_json
from benchmarks.scale_world import fill
from tests.administrator import database_named
from tests.conftest import OWN_SCHEMA
from tests.growth.statements import calls, sample

from headwater.database.queries import all_query_files, load_queries
from headwater.database.translate import with_schema

pytestmark = pytest.mark.long

SMALL, TIMES = 0.004, 4
# What four times as much may cost: twice as much, since an index has another level now and then, and for each row more
# that is answered some blocks. All of a table would be four times as much.
GROWTH, LEVELS, BLOCKS_A_ROW, ROWS_A_PAGE = 2, 60, 12, 60
# Others may be at work in a database, such as autovacuum: what looks grown is measured again.
MEASUREMENTS = 3

TAKING_DOWN = "a person takes a domain down: rare, and an index over parts of names would cost every claim and poll"
IN_FIGURES = "counts what there is for a person who asks; a tenth of a second at 200,000 sources"
AUDIT = "recounts everything, for those who doubt the counters"
CLOCK = "only after the server's clock was set back: everything that was planned is looked at"
DEMO = "only the demo asks, of its own small world"
RANGES = "asks each of 256 buckets, however large they are; a small table is read whole instead"
EXCEPTIONS = {
    "deliver.documents_in_range": RANGES,
    "archive.buckets_of_domain": TAKING_DOWN,
    "archive.standing_in_bucket": TAKING_DOWN,
    "ingest.sources_within_domain": TAKING_DOWN,
    "ingest.channels_within_domain": TAKING_DOWN,
    "politeness.want_refused_again": TAKING_DOWN,
    "politeness.hosts_within_domain": TAKING_DOWN,
    "reports.waiting_hosts": IN_FIGURES,
    "reports.sources_to_look_at": "looks at all channels in trouble for those that struggle; 40 ms at 200,000 sources",
    "reports.push_summary": "counts what there is for a person who asks, up to ten thousand",
    "reports.upcoming_polls": "counts the channels that are due within an hour, for a picture: 20,000 of them at most",
    "reports.count_sources_in_states": "counts sources for the list of them: of each state 10,000 at most",
    "frontier.count_entries": AUDIT,
    "frontier.recount_entries": AUDIT,
    "frontier.compare_counts": AUDIT,
    "frontier.recount_statuses": AUDIT,
    "reports.busiest_addresses": "reads the log of the time that is asked for, whole",
    "reports.pages_requested": "reads the log of the time that is asked for, whole: an audit asks stretch by stretch",
    "reports.smallest_gaps": "reads the log of the time that is asked for, whole",
    "frontier.follow_clock_back": CLOCK,
    "frontier.follow_clock_back_in_channels": CLOCK,
    "discover.make_everything_due": "changes every channel: that is what it is for, where adaptive scheduling is off",
    "discover.polls_made": "once an hour, by one poller for all",
    "reports.delays": DEMO,
    "reports.delays_to_discovery": DEMO,
    "reports.delays_of_log": DEMO,
    "reports.archive_in_figures": DEMO,
    "reports.a_common_word": DEMO,
}


def named() -> dict[str, str]:
    """Every statement of ours by package and name."""
    return {
        f"{package.removeprefix('headwater.')}.{query.name}": query.sql
        for package in all_query_files()
        for query in load_queries(package)
    }


class Pair(NamedTuple):
    """What one call costs in the small database and in the large one."""

    small: Cost
    large: Cost

    @property
    def has_grown(self) -> bool:
        more_rows = max(0, self.large.rows - self.small.rows)
        return (
            self.large.blocks > GROWTH * self.small.blocks + LEVELS + BLOCKS_A_ROW * more_rows
            or self.large.rows > GROWTH * self.small.rows + ROWS_A_PAGE
        )


Pairs = dict[str, list[Pair]]


@asynccontextmanager
async def filled(server_url: str, template: str, size: float) -> AsyncIterator[Any]:
    name = f"{template}_growth_{round(size * 1000)}_{getpid()}"
    await administer(server_url, f'create database "{name}" template "{template}"')
    url = database_named(server_url, name)
    connection = await asyncpg.connect(
        with_schema(url, OWN_SCHEMA) if OWN_SCHEMA else url,
        server_settings={"jit": "off", "plan_cache_mode": "force_custom_plan"},
    )
    try:
        await fill(connection, size)
        await teach_json(connection)
        yield connection
    finally:
        await connection.close()
        await administer(server_url, f'drop database "{name}" with (force)')


async def administer(server_url: str, statement: str) -> None:
    connection = await asyncpg.connect(server_url)
    await connection.execute(statement)
    await connection.close()


async def measured(server_url: str, template: str) -> Pairs:
    statements = named()
    async with filled(server_url, template, SMALL) as small, filled(server_url, template, TIMES * SMALL) as large:
        in_small, in_large = calls(await sample(small)), calls(await sample(large))
        return {
            name: [
                await pair_of(small, large, statements[name], one, other)
                for one, other in zip(in_small[name], in_large[name], strict=True)
            ]
            for name in in_small
            if name in statements
        }


async def pair_of(small: Any, large: Any, statement: str, one: tuple[object, ...], other: tuple[object, ...]) -> Pair:
    pair = Pair(await cost_of(small, statement, one), await cost_of(large, statement, other))
    for _ in range(MEASUREMENTS - 1):
        if not pair.has_grown:
            break
        again = Pair(await cost_of(small, statement, one), await cost_of(large, statement, other))
        pair = Pair(min(pair.small, again.small), min(pair.large, again.large))
    return pair


@pytest.fixture(scope="module")
def pairs(server_url: str, template: str) -> Pairs:
    return asyncio.run(measured(server_url, template))


def test_every_statement_is_called_in_earnest(pairs: Pairs) -> None:
    assert sorted(set(named()) - set(pairs)) == [], "give it an entry in tests/growth/statements.py"
    assert sorted(set(EXCEPTIONS) - set(named())) == [], "is there no more"


def test_no_statement_grows_with_the_tables(pairs: Pairs) -> None:
    grown = [
        f"{name}[{place}]: {pair.small} became {pair.large}"
        for name, group in pairs.items()
        if name not in EXCEPTIONS
        for place, pair in enumerate(group)
        if pair.has_grown
    ]
    assert not grown, "\n".join(grown)


def test_a_table_that_is_read_whole_is_seen(pairs: Pairs) -> None:
    """Otherwise the tests here would prove nothing."""
    assert pairs["frontier.recount_statuses"][0].has_grown
