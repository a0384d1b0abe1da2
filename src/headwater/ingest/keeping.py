"""What a journey leaves beside its verdict: document, links, raw body, all in one transaction with the settle."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from headwater.archive.document import NewDocument
from headwater.archive.documents import document_row
from headwater.archive.job import NewJob
from headwater.archive.jobs import keep_jobs
from headwater.archive.outlinks import packed_outlinks
from headwater.archive.raw import RawBody, body_row
from headwater.archive.storable import storable
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.frontier.entry import DeadReason, Lease, Origin
from headwater.frontier.submit import Found, Submitter, hold_hosts, submit
from headwater.frontier.verdicts import Dead, Moved, Verdict
from headwater.ingest.context import Known
from headwater.ingest.links import followed, goes_deeper, submit_links
from headwater.politeness.settlement import Settlement
from headwater.sources.source import Profile
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import NO_VOICE, Voice, registrable_domain

queries = load_queries("headwater.ingest")

# A page that is gone, or that its owner wants gone, takes its document with it.
WITHDRAWN_BY = frozenset({DeadReason.NOT_FOUND, DeadReason.GONE, DeadReason.LEGAL, DeadReason.TAKEDOWN})


class LeaseWasLost(Exception):
    """Somebody else works on the entry by now: nothing of this journey may stand."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """`withdraws`: why what was read from this address has to go. `links` are to be followed, `outlinks` kept."""

    document: NewDocument | None = None
    withdraws: str = ""
    links: tuple[str, ...] = ()
    outlinks: tuple[str, ...] = ()
    raw: RawBody | None = None
    jobs: tuple[NewJob, ...] = ()
    known: Known | None = None


NOTHING = Leaves()


@dataclass(frozen=True, slots=True)
class Keeper:
    database: Database
    default_delay: timedelta
    new_hosts_per_hour: int | None = None  # that the links of a source's pages may lead to

    async def keep(self, lease: Lease, verdict: Verdict, settlement: Settlement, leaves: Leaves) -> bool:
        """False if the lease was lost: then nothing was changed at all."""
        page = page_row(lease, verdict, settlement, leaves)
        if not (isinstance(verdict, Moved) or leaves.jobs or goes_on(lease, leaves)):
            return bool(await self.database.fetchval(queries.keep_page, *page))
        try:
            async with self.database.transaction() as connection:
                await self._submit(connection, lease, verdict, leaves)
                if not await connection.fetchval(queries.keep_page, *page):
                    raise LeaseWasLost
                if leaves.jobs:
                    await keep_jobs(connection, lease.source_id, leaves.jobs, await connection.fetchval(queries.now))
        except LeaseWasLost:
            return False
        return True

    async def _submit(self, connection: Connection, lease: Lease, verdict: Verdict, leaves: Leaves) -> None:
        """Every host this transaction touches is locked first, in the order everybody keeps."""
        if isinstance(verdict, Moved):
            target = canonicalise(verdict.to)
            await hold_hosts(connection, [lease.host, target.host], self.default_delay)
            # The target inherits source and origin.
            found = Found(verdict.to, lease.url, lease.depth, priority=lease.priority, hops=verdict.hops)
            submitter = Submitter(lease.source_id, lease.origin, voice=await voice_of(connection, lease))
            await submit(connection, submitter, [found], default_delay=self.default_delay)
        if source := goes_on(lease, leaves):
            today = (await connection.fetchval(queries.now)).date()
            links = followed(leaves.links, source, today)
            hosts = {lease.host, *(canonicalise(link).host for link in links)}
            await hold_hosts(connection, hosts, self.default_delay)
            voice = await voice_of(connection, lease)
            parent = Found(lease.url, depth=lease.depth)
            submitter = Submitter(lease.source_id, Origin.SPIDER, voice=voice, most_new_hosts=self.new_hosts_per_hour)
            await submit_links(connection, lease.source_id, source, parent, links, today, submitter)


async def voice_of(connection: Connection, lease: Lease) -> Voice:
    """A source that may speak for a page may speak for what the page leads to, as far as its domain goes."""
    speaks = await connection.fetchval(queries.owner_speaks, lease.bucket, lease.url_hash, lease.source_id)
    return Voice(registrable_domain(lease.host)) if speaks else NO_VOICE


def goes_on(lease: Lease, leaves: Leaves) -> Profile | None:
    """The source whose crawl follows the links of this page; None: nobody's does."""
    source = leaves.known.source if leaves.known else None
    return source if source and leaves.links and goes_deeper(source, lease.depth) else None


def page_row(lease: Lease, verdict: Verdict, settlement: Settlement, leaves: Leaves) -> tuple[Any, ...]:
    """What the database's `keep_page` is called with."""
    return (
        settlement,
        lease.url_hash,
        document_row(leaves.document) if leaves.document else None,
        packed_outlinks(leaves.outlinks),
        body_row(leaves.raw) if leaves.raw else None,
        storable(leaves.withdraws or withdrawn_by(verdict, lease)),
    )


def withdrawn_by(verdict: Verdict, lease: Lease) -> str:
    if isinstance(verdict, Dead) and verdict.reason in WITHDRAWN_BY and lease.fetch_count:
        return str(verdict.reason)
    return ""
