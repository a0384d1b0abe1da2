"""A page that came whole: read in a child, judged once more, and made into what the archive keeps of it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from math import inf
from typing import Any, Protocol

from headwater.archive.documents import NewDocument
from headwater.archive.raw import RawBody
from headwater.blocks.block import pack_blocks
from headwater.errors import UsageError
from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.body import Producer
from headwater.extraction.jobs.answers import harvest_from
from headwater.extraction.jobs.normalise import Harvest
from headwater.extraction.linked_data import LinkedData
from headwater.extraction.metadata import Metadata
from headwater.extraction.page import Page, Selectors, answer_from, encode_page, selectors_from
from headwater.extraction.page_type import PageType
from headwater.extraction.pool.extraction_pool import Done, ExtractionPool, WorkOutcome, end_in_words
from headwater.extraction.quality import Quality
from headwater.extraction.robots import words_for_us
from headwater.extraction.selectors import fields_of_items
from headwater.frontier.entry import Lease
from headwater.frontier.verdicts import Fetched, Unchanged, Verdict
from headwater.ingest.judge import (
    SEARCH_REFUSED,
    ReadPage,
    UnreadablePage,
    is_refused,
    judge_reading,
    judge_withdrawn,
    why_no_document,
)
from headwater.ingest.page_context import PageContext
from headwater.ingest.page_store import NOTHING, PageEffects
from headwater.log import Logger
from headwater.net.body import Complete
from headwater.net.charset import CharsetEvidence, CharsetKind, Decoded, charset_parameter, decode
from headwater.net.charset_labels import CODECS
from headwater.net.transport import Response
from headwater.plugins import EXTRACTORS, plugin_for
from headwater.rights.headers import header_statements
from headwater.rights.record import (
    NOTHING_SAID,
    OUTSIDE,
    PageUse,
    Rights,
    StatedIn,
    UseStatement,
    restated,
    rights_from,
)
from headwater.sources.source import SourceKind
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.domains import is_same_site, registrable_domain
from headwater.urls.effects import has_effects
from headwater.urls.fingerprint import DocumentKey
from headwater.vacancy import jobs_on

NOINDEX = "noindex"
# Where a document says its charset; the child decodes the rest.
HEAD_BYTES = 1024
SAID = frozenset({CharsetEvidence.BYTE_ORDER_MARK, CharsetEvidence.HTTP, CharsetEvidence.DOCUMENT})
# What has a column of its own, or is only of use while a page is read.
# `raw` holds the rest as it was written.
_NOT_KEPT = frozenset({
    "images", "language", "article_body", "is_about_this_page", "authors", "people", "organisations", "offices",
    "published", "shows", "steps",
})  # fmt: skip


class ContextSource(Protocol):
    """Gives the facts known of a page before it is read."""

    async def expect(self, leases: Sequence[Lease]) -> None: ...

    def forget(self, lease: Lease) -> None: ...

    async def context_of(self, lease: Lease) -> PageContext: ...

    async def revisit_in(self, lease: Lease) -> timedelta | None: ...

    async def wants_rights(self, lease: Lease) -> bool: ...

    async def stated_rights(self, lease: Lease) -> list[Mapping[str, Any]] | None: ...

    async def was_sent(self, lease: Lease, body: bytes) -> bool:
        """Whether the page was sent as this, byte for byte, when it was last read."""


@dataclass(frozen=True, slots=True)
class ChildReader:
    """Where more seconds of work are waiting than `hurry_after`, pages are read at the least cost."""

    pool: ExtractionPool
    product_token: str
    hurry_after: float = inf
    log: Logger | None = None

    async def read(self, response: Response, known: PageContext, now: datetime) -> ReadPage:
        page = page_of(response, known, self.product_token)
        share = registrable_domain(response.url.host)
        if self.pool.backlog_of(share) > self.hurry_after:
            page = replace(page, is_hurried=True)
        read = await self._read_page(page, share, now)
        plugin = plugin_for(EXTRACTORS, page.url) if isinstance(read, UnreadablePage) else None
        if isinstance(read, UnreadablePage) and plugin is not None:
            # The child died over the page or over the plug-in: our own reading tells which.
            own = await self._read_page(replace(page, asks_plugins=False), share, now)
            if isinstance(own, Article | NotAnArticle):
                own = replace(own, plugin_failure=plugin.failed(read.how).sentence)
            read = own
        if isinstance(read, Article | NotAnArticle) and read.plugin_failure and self.log:
            self.log.warning("extractor_failed", url=page.url, why=read.plugin_failure)
        return read

    async def _read_page(self, page: Page, share: str, now: datetime) -> ReadPage:
        return self._answered(await self.pool.run(encode_page(page, now), share), answer_from)

    async def read_feed(self, url: str, known: PageContext, now: datetime) -> ReadPage:
        """The words of a channel about a page, read as if the page were empty."""
        page = Page(url=url, body=b"", timezone=zone_of(known), hints=known.hints, asks_plugins=False)
        return self._answered(await self.pool.run(encode_page(page, now)), answer_from)

    async def harvest(self, response: Response, known: PageContext, now: datetime) -> ReadPage:
        """The vacancies of a page of a job source."""
        assert known.source is not None
        employer = {"org_name": known.source.name, "org_type": known.source.org_type or ""}
        task = {
            "html": text_of(response).text,
            "url": response.url.url,
            "now": now.isoformat(),
            "parser_hint": known.source.parser_hint or "",
            "employer": {**employer, "listing_url": known.source.url},
            "fields": fields_of_items(known.source.selectors),
            "listed_as": known.hints.title,
        }
        return self._answered(await self.pool.run(task, registrable_domain(response.url.host)), harvest_from)

    def _answered(self, outcome: WorkOutcome, read: Callable[[Any], ReadPage]) -> ReadPage:
        # A page may have taken its child over: what comes back is believed only if it has the right form.
        with suppress(UsageError, KeyError, TypeError, ValueError):
            if isinstance(outcome, Done):
                return read(outcome.value)
        return UnreadablePage(end_in_words(outcome))


@dataclass(frozen=True, slots=True)
class PageReader:
    """`notes` is told of every page that was read, for what its host may learn from it."""

    context: ContextSource
    reader: ChildReader
    notes: Callable[[Lease, Article | NotAnArticle], None] = lambda _lease, _read: None

    async def expect(self, leases: Sequence[Lease]) -> None:
        await self.context.expect(leases)

    def forget(self, lease: Lease) -> None:
        self.context.forget(lease)

    async def revisit_in(self, lease: Lease) -> timedelta | None:
        return await self.context.revisit_in(lease)

    async def wants_rights(self, lease: Lease) -> bool:
        return await self.context.wants_rights(lease)

    async def read(
        self, lease: Lease, fetched: Fetched, response: Response, outside: Sequence[UseStatement] = ()
    ) -> tuple[Verdict, PageEffects]:
        """`outside` are statements on the use of the page that were asked for beside it."""
        told = (*outside, *statements_of(response, self.reader.product_token))
        if is_known(lease) and await self.context.was_sent(lease, response.body):
            # There is nothing new to read.
            unchanged = Unchanged(fetched.etag, fetched.last_modified, fetched.revisit_in)
            effects = await self.restated(lease, told, OUTSIDE)
            return judge_withdrawn(unchanged, effects.withdraws), effects
        known = await self.context.context_of(lease)
        is_vacancy = known.source is not None and known.source.kind is SourceKind.JOBS
        ask = self.reader.harvest if is_vacancy else self.reader.read
        read = await ask(response, known, response.at)
        verdict = judge_reading(read, fetched, crawls=known.crawls)
        if isinstance(read, Article | NotAnArticle) and isinstance(verdict, Fetched):
            self.notes(lease, read)
        raw = raw_of(lease, response)
        if is_refused(verdict):
            return verdict, replace(await self._from_feed(lease, known, response.at, told), raw=raw)
        if not isinstance(verdict, Fetched):
            return verdict, PageEffects(raw=raw)
        rights = rights_of(read, known, told)
        why = why_no_document(read, is_search_refused=PageUse.SEARCH in rights.refused)
        ended = replace(with_hash_of_text(verdict, read), no_document=why)
        effects = effects_of(lease, read, known, raw, rights)
        return judge_withdrawn(ended, effects.withdraws), effects

    async def restated(self, lease: Lease, told: Sequence[UseStatement], places: frozenset[StatedIn]) -> PageEffects:
        """Of a page that is as it was: what is said of its use now, at those places; all else as it stands."""
        before = await self.context.stated_rights(lease)
        if before is None and not told:
            return NOTHING
        rights = restated(before or (), told, places)
        if rights.said == (before or []):
            return NOTHING
        refused = PageUse.SEARCH in rights.refused
        return PageEffects(withdraws=SEARCH_REFUSED) if refused else PageEffects(restates=rights)

    async def read_feed(self, lease: Lease, now: datetime, outside: Sequence[UseStatement] = ()) -> PageEffects:
        """The full text a feed brought, where the page itself is refused."""
        return await self._from_feed(lease, await self.context.context_of(lease), now, outside)

    async def _from_feed(
        self, lease: Lease, known: PageContext, now: datetime, outside: Sequence[UseStatement]
    ) -> PageEffects:
        if known.source is None or known.source.kind is SourceKind.JOBS or not known.hints.content:
            return NOTHING
        read = await self.reader.read_feed(lease.url, known, now)
        if not isinstance(read, Article):
            return NOTHING
        rights = rights_of(read, known, outside)
        if PageUse.SEARCH in rights.refused:
            return NOTHING
        return PageEffects(document_from(replace(read, produced_by=Producer.FEED_ONLY), lease, rights), known=known)


def is_known(lease: Lease) -> bool:
    """Whether its last body was read: not where another source wants it read anew, or reading it failed."""
    return bool(lease.fetch_count) and lease.content_hash is not None and not lease.retry_count


def with_hash_of_text(fetched: Fetched, read: ReadPage) -> Fetched:
    """Of the text that was extracted; a page without an article keeps the hash of its body."""
    return replace(fetched, content_hash=bytes.fromhex(read.content_hash)) if isinstance(read, Article) else fetched


def statements_of(response: Response, product_token: str) -> list[UseStatement]:
    """Those in the header of an answer."""
    headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers)
    return header_statements(headers, response.url.url, words_for_us(robots_headers(response), product_token))


def rights_of(read: ReadPage, known: PageContext, told: Sequence[UseStatement]) -> Rights:
    """Of everyone who said something: the answers beside the page, the page itself, and the words of its channel."""
    own = read.rights if isinstance(read, Article | NotAnArticle) else ()
    return rights_from((*told, *own, *known.hints.rights))


def effects_of(
    lease: Lease, read: ReadPage, known: PageContext, raw: RawBody, rights: Rights = NOTHING_SAID
) -> PageEffects:
    """A page that asks not to be kept takes with it what was kept of it; a list of articles is not one."""
    is_search_refused = PageUse.SEARCH in rights.refused
    if isinstance(read, Harvest) and is_search_refused:
        return PageEffects(raw=raw, known=known)
    if isinstance(read, Harvest):
        return PageEffects(raw=raw, jobs=tuple(jobs_on(read.vacancies, raw.url, is_detailed=True)), known=known)
    assert isinstance(read, Article | NotAnArticle)
    unfollowed = set(read.unfollowed)
    links = tuple(link for link in read.links if link not in unfollowed) if known.crawls else ()
    if not isinstance(read, Article) or read.page_type is PageType.LISTING:
        return PageEffects(links=links, raw=raw, known=known)
    if read.robots.noindex:
        return PageEffects(withdraws=NOINDEX, links=links, raw=raw, known=known)
    if is_search_refused:
        return PageEffects(withdraws=SEARCH_REFUSED, links=links, raw=raw, known=known)
    document = document_from(read, lease, rights)
    if known.crawls and document.claimed_url and not read.robots.nofollow:
        links = (*links, document.claimed_url)
    return PageEffects(document, links=links, outlinks=read.links, raw=raw, known=known)


def raw_of(lease: Lease, response: Response) -> RawBody:
    key = DocumentKey(lease.bucket, lease.url_hash)
    content = response.content
    packed = content.packed if isinstance(content, Complete) else None
    return RawBody(key, lease.source_id, response.url.url, response.status, response.headers, response.body, packed)


def text_of(response: Response) -> Decoded:
    return decode(response.body, CharsetKind.HTML, charset_parameter(response.headers.get("Content-Type", "")))


def charset_of(response: Response) -> str:
    """By the first bytes where they or the header say it; else all of the body has to be looked at."""
    beginning = decode(
        response.body[:HEAD_BYTES], CharsetKind.HTML, charset_parameter(response.headers.get("Content-Type", ""))
    )
    return beginning.charset if beginning.evidence in SAID else text_of(response).charset


def page_of(response: Response, known: PageContext, product_token: str) -> Page:
    source = known.source
    return Page(
        url=response.url.url,
        body=response.body,
        codec=CODECS[charset_of(response)],
        robots_headers=robots_headers(response),
        robots_name=product_token,
        timezone=zone_of(known),
        hints=known.hints,
        selectors=selectors_from(source.selectors) if source else Selectors(),
        guide=known.guide,
    )


def zone_of(known: PageContext) -> str:
    return (known.source.timezone if known.source else None) or "UTC"


def robots_headers(response: Response) -> tuple[str, ...]:
    return tuple(value.decode("latin-1") for name, value in response.raw_headers if name.lower() == b"x-robots-tag")


def document_from(article: Article, lease: Lease, rights: Rights = NOTHING_SAID) -> NewDocument:
    """Under the address it was read from: no page writes another one's document."""
    claimed = claimed_page(article, lease)
    parts = values_of(article.quality)
    return NewDocument(
        bucket=lease.bucket,
        url_hash=lease.url_hash,
        source_id=lease.source_id,
        url=article.url,
        canonical_url=claimed.url if claimed else article.url,
        title=article.title,
        text=article.text,
        word_count=article.word_count,
        content_hash=bytes.fromhex(article.content_hash),
        summary=article.description,
        author=article.author,
        authors=article.authors,
        published_at=article.published_at,
        updated_at=article.updated_at,
        language=article.language,
        section=article.section,
        keywords=article.keywords,
        images=article.images,
        page_type=str(article.page_type),
        quality=parts.pop("score"),
        quality_parts=parts,
        simhash=article.simhash,
        produced_by=str(article.produced_by),
        metadata=metadata_of(article),
        claimed=DocumentKey(claimed.bucket, claimed.url_hash) if claimed else None,
        rights=rights,
        blocks=pack_blocks(article.blocks, article.text),
    )


