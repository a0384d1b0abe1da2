"""One URL from lease to verdict, and the work source that starts such journeys: the module to read first."""

import codecs
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from headwater.chance import Random
from headwater.clock import Clock
from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Database
from headwater.errors import DatabaseDown, QueryFailed, UrlRejected, blames_nobody
from headwater.fetch.browser import RenderUnavailable
from headwater.fetch.fetcher import Fetcher, FetchRequest
from headwater.fetch.held_slot import HeldSlot, Regrants
from headwater.fetch.outcomes import Answered, FetchOutcome
from headwater.fetch.render import Rendered, RenderFailed, Rendering
from headwater.frontier.claim import Claimer, Shares, has_suspects
from headwater.frontier.entry import DeadReason, Lease
from headwater.frontier.settle import extend, release, release_all_but
from headwater.frontier.verdicts import (
    Dead,
    Fetched,
    HostSaysWait,
    Postponed,
    Released,
    RetryLater,
    RetryPolicy,
    Unchanged,
    Verdict,
    settlement_of,
)
from headwater.frontier.wake import Sleeper
from headwater.ingest.judge import HTML, Missing, is_not_found, is_refused, judge, judge_withdrawn
from headwater.ingest.page_store import NOTHING, PageEffects, PageStore
from headwater.log import Logger, log_broken
from headwater.net.body import Complete
from headwater.net.media_type import media_type
from headwater.net.transport import Response
from headwater.politeness.slots import Visit
from headwater.rights.record import OUTSIDE, StatedIn, UseStatement
from headwater.settling import Settling
from headwater.urls.articles import is_file
from headwater.urls.canonical import CanonicalUrl, canonicalise

WAIT_FOR_A_BROWSER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a journey, for logs and screens."""

    lease: Lease
    verdict: Verdict | None  # None: the lease was lost
    visit: Visit
    effects: PageEffects = NOTHING


class PageReaders(Protocol):
    """Reads a page that came whole, or the feed's text of one that we may not see."""

    async def expect(self, leases: Sequence[Lease]) -> None:
        """These are going to be fetched."""

    def forget(self, lease: Lease) -> None:
        """It was, or will not be."""

    async def revisit_in(self, lease: Lease) -> timedelta | None:
        """The time after which its source wants it fetched again; None: not by the clock."""

    async def wants_rights(self, lease: Lease) -> bool:
        """Whether its source has the origins of its pages asked what they say about use."""

    async def read(
        self, lease: Lease, fetched: Fetched, response: Response, outside: Sequence[UseStatement] = ()
    ) -> tuple[Verdict, PageEffects]: ...

    async def read_feed(self, lease: Lease, now: datetime, outside: Sequence[UseStatement] = ()) -> PageEffects: ...

    async def restated(self, lease: Lease, told: Sequence[UseStatement], places: frozenset[StatedIn]) -> PageEffects:
        """The effects of what is said now about the use of a page that is as it was."""


