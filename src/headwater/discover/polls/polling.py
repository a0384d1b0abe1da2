"""Channels as a work source: due ones are leased, and each lease is one poll.

`Poll.run` is the function to read first: one channel from its lease to its next poll.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.chance import Random
from headwater.clock import Clock
from headwater.database.heartbeat import Heartbeat
from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.items import FoundItems
from headwater.discover.polls.backfill import pause_after, progress_in_words, start_of_backfill
from headwater.discover.polls.ending import (
    MOST_LOST,
    EndingContext,
    RunEnding,
    ending_of_failure,
    ending_of_refusal,
    ending_of_success,
    wait_until_open,
)
from headwater.discover.polls.lease import Leased, leased_from, start_of, start_pages
from headwater.discover.polls.naming import Named
from headwater.discover.polls.reader import ChannelReader, ReadersGone, most_answers, task_of
from headwater.discover.polls.requesting import (
    AGAIN_SOON,
    Asker,
    Body,
    ChannelAnswer,
    Deferred,
    NotModified,
    RobotsRefusal,
    Trouble,
    another_try,
    is_no_page,
    sitemaps_of,
)
from headwater.discover.polls.run_state import (
    FirstAnswer,
    ItemTally,
    RememberedAnswer,
    RunState,
    UnreadPage,
    follow_remembered,
    missing_since,
    note_missed,
    remember_answer,
    run_state_from,
)
from headwater.discover.polls.run_store import RunStore, log_fields
from headwater.discover.polls.submit_items import PollLost, in_parts
from headwater.discover.polls.task import ReadAnswer
from headwater.discover.publisher_hints import PublisherHints
from headwater.discover.push.links import hub_named
from headwater.discover.searching.search import try_usual_addresses
from headwater.errors import UsageError, blames_nobody
from headwater.log import Logger, log_broken
from headwater.net.transport import Response
from headwater.net.validators import Validators
from headwater.settings.groups import PollSettings
from headwater.sources.kinds import ChannelKind, kinds_that
from headwater.sources.store import Event, Level, block_unreadable, record, source_from
from headwater.urls.canonical import CanonicalUrl

BROKEN = "It could not be read or stored; the log says why."
# One answer of a run may be too much for its reader, as a very long part of an index is; a second one ends the run.
MOST_DEATHS = 2
# So long at a time: lifting the takedown ends it.
WHILE_TAKEN_DOWN = timedelta(days=1)
# For the robots.txt of a further answer's host.
LONGEST_WAIT = timedelta(days=1)
LOST = Trouble(
    ErrorClass.UNREADABLE,
    "Its polls were lost twice in a row: the process that made them died or stopped. "
    "Look at the log of that time; `headwater crawl run` tries it at once.",
    is_deadly=True,
)

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


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a poll, for logs and screens. Without an ending it waits, and goes on later."""

    channel: Leased
    run_state: RunState
    ending: RunEnding | None
    waits: Deferred | None = None


@dataclass(frozen=True, slots=True)
class StepResult:
    """One answer read: the run with it, its items, and its trouble."""

    run_state: RunState
    found_items: FoundItems = FoundItems()  # noqa: RUF009 - a frozen value
    trouble: Trouble | RobotsRefusal | None = None

    @property
    def is_deadly(self) -> bool:
        return isinstance(self.trouble, Trouble) and self.trouble.is_deadly

    @property
    def ends_run(self) -> bool:
        """Trouble in the middle of a run costs it one answer only."""
        return self.trouble is not None and (self.run_state.is_first_step or self.run_state.deaths >= MOST_DEATHS)


