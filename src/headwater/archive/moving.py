"""Raw bodies of before, brought to where new ones go: one by one, each there before the row says so."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headwater.archive.raw import BODIES_AT_ONCE
from headwater.archive.stores.known import BodyStores, in_time
from headwater.archive.stores.store import StoreKind
from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.archive")


@dataclass(slots=True)
class MovedBodies:
    """`missing` are not where their rows say; such rows are left as they are."""

    bodies: int = 0
    bytes: int = 0
    missing: int = 0


async def move_bodies(
    database: Database, stores: BodyStores, on_batch: Callable[[MovedBodies], None] = lambda _moved: None
) -> MovedBodies:
    """Killed and begun anew it goes on. Bodies that come meanwhile are not missed: they go where they belong."""
    kind = stores.chosen.kind if stores.chosen else None
    moved, place = MovedBodies(), (-1, b"", None)
    while rows := await database.fetch(queries.bodies_elsewhere, kind, *place, BODIES_AT_ONCE):
        for row, body in zip(rows, await stores.packed_of(rows), strict=True):
            await _move(database, stores, kind, row, body, moved)
        place = (rows[-1]["bucket"], rows[-1]["url_hash"], rows[-1]["at"])
        on_batch(moved)
    return moved


async def _move(
    database: Database, stores: BodyStores, kind: StoreKind | None, row: Any, body: bytes | None, moved: MovedBodies
) -> None:
    if body is None:
        moved.missing += 1
        return
    if stores.chosen:
        await in_time(stores.chosen, stores.chosen.put(row["new_id"], body))
    is_moved = await database.fetchval(
        *queries.move_body(
            body=b"" if stores.chosen else body,
            stored_in=kind,
            object_id=row["new_id"] if stores.chosen else None,
            bucket=row["bucket"],
            url_hash=row["url_hash"],
            at=row["at"],
            former_id=row["object_id"],
        )
    )
    if is_moved:
        moved.bodies, moved.bytes = moved.bodies + 1, moved.bytes + len(body)
    elif kind:
        await database.execute(queries.discard_bodies, kind, [row["new_id"]])
