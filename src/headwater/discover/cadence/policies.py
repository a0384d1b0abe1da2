"""The named policies: each says how long it would wait, as a pure function of what is known of a channel."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeAlias

from headwater.discover.cadence.channel import ChannelFacts, Plan
from headwater.discover.cadence.forecast import forecast_to
from headwater.discover.cadence.rests import backoff_after, double_wait, errors_in_words
from headwater.discover.cadence.rhythm import in_hours
from headwater.discover.cadence.wording import in_words, likely

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
