"""Databases from before the migrations were begun anew: their last state is the same schema under another ledger."""

from collections.abc import Iterable, Sequence

from headwater.database.applied import Applied
from headwater.database.pool import Connection
from headwater.database.queries import load_queries
from headwater.errors import MigrationFailed

# A ledger of before is told by its first row.
FIRST_NAME = "foundation"
LAST = Applied(32, "totals", "4dc96620ba589bebf84f541a0f3ebc48834f18b22b80d28f19989603124dc0a0")
# Served migrations alone.
GONE_FUNCTIONS = ("amend_function",)

queries = load_queries("headwater.database")


def state_before(ledger: Sequence[Applied]) -> Applied | None:
    """The newest row of a ledger of before; none for a ledger of ours."""
    first = min(ledger, key=lambda row: row.number, default=None)
    if first is None or (first.number, first.name) != (1, FIRST_NAME):
        return None
    return max(ledger, key=lambda row: row.number)


def require_last(state: Applied) -> None:
    if state != LAST:
        raise MigrationFailed(
            f"The database stands at {state}, from before the migrations were begun anew.",
            fix=f"Migrate it to {LAST} with the Headwater that made it, or begin with an empty database.",
        )


async def take_over(connection: Connection, beginning: Iterable[Applied], functions: Iterable[str]) -> None:
    """The new ledger in place of the old one, and its functions to be replaced; nothing else is touched."""
    rows = list(beginning)
    await connection.execute(
        queries.take_over_ledger,
        [row.number for row in rows],
        [row.name for row in rows],
        [row.checksum for row in rows],
    )
    await connection.execute(queries.take_over_functions, [*functions, *GONE_FUNCTIONS])
