"""What a run's end means: for the channel's state, its next poll, the log of runs and the trail. Pure."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

from headwater.chance import Random
from headwater.discover.cadence.channel import NextPoll
from headwater.discover.cadence.overflow import FeedSnapshot, Overflow, overflow, turnover
from headwater.discover.cadence.rests import PATIENCE, ErrorClass
from headwater.discover.cadence.rhythm import Observation, Rhythm, observe
from headwater.discover.cadence.silence import silence
from headwater.discover.cadence.wording import quantity
from headwater.discover.polls.answers import without_validators
from headwater.discover.polls.classify import RobotsRefusal, Trouble
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.naming import DOUBTED_FOR, Named, after_run, doubt_in_words, unseen_before, wholeness_of
from headwater.discover.polls.run_state import RunState, UnreadPage
from headwater.discover.polls.schedule import ChannelStanding, common_of, next_poll_of, policy_of
from headwater.discover.searching.search import choose_findings
from headwater.net.validators import Validators
from headwater.settings.groups import PollSettings
from headwater.sources.channels import ChannelKind
from headwater.sources.events import Event, Level
from headwater.sources.health import AUTO_PAUSED, ROBOTS_DISALLOW, UNREAD, without_stop
from headwater.sources.source import Mode, SourceKind, SourceStatus
from headwater.urls.canonical import CanonicalUrl, canonicalise

FAILURES_BEFORE_PAUSE = 5
MOVES_BEFORE_WARNING = 3
MOVED = "channel_moved"
LONGEST_MESSAGE = 500
# Leases that ran out under a poll, in a row; the first is forgiven, since a process may die of anything.
MOST_LOST = 2
NO_ERRORS = {"consecutive_errors": 0, "error_class": None, "class_errors": 0}

NOBODY_NAMED = Named()

RunStatus = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Gap:
    """Items were missed: the sitemaps of its source should be read now, or looked for."""

    searched_since: datetime | None  # not looked for again if they were since then; None: never look


@dataclass(frozen=True, slots=True)
class Ending:
    """`patch` is what changes in the channel's row; `source_status` what becomes of its source, if anything."""

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


@dataclass(frozen=True, slots=True)
class EndingContext:
    """Everything an ending is decided by, beside the channel and its state."""

    settings: PollSettings
    now: datetime
    rng: Random


@dataclass(frozen=True, slots=True)
class _Learned:
    """What a run that ended well says of its channel."""

    standing: ChannelStanding
    overflown: Overflow | None
    is_silent: bool
    silence: str | None
    naming: dict[str, Any]
    doubts: str


def ending_of_success(channel: Leased, run_state: RunState, ends: EndingContext, named: Named = NOBODY_NAMED) -> Ending:
    """Every item was stored. If all answers were had too, validators may be kept: what is missing is asked again."""
    learned = _learned_from(channel, run_state, ends.now, named)
    moved_to, not_updated, moves = _moves(channel, run_state, ends.settings)
    overflown, doubts = learned.overflown, learned.doubts
    patch = _patch(channel, run_state, ends.now, learned) | {"moved_count": not_updated} | learned.naming
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
        ),
        http_status=run_state.first.status,
        gap=_gap(ends) if overflown else None,
        seeks_sitemap=_seeks_sitemap(channel, ends.settings),
        moved_to=moved_to,
    )


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
        "wishes": first.publisher_hints.to_dict(),
        "overflow_count": past.overflows + (learned.overflown is not None),
        **({"title": first.title} if first.title else {}),
    }


def _validators(run_state: RunState) -> dict[str, Any]:
    """Only what was had whole may be answered with "unchanged" the next time."""
    may_be_unchanged = not run_state.tally.errors and not run_state.is_cut
    return asdict(run_state.first.validators if may_be_unchanged else Validators())


def ending_of_failure(channel: Leased, trouble: Trouble, ends: EndingContext) -> Ending:
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
        "last_error": trouble.message[:LONGEST_MESSAGE],
        "last_status": trouble.status,
    }
    ending = _ending(channel, ends, standing, "fail", trouble.message, patch)
    return replace(
        ending,
        error=trouble.error,
        http_status=trouble.status,
        events=tuple(_rest_events(channel, ending.next, trouble)),
        source_status=_pause_after(channel),
    )


