"""The end of a run: the channel's new state, its next poll and why then, the log of runs and the trail. Pure.

Which policy holds for a channel is decided here, and when it is polled by that policy in `cadence`.
"""

from collections import Counter
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any, Literal

from headwater.chance import Random
from headwater.discover.cadence.answers import (
    DISTRUSTED_FOR,
    FeedSnapshot,
    Overflow,
    WholeBecause,
    is_lie,
    overflow,
    turnover,
    whole_because,
)
from headwater.discover.cadence.channel import ChannelFacts, NextPoll, PollBounds
from headwater.discover.cadence.hubs import longest_quiet
from headwater.discover.cadence.planning import in_open_hours, next_poll
from headwater.discover.cadence.rests import PATIENCE, ErrorClass
from headwater.discover.cadence.rhythm import Floats, Observation, Rhythm, common_from, observe
from headwater.discover.cadence.silence import silence
from headwater.discover.cadence.windows import TimeWindow, window_from
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.naming import DOUBTED_FOR, Named, after_run, doubt_in_words, unseen_before, wholeness_of
from headwater.discover.polls.requesting import Deferred, RobotsRefusal, Trouble
from headwater.discover.polls.run_state import RunState, UnreadPage, without_validators
from headwater.discover.publisher_hints import PublisherHints
from headwater.discover.push.subscription import KnownHub
from headwater.discover.searching.search import choose_findings
from headwater.net.validators import Validators
from headwater.phrases import quantity
from headwater.settings.groups import PollSettings
from headwater.sources.causes import StopReason
from headwater.sources.health import without_stop
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Policy, SourceKind, SourceMode, SourceStatus
from headwater.sources.store import Event, Level
from headwater.urls.canonical import CanonicalUrl, canonicalise

# After these a search is tried again at the default interval: its long one is for sites that have nothing.
TEMPORARY_ERRORS = frozenset({ErrorClass.UPSTREAM, ErrorClass.NETWORK})

FAILURES_BEFORE_PAUSE = 5
MOVES_BEFORE_WARNING = 3
MOVED = "channel_moved"
LONGEST_MESSAGE = 500
# Leases that ran out under a poll, in a row; the first is forgiven, since a process may die of anything.
MOST_LOST = 2
NO_ERRORS = {"consecutive_errors": 0, "error_class": None, "class_errors": 0, "error_cause": None}

NOBODY_NAMED = Named()

RunStatus = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class ChannelStanding:
    """How a channel stands after the poll that has just ended."""

    last_ok_at: datetime | None
    newest_item_at: datetime | None
    last_new_at: datetime | None
    rhythm: Rhythm
    changes: int = 0
    no_change: int = 0
    errors: int = 0
    error: ErrorClass | None = None
    class_errors: int = 0
    covers: timedelta | None = None  # after an overflow: the time its items span
    turnover: timedelta | None = None  # the time in which its list is replaced, at the pace of this poll
    publisher_hints: PublisherHints = PublisherHints()  # noqa: RUF009 - a frozen value
    hub: KnownHub | None = None
    is_deadly: bool = False  # the error: it ended a process of ours
    status: int | None = None  # of the last answer, where there was one


def policy_of(channel: Leased, settings: PollSettings) -> tuple[Policy, timedelta]:
    """And the interval it starts from. A person's choice beats the usual one of the kind of channel or source."""
    source, usual = channel.source, channel.kind.traits.interval
    if not channel.kind.traits.brings_news:
        return Policy.FIXED, settings.discovery_retry
    interval = source.poll_every or usual or settings.default_interval
    if source.poll_every:
        return Policy.FIXED, interval
    if source.policy:
        return source.policy, interval
    if usual:
        return Policy.FIXED, interval
    if source.kind is SourceKind.JOBS:
        return Policy.FREQUENCY, interval
    return (Policy.ADAPTIVE if settings.adaptive else Policy.FIXED), interval


