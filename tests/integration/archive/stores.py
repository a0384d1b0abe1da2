"""Stores of raw bodies to try, by name: a real folder, and a bucket of a real server."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from tests.s3_server import INSTALLATION, S3Server

from headwater.archive.stores.folder import FolderStore
from headwater.archive.stores.known import BodyStores
from headwater.archive.stores.store import BodyStore, StoreKind

KINDS = ["folder", pytest.param("s3", marks=pytest.mark.long)]


def open_store(kind: str, folder: Path, request: pytest.FixtureRequest, installation: UUID = INSTALLATION) -> BodyStore:
    """A server is started for those alone who ask for it."""
    if kind == "folder":
        return FolderStore(folder, installation)
    server: S3Server = request.getfixturevalue("s3")
    return server.new_store(installation)


def stores_on(store: BodyStore) -> BodyStores:
    return BodyStores({StoreKind(store.kind): store}, store)


async def ids_in(store: BodyStore) -> list[UUID]:
    found, after = list[UUID](), None
    while listed := await store.listed(after, 1_000):
        found += [one.id for one in listed]
        after = found[-1]
    return found


NewStore = Callable[..., BodyStore]
