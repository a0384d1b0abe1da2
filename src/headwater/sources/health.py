"""Problems of a source, since when and what to do; and its health in one word. Pure: judged anew, never stored.

`headwater problems` and the health that lists show are the same rules.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from shlex import quote
from uuid import UUID

from headwater.settings.durations import format_duration
from headwater.sources.causes import BORNE, ErrorCause, HeldBy, StopReason, stop_reason_in
from headwater.sources.health_word import HealthStatus, after_failures, worst_of
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Source, SourceKind, SourceStatus
from headwater.sources.store import ChannelState

# So many pages without anything kept of them are no accident.
FEWEST_PAGES = 10
# Overflows in a day that are a habit.
MANY_OVERFLOWS = 3
MINUTE = timedelta(minutes=1)
SHORTEST_BY_DEFAULT = 15 * MINUTE
# Intervals are spread by a tenth: one that is so near to the shortest is the shortest.
ABOUT = 1.15
# Of an address that may not be asked: the place, as `network.allow` wants it.
OFF_LIMITS = re.compile(r"([^\s(]+) is off limits: ")

# After so long the vacancies that no other page names are over.
UNREAD_DAYS = 14
# How the reason begins of a source that no person stopped.
STOPPED_BY_ITSELF = tuple(StopReason)


class Severity(StrEnum):
    """Declared worst first."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class HealthProblem:
    """`kind` is a word programs count by; `what` and `fix` are sentences for people."""

    kind: str
    grade: Severity
    what: str
    fix: str
    since: datetime | None = None
    about: str = ""  # the source or the host
    source_id: UUID | None = None
    channel_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Overflows:
    """Of a channel, in the last day. `missed` is an estimate; None where its items bear no dates."""

    times: int
    missed: int | None
    since: datetime
    covers: timedelta = timedelta()  # the time that its items spanned; zero where nobody knows
    shortest: timedelta = timedelta()  # the shortest interval that its poller was allowed


@dataclass(frozen=True, slots=True)
class Decay:
    message: str
    since: datetime


@dataclass(frozen=True, slots=True)
class FailedCrawlStart:
    """The first page of a crawl could not be fetched."""

    error: str
    since: datetime
    is_final: bool


@dataclass(frozen=True, slots=True)
class HealthFacts:
    """Facts about a source beyond its row and its channels."""

    entries: Mapping[str, int] = field(default_factory=dict)  # by status
    has_kept: bool = False  # a document or a vacancy
    why_ended: str = ""  # the commonest reason, where nothing was kept
    start: FailedCrawlStart | None = None
    decay: Decay | None = None
    overflows: Mapping[UUID, Overflows] = field(default_factory=dict)  # by channel
    takedowns: Mapping[str, str] = field(default_factory=dict)  # by address: the takedown that covers it, in words


NO_FACTS = HealthFacts()


@dataclass(frozen=True, slots=True)
class Health:
    word: HealthStatus
    reason: str
    problems: tuple[HealthProblem, ...] = ()


def health_of(source: Source, channels: Sequence[ChannelState], facts: HealthFacts = NO_FACTS) -> Health:
    """The worst that is true of it."""
    problems = tuple(problems_of_source(source, channels, facts))
    if source.status is not SourceStatus.ACTIVE:
        return Health(HealthStatus(source.status), source.status_reason or "by a person", problems)
    told = "; ".join(without_stop(one.what) for one in problems[:2])
    if any(one.kind == "takedown" for one in problems):
        return Health(HealthStatus.BLOCKED, told, problems)
    whole = [_word_of(one) for one in problems if one.channel_id is None]
    polled = polled_channels(channels)
    # Where nothing is polled yet, what its search meets is all that is known of it.
    words = [_channel_word(one, problems) for one in polled] if polled else [_word_of(one) for one in problems]
    word = worst_of(*whole, _together(words))
    return Health(word, told or _not_yet(channels), problems)