def next_poll_of(
    channel: Leased, standing: ChannelStanding, settings: PollSettings, now: datetime, rng: Random
) -> NextPoll:
    policy, interval = policy_of(channel, settings)
    if channel.kind is ChannelKind.SEARCH and (standing.error in TEMPORARY_ERRORS or standing.is_deadly):
        interval = settings.default_interval
    facts = ChannelFacts(
        interval=interval,
        last_success_at=standing.last_ok_at,
        last_item_at=standing.newest_item_at,
        last_item_seen_at=standing.last_new_at,
        consecutive_no_change=standing.no_change,
        consecutive_errors=standing.errors,
        errors_of_class=standing.class_errors,
        error=standing.error,
        is_deadly=standing.is_deadly,
        status=standing.status,
        changes=standing.changes,
        org_type=channel.source.org_type or "",
        frequency_days=channel.source.crawl_frequency_days,
        rhythm=standing.rhythm,
        price=channel.price,
        common=common_of(channel),
        items_span=standing.covers,
        turnover=standing.turnover,
        publisher_hints=standing.publisher_hints,
        host_delay=channel.host_delay,
        # An interval that a person set is tried.
        crowding=1.0 if channel.source.poll_every else channel.crowding,
        time_window=window_of(channel),
        # An interval that a person set is kept, whoever pushes.
        is_pushed=standing.hub is not None and policy is not Policy.FIXED and standing.hub.is_trusted_at(now),
        bounds=PollBounds(
            shortest=settings.min_interval,
            longest=max(settings.max_interval, interval),
            jitter=settings.jitter_percent / 100,
        ),
    )
    return next_poll(policy, facts, now, rng)


def wait_until_open(channel: Leased, now: datetime, rng: Random) -> Deferred | None:
    """A window holds for every due poll, also where it was set after that, except for one that a person asks for."""
    if channel.is_by_hand:
        return None
    opening, why = in_open_hours(now, window_of(channel), PublisherHints(), rng)
    return Deferred(opening - now, why) if opening > now else None


def common_of(channel: Leased) -> Floats:
    return common_from(channel.common)


def window_of(channel: Leased) -> TimeWindow | None:
    """In the source's own zone, else in that of its country."""
    source = channel.source
    if source.time_window is None:
        return None
    return window_from(source.time_window, source.timezone or zone_of_country(source.country))


def zone_of_country(country: str | None) -> str | None:
    return _zones().get((country or "").upper())


@cache
def _zones() -> dict[str, str]:
    """From the table of zones that comes with the package of time zones."""
    table = resources.files("tzdata.zoneinfo").joinpath("zone.tab").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines() if line and not line.startswith("#")]
    zones = Counter(row[0] for row in rows)
    return {row[0]: row[2] for row in rows if zones[row[0]] == 1}


@dataclass(frozen=True, slots=True)
class Gap:
    """Items were missed: the sitemaps of its source should be read now, or looked for."""

    searched_since: datetime | None  # not looked for again if they were since then; None: never look


@dataclass(frozen=True, slots=True)
class RunEnding:
    """`patch` holds the changes of the channel's row, `source_status` a new status of its source, if any."""

    next: NextPoll
    policy: str
    status: RunStatus
    message: str
    patch: dict[str, Any]
    events: tuple[Event, ...] = ()
    error: ErrorClass | None = None
    http_status: int | None = None
    source_status: tuple[SourceStatus, str] | None = None
    gap: Gap | None = None
    seeks_sitemap: bool = False  # of its source, where none was looked for yet
    moved_to: CanonicalUrl | None = None
    hub: KnownHub | None = None  # with its record after this poll
    quiet_until: datetime | None = None  # of one that is trusted


@dataclass(frozen=True, slots=True)
class EndingContext:
    """Everything an ending is decided by, beside the channel and its state."""

    settings: PollSettings
    now: datetime
    rng: Random


@dataclass(frozen=True, slots=True)
class _Learned:
    """The lessons of a run that ended well."""

    standing: ChannelStanding
    overflown: Overflow | None
    is_silent: bool
    silence: str | None
    naming: dict[str, Any]
    doubts: str


