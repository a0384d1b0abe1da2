"""From a policy's plan to a moment: bounds, wishes of servers, jitter, windows; the same for every policy. Pure."""

from dataclasses import replace
from datetime import datetime, timedelta

from headwater.chance import Random
from headwater.discover.cadence.channel import ChannelFacts, NextPoll, Plan
from headwater.discover.cadence.hubs import safety_plan
from headwater.discover.cadence.policies import POLICIES
from headwater.discover.cadence.rests import Rest, rest_after
from headwater.discover.cadence.windows import OpenHours, TimeWindow, zone_named
from headwater.discover.cadence.wording import in_words
from headwater.discover.publisher_hints import NO_WAIT, PublisherHints
from headwater.errors import UsageError
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
    wait, reason, held_by = _no_sooner_than_asked(plan, facts, _jittered(plan, rng), rng)
    at, said = in_open_hours(now + wait, facts.time_window, facts.publisher_hints, rng)
    reason = "; ".join(part for part in (reason, said) if part)
    if at > now + wait and held_by is None:
        held_by = HeldBy.TIME_WINDOW if facts.time_window else HeldBy.PUBLISHER
    if rest is None:
        return NextPoll(at, at - now, reason, held_by=held_by)
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
