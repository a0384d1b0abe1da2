"""What hubs pushed, read as a poll's answer is: in a child, by the same reader, submitted by the same path.

Only what is new counts. That something changed, or could not be read, brings the next poll nearer: polls alone say what
changed and what is gone.
"""

import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.clock import Clock
from headwater.database.heartbeat import Heartbeat
from headwater.database.listen import Listener
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.discover.cadence.rhythm import Observation, observe
from headwater.discover.items import FoundItems, Item
from headwater.discover.polls.ending import quiet_until
from headwater.discover.polls.lease import Leased, leased_from
from headwater.discover.polls.polling import UNREADABLE, WITH_A_PAST
from headwater.discover.polls.polling import queries as poll_queries
from headwater.discover.polls.reader import ChannelReader, ReadersGone, subject_of
from headwater.discover.polls.requesting import Trouble
from headwater.discover.polls.run_state import RunState, Todo
from headwater.discover.polls.run_store import log_fields
from headwater.discover.polls.submit_items import IntakeLimits, PollLost, distinct_items, sift, take_found_items
from headwater.discover.polls.task import ReadAnswer, Reply, Task
from headwater.discover.push.links import is_about
from headwater.discover.push.store import note_record
from headwater.errors import blames_nobody
from headwater.log import Logger, log_broken
from headwater.settling import Settling

queries = load_queries("headwater.discover.push")

NOTICE = "headwater_push"
# A look without being woken costs next to nothing: the table is empty then.
LOOKED_EVERY = timedelta(seconds=5)
# A push that breaks what reads it is tried once more: it may have been something else.
MOST_ATTEMPTS = 2
# As large as a body may be before it was packed.
MOST_BYTES = 16 * 1024 * 1024
READ_WITHIN = timedelta(hours=6)
CHANGED = "its hub says that something changed"


@dataclass(frozen=True, slots=True)
class WaitingPush:
    """`body` None: the hub only said that there is something."""

    id: int
    content_type: str
    body: bytes | None
    received_at: datetime
    is_given_up: bool


@dataclass(frozen=True, slots=True)
class PushedItems:
    """What a push says that its channel does not know. `calls_for_poll`: not enough, or that something changed."""

    new: tuple[Item, ...] = ()
    calls_for_poll: bool = False
    why_ignored: str = ""


@dataclass(frozen=True, slots=True)
class PushTaken:
    """For logs and tests."""

    channel: Leased
    new: int
    calls_for_poll: bool
    why_ignored: str = ""


