"""The stores that settings name: the one that new bodies go to, and those that older ones are read from."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from headwater.archive.stores.folder import FolderStore
from headwater.archive.stores.s3 import object_store
from headwater.archive.stores.store import BodyStore, StoreKind
from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import StoreDown, as_fields
from headwater.figures import BODIES_NOT_PUT, Figures
from headwater.log import Logger
from headwater.settings.groups import ArchiveSettings

READ_AT_ONCE = 16
# Of one body, whatever a store's disk or network does.
PATIENCE = timedelta(seconds=20)
# After a failure nobody waits for the store: the database takes what comes.
REST = timedelta(seconds=30)

T = TypeVar("T")

queries = load_queries("headwater.archive")

_NAMED_BY = {StoreKind.FOLDER: "archive.raw_folder", StoreKind.S3: "archive.s3_bucket"}


@dataclass(frozen=True, slots=True)
class BodyStores:
    """`chosen` None: new bodies are kept in the database."""

    known: Mapping[StoreKind, BodyStore] = field(default_factory=dict)
    chosen: BodyStore | None = None

    def store(self, kind: StoreKind) -> BodyStore:
        if kind not in self.known:
            raise StoreDown(
                f"Raw bodies of before lie in a store ({kind}) that no setting names.",
                fix=f"Set {_NAMED_BY[kind]} to where they are.",
            )
        return self.known[kind]

    async def packed_of(self, rows: Sequence[Any]) -> list[bytes | None]:
        """Of each row its body as it is packed; None: it was forgotten since the row was read. Raises StoreDown."""
        limit = asyncio.Semaphore(READ_AT_ONCE)

        async def packed(row: Any) -> bytes | None:
            if row["stored_in"] is None:
                return bytes(row["body"])
            async with limit:
                store = self.store(StoreKind(row["stored_in"]))
                return await in_time(store, store.get(row["object_id"]))

        return await asyncio.gather(*map(packed, rows))


NO_STORES = BodyStores()


@dataclass(slots=True)
class BodyWriter:
    """Puts bodies where the chosen store is; while it is not to be had, the database is to keep them."""

    store: BodyStore
    clock: Clock
    log: Logger
    figures: Figures = field(default_factory=Figures)
    _rests_until: float = field(default=float("-inf"), init=False)

    async def put(self, body_id: UUID, body: bytes) -> StoreKind | None:
        """Where it is now; None: in no store."""
        if self.clock.monotonic() < self._rests_until:
            self.figures.add(BODIES_NOT_PUT)
            return None
        try:
            await in_time(self.store, self.store.put(body_id, body))
        except StoreDown as down:
            self._rests_until = self.clock.monotonic() + REST.total_seconds()
            self.figures.add(BODIES_NOT_PUT, f"{down.what} {down.fix}".strip())
            self.log.warning("raw_body_not_put", **as_fields(down), again_in_seconds=REST.total_seconds())
            return None
        return self.store.kind


async def in_time(store: BodyStore, asked: Awaitable[T]) -> T:
    """Raises StoreDown where the store hangs, as a folder of another machine does that went away."""
    try:
        return await asyncio.wait_for(asked, PATIENCE.total_seconds())
    except TimeoutError as error:
        raise StoreDown(
            f"The store of raw bodies {store.place} did not answer within {PATIENCE.total_seconds():.0f} s.",
            fix="Look whether its disk or network hangs.",
        ) from error


async def opened_stores(database: Database, settings: ArchiveSettings, installation: UUID, data: Path) -> BodyStores:
    """Raises SettingError where settings do not suffice; asks no store anything."""
    return stores_of(
        settings, installation, data, folder_is_in_use=await database.fetchval(queries.has_bodies_in_folder)
    )


def stores_of(
    settings: ArchiveSettings, installation: UUID, data: Path, *, folder_is_in_use: bool = False
) -> BodyStores:
    known: dict[StoreKind, BodyStore] = {}
    if settings.raw_folder is not None or settings.raw_store == "folder":
        folder = settings.raw_folder or data / "raw"
        known[StoreKind.FOLDER] = FolderStore(folder.expanduser().absolute(), installation, folder_is_in_use)
    if settings.s3_bucket or settings.raw_store == "s3":
        known[StoreKind.S3] = object_store(settings, installation)
    chosen = None if settings.raw_store == "database" else known[StoreKind(settings.raw_store)]
    return BodyStores(known, chosen)


async def try_store(store: BodyStore, body_id: UUID) -> None:
    """Put a body, read it and delete it. Raises StoreDown."""
    body = body_id.bytes * 4
    await in_time(store, store.put(body_id, body))
    found = await in_time(store, store.get(body_id))
    if found != body:
        raise StoreDown(f"What was put into {store.place} did not come back.", fix="Look at that store.")
    await store.delete([body_id])
