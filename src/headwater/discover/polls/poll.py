"""One channel from lease to next poll: the function to read first."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headwater.chance import Random
from headwater.clock import Clock
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.items import FoundItems
from headwater.discover.polls.answers import (
    RememberedAnswer,
    follow_remembered,
    missing_since,
    note_missed,
    remember_answer,
)
from headwater.discover.polls.backfill import pause_after, progress_in_words, start_of_backfill
from headwater.discover.polls.classify import (
    AGAIN_SOON,
    Body,
    Deferred,
    Heard,
    NotModified,
    RobotsRefusal,
    Trouble,
    is_no_page,
)
from headwater.discover.polls.ending import (
    MOST_LOST,
    Ending,
    EndingContext,
    ending_of_failure,
    ending_of_refusal,
    ending_of_success,
)
from headwater.discover.polls.lease import Leased, start_of, start_pages
from headwater.discover.polls.naming import Named
from headwater.discover.polls.reader import ChannelReader, ReadersGone, most_answers, task_of
from headwater.discover.polls.requesting import Asker, another_try, sitemaps_of
from headwater.discover.polls.run_state import FirstAnswer, ItemTally, RunState, UnreadPage, run_state_from
from headwater.discover.polls.run_store import RunStore
from headwater.discover.polls.schedule import wait_until_open
from headwater.discover.publisher_hints import PublisherHints
from headwater.discover.searching.search import try_usual_addresses
from headwater.net.transport import Response
from headwater.net.validators import Validators
from headwater.settings.groups import PollSettings
from headwater.sources.channels import ChannelKind
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


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a poll, for logs and screens. Without an ending it waits, and goes on later."""

    channel: Leased
    run_state: RunState
    ending: Ending | None
    waits: Deferred | None = None


@dataclass(frozen=True, slots=True)
class StepResult:
    """One answer read: the run with it, what it lists, and what was wrong with it."""

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
            if run_state.is_last_step:
                return await self._finish(channel, run_state, step.found_items, None)
            run_state = await self.run_store.go_on(channel, run_state, step.found_items, self._now(channel))
            if paused := self._pause(channel, run_state):
                return await self._wait(channel, run_state, paused)
        return await self._finish(channel, run_state, FoundItems(), None)

    async def _ask(self, channel: Leased, run_state: RunState) -> tuple[RunState, Heard]:
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

    async def _read(self, channel: Leased, run_state: RunState, heard: Heard) -> StepResult:
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
                    after = replace(after, first=replace(first, title=read.title, items=read.listed))
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

        def end(counted: RunState, named: Named) -> Ending:
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
        """The database's time, by what passed on our own clock since the lease."""
        return self.calendar() or channel.now + timedelta(seconds=self.clock.monotonic() - channel.leased_at)


def begun(run_state: RunState, heard: Heard, now: datetime) -> Heard:
    """A wait that keeps a run from beginning may be an error; one that is under way would lose its further answers, and
    waits for them, but not for ever.
    """
    if not isinstance(heard, Deferred) or heard.trouble is None:
        return heard
    has_waited = run_state.began_at is not None and now - run_state.began_at > LONGEST_WAIT
    return heard.trouble if run_state.is_first_step or has_waited else heard


def forgive(channel: Leased, before: RunState, step: StepResult) -> StepResult:
    """In a backfill a place that has nothing, or may not be asked, is a note: what passes was tried again before."""
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
        page = UnreadPage(run_state.step.url, trouble.message, missing_since(run_state))
        run_state = replace(run_state, unread=page)
    return run_state.counting(ItemTally(errors=1)).noting(f"{run_state.step.url}: {trouble.message}")


def renewed(channel: Leased, said: Validators) -> Validators:
    """Those of its last answer where a 304 does not repeat them."""
    return Validators(said.etag or channel.etag, said.last_modified or channel.last_modified)
