"""Channels as a work source: due ones are leased, each a poll."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.clock import Clock
from headwater.database.heartbeat import Heartbeat
from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.polls.lease import Leased, leased_from
from headwater.discover.polls.poll import Poll, Ran
from headwater.discover.polls.run_store import log_fields
from headwater.discover.polls.submit_items import PollLost
from headwater.errors import UsageError, blames_nobody
from headwater.log import Logger, log_broken
from headwater.sources.events import Event, Level, record
from headwater.sources.kinds import kinds_that
from headwater.sources.store import block_unreadable, source_from

queries = load_queries("headwater.discover")

# A due channel that was not leased is locked by another session: asking again at once would only keep both busy.
SHORTEST_REST = timedelta(milliseconds=10)

WITH_A_PAST = kinds_that(lambda traits: traits.has_past)
# What a row that no code of ours wrote makes of the code that reads it.
UNREADABLE = (UsageError, AttributeError, KeyError, TypeError, ValueError)
# How long a claim trusts where the last one found its first due channel. Then it looks everywhere again, so that a
# channel that was made due in the past, or by a transaction that ended late, is found.
MARKS_HOLD = timedelta(seconds=10)
# Of channels that are polled for the first time, while others are due: one in so many.
FIRST_EVERY = 4


@dataclass(slots=True)
class Marks:
    """Without them a claim walks over all that was due since the oldest snapshot of the database began."""

    clock: Clock
    _marks: Sequence[datetime] | None = field(default=None, init=False)
    _looked_at: float = field(default=float("-inf"), init=False)

    def standing(self) -> Sequence[datetime] | None:
        """None: look everywhere."""
        moment = self.clock.monotonic()
        if self._marks is None or moment - self._looked_at > MARKS_HOLD.total_seconds():
            self._marks, self._looked_at = None, moment
        return self._marks

    def note(self, marks: Sequence[datetime]) -> None:
        self._marks = marks

    def forget(self) -> None:
        """Something was made due or given back, and may lie before them."""
        self._marks = None

    def before_they_end(self, wait: timedelta | None) -> timedelta:
        """Something may wait before the marks: nobody sleeps longer than they are trusted."""
        left = MARKS_HOLD - timedelta(seconds=self.clock.monotonic() - self._looked_at)
        return left if wait is None else min(wait, left)


@dataclass(slots=True)
class FirstPolls:
    """How many of a claim are first polls although others are due; what a small claim lacks is carried on."""

    _owed: int = field(default=0, init=False)

    def among(self, most: int) -> int:
        share, self._owed = divmod(self._owed + most, FIRST_EVERY)
        return share


@dataclass(frozen=True, slots=True)
class Polling:
    database: Database
    clock: Clock
    log: Logger
    listener: Listener
    poll: Poll
    owner: str
    lease: timedelta
    tick: timedelta
    on_finished: Callable[[Ran], None]
    heart: Heartbeat | None = None
    marks: Marks | None = None
    first_polls: FirstPolls = field(default_factory=FirstPolls)

    async def claim(self, most: int) -> tuple[Sequence[Leased], timedelta | None]:
        """One channel of a host at a time; the longest due first, and some first polls beside them."""
        if not self.poll.settings.enabled:
            return (), None
        now = self.poll.calendar()
        leased_at = self.clock.monotonic()
        ids, wait = await self._claim_ids(most, now)
        if not ids:
            return (), wait
        rows = await self.database.fetch(queries.read_leased, ids, self.owner, now, WITH_A_PAST)
        leases = [await self._leased_from(row, leased_at) for row in rows]
        return [lease for lease in leases if lease], None

    async def _claim_ids(self, most: int, now: datetime | None) -> tuple[list[UUID], timedelta | None]:
        settings = self.poll.settings
        marks, first = self.marks.standing() if self.marks else None, self.first_polls.among(most)
        claim = queries.claim_channels(
            owner=self.owner,
            most=most,
            lease=self.lease,
            now=now,
            jobs_pool=settings.jobs_pool,
            jobs_batch=settings.jobs_batch,
            jobs_every=settings.jobs_every,
            marks=marks,
            first=first,
        )
        rows = await self.database.fetch(*claim)
        last = rows.pop()
        if not self.marks:
            return [row["id"] for row in rows], last["wait"]
        self.marks.note(last["marks"])
        return [row["id"] for row in rows], last["wait"] if marks is None else self.marks.before_they_end(last["wait"])

    async def _leased_from(self, row: Any, leased_at: float) -> Leased | None:
        """None where the row cannot be read: it costs itself, and not everybody who was leased with it."""
        try:
            source_from(row)
        except UNREADABLE as error:
            await block_unreadable(self.database, row["id"], str(error))
            return None
        try:
            return leased_from(row, leased_at)
        except UNREADABLE as error:
            await self._set_aside(row["channel_id"], row["token"], row["id"], f"its row cannot be read: {error}")
            return None

    async def _set_aside(self, channel: UUID, token: UUID, source: UUID, why: str) -> None:
        self.log.error("channel_set_aside", channel=str(channel), source=str(source), why=why)
        async with self.database.transaction() as connection:
            if await connection.fetchval(queries.set_channel_aside, channel, token, why) is not None:
                await record(connection, Event("channel_disabled", why, source, channel, level=Level.ERROR))

    async def claim_alone(self) -> Leased | None:
        """A channel under suspicion need not be alone: a claim leases one of them at a time."""
        return None

    async def has_lonely_work(self) -> bool:
        return False

    async def work(self, lease: Leased) -> None:
        try:
            ran = await self.poll.run(lease)
        except PollLost:
            self.log.warning("poll_lost", **self.named(lease))
            return
        except Exception as error:
            if blames_nobody(error):
                raise
            log_broken(self.log, "poll_broke", error, **self.named(lease))
            if (given_up := await self._given_up(lease)) is None:
                return
            ran = given_up
        log_run(self.log, ran, timedelta(seconds=self.clock.monotonic() - lease.leased_at))
        self.on_finished(ran)

    async def _given_up(self, lease: Leased) -> Ran | None:
        """None where not even its next poll can be found out: it would be tried at once and for ever."""
        try:
            return await self.poll.give_up(lease)
        except UNREADABLE as error:
            why = f"its row cannot be read: {type(error).__name__}, of which the log says more"
            await self._set_aside(lease.id, lease.token, lease.source_id, why)
            return None

    async def extend(self, leases: Sequence[Leased]) -> Collection[UUID]:
        tokens = [lease.token for lease in leases]
        rows = await (self.heart or self.database).fetch(queries.extend_polls, tokens, self.lease)
        return {row["token"] for row in rows}

    async def release(self, leases: Sequence[Leased]) -> None:
        self._forget_marks()
        await self.database.execute(queries.release_polls, [lease.token for lease in leases])

    async def release_all_but(self, held: Collection[UUID]) -> None:
        self._forget_marks()
        await self.database.execute(queries.release_unheld_polls, self.owner, list(held))

    async def rest(self, come_back_in: timedelta | None) -> None:
        wait = self.tick if come_back_in is None else min(self.tick, max(come_back_in, SHORTEST_REST))
        if await self.listener.wait(wait.total_seconds()):
            self._forget_marks()

    def _forget_marks(self) -> None:
        if self.marks:
            self.marks.forget()

    def named(self, lease: Leased) -> dict[str, Any]:
        return log_fields(lease)


async def make_everything_due(database: Database, shortest_interval: timedelta) -> None:
    """Feeds, listings, sitemaps and APIs, whatever their next time; waits after errors are kept."""
    asked_for_news = kinds_that(lambda traits: traits.brings_news and traits.reader)
    await database.execute(queries.make_everything_due, shortest_interval, asked_for_news)


def log_run(log: Logger, ran: Ran, duration: timedelta) -> None:
    """One line per run; waits are many and mean nothing, a page that robots.txt forbids is worth a warning.

    `duration` counts from the lease: of a run that was put away, its last part.
    """
    named = {"source": str(ran.channel.source_id), "kind": str(ran.channel.kind), "host": ran.channel.url.host}
    if ran.ending is None:
        log.debug("poll_waits", **named, why=ran.waits.why if ran.waits else "")
        return
    tally, ending = ran.run_state.tally, ran.ending
    counts = {name: getattr(tally, name) for name in ("found", "inserted", "updated", "skipped", "errors")}
    took = {"duration_ms": round(duration.total_seconds() * 1000)}
    on_finished = {**named, **counts, **took, "next_poll_at": ending.next.at.isoformat(), "message": ending.message}
    if ending.next.is_loud:
        log.error("poll_keeps_failing", **on_finished)
    elif ending.status == "ok":
        log.info("polled", **on_finished)
    else:
        log.warning("poll_failed" if ending.status == "fail" else "polled", **on_finished)