def ending_of_success(
    channel: Leased, run_state: RunState, ends: EndingContext, named: Named = NOBODY_NAMED
) -> RunEnding:
    """Every item was stored. If all answers were had too, validators may be kept: a missing one is asked for again."""
    learned = _learned_from(channel, run_state, ends.now, named)
    moved_to, not_updated, moves = _moves(channel, run_state, ends.settings)
    overflown, doubts = learned.overflown, learned.doubts
    checked, distrusts = _validators_after(channel, run_state, ends.now)
    patch = _patch(channel, run_state, ends.now, learned) | {"moved_count": not_updated} | learned.naming | checked
    is_warning = overflown or run_state.tally.errors or _is_fruitless(channel, run_state) or doubts or run_state.damage
    told = _told(channel, run_state.noting(doubts), overflown)
    ending = _ending(channel, ends, learned.standing, "warn" if is_warning else "ok", told, patch)
    ending = _looking_again(ending, ends.now) if doubts else ending
    silences = _silence_events(channel, learned.silence, run_state)
    return replace(
        ending,
        events=(
            *_overflow_events(channel, overflown, ends.settings),
            *silences,
            *moves,
            *_doubt_events(channel, doubts),
            *distrusts,
        ),
        http_status=run_state.first.status,
        gap=_gap(ends) if overflown else None,
        seeks_sitemap=_seeks_sitemap(channel, ends.settings),
        moved_to=moved_to,
        hub=learned.standing.hub,
        quiet_until=quiet_until(channel, learned.standing.hub, learned.standing.rhythm, ends.now),
    )


def quiet_until(channel: Leased, hub: KnownHub | None, rhythm: Rhythm, now: datetime) -> datetime | None:
    """Until when a trusted hub may say nothing; no longer than its lease holds."""
    if hub is None or hub.until is None or not hub.is_trusted_at(now):
        return None
    return min(now + longest_quiet(rhythm, now, common_of(channel)), hub.until)


def _learned_from(channel: Leased, run_state: RunState, now: datetime, named: Named) -> _Learned:
    listing = _listing(channel, run_state, now)
    overflown = overflow(listing) if listing else None
    rhythm = _rhythm(channel, run_state, now, has_overflowed=overflown is not None)
    may_be_silent = channel.kind.traits.learns_rhythm and not run_state.tally.inserted
    quiet = silence(rhythm, common_of(channel)) if may_be_silent else None
    naming, doubts = _naming(channel, run_state, now, named)
    standing = _standing(channel, run_state, now, rhythm)
    standing = replace(
        standing,
        covers=overflown.covers if overflown else None,
        turnover=turnover(listing) if listing else None,
        hub=channel.hub and channel.hub.after_poll(run_state.dates, now, channel.past.last_ok_at, run_state.unlisted),
    )
    return _Learned(standing, overflown, quiet is not None, quiet.sentence if quiet else None, naming, doubts)


def _standing(channel: Leased, run_state: RunState, now: datetime, rhythm: Rhythm) -> ChannelStanding:
    past, tally = channel.past, run_state.tally
    is_lacking = channel.kind is ChannelKind.API and tally.errors
    return ChannelStanding(
        last_ok_at=past.last_ok_at if is_lacking else _asked_until(channel, run_state, now),
        newest_item_at=_latest(past.newest_item_at, *(date for date in run_state.dates if date and date <= now)),
        last_new_at=now if tally.inserted else past.last_new_at,
        rhythm=rhythm,
        changes=tally.changes,
        no_change=0 if tally.changes else past.no_change + (not channel.is_by_hand),
        publisher_hints=run_state.first.publisher_hints,
    )


def _patch(channel: Leased, run_state: RunState, now: datetime, learned: _Learned) -> dict[str, Any]:
    past, first, standing = channel.past, run_state.first, learned.standing
    return {
        **_validators(run_state),
        "answers": dict(run_state.answers),
        "last_ok_at": standing.last_ok_at,
        "last_new_at": standing.last_new_at,
        "newest_item_at": standing.newest_item_at,
        "last_item_count": past.last_item_count if first.items is None else first.items,
        "nochange_count": standing.no_change,
        "silent_since": (past.silent_since or now) if learned.is_silent else None,
        **NO_ERRORS,
        **_damage(channel, run_state, now),
        "last_status": first.status,
        "rhythm": standing.rhythm.to_dict(),
        "publisher_hints": first.publisher_hints.to_dict(),
        "overflow_count": past.overflows + (learned.overflown is not None),
        **_spending(channel, run_state.tally.inserted, now),
        **({"title": first.title} if first.title else {}),
    }


