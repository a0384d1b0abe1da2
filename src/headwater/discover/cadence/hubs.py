"""Is a hub trusted to push what its channel publishes, and how often is a pushed channel polled all the same? Pure.

A push that brings something new in time is a proof. So many proofs in a row earn a hub trust; anything that it was late
with, or that a poll found first, takes the trust away and doubles the proofs it needs the next time. The hub of a feed
that publishes nothing proves nothing, and loses nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from headwater.discover.cadence.channel import Plan
from headwater.discover.cadence.forecast import forecast
from headwater.discover.cadence.rhythm import FLAT, Floats, Rhythm, in_hours

# However much is pushed, a channel is polled so often.
SAFETY_EVERY = timedelta(days=1)
# From publication to the push; a hub that takes longer is late, and what a poll finds sooner was not missed yet.
IN_TIME = timedelta(minutes=15)
FIRST_PROOFS, MOST_PROOFS = 3, 48
# Proofs in a row, in units of those that were needed, after which half as many are needed.
FORGIVEN_AFTER = 8
# Items expected by the rhythm and not pushed: P(none of them came) = e^-3, one in twenty.
EXPECTED_IN_QUIET = 3.0
SHORTEST_QUIET = timedelta(hours=1)
MOST_COUNTED = 1_000_000_000
PUSHED = "pushed by hub; safety poll"


@dataclass(frozen=True, slots=True)
class HubRecord:
    """How a hub has kept its word since it was first subscribed to."""

    proofs: int = 0  # pushes in a row that brought something new in time
    needed: int = FIRST_PROOFS  # so many of them earn trust
    pushes: int = 0  # that brought something new
    missed: int = 0  # items that came late, or that polls found first
    last_push_at: datetime | None = None  # that brought something new

    @property
    def is_trusted(self) -> bool:
        return self.proofs >= self.needed


def after_push(record: HubRecord, published: Sequence[datetime | None], now: datetime, since: datetime) -> HubRecord:
    """`published`: the dates of the items that were new to the channel; `since`: from when on the hub is subscribed to.

    A push that brings nothing new says nothing: it may be an old one, sent again.
    """
    if not published:
        return record
    told = replace(record, pushes=min(record.pushes + 1, MOST_COUNTED), last_push_at=now)
    late = sum(since < one <= now - IN_TIME for one in published if one is not None)
    if late:
        return _failed(told, late)
    # Only what is from before: the hub sends the whole list of the feed, and proves nothing by it.
    is_proof = any(one is None or one > now - IN_TIME for one in published)
    return _proved(told) if is_proof else told


def after_poll(
    record: HubRecord, published: Sequence[datetime | None], now: datetime, looked_at: datetime | None, since: datetime
) -> HubRecord:
    """`published`: the dates of the items that a poll found new; `looked_at`: when the channel was last looked at."""
    was_away = looked_at is not None and looked_at >= since and now - looked_at > 2 * IN_TIME
    missed = sum(was_away if one is None else since < one <= now - IN_TIME for one in published)
    return _failed(record, missed) if missed else record


def _failed(record: HubRecord, items: int) -> HubRecord:
    needed = min(2 * record.needed, MOST_PROOFS) if record.is_trusted else record.needed
    return replace(record, proofs=0, needed=needed, missed=min(record.missed + items, MOST_COUNTED))


def _proved(record: HubRecord) -> HubRecord:
    proofs = min(record.proofs + 1, MOST_COUNTED)
    if record.needed > FIRST_PROOFS and proofs >= FORGIVEN_AFTER * record.needed:
        return replace(record, proofs=proofs, needed=max(record.needed // 2, FIRST_PROOFS))
    return replace(record, proofs=proofs)


def longest_quiet(rhythm: Rhythm, now: datetime, common: Floats = FLAT) -> timedelta:
    """For so long a trusted hub may say nothing; then its channel is polled, to see which of them is silent."""
    ahead = forecast(rhythm, in_hours(now), common)
    cell = int(np.searchsorted(ahead.items, EXPECTED_IN_QUIET))
    hours = float(ahead.ends[min(cell, len(ahead.ends) - 1)])
    return min(max(timedelta(hours=hours), SHORTEST_QUIET), SAFETY_EVERY)


def safety_plan(plan: Plan) -> Plan:
    """Of a channel that a trusted hub pushes: once a day at the latest, where the policy alone would poll sooner."""
    # Jitter may lengthen a wait: even so it is no more than a day.
    wait = SAFETY_EVERY / (1 + plan.jitter)
    return replace(plan, wait=wait, reason=PUSHED) if plan.wait < wait else plan
