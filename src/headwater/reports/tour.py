"""Figures of a whole tour: the archive, a word worth searching for, and how soon items were found."""

from datetime import datetime
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.reports")


async def archive_in_figures(database: Database) -> dict[str, Any]:
    row = await database.fetchrow(queries.archive_in_figures)
    assert row is not None
    return dict(row)


async def a_common_word(database: Database) -> str | None:
    """Of the titles."""
    word: str | None = await database.fetchval(queries.a_common_word)
    return word


async def delays_to_discovery(database: Database, since: datetime) -> dict[str, float] | None:
    """In minutes, of items that were published since then."""
    row = await database.fetchrow(queries.delays_to_discovery, since)
    if row is None or not row["items"]:
        return None
    return {"items": row["items"], "p50": round(row["p50"], 1), "p95": round(row["p95"], 1)}


async def delays_of_log(database: Database) -> dict[str, Any]:
    """How many changes the log has, and half and nearly all of their delays in milliseconds."""
    row = await database.fetchrow(queries.delays_of_log)
    assert row is not None
    return dict(row)
