"""What is known of a page before it is read: its source, what its channel said, and what was learned of its host."""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound
from headwater.extract.page import FeedHints
from headwater.extract.templates.guide import Guide
from headwater.frontier.entry import Lease
from headwater.learning.shelf import Shelf
from headwater.sources.source import Profile
from headwater.sources.store import read_source

queries = load_queries("headwater.ingest")

# R49: a changed selector is used after five minutes at the latest.
REMEMBERED_FOR = timedelta(minutes=5)
MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Known:
    """`source` is None for what a person added by hand."""

    source: Profile | None = None
    crawls: bool = False
    hints: FeedHints = FeedHints()  # noqa: RUF009 - a frozen value
    guide: Guide | None = None


@dataclass(slots=True)
class Context:
    database: Database
    clock: Clock
    shelf: Shelf
    _sources: OrderedDict[UUID, tuple[float, Profile | None]] = field(default_factory=OrderedDict, init=False)

    async def known_of(self, lease: Lease) -> Known:
        host = lease.host if self.shelf.wants(lease.host) else None
        row = await self.database.fetchrow(queries.known_of_page, lease.bucket, lease.url_hash, lease.source_id, host)
        assert row is not None
        if host:
            self.shelf.put(host, row["templates"] or ())
        hints = FeedHints(
            title=row["title"] or "",
            author=row["author"] or "",
            language=row["language"] or "",
            content=row["content"] or "",
            published_at=row["published_at"],
            updated_at=row["updated_at"],
        )
        return Known(await self._source(lease.source_id), row["crawls"], hints, self.shelf.guide_for(lease))

    async def _source(self, source_id: UUID) -> Profile | None:
        read_at, profile = self._sources.get(source_id, (float("-inf"), None))
        if self.clock.monotonic() - read_at < REMEMBERED_FOR.total_seconds():
            return profile
        try:
            profile = (await read_source(self.database, source_id)).profile
        except NotFound:
            profile = None
        self._sources[source_id] = (self.clock.monotonic(), profile)
        if len(self._sources) > MOST_REMEMBERED:
            self._sources.popitem(last=False)
        return profile
