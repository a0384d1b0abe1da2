"""What a journey leaves beside its verdict: document, links, raw body, all in one transaction with the settle."""

from contextlib import suppress
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
from headwater.errors import NotFound, UsageError
from headwater.frontier.entry import DeadReason, Lease
from headwater.frontier.submit import Found, Submitter, hold_hosts, submit
from headwater.frontier.verdicts import Dead, Moved, Verdict
from headwater.ingest.context import Known
from headwater.ingest.links import followed, goes_deeper, submit_links
from headwater.politeness.settlement import Settlement
from headwater.sources.source import Profile
from headwater.urls.canonical import canonicalise

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

    async def keep(self, lease: Lease, verdict: Verdict, settlement: Settlement, leaves: Leaves) -> bool:
        """False if the lease was lost: then nothing was changed at all."""
        page = page_row(lease, verdict, settlement, leaves)
        if not (isinstance(verdict, Moved) or leaves.jobs or goes_on(lease, leaves) or named_page(lease, leaves)):
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
            submitter = Submitter(lease.source_id, lease.origin)
            await submit(connection, submitter, [found], default_delay=self.default_delay)
        if source := goes_on(lease, leaves):
            today = (await connection.fetchval(queries.now)).date()
            links = followed(leaves.links, source, today)
            hosts = {lease.host, *(canonicalise(link).host for link in links)}
            await hold_hosts(connection, hosts, self.default_delay)
            await submit_links(connection, lease.source_id, source, Found(lease.url, depth=lease.depth), links, today)
        elif named := named_page(lease, leaves):
            await self._submit_named(connection, lease, leaves, named)

    async def _submit_named(self, connection: Connection, lease: Lease, leaves: Leaves, named: str) -> None:
        """A page that this one calls canonical, where its source would follow a link to it."""
        today = (await connection.fetchval(queries.now)).date()
        if not (leaves.known and leaves.known.source and followed([named], leaves.known.source, today)):
            return
        await hold_hosts(connection, {lease.host, canonicalise(named).host}, self.default_delay)
        submitter = Submitter(lease.source_id, lease.origin, scope=leaves.known.source.scope)
        # A source that was deleted meanwhile takes no new URLs; what was read is kept all the same.
        with suppress(NotFound, UsageError):
            await submit(
                connection, submitter, [Found(named, lease.url, lease.depth + 1)], default_delay=self.default_delay
            )


def goes_on(lease: Lease, leaves: Leaves) -> Profile | None:
    """The source whose crawl follows the links of this page; None: nobody's does."""
    source = leaves.known.source if leaves.known else None
    return source if source and leaves.links and goes_deeper(source, lease.depth) else None


def named_page(lease: Lease, leaves: Leaves) -> str | None:
    """The page that this one calls canonical, where no crawl follows it as a link. One step: it may name another."""
    is_crawled = leaves.known is not None and leaves.known.crawls
    return None if is_crawled or lease.depth or leaves.document is None else leaves.document.claimed_url


def page_row(lease: Lease, verdict: Verdict, settlement: Settlement, leaves: Leaves) -> tuple[Any, ...]:
    """What the database's `keep_page` is called with."""
    return (
        settlement,
        lease.url_hash,
        document_row(leaves.document) if leaves.document else None,
        packed_outlinks(leaves.outlinks),
        body_row(leaves.raw) if leaves.raw else None,
        storable(leaves.withdraws or withdrawn_by(verdict)),
    )


def withdrawn_by(verdict: Verdict) -> str:
    return str(verdict.reason) if isinstance(verdict, Dead) and verdict.reason in WITHDRAWN_BY else ""
