"""What nothing refers to any more is deleted from stores of raw bodies: after the commit, until it is gone.

Two ways lead there. What a row referred to is written into `body_removals` by the transaction that forgets the row.
What was put and never referred to, because its worker died before the commit, is found by going through the store.
Any number of processes may do both: to delete twice is to delete once.
"""

from datetime import timedelta

from headwater.archive.stores.known import BodyStores
from headwater.archive.stores.store import MOST_AT_ONCE, BodyStore, StoreKind
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import StoreDown

queries = load_queries("headwater.archive")

# A worker refers to a body within a lease after it was put, or never. Told by the store's own clock.
GRACE = timedelta(days=1)
LEASES_OF_GRACE = 10
# Pages of a store in one round: with a round an hour, a million bodies take a day.
PAGES_AT_ONCE = 50


def grace_of(lease: timedelta) -> timedelta:
    return max(GRACE, lease * LEASES_OF_GRACE)


async def remove_bodies(database: Database, stores: BodyStores) -> int:
    """All that is noted, of the stores that are known; one that is away holds up no other. Raises StoreDown."""
    removed, down = 0, None
    for kind, store in stores.known.items():
        try:
            removed += await _remove_from(database, kind, store)
        except StoreDown as error:
            down = error
    if down:
        raise down
    return removed


async def _remove_from(database: Database, kind: StoreKind, store: BodyStore) -> int:
    removed = 0
    while rows := await database.fetch(queries.bodies_to_remove, kind, MOST_AT_ONCE):
        ids = [row["object_id"] for row in rows if not row["is_kept"]]
        await store.delete(ids)
        await database.execute(queries.forget_removals, kind, [row["object_id"] for row in rows])
        removed += len(ids)
    return removed


async def collect_bodies(
    database: Database, stores: BodyStores, grace: timedelta = GRACE, pages: int = PAGES_AT_ONCE
) -> int:
    """Go on through each store; how many bodies nothing refers to, which are noted and removed by `remove_bodies`."""
    return sum([await _collect_in(database, kind, store, grace, pages) for kind, store in stores.known.items()])


async def _collect_in(database: Database, kind: StoreKind, store: BodyStore, grace: timedelta, pages: int) -> int:
    after, found = await database.fetchval(queries.sweep_place, kind), 0
    if after is None:
        await store.forget_unfinished(grace)
    for _ in range(pages):
        listed = await store.listed(after, MOST_AT_ONCE)
        after = listed[-1].id if listed else None
        if old := [one.id for one in listed if one.age >= grace]:
            found += await database.fetchval(queries.discard_bodies, kind, old)
        await database.execute(queries.note_sweep, kind, after)
        if after is None:
            break
    return found
