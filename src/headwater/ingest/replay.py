"""Extraction once more, by today's rules, over the bodies that were kept: nothing is fetched."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from headwater.archive.documents import NewDocument, Stored, keep_document, keep_outlinks, renew_parts
from headwater.archive.raw import KeptBody
from headwater.archive.reads import Document, read_blocks, read_document
from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.blocks.block import BodyBlock
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.frontier.verdicts import Dead, Fetched, RetryLater, Verdict
from headwater.ingest.difference import Difference, difference
from headwater.ingest.page_reader import PageReader, without_claim
from headwater.ingest.page_store import WITHDRAWN_BY, PageEffects, addresses_of
from headwater.ingest.stored_pages import batches_of, lease_of, require_articles, response_of
from headwater.politeness.takedown import takedowns_for
from headwater.rights.record import StatedIn, restated
from headwater.urls.canonical import canonicalise

queries = load_queries("headwater.ingest")
reports = load_queries("headwater.reports")


class ReplayOutcome(StrEnum):
    CHANGED = "changed"
    NEW = "new"  # a page that yielded nothing before
    SAME = "same"
    LOST = "lost"  # nothing found any more: what stands is left as it is
    NOTHING = "nothing"  # neither before nor now
    LEFT = "left"  # not ours to touch


@dataclass(frozen=True, slots=True)
class Replayed:
    url: str
    outcome: ReplayOutcome
    why: str = ""
    difference: Difference | None = None


class ChangedMeanwhile(Exception):
    """Another process stored the document between our look and our lock: its page is newer."""


@dataclass(frozen=True, slots=True)
class Replay:
    database: Database
    page_reader: PageReader
    at_once: int
    stores: BodyStores = NO_STORES

    async def over(self, source_id: UUID, *, limit: int | None = None, stores: bool = True) -> AsyncIterator[Replayed]:
        """Page by page; each is stored in a transaction of its own before it is told of."""
        await require_articles(self.database, source_id)
        began: datetime = await self.database.fetchval(queries.now)
        async for bodies in batches_of(self.database, source_id, self.at_once, limit, self.stores):
            for body, (verdict, effects) in zip(bodies, await self._studied(bodies), strict=True):
                yield await self._ended(body, verdict, effects, began, stores=stores)

    async def page(self, body: KeptBody, *, stores: bool = True) -> Replayed:
        """One page alone."""
        await require_articles(self.database, body.raw.source_id)
        began: datetime = await self.database.fetchval(queries.now)
        ((verdict, effects),) = await self._studied([body])
        return await self._ended(body, verdict, effects, began, stores=stores)

    async def _studied(self, bodies: Sequence[KeptBody]) -> list[tuple[Verdict, PageEffects]]:
        """As a fetch would: the same function reads and judges."""
        return await asyncio.gather(
            *(self.page_reader.read(lease_of(one), Fetched(), response_of(one)) for one in bodies)
        )

    async def _ended(
        self, body: KeptBody, verdict: Verdict, effects: PageEffects, began: datetime, *, stores: bool
    ) -> Replayed:
        url, new = body.raw.url, effects.document
        if new is None:
            standing = await read_document(self.database, body.raw.key)
            is_lost = standing is not None and standing.deleted_at is None
            return Replayed(
                url, ReplayOutcome.LOST if is_lost else ReplayOutcome.NOTHING, why_nothing(verdict, effects)
            )
        try:
            async with self.database.transaction() as connection:
                allowed = await without_takedowns(connection, body, effects)
                if allowed is None:
                    return Replayed(url, ReplayOutcome.LEFT, "taken down")
                new, standing = allowed, await read_document(connection, allowed.key)
                if why := why_not_ours(body, standing, began) or await why_ended(connection, body):
                    return Replayed(url, ReplayOutcome.LEFT, why)
                new = with_rights_of(standing, new)
                told = compare(url, standing, await blocks_of(connection, standing), new)
                if stores and told.outcome in (ReplayOutcome.CHANGED, ReplayOutcome.NEW):
                    await store(connection, new, effects, standing, told.difference)
                return told
        except ChangedMeanwhile:
            return Replayed(url, ReplayOutcome.LEFT, "was stored anew meanwhile")


async def blocks_of(connection: Connection, standing: Document | None) -> tuple[BodyBlock, ...]:
    kept = await read_blocks(connection, standing.key) if standing else None
    return kept.blocks if kept else ()


def compare(url: str, standing: Document | None, blocks: tuple[BodyBlock, ...], new: NewDocument) -> Replayed:
    if standing is None:
        return Replayed(url, ReplayOutcome.NEW, f"{new.title} ({new.word_count} words)")
    found = difference(standing, blocks, new)
    return Replayed(url, ReplayOutcome.CHANGED, "", found) if found.is_change else Replayed(url, ReplayOutcome.SAME)


def with_rights_of(standing: Document | None, new: NewDocument) -> NewDocument:
    """Nothing is asked here: what robots.txt, tdmrep.json and headers said when it was fetched still stands."""
    if standing is None:
        return new
    read_again = frozenset({StatedIn.PAGE, StatedIn.FEED})
    return replace(new, rights=restated(standing.rights["statements"], new.rights.statements, read_again))


async def store(
    connection: Connection, new: NewDocument, effects: PageEffects, standing: Document | None, found: Difference | None
) -> None:
    now: datetime = await connection.fetchval(queries.now)
    if found and found.is_of_parts:
        version, is_stored = await renew_parts(connection, new, now), False
    else:
        kept = await keep_document(connection, new, now)
        version, is_stored = kept.version, isinstance(kept, Stored)
    # Its lock is ours only now: a process that stored it since we looked had a newer page.
    if version != (standing.version if standing else 0) + 1:
        raise ChangedMeanwhile
    if is_stored:
        await keep_outlinks(connection, new.key, effects.outlinks)


def why_not_ours(body: KeptBody, standing: Document | None, began: datetime) -> str:
    if standing is None:
        return ""
    if standing.deleted_at is not None:
        return f"was deleted: {standing.deleted_reason}"
    if standing.source_id != body.raw.source_id:
        return "belongs to another source by now"
    return "was stored anew meanwhile" if standing.changed_at > began else ""


async def without_takedowns(connection: Connection, body: KeptBody, effects: PageEffects) -> NewDocument | None:
    """As `keep_page` does it: nothing of an address that was taken down, and no claim to such a one."""
    assert effects.document is not None
    own = [canonicalise(url) for url in addresses_of(lease_of(body), effects)]
    claimed = canonicalise(effects.document.canonical_url)
    taken_down = await takedowns_for(connection, {url.host for url in (*own, claimed)})
    if any(map(taken_down.covers, own)):
        return None
    return without_claim(effects.document) if taken_down.covers(claimed) else effects.document


async def why_ended(connection: Connection, body: KeptBody) -> str:
    """A page that is gone does not come back through the cellar."""
    reason = await connection.fetchval(reports.why_page_ended, *body.raw.key)
    return f"ended: {reason}" if reason in WITHDRAWN_BY else ""


def why_nothing(verdict: Verdict, effects: PageEffects) -> str:
    if effects.withdraws:
        return f"asks not to be kept: {effects.withdraws}"
    if isinstance(verdict, Dead | RetryLater):
        return f"{verdict.reason}: {verdict.detail}"
    return "no article"
