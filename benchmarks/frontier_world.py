"""A frontier of any size, loaded in bulk, and the same entries beside it as the textbook would keep them.

A tenth as many hosts as entries, 30 % of the entries on one busy host. The busy host's are the oldest, as they become
where a third of the queue may be asked for once a second; the rest fell due within the last hour.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from headwater.database.migrate import migrate
from headwater.database.pool import Database

FEWEST_HOSTS = 1_000
SOURCES = 20
DELAY_MS = 1_000
BUSY_OF_TEN = 3
LOWEST_PRIORITY, LEVELS = 3, 5

# Durability and foreign keys are for the measured statements; nobody waits for the loading ones.
SHORTCUTS = "set synchronous_commit = off; set session_replication_role = replica; set work_mem = '512MB'"

LOAD_SOURCES = """
insert into sources (name, url, priority)
select 'Publisher ' || n, 'https://publisher-' || n || '.test/', 1 from generate_series(1, $1::integer) as n
"""
LOAD_HOSTS = """
select ensure_hosts(array_agg(get_byte(sha256(host::bytea), 0)::smallint), array_agg(host), $2)
from generate_series(0, $1::integer - 1) as n
cross join lateral (select 'site-' || lpad(n::text, 7, '0') || '.test' as host) as named
"""
# In the order of the keys, so that every index grows at few places at a time.
LOAD_ENTRIES = f"""
insert into url_frontier (bucket, url_hash, host, url, source_id, origin, priority, next_fetch_at)
select get_byte(sha256(host::bytea), 0) as bucket, sha256(url::bytea) as url_hash, host, url,
       ($3::uuid[])[1 + abs(hashint4(n)) % {SOURCES}], 'feed', {LOWEST_PRIORITY} + abs(hashint4(-n)) % {LEVELS},
       now() - case when is_busy then interval '1 hour' + n * interval '10 milliseconds'
                    else abs(hashint4(n)) % 3600 * interval '1 second' end
from (select n, n % 10 < {BUSY_OF_TEN} as is_busy from generate_series(0, $1::integer - 1) as n) as numbered
cross join lateral (
    select 'site-' || lpad(site::text, 7, '0') || '.test' as host
    from (select case when is_busy then 0 else 1 + n % ($2::integer - 1) end as site) as placed
) as named
cross join lateral (select 'https://' || host || '/news/' || n as url) as spelled
order by bucket, url_hash
"""
LOAD_DISCOVERIES = """
insert into discoveries (bucket, url_hash, source_id, origin)
select bucket, url_hash, source_id, origin from url_frontier order by source_id, bucket, url_hash
"""
# One bucket after the other: where all hosts open at one moment, none has a place in the line.
OPEN_HOSTS = """
select refresh_hosts(array_agg(bucket), array_agg(host), clock_timestamp()) from hosts group by bucket
"""
COUNT = "insert into counters select source_id, status, count(*) from url_frontier group by 1, 2"

# Closes hosts until the wanted share of the entries is behind a closed one; the busy host is the first to close.
LIMIT_HOSTS = """
with wanted as (
    select bucket, host, case when substr(host, 6, 7)::integer < $1::integer then 'infinity'::timestamptz
                              else '-infinity' end as until
    from hosts
), changed as (
    update hosts h set closed_until = w.until from wanted w
    where h.bucket = w.bucket and h.host = w.host and h.closed_until <> w.until
    returning h.bucket, h.host
)
select array_agg(bucket) as buckets, array_agg(host) as hosts from changed
"""

LOAD_TEXTBOOK = """
create table textbook_frontier as
select url_hash as id, host, url, source_id, origin, depth, priority, status, next_fetch_at, retry_count
from url_frontier;
alter table textbook_frontier add primary key (id);
create index on textbook_frontier (priority desc, next_fetch_at) where status = 'pending';
create table textbook_hosts as select host, delay_ms as min_delay_ms, null::timestamptz as last_fetch_at from hosts;
alter table textbook_hosts add primary key (host);
"""


@dataclass(frozen=True)
class World:
    dsn: str
    entries: int

    @property
    def hosts(self) -> int:
        return max(FEWEST_HOSTS, self.entries // 10)

    def url(self, number: int) -> str:
        """As it was loaded; from `entries` on, one that is new."""
        site = 0 if number % 10 < BUSY_OF_TEN else 1 + number % (self.hosts - 1)
        return f"https://site-{site:07}.test/news/{number}"


async def make_world(server_dsn: str, entries: int, *, discoveries: bool) -> World:
    name = f"frontier_{entries}"
    async with plain_connection(server_dsn) as connection:
        await connection.execute(f"create database {name}")
    world = World(database_named(server_dsn, name), entries)
    async with await Database.connect(world.dsn, size=1) as database:
        await migrate(database)
    await load(world, discoveries=discoveries)
    return world


async def load(world: World, *, discoveries: bool) -> None:
    async with plain_connection(world.dsn) as connection:
        await connection.execute(SHORTCUTS)
        await connection.execute(LOAD_SOURCES, SOURCES)
        sources = await connection.fetchval("select array_agg(id) from sources")
        await connection.execute(LOAD_HOSTS, world.hosts, DELAY_MS)
        await connection.execute(LOAD_ENTRIES, world.entries, world.hosts, sources)
        if discoveries:
            await connection.execute(LOAD_DISCOVERIES)
        await connection.execute(COUNT)
        await tidy(connection, "vacuum analyze url_frontier", "analyze")
        await connection.execute(OPEN_HOSTS)
        await tidy(connection, "vacuum analyze hosts", "checkpoint")


async def load_textbook(world: World) -> None:
    async with plain_connection(world.dsn) as connection:
        await connection.execute(SHORTCUTS)
        await connection.execute(LOAD_TEXTBOOK)
        await tidy(connection, "vacuum analyze textbook_frontier", "vacuum analyze textbook_hosts", "checkpoint")


async def drop_textbook(world: World) -> None:
    async with plain_connection(world.dsn) as connection:
        await connection.execute("drop table textbook_frontier, textbook_hosts")


async def limit_hosts(world: World, share: float) -> None:
    """Make `share` of all due entries wait for closed hosts."""
    others = max(0.0, (share - BUSY_OF_TEN / 10) / (1 - BUSY_OF_TEN / 10))
    closed = 0 if share == 0 else 1 + round(others * (world.hosts - 1))
    async with plain_connection(world.dsn) as connection:
        await connection.execute(SHORTCUTS)
        changed = await connection.fetchrow(LIMIT_HOSTS, closed)
        await connection.execute(
            "select refresh_hosts($1, $2, clock_timestamp())", changed["buckets"] or [], changed["hosts"] or []
        )
        await tidy(connection, "vacuum analyze hosts")


async def tidy(connection: Any, *statements: str) -> None:
    """Each on its own: these refuse to run in a transaction."""
    for statement in statements:
        await connection.execute(statement)


@asynccontextmanager
async def plain_connection(dsn: str) -> AsyncIterator[Any]:
    """Without the pool's limits on how long a statement may take."""
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


def database_named(server_dsn: str, name: str) -> str:
    # Not urlunsplit: it drops the empty host of a socket's address.
    address = urlsplit(server_dsn)
    return f"{address.scheme}://{address.netloc}/{name}?{address.query}"
