"""Records, contexts and leases to try a sink with, without a database."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from headwater.chance import random_from
from headwater.clock import Clock, SystemClock
from headwater.deliver.http import SinkClient
from headwater.deliver.records import Record, RecordKey, RecordSource
from headwater.deliver.sink import Fence, Removal, SinkContext, Upsert
from headwater.log import Logger
from headwater.net.guard import OperatorGuard
from headwater.net.identity import Identity
from headwater.net.transport import Transport
from headwater.record_kind import RecordKind

SOURCE = RecordSource(UUID(int=7), "The Daily Test", "https://daily.test/", "news")
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def made_key(name: str, kind: RecordKind = RecordKind.DOCUMENT) -> RecordKey:
    return RecordKey(kind, 1, sha256(name.encode()).digest())


def made_record(name: str, kind: RecordKind = RecordKind.DOCUMENT, version: int = 1, **fields: Any) -> Record:
    key = made_key(name, kind)
    about = {
        "id": key.id,
        "kind": str(kind),
        "version": version,
        "source_id": SOURCE.id,
        "source_name": SOURCE.name,
        "title": f"About {name}",
        "language": "en",
    }
    own: dict[str, Any]
    if kind is RecordKind.DOCUMENT:
        own = {
            "url": f"https://daily.test/{name}",
            "text": f"All there is to say about {name}. " * 20,
            "keywords": ["test"],
            "metadata": {"og:type": "article"},
            "crawled_at": AT,
            "changed_at": AT,
        }
    else:
        own = {
            "org_name": "Relief",
            "apply_url": f"https://relief.test/{name}",
            "contract_type": "full_time",
            "mission_tags": ["wash", "health"],
            "country_iso": "KE",
            "status": "active",
            "raw_metadata": {"unknown": {}},
            "fetched_at": AT,
            "updated_at": AT,
        }
    return Record(key, version, SOURCE, about | own | fields)


def upsert(
    name: str,
    position: int,
    kind: RecordKind = RecordKind.DOCUMENT,
    *,
    place: str = "",
    version: int = 1,
    **fields: Any,
) -> Upsert:
    return Upsert(made_record(name, kind, version, **fields), position, place)


def removal(name: str, position: int, kind: RecordKind = RecordKind.DOCUMENT, *, place: str = "") -> Removal:
    return Removal(made_key(name, kind), position, 2, place)


def fence(clock: Clock | None = None, *, seconds: float = 60.0, is_handed_over: bool = True) -> Fence:
    ticking = clock or SystemClock()
    return Fence(ticking, "token", ticking.monotonic() + seconds, 77, is_handed_over)


@dataclass
class Told(Logger):
    """What a sink logs."""

    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def info(self, event: str, **fields: Any) -> None:
        self.lines.append((event, fields))

    def warning(self, event: str, **fields: Any) -> None:
        self.lines.append((event, fields))


@asynccontextmanager
async def sink_context(
    secrets: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    *,
    timeout: float = 15.0,
    log: Logger | None = None,
) -> AsyncIterator[SinkContext]:
    known = secrets or {}
    ticking = clock or SystemClock()
    async with Transport(Identity("Tester/1"), OperatorGuard(), SystemClock()) as transport:
        yield SinkContext(
            "orders",
            ticking,
            random_from(1),
            log or Told(),
            Path(),
            known.__getitem__,
            lambda base: SinkClient(transport, base, timeout=timeout),
        )
