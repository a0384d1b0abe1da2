"""The effects of a journey beside its verdict, kept in one transaction with it: document, links to follow, raw body."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from headwater.archive.documents import NewDocument, document_row, pack_outlinks, restate_rights, to_signed
from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.archive.outbox import WAKE
from headwater.archive.raw import PlacedBody, RawBody, body_row, place_body
from headwater.archive.stores.known import BodyWriter
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UrlRejected, UsageError
from headwater.extraction.body import Producer
from headwater.frontier.budget import beyond_budget
from headwater.frontier.entry import DeadReason, EntryOrigin, EntryStatus, Lease
from headwater.frontier.submit import FoundUrl, SubmitAnswer, SubmitOutcome, Submitter, hold_hosts, submit
from headwater.frontier.verdicts import Moved, Verdict
from headwater.ingest.judge import Missing
from headwater.ingest.page_context import PageContext
from headwater.politeness.slots import Settlement
from headwater.politeness.takedown import takedowns_for
from headwater.rights.record import Rights
from headwater.sources.source import Profile
from headwater.sources.store import read_source
from headwater.storable import storable
from headwater.urls.canonical import canonicalise, web_addresses
from headwater.urls.domains import NO_VOICE, Voice, registrable_domain
from headwater.urls.fingerprint import DocumentKey
from headwater.urls.scope import placement_of
from headwater.urls.skip import why_skipped
from headwater.urls.traps import trap_in
from headwater.vacancy import NewJob

queries = load_queries("headwater.ingest")
archive_queries = load_queries("headwater.archive")

# A page that is gone, or that its owner wants gone, takes its document with it.
WITHDRAWN_BY = frozenset({DeadReason.NOT_FOUND, DeadReason.GONE, DeadReason.LEGAL, DeadReason.TAKEDOWN})
WITHOUT_LIMIT = -1
MOST_PAGES = 100_000


class LeaseWasLost(Exception):
    """Another worker has the entry by now: nothing of this journey may stand."""


@dataclass(frozen=True, slots=True)
class PageEffects:
    """`withdraws`: why what was read from this address has to go. `links` are to be followed, `outlinks` kept.

    `restates`: what is said now about the use of a page that is as it was.
    """

    document: NewDocument | None = None
    withdraws: str = ""
    links: tuple[str, ...] = ()
    outlinks: tuple[str, ...] = ()
    raw: RawBody | None = None
    jobs: tuple[NewJob, ...] = ()
    known: PageContext | None = None
    restates: Rights | None = None


NOTHING = PageEffects()


@dataclass(frozen=True, slots=True)
class PageStore:
    database: Database
    default_delay: timedelta
    new_hosts_per_hour: int | None = None  # that the links of a source's pages may lead to
    writer: BodyWriter | None = None  # where raw bodies go, if not into the database

    async def keep(self, lease: Lease, verdict: Verdict, settlement: Settlement, effects: PageEffects) -> bool:
        """False if the lease was lost: then nothing was changed at all. A second time is harmless for that reason."""
        # Named by the token, which is good for once: a second time the same bytes are put in the same place.
        placed = await place_body(effects.raw, lease.token, self.writer) if effects.raw else None
        is_kept = await self._keep(lease, verdict, settlement, effects, placed)
        if placed and placed.stored_in and not is_kept:
            # Unless the first of two tries was heard after all, and refers to it.
            await self.database.execute(archive_queries.discard_bodies, placed.stored_in, [placed.id])
        if is_kept and (effects.document or effects.withdraws or effects.restates):
            await self.database.follow_up(WAKE)
        return is_kept

    async def _keep(
        self, lease: Lease, verdict: Verdict, settlement: Settlement, effects: PageEffects, placed: PlacedBody | None
    ) -> bool:
        call = call_to_keep(lease, settlement, effects, placed)
        is_alone = not (effects.jobs or effects.restates or goes_on(lease, effects) or named_page(lease, effects))
        if is_alone and not isinstance(verdict, Moved):
            return bool(await self.database.fetchval(*call))
        try:
            async with self.database.transaction() as connection:
                own = canonicalise(lease.url)
                # Where a page leads that was taken down is nobody's business.
                if not (await takedowns_for(connection, [own.host])).covers(own):
                    await self._submit(connection, lease, verdict, effects)
                if not await connection.fetchval(*call):
                    raise LeaseWasLost
                if effects.restates:
                    await restate_rights(connection, DocumentKey(lease.bucket, lease.url_hash), effects.restates)
                if effects.jobs:
                    now = await connection.fetchval(queries.now)
                    teller = teller_of(lease, effects, await voice_of(connection, lease))
                    await keep_jobs(connection, teller, effects.jobs, now)
        except LeaseWasLost:
            return False
        return True

    async def missing(self, lease: Lease) -> Missing:
        """Before a page that is not found is judged; of an entry that is gone meanwhile nothing is known."""
        row = await self.database.fetchrow(queries.missing_page, lease.bucket, lease.url_hash)
        return Missing(row["is_listed"], row["was_missing"]) if row else Missing()

    async def _submit(self, connection: Connection, lease: Lease, verdict: Verdict, effects: PageEffects) -> None:
        """Every host this transaction touches is locked first, in the order everybody keeps."""
        if isinstance(verdict, Moved):
            await self._submit_target(connection, lease, verdict)
        source = goes_on(lease, effects)
        if source and not await repeats_another_page(connection, lease, effects.document):
            today = (await connection.fetchval(queries.now)).date()
            # Names without end become no hosts of ours once the source's budget is spent.
            wanted = links_to_follow(effects.links, source, today)
            links = await within_budget(connection, lease.source_id, source, wanted)
            hosts = {lease.host, *(canonicalise(link).host for link in links)}
            await hold_hosts(connection, hosts, self.default_delay)
            parent = FoundUrl(lease.url, depth=lease.depth)
            submitter = replace(await self._linking(connection, lease, source), origin=EntryOrigin.SPIDER)
            await submit_links(connection, lease.source_id, source, parent, links, today, submitter)
        elif named := named_page(lease, effects):
            await self._submit_named(connection, lease, effects, named)

    async def _submit_target(self, connection: Connection, lease: Lease, moved: Moved) -> None:
        """The target of a redirect inherits source and origin, and the words of channels, unless it is not wanted."""
        target = canonicalise(moved.to)
        await hold_hosts(connection, [lease.host, target.host], self.default_delay)
        found = FoundUrl(moved.to, lease.url, lease.depth, priority=lease.priority, hops=moved.hops)
        source, voice = await followed_source(connection, lease), await voice_of(connection, lease)
        scope = source.redirects if source and lease.origin is not EntryOrigin.MANUAL else None
        home = source.address if source else None
        submitter = Submitter(lease.source_id, lease.origin, scope=scope, voice=voice, home=home, is_link=True)
        # A source that was blocked or deleted meanwhile takes no new URLs: the redirect ends here.
        with suppress(NotFound, UsageError):
            [answer] = await submit(connection, submitter, [found], default_delay=self.default_delay)
            if answer.outcome is not SubmitOutcome.REJECTED:
                place = (target.bucket, target.url_hash)
                await connection.execute(queries.pass_on_items, lease.bucket, lease.url_hash, *place)

    async def _linking(self, connection: Connection, lease: Lease, source: Profile) -> Submitter:
        """For pages that a page of this source leads to."""
        voice = await voice_of(connection, lease)
        return Submitter(
            lease.source_id,
            lease.origin,
            scope=source.scope,
            voice=voice,
            home=source.address,
            is_link=True,
            most_new_hosts=self.new_hosts_per_hour,
        )

    async def _submit_named(self, connection: Connection, lease: Lease, effects: PageEffects, named: str) -> None:
        """A page that this one calls canonical, where its source would follow a link to it."""
        today = (await connection.fetchval(queries.now)).date()
        if not (effects.known and effects.known.source and links_to_follow([named], effects.known.source, today)):
            return
        await hold_hosts(connection, {lease.host, canonicalise(named).host}, self.default_delay)
        submitter = await self._linking(connection, lease, effects.known.source)
        # A source that was deleted meanwhile takes no new URLs; what was read is kept all the same.
        with suppress(NotFound, UsageError):
            await submit(
                connection, submitter, [FoundUrl(named, lease.url, lease.depth + 1)], default_delay=self.default_delay
            )


async def followed_source(connection: Connection, lease: Lease) -> Profile | None:
    """The page's source, which says where it lets itself be led; None: one without an address, that says nothing."""
    with suppress(NotFound):
        return (await read_source(connection, lease.source_id)).profile
    return None


