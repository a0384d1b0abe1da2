"""The context of a page before it is read: its source, the words of its channel, and the template of its host."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.archive.documents import stated_rights
from headwater.archive.raw import unpack
from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, QueryFailed, StoreDown, UsageError
from headwater.extraction.page import FeedHints
from headwater.extraction.templates.guide import Guide
from headwater.frontier.entry import Lease
from headwater.learning.template_cache import REMEMBERED_SECONDS, TemplateCache
from headwater.net.body import Packed
from headwater.rights.rsl import statements_in_feed
from headwater.sources.source import Profile
from headwater.sources.store import block_unreadable, read_source
from headwater.urls.domains import registrable_domain
from headwater.urls.fingerprint import DocumentKey

queries = load_queries("headwater.ingest")

# As long as a template that another process learned; of an edit its moment tells at once.
REMEMBERED_FOR = timedelta(seconds=REMEMBERED_SECONDS)
MOST_REMEMBERED = 10_000


# When it was read by our own clock, as of which edit, and the source.
_Remembered = tuple[float, datetime | None, Profile | None]


@dataclass(frozen=True, slots=True)
class PageContext:
    """`source` is None for what a person added by hand."""

    source: Profile | None = None
    crawls: bool = False
    hints: FeedHints = FeedHints()  # noqa: RUF009 - a frozen value
    guide: Guide | None = None


def next_revisit(times: Sequence[timedelta], fetched_before: int) -> timedelta | None:
    """The first time after the first fetch, the second after the second; the last one over and over."""
    return times[min(fetched_before, len(times) - 1)] if times else None


@dataclass(slots=True)
class Context:
    database: Database
    clock: Clock
    template_cache: TemplateCache
    stores: BodyStores = NO_STORES
    _sources: OrderedDict[UUID, _Remembered] = field(default_factory=OrderedDict, init=False)
    _expected: dict[UUID, Any] = field(default_factory=dict, init=False)

    async def expect(self, leases: Sequence[Lease]) -> None:
        """The context of all pages of a claim, asked for at once: one by one, each would cost a round trip."""
        rows = await self._rows(leases)
        self._expected.update({lease.token: row for lease, row in zip(leases, rows, strict=True)})

    def forget(self, lease: Lease) -> None:
        self._expected.pop(lease.token, None)

    async def context_of(self, lease: Lease) -> PageContext:
        row = self._expected.pop(lease.token, None) or (await self._rows([lease]))[0]
        hints = FeedHints(
            title=row["title"] or "",
            author=row["author"] or "",
            language=row["language"] or "",
            content=row["content"] or "",
            published_at=row["published_at"],
            updated_at=row["updated_at"],
            rights=statements_in_feed(row["rights"]),
        )
        source = await self._source(lease.source_id, row["source_changed_at"])
        return PageContext(source, row["crawls"], hints, self.template_cache.guide_for(lease))

    async def wants_rights(self, lease: Lease) -> bool:
        """Whether its source has tdmrep.json asked for; what a person added by hand has no source to say so."""
        source = await self._expected_source(lease)
        return source is not None and not source.skips_tdmrep

    async def revisit_in(self, lease: Lease) -> timedelta | None:
        """By the clock of its source, counted from this fetch; None: not by the clock."""
        source = await self._expected_source(lease)
        return next_revisit(source.revisit_every, lease.fetch_count) if source else None

    async def was_sent(self, lease: Lease, body: bytes) -> bool:
        """Where that cannot be told, it is read as what may be new."""
        row = await self.database.fetchrow(queries.last_body, lease.bucket, lease.url_hash, len(body))
        if row is None:
            return False
        try:
            [packed] = await self.stores.packed_of([row])
            return packed is not None and unpack(Packed(row["coding"], packed), len(body)) == body
        except (StoreDown, QueryFailed):
            return False

    async def stated_rights(self, lease: Lease) -> list[Mapping[str, Any]] | None:
        return await stated_rights(self.database, DocumentKey(lease.bucket, lease.url_hash))

    async def _expected_source(self, lease: Lease) -> Profile | None:
        if lease.token not in self._expected:
            await self.expect([lease])
        return await self._source(lease.source_id, self._expected[lease.token]["source_changed_at"])

    async def _rows(self, leases: Sequence[Lease]) -> list[Any]:
        columns = zip(*((one.bucket, one.url_hash, one.source_id, one.host, one.site) for one in leases), strict=True)
        buckets, hashes, sources, hosts, sites = map(list, columns)
        unknown = {site for site in sites if self.template_cache.wants(site)}
        asked = [site if site in unknown else None for site in sites]
        domains = list(map(registrable_domain, hosts))
        rows = await self.database.fetch(queries.known_of_pages, buckets, hashes, sources, asked, hosts, domains)
        for site, row in zip(asked, rows, strict=True):
            if site:
                self.template_cache.put(site, row["templates"] or ())
        return rows

    async def _source(self, source_id: UUID, changed_at: datetime | None) -> Profile | None:
        """By its row of that moment: a page that is read for an edit must not be read as before it."""
        read_at, of, profile = self._sources.get(source_id, (float("-inf"), None, None))
        if of == changed_at and self.clock.monotonic() - read_at < REMEMBERED_FOR.total_seconds():
            return profile
        try:
            profile = (await read_source(self.database, source_id)).profile
        except NotFound:
            profile = None
        except UsageError as error:
            await block_unreadable(self.database, source_id, error.what)
            raise
        self._sources[source_id] = (self.clock.monotonic(), changed_at, profile)
        if len(self._sources) > MOST_REMEMBERED:
            self._sources.popitem(last=False)
        return profile