def _channel_word(channel: ChannelState, problems: Sequence[HealthProblem]) -> HealthStatus | None:
    """The worst of its last run, its freshness and its checks; None while nothing is known."""
    found = [one for one in problems if one.channel_id == channel.id]
    checks = [_word_of(one) for one in found]
    run = _last_run(channel) if channel.last_polled_at or channel.consecutive_errors else None
    return worst_of(run, *checks) if run or checks else None


def _word_of(problem: HealthProblem) -> HealthStatus:
    if problem.kind == "quiet":
        return HealthStatus.SILENT
    return HealthStatus.STRUGGLING if problem.grade is Severity.ERROR else HealthStatus.WARNING


def _last_run(channel: ChannelState) -> HealthStatus:
    """A channel that rests after its errors, or whose errors do not pass, is given up for now."""
    borne = BORNE.get(channel.error_class or "")
    failures = max(channel.class_errors, 1) if channel.consecutive_errors else 0
    return after_failures(failures, borne, is_lasting=channel.error_cause in LASTING)


def _together(words: Sequence[HealthStatus | None]) -> HealthStatus | None:
    """One channel that works keeps a source from struggling."""
    known = [one for one in words if one]
    worst = worst_of(*known) if known else None
    if worst is HealthStatus.STRUGGLING and any(one is not HealthStatus.STRUGGLING for one in known):
        return HealthStatus.WARNING
    return worst


def polled_channels(channels: Iterable[ChannelState]) -> list[ChannelState]:
    """Enabled channels that bring news: neither the search for others nor the reading of the past."""
    return [one for one in channels if one.is_enabled and one.kind.traits.brings_news]


def _not_yet(channels: Sequence[ChannelState]) -> str:
    if not polled_channels(channels):
        return "its channels are being looked for"
    return "not polled yet" if all(one.last_polled_at is None for one in polled_channels(channels)) else ""


def problems_of_source(source: Source, channels: Sequence[ChannelState], facts: HealthFacts) -> list[HealthProblem]:
    """The worst first, of each grade the oldest."""
    if source.status is SourceStatus.ACTIVE:
        found = [*_of_whole(source, channels, facts)]
        found += [one for channel in channels if channel.is_enabled for one in _of_channel(source, channel, facts)]
    else:
        found = [*_stopped(source)]
    return sorted(found, key=worst_first)


def worst_first(problem: HealthProblem) -> tuple[bool, float]:
    return problem.grade is not Severity.ERROR, problem.since.timestamp() if problem.since else 0.0


def _stopped(source: Source) -> Iterator[HealthProblem]:
    """A source that a person stopped is no problem."""
    resume = f"Resume it: headwater sources resume {source.id}"
    reason = source.status_reason or ""
    match stop_reason_in(reason):
        case StopReason.ROBOTS_DISALLOW:
            rules = f"headwater hosts robots {host_in(source.profile.url)}"
            fix = f"It goes on by itself once robots.txt allows it. See its rules: {rules}"
            yield _whole(source, "robots_forbid", f"Blocked: its robots.txt forbids its page ({reason}).", fix)
        case StopReason.AUTO_PAUSED:
            told = f": {without_stop(source.last_run_message)}" if source.last_run_message else ""
            yield _whole(source, "auto_paused", f"Paused by itself after failures in a row{told}.", resume)
        case StopReason.UNREADABLE_ROW:
            fix = f"Correct it with `sources edit`. {resume}"
            yield _whole(source, "unreadable", f"Blocked: {without_stop(reason)}.", fix)


def _whole(
    source: Source, kind: str, what: str, fix: str, since: datetime | None = None, grade: Severity = Severity.ERROR
) -> HealthProblem:
    return HealthProblem(kind, grade, what, fix, since or source.updated_at, source.name, source.id)


