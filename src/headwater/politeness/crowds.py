"""Hosts with more channels than turns: found by claims, judged by `maintain`."""

from datetime import timedelta

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.politeness")

# Each costs a look at all channels of its host.
AT_ONCE = 100
FORGOTTEN_AFTER = timedelta(days=1)


async def judge_crowds(database: Database) -> None:
    await database.execute(queries.forget_crowds, FORGOTTEN_AFTER)
    await database.execute(queries.judge_crowds, AT_ONCE)