def ending_of_refusal(channel: Leased, refusal: RobotsRefusal, ends: EndingContext) -> Ending:
    """A job source whose page may not be asked is blocked, until the rules change; others rest."""
    trouble = Trouble(ErrorClass.FORBIDDEN, f"{ROBOTS_DISALLOW} ({refusal.message})")
    ending = replace(ending_of_failure(channel, trouble, ends), status="warn", source_status=None)
    if channel.source.kind is not SourceKind.JOBS:
        return ending
    return replace(ending, status="fail", source_status=(SourceStatus.BLOCKED, ROBOTS_DISALLOW))


def _ending(
    channel: Leased,
    ends: EndingContext,
    standing: ChannelStanding,
    status: RunStatus,
    message: str,
    patch: dict[str, Any],
) -> Ending:
    following = next_poll_of(channel, standing, ends.settings, ends.now, ends.rng)
    policy, _ = policy_of(channel, ends.settings)
    schedule = {
        "next_poll_at": following.at,
        "next_reason": following.reason,
        "poll_interval": following.interval,
        "last_polled_at": ends.now,
        # One that rests for its losses stays a suspect: the next one is not forgiven.
        "lost_count": int(channel.lost >= MOST_LOST),
    }
    return Ending(following, str(policy), status, message[:LONGEST_MESSAGE], patch | schedule)


def _asked_until(channel: Leased, run_state: RunState, now: datetime) -> datetime:
    """What is asked for since the last time is asked for since that began: a run may have waited for days."""
    return run_state.began_at or now if channel.kind.traits.reads_since_last else now


def _rhythm(channel: Leased, run_state: RunState, now: datetime, *, has_overflowed: bool) -> Rhythm:
    # What an API answers is asked for since the last whole run: until then that time is not over.
    if not channel.kind.traits.learns_rhythm or (channel.kind is ChannelKind.API and run_state.tally.errors):
        return channel.past.rhythm
    return observe(channel.past.rhythm, Observation(now, channel.past.last_ok_at, run_state.dates, has_overflowed))


def _naming(channel: Leased, run_state: RunState, now: datetime, named: Named) -> tuple[dict[str, Any], str]:
    """What a list of vacancies says of those it names, as a patch of its row; and why that may be wrong."""
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
    return f"{page.url}{UNREAD}{page.since or now:%Y-%m-%d %H:%M} UTC: {page.why}"


def _looking_again(ending: Ending, now: datetime) -> Ending:
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
    is_for_pages = source.kind is not SourceKind.JOBS and source.ingestion_mode is not Mode.SPIDER
    return channel.kind is ChannelKind.FEED and is_for_pages and settings.sitemaps and settings.discovery


def _told(channel: Leased, run_state: RunState, overflown: Overflow | None) -> str:
    tally = run_state.tally
    if channel.kind is ChannelKind.SEARCH and not run_state.findings:
        wanted = "sitemap" if ChannelKind.FEED in channel.followed else "feed, sitemap or listing"
        return f"no {wanted} found at {quantity(len(run_state.asked) + len(run_state.todo), 'address')}"
    if run_state.is_unchanged:
        told = "not modified"
    elif run_state.findings:
        told = "found " + ", ".join(f"{one.kind} {one.url}" for one in choose_findings(run_state.findings))
    else:
        told = f"{quantity(tally.found, 'item')}, {tally.inserted:,} new, {tally.updated:,} changed"
    return "; ".join([told, *([overflown.sentence] if overflown else []), *map(without_stop, run_state.notes)])


def _damage(channel: Leased, run_state: RunState, now: datetime) -> dict[str, Any]:
    """An answer that was not modified is as damaged as it was; words of a doubt are said anew while it lasts."""
    if run_state.unread and channel.kind.traits.has_pages:
        return {"last_error": _unread_in_words(run_state.unread, now)[:LONGEST_MESSAGE]}
    is_as_before = run_state.is_unchanged and not channel.past.errors and not channel.past.naming.doubted_since
    return {} if is_as_before else {"last_error": run_state.damage[:LONGEST_MESSAGE] or None}


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
        return SourceStatus.PAUSED, AUTO_PAUSED
    return None


def _overflow_events(channel: Leased, overflown: Overflow | None, settings: PollSettings) -> list[Event]:
    """With what advice depends on: only a poller knows how often it may poll."""
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