def _spending(channel: Leased, new_items: int, now: datetime) -> dict[str, float]:
    spent = channel.past.spending.after_poll(new_items, channel.past.last_polled_at, now)
    return {
        "polls_lately": spent.polls,
        "vain_polls_lately": spent.in_vain,
        "new_items_lately": spent.new_items,
    }


def _validators(run_state: RunState) -> dict[str, Any]:
    """Only a channel that was read whole may answer "unchanged" the next time."""
    may_be_unchanged = not run_state.tally.errors and not run_state.is_cut
    return asdict(run_state.first.validators if may_be_unchanged else Validators())


def _validators_after(channel: Leased, run_state: RunState, now: datetime) -> tuple[dict[str, Any], list[Event]]:
    """What a whole answer says of the validators that an overdue channel was asked without, for its row and trail."""
    past = channel.past
    if whole_because(past.validator_record, run_state.began_at or channel.now) is not WholeBecause.OVERDUE:
        return {}, []
    checked = {"validators_checked_at": now}
    sent = Validators(channel.etag, channel.last_modified)
    news = run_state.dates if run_state.tally.inserted else ()
    if not is_lie(sent, run_state.first.validators, news, past.last_ok_at):
        return checked, []
    until, news_in_words = now + DISTRUSTED_FOR, quantity(run_state.tally.inserted, "new item")
    message = (
        f"{channel.url.url} said that it was not modified, and had {news_in_words} when it was asked without its "
        f"validators: it is asked without them until {until:%Y-%m-%d}"
    )
    event = Event("validators_distrusted", message, channel.source_id, channel.id, level=Level.WARN)
    return checked | {"validators_distrusted_until": until}, [event]


def ending_of_failure(channel: Leased, trouble: Trouble, ends: EndingContext) -> RunEnding:
    """Learned rhythm and validators survive errors. One that a person meets by hand makes no row of them longer: they
    may try ten times in a minute."""
    past, more = channel.past, int(not channel.is_by_hand)
    is_same = past.error is trouble.error
    standing = ChannelStanding(
        last_ok_at=past.last_ok_at,
        newest_item_at=past.newest_item_at,
        last_new_at=past.last_new_at,
        rhythm=past.rhythm,
        no_change=past.no_change,
        errors=max(past.errors + more, 1),
        error=trouble.error,
        class_errors=max(past.class_errors + more, 1) if is_same else 1,
        publisher_hints=replace(
            channel.publisher_hints, retry_after=trouble.retry_after, robots_wait=trouble.robots_wait
        ),
        is_deadly=trouble.is_deadly,
        status=trouble.status,
    )
    patch = {
        "consecutive_errors": standing.errors,
        "error_class": str(trouble.error),
        "class_errors": standing.class_errors,
        "error_cause": trouble.cause,
        "last_error": trouble.message[:LONGEST_MESSAGE],
        "last_status": trouble.status,
        **_spending(channel, 0, ends.now),
    }
    ending = _ending(channel, ends, standing, "fail", trouble.message, patch)
    return replace(
        ending,
        error=trouble.error,
        http_status=trouble.status,
        events=tuple(_rest_events(channel, ending.next, trouble)),
        source_status=_pause_after(channel),
    )


def ending_of_refusal(channel: Leased, refusal: RobotsRefusal, ends: EndingContext) -> RunEnding:
    """A job source whose page may not be asked is blocked, until the rules change; others rest."""
    trouble = Trouble(ErrorClass.FORBIDDEN, f"{StopReason.ROBOTS_DISALLOW} ({refusal.message})", cause=refusal.cause)
    ending = replace(ending_of_failure(channel, trouble, ends), status="warn", source_status=None)
    if channel.source.kind is not SourceKind.JOBS:
        return ending
    return replace(ending, status="fail", source_status=(SourceStatus.BLOCKED, StopReason.ROBOTS_DISALLOW))


def _ending(
    channel: Leased,
    ends: EndingContext,
    standing: ChannelStanding,
    status: RunStatus,
    message: str,
    patch: dict[str, Any],
) -> RunEnding:
    following = next_poll_of(channel, standing, ends.settings, ends.now, ends.rng)
    policy, _ = policy_of(channel, ends.settings)
    schedule = {
        "next_poll_at": following.at,
        "next_reason": following.reason,
        "held_by": following.held_by,
        "poll_interval": following.interval,
        "last_polled_at": ends.now,
        # One that rests for its losses stays a suspect: the next one is not forgiven.
        "lost_count": int(channel.lost >= MOST_LOST),
    }
    return RunEnding(following, str(policy), status, message[:LONGEST_MESSAGE], patch | schedule)


