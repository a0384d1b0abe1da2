"""Where documents point: one row a document, written whole."""

from collections.abc import Sequence

from headwater.archive.document import Key
from headwater.archive.storable import storable
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.archive")

MOST_OUTLINKS = 1_000


async def keep_outlinks(connection: Connection, key: Key, targets: Sequence[str]) -> None:
    """What stood there before is gone."""
    await connection.execute(queries.keep_outlinks, *key, outlinks_row(targets))


def outlinks_row(targets: Sequence[str]) -> list[str]:
    """The first so many distinct ones, in page order."""
    return [storable(target) for target in list(dict.fromkeys(targets))[:MOST_OUTLINKS]]


async def outlinks_of(database: Connection | Database, key: Key) -> list[str]:
    found: list[str] | None = await database.fetchval(queries.outlinks_of, *key)
    return found or []
