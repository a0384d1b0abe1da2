"""Pages that were kept, as if they had come this moment."""

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

from multidict import CIMultiDict

from headwater.archive.raw import KeptBody, newest_bodies_of
from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.database.pool import Database
from headwater.errors import UsageError
from headwater.frontier.entry import EntryOrigin, Lease
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.politeness.slots import StartWindow
from headwater.sources.source import SourceKind
from headwater.sources.store import read_source
from headwater.urls.canonical import canonicalise

NOBODYS = UUID(int=0)


async def require_articles(database: Database, source_id: UUID) -> None:
    source = await read_source(database, source_id)
    if source.profile.kind is SourceKind.JOBS:
        raise UsageError(f"{source.name} offers vacancies.", fix="They are read again whenever it is polled.")


async def batches_of(
    database: Database, source_id: UUID, at_once: int, limit: int | None, stores: BodyStores = NO_STORES
) -> AsyncIterator[list[KeptBody]]:
    batch: list[KeptBody] = []
    count = 0
    async for body in newest_bodies_of(database, source_id, stores):
        if count == limit:
            break
        count += 1
        batch.append(body)
        if len(batch) == at_once:
            yield batch
            batch = []
    if batch:
        yield batch


def lease_of(body: KeptBody) -> Lease:
    """Nobody granted it: reading a page asks a lease for names only, and none of it is settled."""
    raw, address = body.raw, canonicalise(body.raw.url)
    return Lease(
        token=NOBODYS,
        bucket=raw.key.bucket,
        url_hash=raw.key.url_hash,
        host=address.host,
        url=raw.url,
        source_id=raw.source_id,
        origin=EntryOrigin.MANUAL,
        depth=0,
        priority=1,
        retry_count=0,
        fetch_count=0,
        hops=0,
        resume_url=None,
        etag=None,
        last_modified=None,
        content_hash=None,
        window=StartWindow(0.0, 0.0, 0.0),
    )


def response_of(body: KeptBody) -> Response:
    """As it was answered then: what a page may claim of its dates is bounded by that day, not by this one."""
    raw = body.raw
    return Response(
        url=canonicalise(raw.url),
        status=raw.status,
        headers=CIMultiDict(raw.headers),
        raw_headers=[(name.encode(), value.encode("latin-1", "replace")) for name, value in raw.headers.items()],
        content=Complete(raw.body),
        duration=timedelta(),
        is_reused=False,
        address=None,
        at=body.at,
    )