def _of_whole(source: Source, channels: Sequence[ChannelState], facts: HealthFacts) -> Iterator[HealthProblem]:
    if taken := facts.takedowns.get(source.profile.url):
        fix = f"Lift it with `headwater takedown rm`, or remove the source: headwater sources rm {source.id}"
        what = f"It is {taken}. Nothing of it is asked for or kept."
        yield HealthProblem("takedown", Severity.WARNING, what, fix, None, source.name, source.id)
        # That its pages ended and nothing is kept follows from it.
        return
    yield from _without_channel(source, channels)
    if facts.start:
        yield _failed_start(source, facts.start)
    elif any(one.is_active and one.kind is ChannelKind.CRAWL for one in channels) and has_ended(facts.entries):
        fix = f"Look at them: headwater frontier list --source {source.id}"
        yield _whole(source, "crawl_start", "Its crawl ended at its start: no page could be fetched.", fix)
    if facts.decay:
        fix = f"See what a new reading gives: headwater docs reextract --source {source.id} --dry-run"
        yield _whole(source, "drift", facts.decay.message, fix, facts.decay.since, Severity.WARNING)
    if not facts.start:
        yield from _nothing_kept(source, facts)


def _without_channel(source: Source, channels: Sequence[ChannelState]) -> Iterator[HealthProblem]:
    if polled_channels(channels):
        return
    add = f"Name one: headwater sources edit {source.id} feeds=https://…/feed.xml"
    searches = [one for one in channels if one.is_enabled and one.kind is ChannelKind.SEARCH]
    if not searches:
        disabled = next((one.disabled_reason for one in channels if one.disabled_reason), "")
        why = f" ({without_stop(disabled)})" if disabled else ""
        yield _whole(source, "no_channel", f"It has no channel to poll{why}.", add)
    elif searches[0].last_polled_at is not None and not searches[0].consecutive_errors:
        since = searches[0].created_at
        yield _whole(source, "no_channel", "No feed, sitemap or listing was found.", add, since)


def has_ended(entries: Mapping[str, int]) -> bool:
    """Every page is dead: nothing was fetched, and nothing waits."""
    return entries.get("dead", 0) > 0 and not any(entries.get(one) for one in ("fetched", "pending", "failed"))


def _failed_start(source: Source, start: FailedCrawlStart) -> HealthProblem:
    ended = "ended at its first page" if start.is_final else "waits at its first page"
    fix = f"See why: headwater explain {quote(source.profile.url)}"
    grade = Severity.ERROR if start.is_final else Severity.WARNING
    return _whole(source, "crawl_start", f"Its crawl {ended}: {without_stop(start.error)}.", fix, start.since, grade)


def _nothing_kept(source: Source, facts: HealthFacts) -> Iterator[HealthProblem]:
    pages = facts.entries.get("fetched", 0) + facts.entries.get("dead", 0)
    if facts.has_kept or pages < FEWEST_PAGES:
        return
    why = f"; most often: {facts.why_ended}" if facts.why_ended else ""
    wanted = "vacancy" if source.profile.kind is SourceKind.JOBS else "document"
    fix = f"Look at one: headwater frontier list --source {source.id}"
    what = f"{pages:,} pages were dealt with and no {wanted} was kept{why}."
    yield _whole(source, "nothing_kept", what, fix, source.created_at)


def _of_channel(source: Source, channel: ChannelState, facts: HealthFacts) -> Iterator[HealthProblem]:
    if not channel.is_active:
        return
    taken = facts.takedowns.get(channel.url)
    if taken and source.profile.url in facts.takedowns:
        return
    if taken:
        fix = "Take it out with `sources edit`, or lift the takedown with `takedown rm`: headwater takedown list"
        yield _channel(source, channel, "takedown", "It is " + taken, fix, None, Severity.WARNING)
    elif channel.consecutive_errors:
        yield _failing(source, channel)
    elif channel.doubted_since:
        told = channel.last_error or "It no longer names most of its vacancies"
        fix = "If that is so for a day, they are over. If it is wrong, look at the page and at its source's selectors."
        yield _channel(source, channel, "list_doubted", told, fix, channel.doubted_since, Severity.WARNING)
    elif channel.last_error:
        yield _flawed(source, channel, channel.last_error)
    elif problem := _empty(source, channel, facts):
        yield problem
    if channel.silent_since and not channel.consecutive_errors:
        fix = f"See whether it moved: headwater sources test {source.id}"
        newest = channel.newest_item_at or channel.last_new_at or channel.silent_since
        told = f"Nothing new since {newest:%Y-%m-%d %H:%M} UTC, longer than its rhythm lets expect"
        yield _channel(source, channel, "quiet", told, fix, channel.silent_since, Severity.WARNING)
    if overflows := facts.overflows.get(channel.id):
        yield _overflown(source, channel, overflows)