async def voice_of(connection: Connection, lease: Lease) -> Voice:
    """A source that may speak for a page may speak for its domain."""
    speaks = await connection.fetchval(queries.owner_speaks, lease.bucket, lease.url_hash, lease.source_id)
    return Voice(registrable_domain(lease.host)) if speaks else NO_VOICE


async def repeats_another_page(connection: Connection, lease: Lease, document: NewDocument | None) -> bool:
    """Links of a page whose text its source has elsewhere are not followed: the same text under any number of
    addresses would lead a crawl on for ever, and what an honest copy links to is found from its original."""
    if document is None:
        return False
    alike = (document.bucket, document.url_hash, document.content_hash, to_signed(document.simhash))
    return bool(await connection.fetchval(queries.repeats_another_page, lease.source_id, *alike))


def goes_on(lease: Lease, effects: PageEffects) -> Profile | None:
    """The source whose crawl follows the links of this page; None: nobody's does."""
    source = effects.known.source if effects.known else None
    return source if source and effects.links and goes_deeper(source, lease.depth) else None


def teller_of(lease: Lease, effects: PageEffects, voice: Voice) -> Teller:
    """Of the page's source: one that may not speak for the vacancy gives way to one that may, whatever was read."""
    source = effects.known.source if effects.known else None
    url = effects.raw.url if effects.raw else lease.url
    return Teller(lease.source_id, url, voice, source_url=source.url if source else "")


