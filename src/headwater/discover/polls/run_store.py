"""Steps of a run in the database: items and the channel's new state, in one transaction or not at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from headwater.clock import Clock
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.discover.items import FoundItems
from headwater.discover.polls.backfill import progress_in_words
from headwater.discover.polls.ending import LONGEST_MESSAGE, MOVED, Gap, RunEnding
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.naming import Named
from headwater.discover.polls.requesting import Deferred, ResponseCache, pack_response
from headwater.discover.polls.run_state import Finding, RunState, came_from, wants_all
from headwater.discover.polls.submit_items import IntakeLimits, PollLost, take_found_items
from headwater.discover.polls.vacancies import count_named, expire_left_out
from headwater.discover.push.store import count_unlisted, note_hub
from headwater.discover.searching.search import choose_findings
from headwater.errors import QueryFailed
from headwater.phrases import quantity
from headwater.politeness.takedown import domains_above, taken_down_in_words
from headwater.politeness.takedown import queries as takedown_queries
from headwater.settling import Settling
from headwater.sources.delays import delay_counts
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceMode
from headwater.sources.store import Event, NewChannel, add_channel, disable_channel, poll_now, record, set_status
from headwater.storable import storable
from headwater.urls.canonical import CanonicalUrl, canonicalise

queries = load_queries("headwater.discover")

LONGEST_REASON = 500
UNIQUE_VIOLATION = "23505"
SITEMAP_SOUGHT_AFTER = timedelta(hours=1)
SITEMAP_SOUGHT_WITHIN = timedelta(hours=5)


@dataclass(frozen=True, slots=True)
class RunStore:
    """Each step is tried again while the database does not take it: its host was asked once, and that is enough."""

    database: Database
    clock: Clock
    lease: timedelta
    limits: IntakeLimits
    response_cache: ResponseCache
    settling: Settling

    async def why_taken_down(self, channel: Leased) -> str:
        """Its own address or that of its source, in words; empty if neither is. To spare a request: a takedown is
        looked for once more when items are stored."""
        places = (channel.source.address, channel.url)
        domains = sorted({domain for place in places for domain in domains_above(place.host)})
        rows = await self.database.fetch(takedown_queries.takedowns_of_domains, domains)
        return next((words for place in places if (words := taken_down_in_words(rows, place))), "")

    async def go_on(self, channel: Leased, run_state: RunState, found_items: FoundItems, now: datetime) -> RunState:
        """A step in the middle of a run; the lease begins anew."""
        tried: list[RunState] = []

        async def take() -> RunState:
            async with self.database.transaction() as connection:
                # The token stays good, so a step that was committed unheard would be counted twice.
                if tried and await self._has_gone_on(connection, channel, tried[-1]):
                    return tried[-1]
                taken = await take_found_items(connection, channel, run_state, found_items, now, self.limits)
                # Where an API answers from may hold a key.
                answered = "" if channel.kind is ChannelKind.API else found_items.url or came_from(channel, run_state)
                tried.append(taken.pruned().passed(answered))
                await self._put_away(connection, channel, tried[-1].to_dict())
            return tried[-1]

        return await self.settling.settle(take, **log_fields(channel))

    async def take_part(self, channel: Leased, run_state: RunState, part: FoundItems, now: datetime) -> RunState:
        """Of an answer that is taken in parts, any but the last. The run stands where it stood: whoever goes on after a
        crash reads that answer again, and finds these items known.
        """

        async def take() -> RunState:
            async with self.database.transaction() as connection:
                taken = await take_found_items(connection, channel, run_state, part, now, self.limits)
                held = await connection.fetchval(queries.hold_poll, channel.id, channel.token, self.lease)
                if held is None:
                    raise PollLost(str(channel.id))
            return taken

        return await self.settling.settle(take, **log_fields(channel))

    async def _has_gone_on(self, connection: Connection, channel: Leased, run_state: RunState) -> bool:
        return bool(await connection.fetchval(queries.has_got_to, channel.id, channel.token, run_state.to_dict()))

    async def leave_to_queue(self, channel: Leased, run_state: RunState) -> RunState:
        """Without the pages that are items of this channel: the fetchers of items ask for them, and once is enough."""
        beside = {canonicalise(one.url).url_hash: one.url for one in run_state.todo[1:] if not one.continues}
        if channel.kind is not ChannelKind.LISTING or not beside:
            return run_state
        rows = await self.settling.read(
            lambda: self.database.fetch(queries.known_items, channel.id, list(beside)), **log_fields(channel)
        )
        return run_state.without(beside[row["url_hash"]] for row in rows)

    async def wait(self, channel: Leased, run_state: RunState, wait: Deferred, now: datetime) -> None:
        """The run goes on later, from here. Nothing is wrong with the channel, and nothing is counted."""
        # What an untouched one was given with its row is still to be read.
        progress = channel.progress if run_state.is_untouched else run_state.to_dict()
        reason = f"waits: {wait.why}"[:LONGEST_REASON]

        async def put_away() -> None:
            async with self.database.transaction() as connection:
                await self._put_away(connection, channel, progress, now + wait.wait, reason)

        await self.settling.settle(put_away, **log_fields(channel))

    async def finish(
        self,
        channel: Leased,
        run_state: RunState,
        found_items: FoundItems,
        now: datetime,
        end: Callable[[RunState, Named], RunEnding],
    ) -> tuple[RunState, RunEnding]:
        """The last step; `end` decides once it is known which items are new."""
        taken, ending = await self.settling.settle(
            lambda: self._finish(channel, run_state, found_items, now, end), **log_fields(channel)
        )
        for finding in taken.findings:
            self.response_cache.forget(canonicalise(finding.url).url_hash)
        return taken, ending

    async def _finish(
        self,
        channel: Leased,
        run_state: RunState,
        found_items: FoundItems,
        now: datetime,
        end: Callable[[RunState, Named], RunEnding],
    ) -> tuple[RunState, RunEnding]:
        async with self.database.transaction() as connection:
            # The source before hosts and channels, as everybody else locks them: two ways round would be a deadlock.
            await connection.execute(queries.hold_source, channel.source_id)
            taken = await take_found_items(connection, channel, run_state, found_items, now, self.limits)
            if channel.hub and channel.hub.record.last_push_at:
                taken = replace(taken, unlisted=await count_unlisted(connection, channel, taken, found_items))
            if channel.lists_vacancies:
                ending = await self._end_of_list(connection, channel, taken, now, end)
            else:
                ending = end(taken, Named())
            await self._end(connection, channel, taken, ending, now)
        return taken, ending

    async def _end_of_list(
        self,
        connection: Connection,
        channel: Leased,
        run_state: RunState,
        now: datetime,
        end: Callable[[RunState, Named], RunEnding],
    ) -> RunEnding:
        """Of a list of vacancies: those that it left out for good are over."""
        ending = end(run_state, await count_named(connection, channel, run_state))
        over = await expire_left_out(connection, channel, ending.patch.get("gone_before"), now)
        if not over:
            return ending
        told = f"{ending.message}; {quantity(over, 'vacancy')} no longer listed"
        return replace(ending, message=told[:LONGEST_MESSAGE])

    async def _put_away(
        self,
        connection: Connection,
        channel: Leased,
        progress: object,
        next_poll_at: datetime | None = None,
        reason: str | None = None,
    ) -> None:
        held = await connection.fetchval(
            queries.put_away, channel.id, channel.token, progress, next_poll_at, reason, self.lease
        )
        if held is None:
            raise PollLost(str(channel.id))

    async def _end(
        self, connection: Connection, channel: Leased, run_state: RunState, ending: RunEnding, now: datetime
    ) -> None:
        await self._note(connection, channel, run_state, ending, now)
        if channel.kind is ChannelKind.CRAWL:
            begin = queries.begin_round_in_full if wants_all(channel) else queries.begin_next_round
            await connection.execute(begin, channel.source_id, channel.id, now)
        if channel.kind is ChannelKind.SEARCH and ending.error is None:
            await self._add_findings(connection, channel, run_state.findings, now)
        if channel.kind is ChannelKind.BACKFILL and channel.since and ending.error is None:
            reason = f"done, {progress_in_words(run_state.passed() if run_state.todo else run_state, channel.since)}"
            await disable_channel(connection, channel.source_id, channel.id, reason)
        twin = await self._twin(connection, channel, ending.moved_to)
        moves = ending.moved_to is not None and not twin
        has_moved = moves and await self._finish_at(connection, channel, ending, ending.moved_to)
        if not has_moved:
            await self._finish_at(connection, channel, ending, None)
        await record(connection, *(event for event in ending.events if has_moved or twin or event.kind != MOVED))
        if twin and ending.moved_to:
            reason = f"moved to {ending.moved_to.url}, which is followed already"
            await disable_channel(connection, channel.source_id, channel.id, reason)
        if ending.source_status:
            await set_status(connection, channel.source_id, *ending.source_status, "headwater")
        if ending.seeks_sitemap and await connection.fetchval(queries.sought_no_sitemap, channel.source_id):
            await add_channel(connection, channel.source_id, search_for_sitemap(channel), now=now)
        if ending.gap:
            message = await self._fill_gap(connection, channel, ending.gap, now)
            await record(connection, Event("gap", message, channel.source_id, channel.id))

    async def _note(
        self, connection: Connection, channel: Leased, run_state: RunState, ending: RunEnding, now: datetime
    ) -> None:
        """What the run tells of itself, of its hub and of how fresh it was."""
        await self._log(connection, channel, run_state, ending, now)
        if channel.hub or run_state.first.hub:
            await note_hub(connection, channel, run_state.first, ending)
        if counts := delays_of(channel, run_state, now):
            await connection.execute(queries.note_delays, channel.source_id, now, counts)

    async def _finish_at(
        self, connection: Connection, channel: Leased, ending: RunEnding, place: CanonicalUrl | None
    ) -> bool:
        """False where the new place is taken by a channel that is not polled, or was taken a moment ago."""
        patch = _as_json(ending.patch | (_address(place) if place else {}))
        try:
            async with connection.savepoint():
                held = await connection.fetchval(
                    queries.finish_poll, channel.id, channel.token, patch, place and place.url
                )
        except QueryFailed as error:
            if place is None or error.sqlstate != UNIQUE_VIOLATION:
                raise
            return False
        if held is None:
            raise PollLost(str(channel.id))
        return True

    async def _twin(self, connection: Connection, channel: Leased, moved_to: CanonicalUrl | None) -> bool:
        if moved_to is None:
            return False
        place = (channel.id, channel.source_id, moved_to.url_hash, str(channel.kind))
        return await connection.fetchval(queries.who_has_address, *place) is not None

    async def _fill_gap(self, connection: Connection, channel: Leased, gap: Gap, now: datetime) -> str:
        """By the sitemaps of its source; where none is known one is looked for, and read once it was found."""
        source_id, reason = channel.source_id, "a feed of its source overflowed"
        told = await poll_now(
            connection, source_id, kind=ChannelKind.SITEMAP, reason=reason, trigger="schedule", now=now
        )
        if told:
            return f"reads {quantity(told, 'sitemap')} to fill the gap"
        since = gap.searched_since
        if since is None or await connection.fetchval(queries.was_searched, source_id, since):
            return "there is no sitemap to fill the gap with"
        reason = "looks for a sitemap to fill a gap"
        await add_channel(connection, source_id, NewChannel(ChannelKind.SEARCH, channel.source.address), now=now)
        # One that was to look for it some time looks now.
        await poll_now(connection, source_id, kind=ChannelKind.SEARCH, reason=reason, trigger="schedule", now=now)
        return "looks for a sitemap to fill the gap with"

    async def _add_findings(
        self, connection: Connection, channel: Leased, findings: Sequence[Finding], now: datetime
    ) -> None:
        """A search that found something has done its work; a feed that another source follows is nothing found."""
        added = []
        for finding in choose_findings(tuple(findings)):
            place = canonicalise(finding.url)
            heard = self.response_cache.heard_at(place.url_hash)
            kept = pack_response(heard) if heard else None
            new = NewChannel(finding.kind, place, finding.title or None, reason="just found", heard=kept)
            if await add_channel(connection, channel.source_id, new, now=now):
                added.append(finding.kind)
        if any(kind.traits.mode == SourceMode.FEED for kind in added):
            # Until now pages were all that could be looked through.
            is_spidered = any(kind.traits.mode == SourceMode.SPIDER for kind in {*channel.followed, *added})
            mode = SourceMode.BOTH if is_spidered else SourceMode.FEED
            await connection.execute(queries.set_mode, channel.source_id, str(mode))
        told = ", ".join(map(str, added))
        if any(kind is not ChannelKind.LISTING for kind in added):
            await disable_channel(connection, channel.source_id, channel.id, f"found {told}")
        elif ChannelKind.FEED in channel.followed:
            # It is not worth a search every week: the next gap asks for one again.
            await disable_channel(connection, channel.source_id, channel.id, "found no sitemap")

    async def _log(
        self, connection: Connection, channel: Leased, run_state: RunState, ending: RunEnding, now: datetime
    ) -> None:
        tally = run_state.tally
        message = storable(ending.message) or ""
        await connection.execute(
            *queries.log_run(
                now=now,
                source_id=channel.source_id,
                channel_id=channel.id,
                kind=str(channel.kind),
                trigger=channel.trigger,
                status=ending.status,
                requests=tally.requests,
                found=tally.found,
                inserted=tally.inserted,
                updated=tally.updated,
                skipped=tally.skipped,
                errors=tally.errors,
                duration_ms=round((self.clock.monotonic() - channel.leased_at) * 1000),
                http_status=ending.http_status,
                error_class=ending.error and str(ending.error),
                message=message,
                next_poll_at=ending.next.at,
                next_reason=ending.next.reason,
                policy=ending.policy,
            )
        )
        noted = (channel.source_id, now, ending.status, message, channel.is_by_hand)
        await connection.execute(queries.note_run_of_source, *noted)


def delays_of(channel: Leased, run_state: RunState, now: datetime) -> list[int]:
    """A first poll finds what was published before anybody looked."""
    return [] if channel.past.last_ok_at is None else delay_counts(run_state.dates, channel.followed_since, now)


def log_fields(channel: Leased) -> dict[str, str]:
    """How a channel is called in a log line."""
    return {"source": str(channel.source_id), "channel": str(channel.id), "host": channel.url.host}


def search_for_sitemap(channel: Leased) -> NewChannel:
    """Feeds come first, and after a long import not all of them look at once."""
    site = channel.source.address
    wait = SITEMAP_SOUGHT_AFTER + SITEMAP_SOUGHT_WITHIN * (int.from_bytes(site.url_hash[:4]) / 2**32)
    return NewChannel(ChannelKind.SEARCH, site, reason="looks for a sitemap", due_in=wait)


def _address(url: CanonicalUrl) -> dict[str, Any]:
    """Validators belong to the address they came from."""
    return {
        "url": url.url,
        "url_hash": f"\\x{url.url_hash.hex()}",
        "bucket": url.bucket,
        "host": url.host,
        "etag": None,
        "last_modified": None,
        "validators_checked_at": None,
        "validators_distrusted_until": None,
    }


def _as_json(patch: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in patch.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return f"{value.total_seconds()} seconds"
    return storable(value) if isinstance(value, str) else value
