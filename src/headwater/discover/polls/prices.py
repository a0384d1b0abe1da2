"""The price of a poll, kept in one row: steered by the polls since the last look, by the first poller that looks."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.cadence.forecast import Price, first_price, next_price, price_from
from headwater.discover.cadence.rhythm import common_profile, rate, rhythm_from
from headwater.discover.polls.lease import memory_from
from headwater.sources.kinds import kinds_that

queries = load_queries("headwater.discover")

# As `next_price` is tuned for: it sees whole hours.
STEERED_EVERY = timedelta(hours=1)
# Longer than this nobody polled: what was not asked then says nothing of the price.
LONGEST_LOOK_BACK = timedelta(hours=2)
SAMPLED_RHYTHMS = 2_000
RHYTHMIC = kinds_that(lambda traits: traits.learns_rhythm)


@dataclass(frozen=True, slots=True)
class Steering:
    price: Price
    made: int
    allowed: float


async def steer(database: Database, polls_per_hour: float, now: datetime | None = None) -> Steering | None:
    """None where it is too early, or another process was first. `polls_per_hour` is the budget of one channel."""
    row = await database.fetchrow(queries.read_cadence, now)
    assert row is not None
    moment, since, old = row["now"], row["steered_at"], memory_from(row["state"]).get("price")
    # A time that is still to come was told by a clock that has been put back since: waiting for it may take years.
    if old and timedelta(0) <= moment - since < STEERED_EVERY:
        return None
    rhythms = [rhythm_from(one["rhythm"]) for one in await database.fetch(queries.some_rhythms, SAMPLED_RHYTHMS)]
    if not rhythms:
        return None
    if old is None:
        steering = Steering(first_price([rate(one) for one in rhythms], polls_per_hour), 0, 0.0)
    else:
        steering = await _steered(database, price_from(old), polls_per_hour, since, moment)
    # The hours of the week as all channels together use them.
    common = [round(float(share), 6) for share in common_profile(rhythms)]
    state = {"price": steering.price.to_dict(), "common": common}
    is_ours = await database.fetchval(queries.steer_cadence, state, moment, since)
    return steering if is_ours else None


async def _steered(
    database: Database, price: Price, polls_per_hour: float, since: datetime, moment: datetime
) -> Steering:
    looked_back = min(moment - since, LONGEST_LOOK_BACK) if since < moment else STEERED_EVERY
    counted = await database.fetchrow(queries.polls_made, moment - looked_back, moment, RHYTHMIC)
    assert counted is not None
    hours = looked_back.total_seconds() / 3600
    allowed = counted["channels"] * polls_per_hour
    return Steering(next_price(price, counted["made"] / hours, allowed), counted["made"], allowed * hours)
