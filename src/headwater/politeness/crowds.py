"""Hosts with more channels than turns: found by claims, judged by `maintain`."""

from datetime import timedelta

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.politeness")

# Each costs a look at all channels of its host.
AT_ONCE = 100
FORGOTTEN_AFTER = timedelta(days=1)


async def forget_crowds(database: Database) -> None:
    await database.execute(queries.forget_crowds, FORGOTTEN_AFTER)


async def judge_crowds(database: Database) -> None:
    """Counted first and written then: no claim waits for a count."""
    weighed = await database.fetch(queries.weigh_crowds, AT_ONCE)
    if weighed:
        columns = [[row[name] for row in weighed] for name in ("bucket", "host", "channels", "deserved", "possible")]
        crowding = [crowding_of(row["known"], row["possible"]) for row in weighed]
        await database.execute(queries.judge_crowds, *columns, crowding)


def crowding_of(deserved: float, possible: float) -> float:
    """By so much the intervals of a host's channels are lengthened, so that each has its share of the turns. Pure.

    First polls do not count: they have a share of their own, and are over soon.
    """
    return max(1.0, deserved / possible)