def without_claim(new: NewDocument) -> NewDocument:
    """Calling no other page canonical."""
    return replace(new, canonical_url=new.url, claimed=None)


def claimed_page(article: Article, lease: Lease) -> CanonicalUrl | None:
    """The other page that an article calls canonical. A child may have been taken over, so its word is checked."""
    named = canonicalise(article.canonical_url or article.url)
    own = canonicalise(lease.url)
    is_own = named.url_hash in (lease.url_hash, own.url_hash)
    is_possible = is_same_site(own, named) and not has_effects(named)
    return named if is_possible and not is_own else None


def metadata_of(article: Article) -> dict[str, Any]:
    """By the names of the raw_content document, without what the page does not say."""
    said = {name: value for name, value in values_of(article.metadata).items() if value not in ("", None)}
    linked, lead, access = json_ld_data(article.linked_data), article.lead_image, article.access
    told = {
        "json_ld_data": linked,
        "lead_image": _without_empty(asdict(lead)) if lead else {},
        "access": _without_empty(asdict(access)),
    }
    return said | {name: value for name, value in told.items() if value}


def _without_empty(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value not in ("", None, False)}


def json_ld_data(linked: LinkedData) -> dict[str, Any]:
    told = {
        name: value
        for name, value in values_of(linked).items()
        if name not in _NOT_KEPT and value not in ("", None, ())
    }
    return {
        f"jsonld_{name}": value.isoformat() if hasattr(value, "isoformat") else value for name, value in told.items()
    }


def values_of(said: LinkedData | Metadata | Quality) -> dict[str, Any]:
    """As they are: `asdict` would copy all that a publisher wrote in JSON."""
    return {one.name: getattr(said, one.name) for one in fields(said)}
