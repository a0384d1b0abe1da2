"""The kinds of channels in the table that `channels` refers to: written from the program's own table of them."""

from collections.abc import Sequence
from importlib import import_module

from headwater.database.pool import Connection
from headwater.database.queries import load_queries

# Named and not imported, as the readers of kinds are: the database lies below all that is stored in it.
TABLE_OF_KINDS = "headwater.sources.kinds"

queries = load_queries("headwater.database")


def known_kinds() -> tuple[str, ...]:
    return tuple(str(kind) for kind in import_module(TABLE_OF_KINDS).ChannelKind)


async def missing_kinds(connection: Connection, kinds: Sequence[str]) -> tuple[str, ...]:
    """Of these, those that no channel could have yet; none where the schema is of before there was such a table."""
    if not kinds or not await connection.fetchval(queries.kinds_are_noted):
        return ()
    return tuple(row["kind"] for row in await connection.fetch(queries.missing_kinds, list(kinds)))


async def note_kinds(connection: Connection, kinds: Sequence[str]) -> None:
    """Those that are no longer known stay: channels may have them."""
    if await connection.fetchval(queries.kinds_are_noted):
        await connection.execute(queries.note_kinds, list(kinds))