def named_page(lease: Lease, effects: PageEffects) -> str | None:
    """The page that this one calls canonical, where no crawl follows it as a link. One step: it may name another."""
    is_crawled = effects.known is not None and effects.known.crawls
    return None if is_crawled or lease.depth or effects.document is None else effects.document.claimed_url


def call_to_keep(
    lease: Lease, settlement: Settlement, effects: PageEffects, placed: PlacedBody | None
) -> tuple[Any, ...]:
    """The database's `keep_page` and its values."""
    return queries.keep_page(
        settlement=settlement,
        url_hash=lease.url_hash,
        document=document_row(effects.document) if effects.document else None,
        outlinks=pack_outlinks(effects.outlinks),
        body=body_row(placed) if placed else None,
        withdrawn_by=storable(effects.withdraws or withdrawn_by(settlement)),
        keys=[url.usual_key for url in web_addresses(*addresses_of(lease, effects))],
        claimed=claimed_by(effects.document),
    )


def addresses_of(lease: Lease, effects: PageEffects) -> Iterator[str]:
    """Where all of this came from. A document in a feed's words came from its source as well."""
    yield lease.url
    if effects.raw:
        yield effects.raw.url
    if document := effects.document:
        yield document.url
        if document.produced_by == Producer.FEED_ONLY and effects.known and effects.known.source:
            yield effects.known.source.url


def claimed_by(document: NewDocument | None) -> str | None:
    """The key of the other page that this one calls canonical."""
    return canonicalise(document.canonical_url).usual_key if document and document.claimed else None


def withdrawn_by(settlement: Settlement) -> str:
    """By its end, whatever led to it: the last attempt of several may be what was not believed at first."""
    is_dead = settlement.status == EntryStatus.DEAD
    return str(settlement.reason) if is_dead and settlement.reason in WITHDRAWN_BY else ""


async def submit_links(
    connection: Connection,
    source_id: UUID,
    profile: Profile,
    parent: FoundUrl,
    links: Iterable[str],
    today: date,
    submitter: Submitter | None = None,
) -> list[SubmitAnswer]:
    """The links of a fetched page, one level deeper: only what is in scope, and only what is new becomes an entry.

    Called in the transaction that settles the page; a page that is processed twice adds nothing.
    """
    urls = await within_budget(connection, source_id, profile, links_to_follow(links, profile, today))
    wanted = [FoundUrl(url, parent.url, parent.depth + 1) for url in urls if goes_deeper(profile, parent.depth)]
    submitter = replace(submitter or Submitter(source_id, EntryOrigin.SPIDER), scope=profile.scope)
    return await submit(connection, submitter, wanted)


async def within_budget(
    connection: Connection, source_id: UUID, profile: Profile, urls: Sequence[str]
) -> Sequence[str]:
    """Those for which the source still has room; what it knows already takes none."""
    beyond = await beyond_budget(connection, source_id, profile.max_pages or MOST_PAGES, urls)
    return [url for url in urls if url not in beyond]


def goes_deeper(profile: Profile, depth: int) -> bool:
    return profile.max_depth == WITHOUT_LIMIT or depth < profile.max_depth


def links_to_follow(links: Iterable[str], profile: Profile, today: date) -> list[str]:
    """Each address once, without what leads out of scope, in circles, or nowhere a reader would go."""
    scope = profile.scope
    kept: dict[bytes, str] = {}
    for link in links:
        try:
            url = canonicalise(link)
        except UrlRejected:
            continue
        placement = placement_of(url, scope)
        if placement.is_followed and why_skipped(url) is None and trap_in(url, today=today) is None:
            kept.setdefault(url.url_hash, link)
    return list(kept.values())
