"""Entries put into the frontier, judged and looked at."""

from datetime import timedelta
from uuid import UUID

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.settle import settle
from headwater.frontier.submit import FoundUrl, SubmitOutcome, Submitter, submit
from headwater.frontier.verdicts import RetryPolicy, Verdict, settlement_of
from headwater.politeness.slots import Visit
from headwater.urls.canonical import canonicalise

LEASE = timedelta(seconds=60)


async def queue(database: Database, source: UUID, *urls: str) -> list[SubmitOutcome]:
    async with database.transaction() as connection:
        answers = await submit(connection, Submitter(source, EntryOrigin.MANUAL), [FoundUrl(url) for url in urls])
    return [answer.outcome for answer in answers]


async def judge_one(database: Database, verdict: Verdict) -> str:
    """Of the URL that is claimed next."""
    lease = (await Claimer(database, SystemClock(), "w", LEASE).claim(1)).leases[0]
    visit = Visit(timedelta(), timedelta(milliseconds=80), 200, 1000)
    assert await settle(database, [settlement_of(lease, verdict, visit, RetryPolicy(), random_from(1))])
    return lease.url


async def status_of(database: Database, url: str) -> str:
    key = canonicalise(url)
    found: str = await database.fetchval("select status from url_frontier where url_hash = $1", key.url_hash)
    return found
