"""A database of 1 M documents and 10 M entries for the web role, made once and kept in the cache of this user.

It is filled as `benchmarks/scale_world.py` fills one, with twice the entries, and its changes are moved into the log by
the function that moves them in production. A filling that was broken off is begun anew.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.frontier_world import database_named, plain_connection
from benchmarks.scale_world import WHOLE, counts_at, fill
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.deliver.log import move_changes

WORLD = {**WHOLE, "entries": 10_000_000}
# What was under way when it was made is under way now.
UNDER_WAY = (
    "update slots set expires_at = now() + interval '1 day'",
    "update channels set lease_until = now() + interval '1 day' where token is not null",
    # Nobody polled meanwhile, and yet no more is overdue than in an installation that runs.
    """
    update channels set next_poll_at = next_poll_at + age, created_at = created_at + age
    from (select now() - interval '90 days' - min(created_at) as age from channels) as since
    """,
    "vacuum analyze channels",
)
# Few among many, at the far end of every list: what a rare filter or a rare word has to find.
RARE = (
    """
    update documents set language = 'sw', text = text || ' unicorn',
                         search = search_vector('en', title, '', '', text || ' unicorn')
    where url_hash in (select url_hash from documents order by first_seen_at limit 10)
    """,
    """
    update url_frontier set reason = 'trap' where (bucket, url_hash) in
        (select bucket, url_hash from url_frontier where status = 'dead' order by bucket desc, url_hash desc limit 10)
    """,
)


def cache_folder() -> Path:
    """For root, whose server runs as another user and may not enter the home of root, that of the system."""
    usual = Path("/var/cache") if os.geteuid() == 0 else Path.home() / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or usual) / "headwater" / "benchmarks" / "serve"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def kept_world(server_dsn: str, size: float) -> str:
    """The address of a filled database: that of an earlier run, brought to the schema of today, or a new one."""
    name = f"serve_{round(size * 10_000)}"
    dsn = database_named(server_dsn, name)
    async with plain_connection(server_dsn) as connection:
        is_there = await connection.fetchval("select true from pg_database where datname = $1", name)
    if not is_there:
        await _make(server_dsn, name, size)
    async with await Database.connect(dsn, size=1) as database:
        await migrate(database)
    async with plain_connection(dsn) as connection:
        for statement in UNDER_WAY:
            await connection.execute(statement)
    return dsn


async def _make(server_dsn: str, name: str, size: float) -> None:
    making = f"{name}_making"
    say(f"{name} is made, once: {described(counts_at(size, WORLD))}")
    async with plain_connection(server_dsn) as connection:
        await connection.execute(f"drop database if exists {making} with (force)")
        await connection.execute(f"create database {making}")
    began = time.monotonic()
    dsn = database_named(server_dsn, making)
    async with await Database.connect(dsn, size=1) as database:
        await migrate(database)
        async with plain_connection(dsn) as connection:
            await fill(connection, size, lambda what: say(f"  {time.monotonic() - began:5.0f} s  {what}"), WORLD)
        say(f"  {time.monotonic() - began:5.0f} s  log of changes")
        await move_changes(database)
    async with plain_connection(dsn) as connection:
        await settle(connection)
    async with plain_connection(server_dsn) as connection:
        await connection.execute(f"alter database {making} rename to {name}")


async def settle(connection: Any) -> None:
    for statement in (*RARE, "vacuum analyze documents, url_frontier, changes, outbox", "checkpoint"):
        await connection.execute(statement)


def described(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