def _channel(
    source: Source, channel: ChannelState, kind: str, what: str, fix: str, since: datetime | None, grade: Severity
) -> HealthProblem:
    told = f"{without_stop(what)} ({channel.kind} {channel.url})."
    return HealthProblem(kind, grade, told, fix, since, source.name, source.id, channel.id)


def _flawed(source: Source, channel: ChannelState, error: str) -> HealthProblem:
    """An answer was read all the same, and this was wrong with it."""
    if channel.unread_page:
        return _unread(source, channel, channel.unread_page, error)
    fix = "Tell its publisher. What could be read was taken."
    told = f"Its answer is damaged: {error}"
    return _channel(source, channel, "truncated", told, fix, channel.last_polled_at, Severity.WARNING)


def _unread(source: Source, channel: ChannelState, page: str, error: str) -> HealthProblem:
    is_robots = channel.error_cause in (ErrorCause.ROBOTS_FORBID, ErrorCause.ROBOTS_UNREACHABLE)
    look = f"See its rules: headwater hosts robots {host_in(page)}" if is_robots else f"Open {page}"
    fix = f"{look}, and tell its publisher. What only that page lists is not seen"
    if source.profile.kind is SourceKind.JOBS:
        fix += f"; vacancies that nothing names for {UNREAD_DAYS} days are over"
    since = channel.unread_since or channel.last_polled_at
    return _channel(source, channel, "page_unread", f"Its page {error}", f"{fix}.", since, Severity.WARNING)


# The way out, with its places still open.
_BY_CAUSE = {
    ErrorCause.PRIVATE_ADDRESS: (
        "Remove it with `headwater sources rm {id}`, or allow it: HEADWATER_NETWORK__ALLOW={place}"
    ),
    ErrorCause.DEAD_DOMAIN: "Correct its address, or remove it: headwater sources rm {id}",
    ErrorCause.ROBOTS_UNREACHABLE: "Nothing is asked while robots.txt fails. Look: {test}",
    ErrorCause.ROBOTS_FORBID: (
        "See its rules with `headwater hosts robots {host}`, or remove it: headwater sources rm {id}"
    ),
    ErrorCause.SECRET: ("Write it into the file that poll.secrets_file names, then: headwater sources run {id}"),
}
_BY_CLASS = {
    "rate_limited": ("refused", "Ask it less often: headwater hosts policy set {host} --min-request-interval-ms 10000"),
    "forbidden": ("refused", "Its host refuses us. Write to its owner, or remove it: headwater sources rm {id}"),
    "not_found": ("failing", "Find its new address: headwater sources add {site} --dry-run"),
    "gone": ("failing", "Find its new address: headwater sources add {site} --dry-run"),
}
# They do not pass by themselves: the first error is as bad as the tenth.
LASTING = frozenset(ErrorCause) - {ErrorCause.ROBOTS_UNREACHABLE}


def _failing(source: Source, channel: ChannelState) -> HealthProblem:
    kind, fix = word_and_fix(channel)
    place = OFF_LIMITS.search(channel.last_error or "")
    places = {"id": source.id, "host": host_in(channel.url), "place": place and place[1]}
    fix = fix.format(**places, site=quote(source.profile.url), test=f"headwater sources test {source.id}")
    errors = channel.consecutive_errors
    times = "1 error" if errors == 1 else f"{errors:,} errors in a row"
    last = without_stop(channel.last_error or channel.error_class or "no reason given")
    what = (
        f"The name {host_in(channel.url)} does not exist: {times}"
        if kind == ErrorCause.DEAD_DOMAIN
        else f"{last}: {times}"
    )
    since = channel.last_ok_at or channel.created_at
    is_given_up = _last_run(channel) is HealthStatus.STRUGGLING
    return _channel(source, channel, kind, what, fix, since, Severity.ERROR if is_given_up else Severity.WARNING)


