"""What a store of raw bodies has to do, and how bodies are called in it.

A body is named by a number alone, never by anything that a page or its server says: by the token of the lease it was
fetched under. So no two pages share one, a page that is stored twice overwrites itself with the same bytes, and nobody
chooses where it lies: `<prefix>/<installation>/ab/cd/abcd….body`.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol
from uuid import UUID

_NAME = re.compile(r"([0-9a-f]{32})\.body")


class StoreKind(StrEnum):
    """As the column `raw_bodies.stored_in` has it; null there is the row itself."""

    FOLDER = "folder"
    S3 = "s3"


@dataclass(frozen=True, slots=True)
class Listed:
    """`age` by the clock that dates what is in the store, not by ours."""

    id: UUID
    age: timedelta


class BodyStore(Protocol):
    """Everything raises StoreDown, with what to do, where the store is away, full or refuses us."""

    @property
    def kind(self) -> StoreKind: ...

    @property
    def place(self) -> str:
        """Where it is, for people; without credentials."""

    async def put(self, body_id: UUID, body: bytes) -> None:
        """Whole and lasting when this returns; what had the name before is replaced."""

    async def get(self, body_id: UUID) -> bytes | None:
        """None: it is not there."""

    async def delete(self, ids: Collection[UUID]) -> None:
        """All of them, at most MOST_AT_ONCE; what is not there is deleted already."""

    async def listed(self, after: UUID | None, most: int) -> Sequence[Listed]:
        """In the order of their ids, from behind `after` on; none: that was the end. What is not ours is left out."""

    async def forget_unfinished(self, age: timedelta) -> int:
        """What was begun so long ago and never became a body; how many there were."""


# As many as S3 deletes in one request.
MOST_AT_ONCE = 1_000


def path_of(body_id: UUID) -> tuple[str, str, str]:
    """Two levels of 256 folders: with ten million bodies 150 in each."""
    return body_id.hex[:2], body_id.hex[2:4], f"{body_id.hex}.body"


def id_in(name: str) -> UUID | None:
    """None where the name is not one of ours."""
    found = _NAME.fullmatch(name)
    return UUID(found[1]) if found else None
