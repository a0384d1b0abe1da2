"""A takedown with everything it means: nothing is visited any more, and what was kept goes.

Its row is recorded first: no transaction that begins later stores anything of it. Transactions that may have looked
before are waited for; then what stands is ended, withdrawn or deleted. Killed at any step, maintenance begins it anew.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from headwater.archive.jobs import OURSELVES, delete_jobs
from headwater.archive.withdrawing import documents_of, jobs_of, strip_claim, withdraw
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import UrlRejected
from headwater.frontier.control import EntryKey
from headwater.frontier.entry import DeadReason
from headwater.frontier.takedowns import close_hosts, end_entries, entries_of, lift, outlive_earlier, record
from headwater.politeness.takedown import Takedown
from headwater.politeness.takedown import queries as politeness_queries
from headwater.urls.canonical import canonicalise

queries = load_queries("headwater.ingest")

# The process that adds a takedown applies it; after so long it has died over it.
OVERDUE = timedelta(minutes=1)


class TakedownResult(NamedTuple):
    """`living` entries are being fetched right now; they end with their answer. `is_whole`: nothing of it is left."""

    entries: int
    documents: int
    vacancies: int
    living: int = 0
    is_whole: bool = True


async def take_down_everywhere(database: Database, takedown: Takedown, reason: str = "") -> TakedownResult:
    await record(database, takedown, reason)
    return await sweep(database, takedown)


async def lift_everywhere(database: Database, takedown: Takedown) -> None:
    """Hosts are open again, and the channels that lie there are due. Raises NotFound where nothing was taken down."""
    await lift(database, takedown)
    sources, channels = await sources_below(database, takedown)
    async with database.transaction() as connection:
        await connection.execute(queries.welcome_sources, channels, sources)
        await connection.execute(queries.welcome_channels, channels, sources)
        await connection.execute(queries.wake_pollers)


async def finish_takedowns(database: Database, overdue: timedelta = OVERDUE) -> int:
    """Those that were interrupted, or met fetches under way; how many there were."""
    rows = await database.fetch(politeness_queries.unswept_takedowns, overdue)
    for row in rows:
        await sweep(database, Takedown(row["domain_or_url"], row["domain"], row["key_prefix"]))
    return len(rows)


async def sweep(database: Database, takedown: Takedown) -> TakedownResult:
    """End, withdraw and delete what stands of it. Done twice, the second time finds nothing."""
    await close_hosts(database, takedown)
    is_alone = await outlive_earlier(database)
    entries = living = 0
    async for keys in entries_of(database, takedown):
        ended = await end_entries(database, keys)
        entries, living = entries + ended.entries, living + ended.living
        await forget_texts(database, keys)
    sources, channels = await sources_below(database, takedown)
    await database.execute(queries.forget_items_of_channels, channels)
    documents = await withdraw_documents(database, takedown, sources)
    vacancies = await withdraw_vacancies(database, takedown, sources, channels)
    is_whole = is_alone and not living
    if is_whole:
        await database.execute(politeness_queries.mark_swept, takedown.name)
    return TakedownResult(entries, documents, vacancies, living, is_whole)


async def forget_texts(database: Database, keys: Sequence[EntryKey]) -> None:
    """What was sent for pages, and what channels said of them."""
    if keys:
        columns = [key.bucket for key in keys], [key.url_hash for key in keys]
        await database.execute(queries.forget_bodies, *columns)
        await database.execute(queries.forget_items_of_pages, *columns)


async def sources_below(database: Database, takedown: Takedown) -> tuple[list[UUID], list[UUID]]:
    """The sources and the channels that lie there themselves."""
    sources = await database.fetch(queries.sources_within_domain, takedown.domain)
    channels = await database.fetch(queries.channels_within_domain, takedown.domain)
    there = [[row["id"] for row in rows if takedown.covers(canonicalise(row["url"]))] for rows in (sources, channels)]
    return there[0], there[1]


async def withdraw_documents(database: Database, takedown: Takedown, sources: Sequence[UUID]) -> int:
    """A page elsewhere that calls one of its addresses canonical is another page: it only loses that claim."""
    count = 0
    async for one in documents_of(database, takedown.domain, sources):
        own = canonicalise(one.url)
        if one.is_in_words_of_source or takedown.covers(own):
            await forget_texts(database, [EntryKey(own.bucket, own.url_hash)])
            count += await withdraw(database, one.key, DeadReason.TAKEDOWN)
        elif is_covered(takedown, one.claimed_url):
            await strip_claim(database, one.key)
    return count


async def withdraw_vacancies(
    database: Database, takedown: Takedown, sources: Sequence[UUID], channels: Sequence[UUID]
) -> int:
    """By their page, by where one applies, by the source and by the list that names them."""
    count = 0
    async for rows in jobs_of(database, takedown.domain, sources, channels):
        keys = [row.key for row in rows if row.is_told_there or any(is_covered(takedown, url) for url in row.urls)]
        if keys:
            async with database.transaction() as connection:
                now = await connection.fetchval(queries.now)
                count += await delete_jobs(connection, keys, OURSELVES, DeadReason.TAKEDOWN, now)
    urls = [row["url"] for row in await database.fetch(queries.sighting_urls_within_domain, takedown.domain)]
    await database.execute(queries.forget_sightings_at, [url for url in urls if is_covered(takedown, url)])
    await database.execute(queries.forget_sightings_by, sources)
    return count


def is_covered(takedown: Takedown, url: str) -> bool:
    try:
        return takedown.covers(canonicalise(url))
    except UrlRejected:
        return False