@dataclass(frozen=True, slots=True)
class Journey:
    fetcher: Fetcher
    regrants: Regrants
    page_store: PageStore
    page_reader: PageReaders
    clock: Clock
    random: Random
    policy: RetryPolicy
    log: Logger
    settling: Settling
    rendering: Rendering | None = None

    async def travel(self, lease: Lease) -> Finished:
        """There is a verdict whatever the web does or the entry's row holds; a lost lease changes nothing."""
        held_slot = HeldSlot(lease.bucket, lease.host, lease.token, lease.window, "page", self.regrants, self.clock)
        try:
            return await self._travel(lease, held_slot)
        except Exception as error:
            if blames_nobody(error):
                raise
            log_broken(self.log, "journey_broke", error, host=lease.host, url=lease.url)
            held_slot.break_off()
            return await self._end(lease, verdict_of_fault(error), held_slot, NOTHING)

    async def _travel(self, lease: Lease, held_slot: HeldSlot) -> Finished:
        """Fetch, judge, read, keep."""
        url = address_of(lease)
        if is_file(url):
            return await self._end(lease, Dead(DeadReason.BINARY_URL), held_slot, NOTHING)
        wish = replace(wish_of(lease, url), wants_rights=await self._wants_rights(lease))
        outcome = await self.fetcher.fetch(wish, held_slot)
        seen: FetchOutcome | HostSaysWait = outcome
        if self.rendering is not None and isinstance(outcome, Answered) and wants_rendering(outcome):
            seen = await render_or_keep(outcome, self.rendering, held_slot)
        missing = await self._missing(lease) if is_not_found(outcome) else None
        verdict = seen if isinstance(seen, HostSaysWait) else judge(seen, lease, missing)
        if verdict is None:
            return Finished(lease, None, held_slot.past)
        if isinstance(verdict, Fetched | Unchanged):
            verdict = replace(verdict, revisit_in=await self._revisit_in(lease))
        if isinstance(verdict, Fetched) and isinstance(seen, Answered):
            verdict, effects = await self._read(lease, verdict, seen)
            return await self._end(lease, verdict, held_slot, effects)
        effects = await self._unread(lease, verdict, outcome)
        if isinstance(verdict, Fetched | Unchanged):
            verdict = judge_withdrawn(verdict, effects.withdraws)
        return await self._end(lease, verdict, held_slot, effects)

    async def _unread(self, lease: Lease, verdict: Verdict, outcome: FetchOutcome) -> PageEffects:
        """The effects of an answer without a page to read."""
        told = outcome.statements if isinstance(outcome, Answered) else ()
        if is_refused(verdict):
            return await self.page_reader.read_feed(lease, self.clock.now(), told)
        if not isinstance(verdict, Unchanged):
            return NOTHING
        # A 304 need not repeat the header of the page.
        return await self.settling.read(
            lambda: self.page_reader.restated(lease, told, OUTSIDE - {StatedIn.HEADER}), **log_fields(lease)
        )

    async def _wants_rights(self, lease: Lease) -> bool:
        return await self.settling.read(lambda: self.page_reader.wants_rights(lease), **log_fields(lease))

    async def _missing(self, lease: Lease) -> Missing:
        return await self.settling.read(lambda: self.page_store.missing(lease), **log_fields(lease))

    async def _revisit_in(self, lease: Lease) -> timedelta | None:
        return await self.settling.read(lambda: self.page_reader.revisit_in(lease), **log_fields(lease))

    async def _read(self, lease: Lease, fetched: Fetched, seen: Answered) -> tuple[Verdict, PageEffects]:
        """Tried again where the database did not say what is known of the page: its host was asked for it once."""
        return await self.settling.read(
            lambda: self.page_reader.read(lease, fetched, seen.response, seen.statements), **log_fields(lease)
        )

    async def _end(self, lease: Lease, verdict: Verdict, held_slot: HeldSlot, effects: PageEffects) -> Finished:
        settlement = settlement_of(lease, verdict, held_slot.past, self.policy, self.random)
        # Again where the database did not take it, or did not say that it had: its token is good for once.
        is_ours = await self.settling.settle(
            lambda: self.page_store.keep(lease, verdict, settlement, effects), **log_fields(lease)
        )
        return Finished(lease, verdict if is_ours else None, held_slot.past, effects)


def log_fields(lease: Lease) -> dict[str, str]:
    return {"host": lease.host, "url": lease.url}


def address_of(lease: Lease) -> CanonicalUrl:
    """Where the journey goes on. Raises UrlRejected where the row holds what may not be asked for in its held slot."""
    url = canonicalise(lease.resume_url or lease.url)
    if url.host != lease.host:
        raise UrlRejected("other_host", f"{url.url} does not lie at {lease.host}.")
    return url


def verdict_of_fault(error: Exception) -> Verdict:
    """A fault of ours, or a row that no code of ours writes: it counts, or it would be tried at once and for ever."""
    if isinstance(error, UrlRejected):
        return Dead(DeadReason.POISON, f"its row holds an address that cannot be asked for: {error.what}")
    # Without the error's own words: they may quote the page.
    detail = f"{type(error).__name__}, of which the log says more"
    return RetryLater("broken", detail, gives_up_as=DeadReason.POISON)


def wants_rendering(outcome: Answered) -> bool:
    """The host's policy asks for it, and there is a whole page of HTML to render."""
    response = outcome.response
    is_html = media_type(response.headers.get("Content-Type", "")) in HTML
    return outcome.allow_js and response.status == 200 and is_html and isinstance(response.content, Complete)


