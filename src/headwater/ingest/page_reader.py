"""What is made of a page that came whole: read, judged once more, and what is left of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from headwater.archive.document import DocumentKey
from headwater.archive.raw import RawBody
from headwater.archive.vacancies import jobs_from
from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.body import Producer
from headwater.extraction.jobs.normalise import Harvest
from headwater.extraction.page_type import PageType
from headwater.frontier.entry import Lease
from headwater.frontier.verdicts import Fetched, Unchanged, Verdict
from headwater.ingest.documents import document_from
from headwater.ingest.judge import is_refused, judge_reading, why_no_document
from headwater.ingest.page_context import PageContext
from headwater.ingest.page_store import NOTHING, PageEffects
from headwater.ingest.reading import Read, Reader
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.sources.source import SourceKind

NOINDEX = "noindex"


class ContextSource(Protocol):
    """Gives the facts known of a page before it is read."""

    async def expect(self, leases: Sequence[Lease]) -> None: ...

    def forget(self, lease: Lease) -> None: ...

    async def context_of(self, lease: Lease) -> PageContext: ...

    async def revisit_in(self, lease: Lease) -> timedelta | None: ...

    async def was_sent(self, lease: Lease, body: bytes) -> bool:
        """Whether the page was sent as this, byte for byte, when it was last read."""


@dataclass(frozen=True, slots=True)
class PageReader:
    """`notes` is told of every page that was read, for what its host may learn from it."""

    context: ContextSource
    reader: Reader
    notes: Callable[[Lease, Article | NotAnArticle], None] = lambda _lease, _read: None

    async def expect(self, leases: Sequence[Lease]) -> None:
        await self.context.expect(leases)

    def forget(self, lease: Lease) -> None:
        self.context.forget(lease)

    async def revisit_in(self, lease: Lease) -> timedelta | None:
        return await self.context.revisit_in(lease)

    async def read(self, lease: Lease, fetched: Fetched, response: Response) -> tuple[Verdict, PageEffects]:
        if is_known(lease) and await self.context.was_sent(lease, response.body):
            # There is nothing new to read.
            return Unchanged(fetched.etag, fetched.last_modified, fetched.revisit_in), NOTHING
        known = await self.context.context_of(lease)
        is_vacancy = known.source is not None and known.source.kind is SourceKind.JOBS
        ask = self.reader.harvest if is_vacancy else self.reader.read
        read = await ask(response, known, response.at)
        verdict = judge_reading(read, fetched, crawls=known.crawls)
        if isinstance(read, Article | NotAnArticle) and isinstance(verdict, Fetched):
            self.notes(lease, read)
        raw = raw_of(lease, response)
        if is_refused(verdict):
            return verdict, replace(await self._from_feed(lease, known, response.at), raw=raw)
        if not isinstance(verdict, Fetched):
            return verdict, PageEffects(raw=raw)
        told = replace(with_hash_of_text(verdict, read), no_document=why_no_document(read))
        return told, effects_of(lease, read, known, raw)

    async def read_feed(self, lease: Lease, now: datetime) -> PageEffects:
        """The full text a feed brought, where the page itself is refused."""
        return await self._from_feed(lease, await self.context.context_of(lease), now)

    async def _from_feed(self, lease: Lease, known: PageContext, now: datetime) -> PageEffects:
        if known.source is None or known.source.kind is SourceKind.JOBS or not known.hints.content:
            return NOTHING
        read = await self.reader.read_feed(lease.url, known, now)
        if not isinstance(read, Article):
            return NOTHING
        return PageEffects(document_from(replace(read, produced_by=Producer.FEED_ONLY), lease), known=known)


def is_known(lease: Lease) -> bool:
    """Whether its last body was read: not where another source wants it read anew, or reading it failed."""
    return bool(lease.fetch_count) and lease.content_hash is not None and not lease.retry_count


def with_hash_of_text(fetched: Fetched, read: Read) -> Fetched:
    """Of the text that was extracted; a page without an article keeps the hash of its body."""
    return replace(fetched, content_hash=bytes.fromhex(read.content_hash)) if isinstance(read, Article) else fetched


def effects_of(lease: Lease, read: Read, known: PageContext, raw: RawBody) -> PageEffects:
    """A page that asks not to be kept takes with it what was kept of it; a list of articles is not one."""
    if isinstance(read, Harvest):
        return PageEffects(raw=raw, jobs=tuple(jobs_from(read.vacancies, raw.url, is_detailed=True)), known=known)
    assert isinstance(read, Article | NotAnArticle)
    unfollowed = set(read.unfollowed)
    links = tuple(link for link in read.links if link not in unfollowed) if known.crawls else ()
    if not isinstance(read, Article) or read.page_type is PageType.LISTING:
        return PageEffects(links=links, raw=raw, known=known)
    if read.robots.noindex:
        return PageEffects(withdraws=NOINDEX, links=links, raw=raw, known=known)
    document = document_from(read, lease)
    if known.crawls and document.claimed_url and not read.robots.nofollow:
        links = (*links, document.claimed_url)
    return PageEffects(document, links=links, outlinks=read.links, raw=raw, known=known)


def raw_of(lease: Lease, response: Response) -> RawBody:
    key = DocumentKey(lease.bucket, lease.url_hash)
    content = response.content
    packed = content.packed if isinstance(content, Complete) else None
    return RawBody(key, lease.source_id, response.url.url, response.status, response.headers, response.body, packed)
