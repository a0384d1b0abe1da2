"""How many pages of our tables a statement touches: of all it sets in motion, functions and triggers included."""

from typing import Any, NamedTuple

import orjson

TOUCHED = """
select coalesce(sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0)
                    + coalesce(idx_blks_read, 0) + coalesce(toast_blks_hit, 0) + coalesce(toast_blks_read, 0)
                    + coalesce(tidx_blks_hit, 0) + coalesce(tidx_blks_read, 0)), 0)::bigint
from pg_statio_all_tables where schemaname = current_schema()
"""
FLUSH = "select pg_stat_force_next_flush()"


class Cost(NamedTuple):
    blocks: int
    rows: int


async def teach_json(connection: Any) -> None:
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=lambda value: orjson.dumps(value).decode(), decoder=orjson.loads
    )


async def cost_of(connection: Any, statement: str, arguments: tuple[object, ...]) -> Cost:
    """Nothing of it remains. Nobody else may use the database meanwhile: the server counts by table, not by session."""
    before = await _touched(connection)
    transaction = connection.transaction()
    await transaction.start()
    try:
        rows = await connection.fetch(statement, *arguments)
    finally:
        await transaction.rollback()
    return Cost(await _touched(connection) - before, len(rows))


async def _touched(connection: Any) -> int:
    await connection.execute(FLUSH)
    touched: int = await connection.fetchval(TOUCHED)
    return touched


async def blocks_so_far(connection: Any) -> int:
    """Of all sessions that have ended or told since."""
    return await _touched(connection)
