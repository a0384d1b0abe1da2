"""A takedown with everything it means: nothing is visited any more, and everything kept of it goes.

Its row is recorded first: no transaction that begins later stores anything of it. Transactions that may have looked
before are waited for; then hosts are closed, entries ended, documents withdrawn and vacancies deleted. Killed at any
step, maintenance begins it anew. Which addresses a takedown covers is said in `politeness/takedown.py`.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from headwater.archive.documents import tombstone
from headwater.archive.jobs import OURSELVES, delete_jobs
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UrlRejected
from headwater.frontier.control import BATCH, FOR_EVER, WAITING, EntryKey, change
from headwater.frontier.entry import DeadReason, EntryStatus
from headwater.politeness.hosts import close_host
from headwater.politeness.takedown import Takedown
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

queries = load_queries("headwater.ingest")
politeness_queries = load_queries("headwater.politeness")
frontier_queries = load_queries("headwater.frontier")
archive_queries = load_queries("headwater.archive")

# The process that adds a takedown applies it; after so long it has died over it.
OVERDUE = timedelta(minutes=1)

# Longer than a transaction may sit idle; a statement may take longer still, and then maintenance finishes it.
PATIENCE = timedelta(seconds=35)

# A person who is asked for consent need not know more exactly.
MOST_COUNTED = 10_000


class TakedownResult(NamedTuple):
    """`living` entries are being fetched right now; they end with their answer. `is_whole`: nothing of it is left."""

    entries: int
    documents: int
    vacancies: int
    living: int = 0
    is_whole: bool = True


class Ended(NamedTuple):
    """`living` are being fetched right now: they end with their answer."""

    entries: int
    living: int


@dataclass(frozen=True, slots=True)
class StandingDocument:
    """A document with its addresses. `is_in_words_of_source`: made of what a feed of the sources asked for said."""

    key: DocumentKey
    url: str
    claimed_url: str = ""
    is_in_words_of_source: bool = False


@dataclass(frozen=True, slots=True)
class StandingVacancy:
    """A vacancy with the addresses it carries. `is_told_there`: by one of the sources or lists asked for."""

    key: DocumentKey
    urls: tuple[str, ...]
    is_told_there: bool = False


class TakedownReach(NamedTuple):
    """Records of a place before it is taken down; each kind counted up to MOST_COUNTED."""

    documents: int
    waiting: int


async def reach_of(database: Database, takedown: Takedown) -> TakedownReach:
    documents = 0
    async for one in documents_read_within(database, takedown.domain):
        documents += takedown.covers(canonicalise(one.url))
        if documents >= MOST_COUNTED:
            break
    return TakedownReach(documents, await _count_waiting(database, takedown))


async def _count_waiting(database: Database, takedown: Takedown) -> int:
    """Of a port as of its whole host: entries are kept by the names of hosts."""
    count = 0
    rows = [row async for row in _hosts_within(database, takedown)]
    for bucket, group in groupby(rows, key=lambda row: row["bucket"]):
        hosts = [row["host"] for row in group]
        count += await database.fetchval(frontier_queries.count_waiting, bucket, hosts, MOST_COUNTED - count)
        if count >= MOST_COUNTED:
            break
    return count


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


async def lift(database: Database, takedown: Takedown) -> None:
    """Open the hosts again. What was ended comes back when a channel lists it again, or a person retries it."""
    if await database.fetchrow(politeness_queries.remove_takedown, takedown.name) is None:
        raise NotFound(f"{takedown.name} is not taken down.", fix="`headwater takedown list` shows what is.")
    await database.execute(politeness_queries.want_refused_again, takedown.domain)
    if takedown.key_prefix is None:
        await _set_closed(database, takedown, None)


async def record(database: Database, takedown: Takedown, reason: str) -> None:
    """From here on nothing of it is requested, queued or stored by any transaction that begins."""
    await database.execute(
        politeness_queries.add_takedown, takedown.name, takedown.domain, takedown.key_prefix, reason or None
    )


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
    """The bodies of pages, and the words of channels about them."""
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


async def close_hosts(database: Database, takedown: Takedown) -> None:
    """Of a whole domain. Lifted in the same moment, it leaves none of them closed."""
    if takedown.key_prefix is None:
        await _set_closed(database, takedown, FOR_EVER)
        if not await database.fetchval(politeness_queries.is_recorded, takedown.name):
            await _set_closed(database, takedown, None)


async def outlive_earlier(database: Database, patience: timedelta = PATIENCE) -> bool:
    """Wait for transactions that looked before the takedown was recorded; False if one of them took too long."""
    return bool(await database.fetchval(politeness_queries.outlive_watchers, patience))


async def entries_of(database: Database, takedown: Takedown) -> AsyncIterator[list[EntryKey]]:
    """Every entry it covers, in batches; each bucket is walked through once, however many hosts it has."""
    rows = [row async for row in _hosts_within(database, takedown)]
    for bucket, group in groupby(rows, key=lambda row: row["bucket"]):
        hosts, after = [row["host"] for row in group], b""
        while page := await database.fetch(frontier_queries.entries_of_hosts, bucket, hosts, after, BATCH):
            after = page[-1]["url_hash"]
            yield [EntryKey(bucket, row["url_hash"]) for row in page if takedown.covers(canonicalise(row["url"]))]


async def end_entries(database: Database, keys: Sequence[EntryKey]) -> Ended:
    before = (*WAITING, EntryStatus.FETCHED)
    ended = await change(database, keys, before=before, status=EntryStatus.DEAD, reason=DeadReason.TAKEDOWN)
    living = await database.fetchval(
        frontier_queries.count_living, [key.bucket for key in keys], [key.url_hash for key in keys]
    )
    return Ended(ended, living)


async def _set_closed(database: Database, takedown: Takedown, until: datetime | None) -> None:
    async for row in _hosts_within(database, takedown):
        await close_host(database, row["host"], "takedown", until)


async def _hosts_within(database: Database, takedown: Takedown) -> AsyncIterator[Any]:
    for row in await database.fetch(politeness_queries.hosts_within_domain, takedown.domain):
        if takedown.key_prefix is None or row["host"] == takedown.domain:
            yield row


async def documents_of(database: Database, domain: str, sources: Sequence[UUID]) -> AsyncIterator[StandingDocument]:
    """Documents with an address in a domain or below it, and those that feeds of these sources told in their own words.

    Some twice, and some of hosts whose names only begin so: the caller looks at each.
    """
    async for one in documents_read_within(database, domain):
        yield one
    async for row in _pages(database, archive_queries.documents_claiming_within, domain):
        yield StandingDocument(DocumentKey(row["bucket"], row["hash"]), row["url"], row["claimed_url"])
    for row in await database.fetch(archive_queries.documents_in_words_of, sources):
        yield StandingDocument(DocumentKey(row["bucket"], row["url_hash"]), row["url"], is_in_words_of_source=True)


async def documents_read_within(database: Database, domain: str) -> AsyncIterator[StandingDocument]:
    for bucket in [row["bucket"] for row in await database.fetch(archive_queries.buckets_of_domain, domain)]:
        after = b""
        while rows := await database.fetch(archive_queries.standing_in_bucket, bucket, after, domain, BATCH):
            after = rows[-1]["url_hash"]
            for row in rows:
                yield StandingDocument(DocumentKey(bucket, row["url_hash"]), row["url"])


async def jobs_of(
    database: Database, domain: str, sources: Sequence[UUID], channels: Sequence[UUID]
) -> AsyncIterator[list[StandingVacancy]]:
    """Vacancies with an address in a domain or below it, and those that these sources and lists tell; in batches."""
    for query in (archive_queries.jobs_applied_for_within, archive_queries.jobs_read_within):
        batch: list[StandingVacancy] = []
        async for row in _pages(database, query, domain):
            batch.append(StandingVacancy(DocumentKey(row["bucket"], row["hash"]), (row["apply_url"], row["page_url"])))
            if len(batch) == BATCH:
                yield batch
                batch = []
        yield batch
    while rows := await database.fetch(archive_queries.jobs_told_by, sources, channels, BATCH):
        yield [StandingVacancy(DocumentKey(row["bucket"], row["canonical_hash"]), (), True) for row in rows]


async def withdraw(database: Database, key: DocumentKey, reason: str) -> bool:
    async with database.transaction() as connection:
        now = await connection.fetchval(archive_queries.server_now)
        return await tombstone(connection, *key, reason, now)


async def strip_claim(database: Database, key: DocumentKey) -> None:
    """It no longer calls another address canonical."""
    await database.execute(archive_queries.strip_claim, *key)


async def _pages(database: Database, query: str, domain: str) -> AsyncIterator[Any]:
    """In the order of an index over hosts that are spelt backwards."""
    place: tuple[str, int, bytes] = (domain[::-1], -1, b"")
    while rows := await database.fetch(query, domain, *place, BATCH):
        for row in rows:
            yield row
        place = (rows[-1]["place"], rows[-1]["bucket"], rows[-1]["hash"])
