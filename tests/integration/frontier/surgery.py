"""Changes to the functions of one test's own database: a fault planted, or a place to stop and let others go first."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import asyncpg

from headwater.database.pool import Database

# Nobody else takes this advisory lock.
GATE = 4_711
# On a machine as busy as this one: only so that a hang ends.
HANGS_AFTER_SECONDS = 300
STOP_HERE = f"perform pg_advisory_xact_lock({GATE});"


async def alter(database: Database, function: str, *replacements: tuple[str, str]) -> None:
    """Replace parts of a function; each must stand there exactly once, or the test no longer tests anything."""
    text: str = await database.fetchval("SELECT pg_get_functiondef($1::regproc)", function)
    for old, new in replacements:
        assert text.count(old) == 1, f"{function} has {text.count(old)} times: {old}"
        text = text.replace(old, new)
    await database.execute(text)


@asynccontextmanager
async def closed_gate(database_url: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Whoever comes to a STOP_HERE stops until the block ends; what it gives waits for somebody to stop there."""
    connection = await asyncpg.connect(database_url)
    await connection.execute("SELECT pg_advisory_lock($1)", GATE)

    async def somebody_stopped() -> None:
        await until(lambda: waiting_for_the_gate(connection))

    yield somebody_stopped
    await connection.close()


@asynccontextmanager
async def held_rows(database_url: str, table: str) -> AsyncIterator[None]:
    """All rows of a table locked by somebody else until the block ends."""
    connection = await asyncpg.connect(database_url)
    async with connection.transaction():
        await connection.execute(f"SELECT 1 FROM {table} FOR UPDATE")
        yield
    await connection.close()


async def somebody_waits_for_a_row(database: Database) -> None:
    await until(lambda: waiting_for_a_row(database))


async def waiting_for_the_gate(connection: Database | asyncpg.Connection) -> int:
    return await _waiters(connection, "locktype = 'advisory'")


async def waiting_for_a_row(connection: Database | asyncpg.Connection) -> int:
    return await _waiters(connection, "locktype IN ('transactionid', 'tuple')")


async def _waiters(connection: Database | asyncpg.Connection, which: str) -> int:
    # Only of this database: other tests wait on the same server.
    found: int = await connection.fetchval(
        f"SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)"
        f" WHERE NOT granted AND datname = current_database() AND {which}"
    )
    return found


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(HANGS_AFTER_SECONDS):
        while not await condition():
            await asyncio.sleep(0.02)