async def render_or_keep(outcome: Answered, rendering: Rendering, held_slot: HeldSlot) -> Answered | HostSaysWait:
    """The page as a reader would see it; where that fails, as it was sent."""
    try:
        result = await rendering.render(outcome.response, held_slot)
    except RenderUnavailable as error:
        # Not the page's fault: its host waits until a person has read this.
        return HostSaysWait(WAIT_FOR_A_BROWSER, f"{error.what} {error.fix}", "paused", slows_us_down=False)
    match result:
        case Rendered(html):
            # With its mark: the page's own word on its charset was for the bytes that were sent.
            body = Complete(codecs.BOM_UTF8 + html.encode())
            return replace(outcome, response=replace(outcome.response, content=body))
        case RenderFailed(wait=timedelta() as wait):
            return HostSaysWait(wait, "rate_limited")
        case _:
            return outcome


def wish_of(lease: Lease, url: CanonicalUrl) -> FetchRequest:
    """Validators belong to the entry's own page, not to a hop where its journey was interrupted.

    Where a page leads that was never had is an entry of its own, and asked as that. One that was had before may be
    gone: its redirects are followed on its own host, since its document ends with it.
    """
    is_own = url.url_hash == lease.url_hash
    etag, last_modified = (lease.etag, lease.last_modified) if is_own else (None, None)
    return FetchRequest(url, "page", etag, last_modified, hops=lease.hops, stays_on_page=not lease.fetch_count)


@dataclass(frozen=True, slots=True)
class Fetching:
    database: Database
    claimer: Claimer
    sleeper: Sleeper
    journey: Journey
    shares: Shares
    on_finished: Callable[[Finished], None]
    heart: Heartbeat | None = None

    async def claim(self, most: int) -> tuple[Sequence[Lease], timedelta | None]:
        claimed = await self.claimer.claim(most, allowance=self.shares.next_allowance())
        for lease in claimed.leases:
            self.shares.take(lease)
        if claimed.leases:
            # Leases that are held are worked on, whatever becomes of this: what was not read now is read later.
            with suppress(DatabaseDown, QueryFailed):
                await self.journey.page_reader.expect(claimed.leases)
        return claimed.leases, claimed.come_back_in

    async def claim_alone(self) -> Lease | None:
        """An entry whose worker died."""
        return await self.claimer.claim_suspect()

    async def has_lonely_work(self) -> bool:
        return await has_suspects(self.database)

    async def work(self, lease: Lease) -> None:
        try:
            on_finished = await self.journey.travel(lease)
            log_page(self.journey.log, on_finished)
            self.on_finished(on_finished)
        finally:
            self.shares.give_back(lease)
            self.journey.page_reader.forget(lease)

    async def extend(self, leases: Sequence[Lease]) -> Collection[UUID]:
        return await extend(self.heart or self.database, leases, self.claimer.lease)

    async def release(self, leases: Sequence[Lease]) -> None:
        await release(self.database, leases)

    async def release_all_but(self, held: Collection[UUID]) -> None:
        await release_all_but(self.database, self.claimer.owner, held)

    async def rest(self, come_back_in: timedelta | None) -> None:
        await self.sleeper.sleep(come_back_in)

    def named(self, lease: Lease) -> dict[str, Any]:
        return log_fields(lease)


def log_page(log: Logger, on_finished: Finished) -> None:
    """One line per page. Waits are many and mean nothing; that robots.txt forbids a page is worth a warning."""
    lease, visit, verdict = on_finished.lease, on_finished.visit, on_finished.verdict
    line = {
        "source": str(lease.source_id),
        "host": lease.host,
        "url": lease.url,
        "verdict": type(verdict).__name__ if verdict else "LeaseLost",
        "status": visit.status,
        "duration_ms": visit.milliseconds,
    }
    match verdict:
        case None | Postponed() | Released() | HostSaysWait():
            log.debug("page_waits", **line)
        case Dead(DeadReason.ROBOTS_BLOCKED, detail):
            log.warning("robots_disallow", **line, why=detail)
        case Dead(reason, detail) | RetryLater(reason, detail):
            log.info("page_failed", **line, reason=str(reason), why=detail)
        case _:
            log.info(
                "page_fetched",
                **line,
                documents=int(on_finished.effects.document is not None),
                jobs=len(on_finished.effects.jobs),
            )