def _asked_until(channel: Leased, run_state: RunState, now: datetime) -> datetime:
    """Asked for news since the last time, a channel is asked since that began: a run may have waited for days."""
    return run_state.began_at or now if channel.kind.traits.reads_since_last else now


def _rhythm(channel: Leased, run_state: RunState, now: datetime, *, has_overflowed: bool) -> Rhythm:
    # What an API answers is asked for since the last whole run: until then that time is not over.
    if not channel.kind.traits.learns_rhythm or (channel.kind is ChannelKind.API and run_state.tally.errors):
        return channel.past.rhythm
    return observe(channel.past.rhythm, Observation(now, channel.past.last_ok_at, run_state.dates, has_overflowed))


def _naming(channel: Leased, run_state: RunState, now: datetime, named: Named) -> tuple[dict[str, Any], str]:
    """The state of a list of vacancies as a patch of its row, and why it may be wrong."""
    if not channel.lists_vacancies:
        return {}, ""
    wholeness = wholeness_of(run_state)
    begun = run_state.began_at or now
    unread_since = run_state.unread and run_state.unread.since
    unseen = unseen_before(unread_since, channel.past.last_ok_at, begun) if unread_since else None
    naming = after_run(channel.past.naming, wholeness, named, begun, unseen)
    patch = asdict(naming)
    if unread_since or (run_state.has_unchanged and not run_state.is_unchanged):
        # All of it has to be seen at once, or nothing can be said of those it does not name.
        patch |= {"etag": None, "last_modified": None, "answers": without_validators(run_state.answers)}
    doubts = doubt_in_words(named) if naming.doubted_since else ""
    return patch | ({"last_error": doubts} if doubts else {}), doubts


def _unread_in_words(page: UnreadPage, now: datetime) -> str:
    return f"{page.url} could not be read since {page.since or now:%Y-%m-%d %H:%M} UTC: {page.why}"


def _looking_again(ending: RunEnding, now: datetime) -> RunEnding:
    """A doubt is settled by another answer a day later."""
    at = now + DOUBTED_FOR
    if ending.next.at <= at:
        return ending
    following = replace(ending.next, at=at, reason="whether it still leaves out most of its vacancies")
    return replace(ending, next=following, patch={**ending.patch, "next_poll_at": at, "next_reason": following.reason})


def _doubt_events(channel: Leased, doubts: str) -> list[Event]:
    """Once, when the doubt begins."""
    if not doubts or channel.past.naming.doubted_since:
        return []
    message = f"{channel.url.url}: {doubts}"
    return [Event("list_doubted", message, channel.source_id, channel.id, level=Level.WARN)]


def _listing(channel: Leased, run_state: RunState, now: datetime) -> FeedSnapshot | None:
    first, past = run_state.first, channel.past
    if channel.kind is not ChannelKind.FEED or first.own is None:
        return None
    own, usual = first.own, past.last_item_count
    known, total = own.known, first.items or 0
    return FeedSnapshot(now, past.last_ok_at, own.published, known, usual, past.newest_item_at, own.listed, total)


def _gap(ends: EndingContext) -> Gap:
    return Gap(ends.now - ends.settings.discovery_retry if ends.settings.discovery else None)


def _is_fruitless(channel: Leased, run_state: RunState) -> bool:
    """A site whose feed is followed may do without a sitemap."""
    return channel.kind is ChannelKind.SEARCH and not run_state.findings and ChannelKind.FEED not in channel.followed


def _seeks_sitemap(channel: Leased, settings: PollSettings) -> bool:
    """A source with a feed may have a sitemap too. What a site lists beside its vacancies is not wanted."""
    source = channel.source
    is_for_pages = source.kind is not SourceKind.JOBS and source.ingestion_mode is not SourceMode.SPIDER
    return channel.kind is ChannelKind.FEED and is_for_pages and settings.sitemaps and settings.discovery