@dataclass(frozen=True, slots=True)
class PushReading:
    """Pushed channels as a work source: a lease of the channel keeps polls and pushes of it apart."""

    database: Database
    clock: Clock
    log: Logger
    listener: Listener
    reader: ChannelReader
    settling: Settling
    limits: IntakeLimits
    owner: str
    lease: timedelta
    shortest_interval: timedelta
    on_finished: Callable[[PushTaken], None] = lambda _taken: None
    heart: Heartbeat | None = None

    async def claim(self, most: int) -> tuple[Sequence[Leased], timedelta | None]:
        leased_at = self.clock.monotonic()
        ids = [row["id"] for row in await self.database.fetch(queries.claim_pushed, self.owner, most, self.lease)]
        if not ids:
            return (), None
        rows = await self.database.fetch(poll_queries.read_leased, ids, self.owner, None, WITH_A_PAST)
        leases = [await self._leased_from(row, leased_at) for row in rows]
        return [one for one in leases if one], None

    async def _leased_from(self, row: Any, leased_at: float) -> Leased | None:
        """None where the row cannot be read: the next poll says so, and nothing of the push is kept."""
        try:
            return leased_from(row, leased_at)
        except UNREADABLE as error:
            self.log.warning("push_dropped", channel=str(row["channel_id"]), why=f"its row cannot be read: {error}")
            if (push := await self._take(row["channel_id"])) is not None:
                await self.database.execute(queries.drop_push, push.id)
            await self.database.execute(poll_queries.release_polls, [row["token"]])
            return None

    async def claim_alone(self) -> Leased | None:
        return None

    async def has_lonely_work(self) -> bool:
        return False

    async def work(self, lease: Leased) -> None:
        """One push; the next one of its channel with the next lease."""
        push = await self._take(lease.id)
        if push is None:
            await self.release([lease])
            return
        try:
            taken = await self._read_and_keep(lease, push)
        except PollLost:
            self.log.warning("push_lost", **self.named(lease))
            return
        except ReadersGone as gone:
            self.log.warning("push_waits", why=gone.what, **self.named(lease))
            await self.release([lease])
            return
        except Exception as error:
            if blames_nobody(error):
                raise
            log_broken(self.log, "push_broke", error, **self.named(lease))
            await self.release([lease])
            return
        self._tell(taken)

    async def _take(self, channel_id: Any) -> WaitingPush | None:
        row = await self.database.fetchrow(queries.take_push, channel_id, MOST_ATTEMPTS)
        return None if row is None else WaitingPush(**dict(row))

    async def _read_and_keep(self, lease: Leased, push: WaitingPush) -> PushTaken:
        now = lease.now + timedelta(seconds=self.clock.monotonic() - lease.leased_at)
        read = await self._read(lease, push, now)
        return await self.settling.settle(lambda: self._keep(lease, push, read, now), **log_fields(lease))

    async def _read(self, lease: Leased, push: WaitingPush, now: datetime) -> ReadAnswer | Trouble | None:
        """None: there is nothing to read, and the next poll has to look."""
        # A list of vacancies means all that it lists: what is left out of it is over. A push is never believed that.
        if push.body is None or push.is_given_up or lease.lists_vacancies or now - push.received_at > READ_WITHIN:
            return None
        body = zlib.decompressobj().decompress(push.body, MOST_BYTES)
        place = lease.url.url
        reply = Reply(place, body, push.content_type)
        return await self.reader.read(Task(subject_of(lease), RunState((Todo(place, lease.kind),)), reply, now))

    async def _keep(
        self, lease: Leased, push: WaitingPush, read: ReadAnswer | Trouble | None, now: datetime
    ) -> PushTaken:
        """Its items and what is learned from them, in one transaction or not at all."""
        async with self.database.transaction() as connection:
            await connection.execute(poll_queries.hold_source, lease.source_id)
            pushed = await _pushed_items(connection, lease, read)
            run_state = RunState((Todo(lease.url.url, lease.kind),))
            if pushed.new:
                found = FoundItems(pushed.new, url=lease.url.url)
                run_state = await take_found_items(connection, lease, run_state, found, now, self.limits)
            await self._end(connection, lease, push, run_state, pushed, now)
            await connection.execute(queries.drop_push, push.id)
        return PushTaken(lease, run_state.tally.inserted, pushed.calls_for_poll, pushed.why_ignored)

    async def _end(
        self,
        connection: Connection,
        lease: Leased,
        push: WaitingPush,
        run_state: RunState,
        pushed: PushedItems,
        now: datetime,
    ) -> None:
        dates, has_news = run_state.dates, run_state.tally.inserted > 0
        rhythm = lease.past.rhythm
        if has_news and lease.kind.traits.learns_rhythm:
            rhythm = observe(rhythm, Observation(now, lease.past.last_ok_at, dates))
        ended = queries.end_push(
            id=lease.id,
            token=lease.token,
            rhythm=rhythm.to_dict() if has_news else None,
            last_new_at=now if has_news else None,
            newest_item_at=max((one for one in dates if one and one <= now), default=None),
            # Never later than it was: a push that says all there is leaves the next poll where it stands.
            calls_for_poll=pushed.calls_for_poll,
            now=now,
            shortest=self.shortest_interval,
            reason=CHANGED,
        )
        if await connection.fetchval(*ended) is None:
            raise PollLost(str(lease.id))
        if lease.hub and has_news:
            hub = lease.hub.after_push(dates, push.received_at)
            await note_record(connection, lease, hub, quiet_until(lease, hub, rhythm, now))
        if lease.hub and pushed.calls_for_poll:
            await connection.execute(queries.note_ping, lease.id, now)

    def _tell(self, taken: PushTaken) -> None:
        if taken.why_ignored:
            self.log.info("push_ignored", channel=str(taken.channel.id), why=taken.why_ignored)
        elif taken.new or taken.calls_for_poll:
            told = {"new": taken.new, "calls_for_poll": taken.calls_for_poll}
            self.log.info("push_read", **told, **self.named(taken.channel))
        self.on_finished(taken)

    async def extend(self, leases: Sequence[Leased]) -> Collection[Any]:
        tokens = [lease.token for lease in leases]
        rows = await (self.heart or self.database).fetch(poll_queries.extend_polls, tokens, self.lease)
        return {row["token"] for row in rows}

    async def release(self, leases: Sequence[Leased]) -> None:
        await self.database.execute(poll_queries.release_polls, [lease.token for lease in leases])

    async def release_all_but(self, held: Collection[Any]) -> None:
        await self.database.execute(poll_queries.release_unheld_polls, self.owner, list(held))

    async def rest(self, come_back_in: timedelta | None) -> None:
        await self.listener.wait(LOOKED_EVERY.total_seconds())

    def named(self, lease: Leased) -> dict[str, Any]:
        return dict(log_fields(lease))


async def _pushed_items(connection: Connection, lease: Leased, read: ReadAnswer | Trouble | None) -> PushedItems:
    """What is new to the channel; of what is not, only whether the next poll should look."""
    if not isinstance(read, ReadAnswer):
        return PushedItems(calls_for_poll=True)
    topic = lease.hub.named.topic if lease.hub else lease.url.url
    said = read.links.topic
    if said and not is_about(said, topic) and not is_about(said, lease.url.url):
        return PushedItems(why_ignored="it is about another topic")
    found, _ = distinct_items(read.items)
    rows = await connection.fetch(poll_queries.known_items, lease.id, [one.url.url_hash for one in found])
    sifted = sift(found, {row["url_hash"]: row["signature"] for row in rows})
    calls_for_poll = bool(sifted.changed) or read.is_partial or not found
    return PushedItems(tuple(one.item for one in sifted.new), calls_for_poll)
