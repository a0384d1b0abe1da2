"""What a journey leaves beside its verdict: document, links, raw body, all in one transaction with the settle."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from headwater.archive.document import NewDocument, Stored
from headwater.archive.documents import keep_document, tombstone
from headwater.archive.job import NewJob
from headwater.archive.jobs import keep_jobs
from headwater.archive.outlinks import keep_outlinks
from headwater.archive.raw import RawBody, keep_body
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.frontier.entry import DeadReason, Lease
from headwater.frontier.settle import settle
from headwater.frontier.submit import Found, Submitter, hold_hosts, submit
from headwater.frontier.verdicts import Dead, Moved, Verdict
from headwater.ingest.context import Known
from headwater.ingest.links import followed, goes_deeper, submit_links
from headwater.politeness.settlement import Settlement
from headwater.urls.canonical import CanonicalUrl, canonicalise

queries = load_queries("headwater.ingest")

# A page that is gone, or that its owner wants gone, takes its document with it.
WITHDRAWN_BY = frozenset({DeadReason.NOT_FOUND, DeadReason.GONE, DeadReason.LEGAL, DeadReason.TAKEDOWN})


class LeaseWasLost(Exception):
    """Somebody else works on the entry by now: nothing of this journey may stand."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """`withdraws`: why a document that stood at this address has to go. `links` are to be followed, `outlinks` kept."""

    document: NewDocument | None = None
    withdraws: str = ""
    links: tuple[str, ...] = ()
    outlinks: tuple[CanonicalUrl, ...] = ()
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
        try:
            async with self.database.transaction() as connection:
                now: datetime = await connection.fetchval(queries.now)
                await self._submit(connection, lease, verdict, leaves, now)
                if lease.token not in await settle(connection, [settlement]):
                    raise LeaseWasLost
                await self._archive(connection, lease, verdict, leaves, now)
        except LeaseWasLost:
            return False
        return True

    async def _submit(
        self, connection: Connection, lease: Lease, verdict: Verdict, leaves: Leaves, now: datetime
    ) -> None:
        """Every host this transaction touches is locked first, in the order everybody keeps."""
        if isinstance(verdict, Moved):
            target = canonicalise(verdict.to)
            await hold_hosts(connection, [lease.host, target.host], self.default_delay)
            # The target inherits source and origin.
            found = Found(verdict.to, lease.url, lease.depth, priority=lease.priority, hops=verdict.hops)
            submitter = Submitter(lease.source_id, lease.origin)
            await submit(connection, submitter, [found], default_delay=self.default_delay)
        source = leaves.known.source if leaves.known else None
        if source is None or not leaves.links or not goes_deeper(source, lease.depth):
            return
        links = followed(leaves.links, source, now.date())
        hosts = {lease.host, *(canonicalise(link).host for link in links)}
        await hold_hosts(connection, hosts, self.default_delay)
        await submit_links(connection, lease.source_id, source, Found(lease.url, depth=lease.depth), links, now.date())

    async def _archive(
        self, connection: Connection, lease: Lease, verdict: Verdict, leaves: Leaves, now: datetime
    ) -> None:
        if leaves.raw is not None:
            await keep_body(connection, leaves.raw, now)
        if leaves.jobs:
            await keep_jobs(connection, lease.source_id, leaves.jobs, now)
        if leaves.document is not None:
            kept = await keep_document(connection, leaves.document, now)
            if isinstance(kept, Stored):
                await keep_outlinks(connection, leaves.document.key, leaves.outlinks)
        elif why := leaves.withdraws or withdrawn_by(verdict, lease):
            await tombstone(connection, lease.bucket, lease.url_hash, why, now)


def withdrawn_by(verdict: Verdict, lease: Lease) -> str:
    if isinstance(verdict, Dead) and verdict.reason in WITHDRAWN_BY and lease.fetch_count:
        return str(verdict.reason)
    return ""