def _told(channel: Leased, run_state: RunState, overflown: Overflow | None) -> str:
    tally = run_state.tally
    if channel.kind is ChannelKind.SEARCH and not run_state.findings:
        wanted = "sitemap" if ChannelKind.FEED in channel.followed else "feed, sitemap or listing"
        told = f"no {wanted} found at {quantity(len(run_state.asked) + len(run_state.todo), 'address')}"
    elif run_state.is_unchanged:
        told = "not modified"
    elif run_state.findings:
        told = "found " + ", ".join(f"{one.kind} {one.url}" for one in choose_findings(run_state.findings))
    else:
        told = f"{quantity(tally.found, 'item')}, {tally.inserted:,} new, {tally.updated:,} changed"
    return "; ".join([told, *([overflown.sentence] if overflown else []), *map(without_stop, run_state.notes)])


def _damage(channel: Leased, run_state: RunState, now: datetime) -> dict[str, Any]:
    """An answer that was not modified is as damaged as it was; words of a doubt are said anew while it lasts."""
    if run_state.unread and channel.kind.traits.has_pages:
        unread = run_state.unread
        return {
            "last_error": _unread_in_words(unread, now)[:LONGEST_MESSAGE],
            "error_cause": unread.cause,
            "unread_page": unread.url,
            "unread_since": unread.since or now,
        }
    is_as_before = run_state.is_unchanged and not channel.past.errors and not channel.past.naming.doubted_since
    sound = {"last_error": run_state.damage[:LONGEST_MESSAGE] or None, "unread_page": None, "unread_since": None}
    return {} if is_as_before else sound


def _moves(
    channel: Leased, run_state: RunState, settings: PollSettings
) -> tuple[CanonicalUrl | None, int, list[Event]]:
    """Where the channel moves for good, else how often in a row it was not let."""
    target = run_state.first.moved_to
    if not target:
        return None, 0, []
    if settings.update_redirects:
        message = f"{channel.url.url} moved permanently to {target}"
        details = {"from": channel.url.url, "to": target}
        moved = Event(MOVED, message, channel.source_id, channel.id, details=details)
        return canonicalise(target), 0, [moved]
    times = channel.past.moved + 1
    if times != MOVES_BEFORE_WARNING:
        return None, times, []
    message = f"{channel.url.url} was permanently redirected to {target} {times} times in a row"
    return None, times, [Event("channel_should_move", message, channel.source_id, channel.id, level=Level.WARN)]


def _pause_after(channel: Leased) -> tuple[SourceStatus, str] | None:
    is_last = channel.failures + 1 >= FAILURES_BEFORE_PAUSE and not channel.is_by_hand
    if channel.source.kind is SourceKind.JOBS and is_last:
        return SourceStatus.PAUSED, StopReason.AUTO_PAUSED
    return None


def _overflow_events(channel: Leased, overflown: Overflow | None, settings: PollSettings) -> list[Event]:
    """With the figures that advice depends on: only a poller knows how often it may poll."""
    if overflown is None:
        return []
    message = f"{channel.url.url}: {overflown.sentence}"
    details = {
        "missed": overflown.missed,
        "covers_seconds": overflown.covers.total_seconds(),
        "shortest_seconds": settings.min_interval.total_seconds(),
    }
    return [Event("channel_overflowed", message, channel.source_id, channel.id, level=Level.WARN, details=details)]


def _silence_events(channel: Leased, sentence: str | None, run_state: RunState) -> list[Event]:
    was_silent = channel.past.silent_since is not None
    if sentence and not was_silent:
        message = f"{channel.url.url}: {sentence}"
        return [Event("channel_silent", message, channel.source_id, channel.id, level=Level.WARN)]
    if was_silent and run_state.tally.inserted:
        return [Event("channel_speaks_again", f"{channel.url.url} has news again", channel.source_id, channel.id)]
    return []


def _rest_events(channel: Leased, following: NextPoll, trouble: Trouble) -> list[Event]:
    """Once, when it begins to rest; not at each try after that."""
    if not following.is_disabled_for_now or channel.past.class_errors + 1 > _patience(trouble):
        return []
    message = f"{channel.url.url} {following.reason} ({trouble.message[:200]})"
    return [Event("channel_rests", message, channel.source_id, channel.id, level=Level.WARN)]


def _patience(trouble: Trouble) -> int:
    return PATIENCE[trouble.error].errors if trouble.error in PATIENCE else 0


def _latest(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)