@dataclass(frozen=True, slots=True)
class Poll:
    asker: Asker
    reader: ChannelReader
    run_store: RunStore
    settings: PollSettings
    clock: Clock
    random: Random
    calendar: Callable[[], datetime | None] = lambda: None  # another time than the database's, for simulated days

    async def run(self, channel: Leased) -> Ran:
        """Ask, read, store; step by step until nothing is left to ask. Whatever the web does, there is a next poll."""
        if channel.lost >= MOST_LOST:
            return await self._finish(channel, start_of(channel), FoundItems(), LOST)
        run_state = run_state_from(channel.progress) or await self._start_of(channel)
        if not_now := self._not_now(channel, run_state) or await self._left_alone(channel):
            return await self._wait(channel, run_state, not_now)
        if channel.kind is ChannelKind.CRAWL:
            return await self._finish(channel, run_state, FoundItems(start_pages(channel)), None)
        while run_state.todo:
            run_state, heard = await self._ask(channel, run_state)
            if isinstance(heard, Deferred):
                return await self._wait(channel, run_state, heard)
            try:
                step = forgive(channel, run_state, await self._read(channel, run_state, heard))
            except ReadersGone as gone:
                return await self._wait(channel, run_state, Deferred(AGAIN_SOON, gone.what))
            if step.ends_run:
                return await self._finish(channel, step.run_state, FoundItems(), step.trouble)
            run_state = await self.run_store.leave_to_queue(channel, step.run_state)
            run_state, rest = await self._take_all_but_last(channel, run_state, step.found_items)
            if run_state.is_last_step:
                return await self._finish(channel, run_state, rest, None)
            run_state = await self.run_store.go_on(channel, run_state, rest, self._now(channel))
            if paused := self._pause(channel, run_state):
                return await self._wait(channel, run_state, paused)
        return await self._finish(channel, run_state, FoundItems(), None)

    async def _take_all_but_last(
        self, channel: Leased, run_state: RunState, found_items: FoundItems
    ) -> tuple[RunState, FoundItems]:
        """Of a very long list; the last part ends the step, as a short list does."""
        *parts, rest = in_parts(channel, found_items)
        for part in parts:
            run_state = await self.run_store.take_part(channel, run_state, part, self._now(channel))
        return run_state, rest

    async def _ask(self, channel: Leased, run_state: RunState) -> tuple[RunState, ChannelAnswer]:
        heard = begun(run_state, await self.asker.ask(channel, run_state), self._now(channel))
        again = another_try(channel, run_state, heard)
        return (run_state.trying_again(), again) if again else (run_state, heard)

    async def _start_of(self, channel: Leased) -> RunState:
        begins = start_of(channel)
        if channel.kind is ChannelKind.BACKFILL:
            sitemaps = await sitemaps_of(self.asker.database, channel.url)
            begins = start_of_backfill(channel.url.url, channel.places, sitemaps)
        return replace(begins, began_at=self._now(channel))

    def _pause(self, channel: Leased, run_state: RunState) -> Deferred | None:
        """A backfill lets the others of its host go first after each answer."""
        if channel.since is None or not run_state.todo:
            return None
        return Deferred(
            pause_after(channel.host_delay), f"reads the past {progress_in_words(run_state, channel.since)}"
        )

    async def give_up(self, channel: Leased) -> Ran:
        """For a run that a fault of ours has ended: not counted as an error, it would be tried at once and for ever."""
        return await self._finish(channel, start_of(channel), FoundItems(), Trouble(ErrorClass.UNREADABLE, BROKEN))

    async def _wait(self, channel: Leased, run_state: RunState, wait: Deferred) -> Ran:
        await self.run_store.wait(channel, run_state, wait, self._now(channel))
        return Ran(channel, run_state, None, wait)

    def _not_now(self, channel: Leased, run_state: RunState) -> Deferred | None:
        """A run that has begun goes on whatever the hour."""
        if not run_state.is_untouched:
            return None
        if channel.kind is ChannelKind.SEARCH and not self.settings.discovery:
            return Deferred(self.settings.discovery_retry, "the search for channels is switched off")
        return wait_until_open(channel, self._now(channel), self.random)

    async def _left_alone(self, channel: Leased) -> Deferred | None:
        """A takedown is nobody's error: nothing is asked, and lifting it makes the channel due."""
        why = await self.run_store.why_taken_down(channel)
        return Deferred(WHILE_TAKEN_DOWN, why) if why else None

    async def _read(self, channel: Leased, run_state: RunState, heard: ChannelAnswer) -> StepResult:
        is_search = channel.kind is ChannelKind.SEARCH
        is_asked = not (isinstance(heard, Body) and heard.is_from_cache)
        run_state = run_state.counting(ItemTally(requests=int(is_asked)))
        match heard:
            case Body(response, moved_to):
                read = await self.reader.read(task_of(channel, run_state, heard, self._now(channel)))
                if isinstance(read, Trouble):
                    lacking = _troubled(note_missed(channel, run_state, self._now(channel)), read)
                    return StepResult(lacking, trouble=read)
                found_items = FoundItems(read.items, read.harvest, response.url.url, response.validators)
                validators = Validators() if read.takes_turns else response.validators
                answer = RememberedAnswer(validators, response.url, self._now(channel), read.memory)
                after = remember_answer(channel, run_state, read.run_state, answer)
                after = replace(after, is_partial=after.is_partial or read.is_partial, is_unchanged=False)
                # Of a backfill's channel no answer says anything: it asks those of others.
                if run_state.is_first_step and not channel.since:
                    first = self._first(response, validators, moved_to, read.publisher_hints)
                    first = replace(first, title=read.title, items=read.listed)
                    after = replace(after, first=telling_hub(first, channel.kind, response, read))
                return StepResult(after, found_items)
            case NotModified(response, moved_to):
                answer = RememberedAnswer(response.validators, response.url, self._now(channel))
                after = follow_remembered(channel, run_state, answer, most_answers(channel))
                after = after if run_state.is_linked_page else replace(after, has_unchanged=True)
                if run_state.is_first_step:
                    validators = renewed(channel, response.validators)
                    first = self._first(response, validators, moved_to, channel.publisher_hints)
                    after = replace(after, is_unchanged=True, first=first)
                return StepResult(after)
            case Trouble(_, _, status) if is_search and run_state.is_first_step and is_no_page(heard):
                sitemaps = await sitemaps_of(self.asker.database, channel.url)
                past = try_usual_addresses(run_state, channel.url.url, sitemaps, channel.followed)
                return StepResult(replace(past, first=FirstAnswer(status)))
            case Trouble() | RobotsRefusal():
                is_guess = is_search and not run_state.is_first_step
                lacking = (
                    run_state if is_guess else _troubled(note_missed(channel, run_state, self._now(channel)), heard)
                )
                return StepResult(lacking, trouble=heard)
            case Deferred():
                raise AssertionError("a wait ends the step before it is read")

    def _first(
        self, response: Response, validators: Validators, moved_to: CanonicalUrl | None, hints: PublisherHints
    ) -> FirstAnswer:
        if self.settings.respect_cache_control:
            hints = hints.with_head(response.raw_headers, response.at)
        return FirstAnswer(response.status, validators, moved_to.url if moved_to else "", publisher_hints=hints)

    async def _finish(
        self, channel: Leased, run_state: RunState, found_items: FoundItems, trouble: Trouble | RobotsRefusal | None
    ) -> Ran:
        now = self._now(channel)
        ends = EndingContext(self.settings, now, self.random)

        def end(counted: RunState, named: Named) -> RunEnding:
            match trouble:
                case None:
                    return ending_of_success(channel, counted, ends, named)
                case RobotsRefusal():
                    return ending_of_refusal(channel, trouble, ends)
                case Trouble():
                    return ending_of_failure(channel, trouble, ends)

        counted, ending = await self.run_store.finish(channel, run_state, found_items, now, end)
        return Ran(channel, counted, ending)

    def _now(self, channel: Leased) -> datetime:
        """The database's time, by our own clock since the lease."""
        return self.calendar() or channel.now + timedelta(seconds=self.clock.monotonic() - channel.leased_at)