def word_and_fix(channel: ChannelState) -> tuple[str, str]:
    """The word for its trouble, and the way out with its places still open."""
    if channel.error_cause:
        return channel.error_cause, _BY_CAUSE[channel.error_cause]
    return _BY_CLASS.get(channel.error_class or "", ("failing", "Look at what it answers: {test}"))


def without_stop(sentence: str) -> str:
    """A sentence within another one."""
    return sentence.rstrip(". ")


def host_in(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2]


def _empty(source: Source, channel: ChannelState, facts: HealthFacts) -> HealthProblem | None:
    """Vacancies may stand in a list without pages of their own, and an employer may have none open."""
    if not channel.kind.traits.is_never_empty or channel.last_ok_at is None or channel.last_item_count:
        return None
    has_been = channel.last_new_at is not None
    if source.profile.kind is SourceKind.JOBS and (has_been or facts.has_kept):
        return None
    since = channel.last_new_at or channel.created_at
    grade = Severity.WARNING if has_been else Severity.ERROR
    if channel.kind is ChannelKind.LISTING:
        what = "It lists no items any more" if has_been else "No item was ever found in it"
        fix = f"Set selectors with `headwater sources edit`. See what it finds: headwater sources simulate {source.id}"
        return _channel(source, channel, "no_items", what, fix, since, grade)
    what = "The feed is empty" + ("" if has_been else " and always was")
    return _channel(source, channel, "empty", what, f"Look at it: headwater sources test {source.id}", since, grade)


_SITEMAP = "A sitemap fills its gaps: {edit} sitemap_url=https://…"
# Against waits that no interval of ours can change.
_AGAINST_WAIT = {
    HeldBy.CACHE_LIFETIME: "Its server asks for that wait. To ask sooner: poll.respect_cache_control=false",
    HeldBy.PUBLISHER: f"Its publisher asks for that wait. {_SITEMAP}",
    HeldBy.TIME_WINDOW: "Its time window keeps it from being polled. Widen it: {edit} time_window=",
}


def _overflown(source: Source, channel: ChannelState, overflows: Overflows) -> HealthProblem:
    missed = "items" if overflows.missed is None else f"{overflows.missed:,} item{'s' * (overflows.missed != 1)}"
    minutes = round(channel.poll_interval.total_seconds() / 60) if channel.poll_interval else 0
    every = f", polled every {minutes:,} min" if minutes else ""
    times = "once" if overflows.times == 1 else f"{overflows.times} times"
    what = f"Probably missed {missed} in 24 h: the feed is shorter than the polling gap, {times}{every}"
    fix = _against_overflow(source, channel, overflows)
    grade = Severity.ERROR if overflows.times >= MANY_OVERFLOWS else Severity.WARNING
    return _channel(source, channel, "overflow", what, fix, overflows.since, grade)


def _against_overflow(source: Source, channel: ChannelState, overflows: Overflows) -> str:
    """A hindrance to more frequent polls is named; an interval that would change nothing is not."""
    edit = f"headwater sources edit {source.id}"
    if channel.held_by:
        return _AGAINST_WAIT[channel.held_by].format(edit=edit)
    floor = overflows.shortest or SHORTEST_BY_DEFAULT
    # Twice in the time that its items span, with room for the jitter of intervals.
    wanted = _in_minutes(overflows.covers * 0.45 if overflows.covers else floor / 2)
    every = source.profile.poll_every or channel.poll_interval
    if wanted >= floor or every is None or every > floor * ABOUT:
        return f"Poll it more often: {edit} poll_every={format_duration(max(wanted, _in_minutes(floor)))}"
    told = f"It is polled as often as poll.min_interval ({format_duration(floor)}) allows."
    then = f", then `{edit} poll_every={format_duration(wanted)}`" if source.profile.poll_every else ""
    return f"{told} Set poll.min_interval to {format_duration(wanted)}{then}. {_SITEMAP.format(edit=edit)}"


def _in_minutes(wait: timedelta) -> timedelta:
    """Whole ones, at least one."""
    return max(wait // MINUTE, 1) * MINUTE
