"""A publisher's days: what is drawn per local day, and walking back through them."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from headwater.simweb.world.dice import Dice
from headwater.simweb.world.publishers import Publisher
from headwater.simweb.world.rhythm import RHYTHMS

ONE_DAY = timedelta(days=1)


def times_of(publisher: Publisher, day: date, dice: Dice) -> list[datetime]:
    """When the publisher publishes on this local day, in order."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=publisher.zone)
    moments = RHYTHMS[publisher.rhythm].moments(publisher.rate, day.weekday(), dice)
    # Local wall time first, then UTC: a day with a clock change keeps its rhythm.
    return sorted((midnight + timedelta(seconds=int(second))).astimezone(UTC) for second in moments)


def local_day(publisher: Publisher, moment: datetime) -> date:
    return moment.astimezone(publisher.zone).date()


def days_back(last: date, first: date) -> Iterator[date]:
    while last >= first:
        yield last
        last -= ONE_DAY