def begun(run_state: RunState, heard: ChannelAnswer, now: datetime) -> ChannelAnswer:
    """A wait that keeps a run from beginning may be an error; one that is under way would lose its further answers, and
    waits for them, but not for ever.
    """
    if not isinstance(heard, Deferred) or heard.trouble is None:
        return heard
    has_waited = run_state.began_at is not None and now - run_state.began_at > LONGEST_WAIT
    return heard.trouble if run_state.is_first_step or has_waited else heard


def telling_hub(first: FirstAnswer, kind: ChannelKind, response: Response, read: ReadAnswer) -> FirstAnswer:
    """An answer that broke off may have named a hub all the same."""
    if not kind.traits.may_be_pushed:
        return first
    may_name_one = read.links.hub or read.links.cloud or "Link" in response.headers
    hub = hub_named(response.raw_headers, read.links, response.url) if may_name_one else None
    return replace(first, tells_hub=hub is not None or not read.is_partial, hub=hub)


def forgive(channel: Leased, before: RunState, step: StepResult) -> StepResult:
    """In a backfill a place that has nothing, or may not be asked, is a note: passing trouble was tried again."""
    if channel.since is None or step.trouble is None or step.is_deadly:
        return step
    told = f"{before.step.url}: {step.trouble.message}"
    return StepResult(before.counting(ItemTally(requests=1)).noting(told), step.found_items)


def _troubled(run_state: RunState, trouble: Trouble | RobotsRefusal) -> RunState:
    """In the middle of a run it is a note: the rest of the run goes on."""
    if isinstance(trouble, Trouble) and trouble.is_deadly:
        run_state = replace(run_state, deaths=run_state.deaths + 1)
    if run_state.is_first_step:
        return run_state.counting(ItemTally(errors=1))
    if not run_state.is_linked_page and not run_state.unread:
        # One is enough to look at: what lies behind it cannot be reached either.
        page = UnreadPage(run_state.step.url, trouble.message, missing_since(run_state), trouble.cause)
        run_state = replace(run_state, unread=page)
    return run_state.counting(ItemTally(errors=1)).noting(f"{run_state.step.url}: {trouble.message}")


def renewed(channel: Leased, said: Validators) -> Validators:
    """Those of its last answer where a 304 does not repeat them."""
    return Validators(said.etag or channel.etag, said.last_modified or channel.last_modified)


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
        """A channel may wait before the marks: no poller sleeps longer than they are trusted."""
        left = MARKS_HOLD - timedelta(seconds=self.clock.monotonic() - self._looked_at)
        return left if wait is None else min(wait, left)


@dataclass(slots=True)
class FirstPolls:
    """How many of a claim are first polls although others are due; the rest of a small claim is carried on."""

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
        """None where the row cannot be read: it costs itself, and no other channel of the claim."""
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
