"""What asyncpg asks about the types of a database, asked once for all clones of one template.

Every connection asks for itself, and planning that query costs more than all others of most tests. Clones are copies of
files: each type has the same number in all of them.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import asyncpg

# The types, and the statement that asked for them.
Answer = tuple[list[asyncpg.Record], Any]


@dataclass(frozen=True)
class NotAsked:
    """Instead of a statement: with a name, for it has not taken the place of the one without."""

    name: str = "not asked"


def introspection_of_clones(template: str) -> Callable[..., Awaitable[Answer]]:
    """To stand in for `asyncpg.Connection._introspect_types`."""
    ask = asyncpg.Connection._introspect_types
    known: dict[frozenset[int], list[asyncpg.Record]] = {}

    async def introspect(connection: asyncpg.Connection, numbers: Iterable[int], timeout: float) -> Answer:
        numbers = frozenset(numbers)
        if not connection._params.database.startswith(f"{template}_"):
            answer: Answer = await ask(connection, numbers, timeout)
            return answer
        if numbers not in known:
            known[numbers], statement = await ask(connection, numbers, timeout)
            return known[numbers], statement
        return known[numbers], NotAsked()

    return introspect
