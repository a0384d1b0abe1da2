"""When to poll next: a policy's plan, then bounds, wishes of servers, jitter and windows, the same for all. Pure."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeAlias

from headwater.chance import Random
from headwater.discover.cadence.channel import ChannelFacts, NextPoll, Plan
from headwater.discover.cadence.forecast import forecast_to
from headwater.discover.cadence.hubs import safety_plan
from headwater.discover.cadence.rests import Rest, backoff_after, double_wait, errors_in_words, rest_after
from headwater.discover.cadence.rhythm import in_hours
from headwater.discover.cadence.windows import OpenHours, TimeWindow, zone_named
from headwater.discover.publisher_hints import NO_WAIT, PublisherHints
from headwater.errors import UsageError
from headwater.phrases import in_words, likely
from headwater.sources.causes import HeldBy

# Everyone whose window opens at ten would come at ten sharp.
_SPREAD_AFTER_OPENING = timedelta(minutes=10)


def next_poll(policy: str, facts: ChannelFacts, now: datetime, rng: Random) -> NextPoll:
    """When to poll the channel whose poll ended `now`, and why then."""
    if policy not in POLICIES:
        raise UsageError(f"There is no polling policy {policy!r}.", fix=f"Use one of: {', '.join(POLICIES)}.")
    plan = POLICIES[policy](facts, now)
    rest = _rest(facts, plan)
    if rest is not None:
        plan = replace(plan, wait=rest.wait, reason=rest.reason)
    else:
        plan = safety_plan(plan) if facts.is_pushed else plan
        plan = plan if facts.items_span is None else _sooner(plan, facts.items_span)
    own, reason, held_by = _no_sooner_than_asked(plan, facts, _jittered(plan, rng), rng)
    wait = own if rest else _with_room(own, facts.crowding, plan)
    reason = reason if wait == own else _why_crowded(own, facts.crowding)
    at, said = in_open_hours(now + wait, facts.time_window, facts.publisher_hints, rng)
    reason = "; ".join(part for part in (reason, said) if part)
    if at > now + wait and held_by is None:
        held_by = HeldBy.TIME_WINDOW if facts.time_window else HeldBy.PUBLISHER
    if rest is None:
        return NextPoll(at, at - now if wait == own else own, reason, held_by=held_by)
    return NextPoll(at, at - now, reason, rest.is_disabled_for_now, rest.is_loud, held_by)


def _rest(facts: ChannelFacts, plan: Plan) -> Rest | None:
    if facts.consecutive_errors == 0 or facts.error is None:
        return None
    return rest_after(
        facts.error,
        facts.consecutive_errors,
        plan.wait,
        of_this_class=facts.errors_of_class or facts.consecutive_errors,
        status=facts.status,
        is_deadly=facts.is_deadly,
    )


def _sooner(plan: Plan, covers: timedelta) -> Plan:
    """An overflowed feed is asked at least twice in the time that its items span."""
    in_time = covers / 2 / (1 + plan.jitter)
    if plan.wait <= in_time:
        return plan
    return replace(plan, wait=in_time, reason=f"it overflowed: its items span only {in_words(covers)}")


def _jittered(plan: Plan, rng: Random) -> timedelta:
    draw = rng.random()
    factor = 1 + plan.jitter * (draw if plan.is_never_early else 2 * draw - 1)
    # A policy may say "at once" or "long ago", and a long wait times a factor may be more than a timedelta holds.
    wait = min(max(plan.wait, NO_WAIT), plan.longest) * factor
    return min(max(wait, plan.shortest), plan.longest)


def _with_room(own: timedelta, crowding: float, plan: Plan) -> timedelta:
    """All intervals of a crowded host are lengthened alike: what is asked often stays what is asked most often."""
    return max(own, min(own * max(crowding, 1.0), plan.longest))


def _why_crowded(own: timedelta, crowding: float) -> str:
    room = f"its host has room for {100 / crowding:.0f} % of the polls that its channels deserve"
    return f"{room}: not after {in_words(own)}"


def _no_sooner_than_asked(
    plan: Plan, facts: ChannelFacts, wait: timedelta, rng: Random
) -> tuple[timedelta, str, HeldBy | None]:
    """Nobody is asked earlier than it wished; jitter only lengthens such a wait."""
    asked, who, held_by = max(_asked(facts), key=lambda wish: wish[0])
    # The longest interval still holds: a cache lifetime of a year is not meant as a wish to be forgotten.
    floor = min(asked, plan.longest)
    if floor <= wait:
        return wait, plan.reason, None
    return min(floor * (1 + plan.jitter * rng.random()), plan.longest), f"{who} {in_words(asked)}", held_by


def _asked(facts: ChannelFacts) -> tuple[tuple[timedelta, str, HeldBy | None], ...]:
    hints = facts.publisher_hints
    return (
        (hints.fresh_for, "server asked to wait: max-age", HeldBy.CACHE_LIFETIME),
        (hints.retry_after, "server asked to wait: Retry-After", HeldBy.PUBLISHER),
        (hints.robots_wait, "its robots.txt is asked for again after", None),
        (hints.ttl, "feed asks to wait: ttl", HeldBy.PUBLISHER),
        (facts.host_delay, "delay of the host:", None),
    )


def in_open_hours(at: datetime, window: TimeWindow | None, hints: PublisherHints, rng: Random) -> tuple[datetime, str]:
    """`at` itself where it is open, else some time after the next opening; and why, where there is something to say."""
    zone = zone_named(window.zone) if window else None
    hours = OpenHours(window, zone, hints.skip_hours, hints.skip_days)
    ignored = f"time window {window} ignored: time zone unknown" if window and zone is None else ""
    opening = hours.first_open(at)
    if opening is None:
        return at, "time window and skipped hours leave no time at all, so they are ignored"
    if opening == at:
        return at, ignored
    spread = opening + _SPREAD_AFTER_OPENING * rng.random()
    if hours.first_open(spread) == spread:
        opening = spread
    return opening, ignored or _why_later(window)


def _why_later(window: TimeWindow | None) -> str:
    return f"time window {window} {window.zone}" if window else "the feed asks to skip that hour or day"


PollPlanner: TypeAlias = Callable[[ChannelFacts, datetime], Plan]

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)

# Enough to part channels of one rhythm. On real traces anything up to 10 % made no measurable difference.
_ADAPTIVE_JITTER = 0.02

# Where no frequency is set.
_DAYS_BY_ORG_TYPE = {"un": 1.0, "ingo": 2.0, "ngo": 3.0, "academic": 7.0}
_DEFAULT_DAYS = 3.0
_MANY_CHANGES = 10
_FEW_CHANGES = 3
_FREQUENCY_JITTER = 0.15
_MOST_OFTEN, _LEAST_OFTEN = timedelta(days=0.5), timedelta(days=14)
_FIRST_FAILURE = timedelta(hours=6)


def adaptive(facts: ChannelFacts, now: datetime) -> Plan:
    """Polls when the expected items, times the hours they have waited, reach the price of a poll."""
    if facts.consecutive_errors:
        return _after_errors(facts, backoff_after(facts.interval, facts.consecutive_errors))
    since = max(facts.last_success_at or now, now - _WEEK)
    ahead, hours = forecast_to(facts.price.hours, facts.rhythm, in_hours(since), facts.common)
    wait = facts.bounds.longest if hours is None else since + timedelta(hours=hours) - now
    jitter = min(_ADAPTIVE_JITTER, facts.bounds.jitter)
    plan = Plan(wait, "", jitter, shortest_for(facts), facts.bounds.longest)
    known = max(facts.interval, timedelta(hours=facts.rhythm.exposure))
    # What was learned knows nothing of a burst: at its pace half of the list must still be there at the next poll.
    if facts.turnover is not None and facts.turnover / 2 < min(wait, known):
        return replace(
            plan, wait=facts.turnover / 2, reason=f"at this pace its whole list is new in {in_words(facts.turnover)}"
        )
    if wait > known:
        return replace(plan, wait=known, reason=_why_unknown(facts))
    bounded = min(max(wait, plan.shortest), plan.longest)
    expected = ahead.items_within(in_hours(now + bounded) - ahead.start)
    return replace(plan, reason=likely(expected))


def _why_unknown(facts: ChannelFacts) -> str:
    """No wait is longer than the channel was watched: what was not seen for a day may come every other day."""
    watched = timedelta(hours=facts.rhythm.exposure)
    if watched <= facts.interval:
        return "nothing is known of its rhythm yet"
    # Dates of its first list count, too.
    return f"little is known of its rhythm: only its last {in_words(watched)}"


def tiers(facts: ChannelFacts, now: datetime) -> Plan:
    """By the age of the last item."""
    if facts.consecutive_errors:
        return _after_errors(facts, double_wait(_HOUR, facts.consecutive_errors, _WEEK))
    # Unknown is not dormant: an undated item came when we first saw it.
    last = facts.last_item_at or facts.last_item_seen_at
    if last is None:
        return _plan(facts, _HOUR, "no item has been seen yet")
    quiet = max(now - last, timedelta(0))
    return _plan(facts, _tier(quiet), f"the last item is {in_words(quiet)} old")


def frequency(facts: ChannelFacts, now: datetime) -> Plan:
    """Every so many days, by kind of organisation where none are set; sooner or later by the changes that came."""
    if failures := facts.consecutive_errors:
        failed = _after_errors(facts, double_wait(_FIRST_FAILURE, failures, _WEEK))
        return replace(failed, jitter=_FREQUENCY_JITTER, longest=_WEEK)
    days = facts.frequency_days or _DAYS_BY_ORG_TYPE.get(facts.org_type.lower(), _DEFAULT_DAYS)
    base, reason = days * _DAY, f"every {in_words(days * _DAY)}"
    if facts.changes >= _MANY_CHANGES:
        base, reason = max(_MOST_OFTEN, base - _DAY), f"{facts.changes} changes at once: a day sooner"
    elif facts.changes == 0 and facts.consecutive_no_change >= _FEW_CHANGES:
        base = min(_LEAST_OFTEN, base + _DAY)
        reason = f"{facts.consecutive_no_change} polls unchanged: a day later"
    return Plan(base, reason, _FREQUENCY_JITTER, shortest_for(facts), max(_LEAST_OFTEN, base))


def fixed(facts: ChannelFacts, now: datetime) -> Plan:
    """At the interval a person set."""
    if facts.consecutive_errors:
        return _after_errors(facts, backoff_after(facts.interval, facts.consecutive_errors))
    set_to, least = in_words(facts.interval), shortest_for(facts)
    is_too_often = facts.interval < least
    reason = f"every {in_words(least)}, the least allowed; {set_to} was set" if is_too_often else f"every {set_to}"
    return replace(_plan(facts, facts.interval, reason), longest=max(facts.bounds.longest, facts.interval))


POLICIES: dict[str, PollPlanner] = {"adaptive": adaptive, "tiers": tiers, "frequency": frequency, "fixed": fixed}


def shortest_for(facts: ChannelFacts) -> timedelta:
    """A publisher that declares its answer stale after five minutes allows to be asked that often."""
    bounds, declared = facts.bounds, facts.publisher_hints.max_age
    is_allowed = declared is not None and timedelta(0) < declared <= bounds.shortest_if_allowed
    return min(bounds.shortest, bounds.shortest_if_allowed) if is_allowed else bounds.shortest


def _tier(quiet: timedelta) -> timedelta:
    if quiet > _WEEK:
        return _DAY
    if quiet > _DAY:
        return 4 * _HOUR
    return _HOUR / 2 if quiet < _HOUR else _HOUR


def _after_errors(facts: ChannelFacts, wait: timedelta) -> Plan:
    """A server in trouble is never asked early."""
    reason = f"after {errors_in_words(facts.consecutive_errors)}"
    return replace(_plan(facts, wait, reason), is_never_early=True)


def _plan(facts: ChannelFacts, wait: timedelta, reason: str) -> Plan:
    return Plan(wait, reason, facts.bounds.jitter, shortest_for(facts), facts.bounds.longest)
