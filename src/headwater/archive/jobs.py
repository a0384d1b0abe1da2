"""Keeping vacancies, in the transaction of the run or the page that showed them."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from headwater.archive.documents import Op, key_in
from headwater.archive.job import (
    JobStatus,
    SeenAgain,
    SeenElsewhere,
    Sighting,
    StandingJob,
    Teller,
    Write,
    as_given_back,
    clean_job,
    is_over,
    judge_redirected,
    judge_sighting,
    key_at,
    move_job,
    row_of,
    with_former_words,
)
from headwater.archive.outbox import Change, write_changes
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.net.redirects import LONGEST_CHAIN
from headwater.politeness.takedown import takedowns_for
from headwater.record_kind import RecordKind
from headwater.storable import storable
from headwater.urls.canonical import CanonicalUrl, canonicalise, web_addresses
from headwater.urls.fingerprint import DocumentKey
from headwater.vacancy import FIELDS, NewJob

queries = load_queries("headwater.archive")

# So many whose day has passed are expired in one transaction.
BATCH = 1_000
# Who deletes what no person has deleted.
OURSELVES = "headwater"


@dataclass(frozen=True, slots=True)
class JobCounts:
    """Each one found is inserted, updated or skipped; skipped are those that are as they were or not wanted."""

    found: int
    inserted: int
    updated: int
    skipped: int


@dataclass(frozen=True, slots=True)
class Left:
    """Of the open vacancies of a source that is removed; `to_others`: lists of other sources name them."""

    expired: int = 0
    to_others: int = 0


NOTHING_LEFT = Left()


async def keep_jobs(connection: Connection, teller: Teller, jobs: Sequence[NewJob], now: datetime) -> JobCounts:
    """Once per transaction, after its hosts. Nothing of a place that was taken down is kept."""
    left = await _left_addresses(connection, teller, jobs)
    wanted = await _without_takedowns(connection, teller, [move_job(job, left.get(job.key)) for job in jobs])
    distinct = list({job.key: clean_job(job) for job in reversed(wanted)}.values())
    standing = await _hold(connection, [*(job.key for job in distinct), *left])
    former = [standing[key] for key in left if key in standing and standing[key].is_told_by(teller)]
    led_to = {key_at(url) for url in left.values()} if teller.channel_id else set()
    if not teller.channel_id:
        distinct = [_with_former_words(job, former, left, teller) for job in distinct]
    sightings: list[Sighting] = [
        (judge_redirected if job.key in led_to else judge_sighting)(standing.get(job.key), job, teller, now)
        for job in distinct
    ]
    if teller.channel_id:
        sightings = await _without_gone(connection, sightings, standing)
    again = [one.key for one in sightings if isinstance(one, SeenAgain)]
    seen = await connection.fetch(queries.see_jobs_again, *_columns(again), teller.channel_id, now)
    await _tell(connection, (row for row in seen if row["is_news"]), Op.UPSERT, now)
    elsewhere = [one.key for one in sightings if isinstance(one, SeenElsewhere)]
    place = (teller.source_id, teller.channel_id, storable(teller.url))
    await connection.execute(queries.note_sightings, *_columns(elsewhere), *place, now)
    rows = [row_of(one) for one in sightings if isinstance(one, Write)]
    written = await connection.fetch(queries.write_jobs, rows, teller.source_id, teller.channel_id, now)
    await _tell(connection, written, Op.UPSERT, now)
    for one in former:
        await connection.execute(queries.pass_on_list, *one.job.key, *key_at(left[one.job.key]))
    over = [one.job.key for one in sightings if isinstance(one, Write) and is_over(one.job, now)]
    await _expire(connection, {*over, *(one.job.key for one in former)}, now)
    inserted = sum(row["version"] == 1 for row in written)
    return JobCounts(len(jobs), inserted, len(written) - inserted, len(jobs) - len(written))


def _with_former_words(
    job: NewJob, former: Sequence[StandingJob], left: Mapping[DocumentKey, CanonicalUrl], teller: Teller
) -> NewJob:
    return with_former_words(job, (one for one in former if key_at(left[one.job.key]) == job.key), teller)


async def _left_addresses(
    connection: Connection, teller: Teller, jobs: Sequence[NewJob]
) -> Mapping[DocumentKey, CanonicalUrl]:
    """Addresses that redirect to a vacancy's own page, by the key of the vacancy there: the two are one."""
    named = {job.key: url for job in jobs for url in web_addresses(job.apply_url) if key_at(url) == job.key}
    if teller.channel_id:
        return await _led_to(connection, named) if named else {}
    pages = [url for url in web_addresses(teller.url) if key_at(url) in named]
    return {key_at(left): page for page in pages for left in await _leading_to(connection, page)}


async def _led_to(
    connection: Connection, named: Mapping[DocumentKey, CanonicalUrl]
) -> Mapping[DocumentKey, CanonicalUrl]:
    """Where the redirects of these addresses end, if a vacancy was read there. Those in a circle end nowhere."""
    ends, following = dict[DocumentKey, CanonicalUrl](), dict(named)
    for _ in range(LONGEST_CHAIN + 1):
        rows = await connection.fetch(queries.redirects_of, *_columns(_entry_of(url) for url in following.values()))
        onward = {row["url_hash"]: canonicalise(row["moved_to"]) for row in rows}
        following = {key: onward[url.url_hash] for key, url in following.items() if url.url_hash in onward}
        if not following:
            break
        ends |= following
    vacancies = _columns(key_at(url) for url in ends.values())
    rows = await connection.fetch(queries.jobs_read_on_their_pages, *vacancies) if ends else []
    read = {DocumentKey(*row) for row in rows}
    return {key: url for key, url in ends.items() if key not in following and key_at(url) in read}


async def _leading_to(connection: Connection, page: CanonicalUrl) -> list[CanonicalUrl]:
    """Addresses whose redirects led to this page, where they are how it was found."""
    way = [page]
    for _ in range(LONGEST_CHAIN):
        finder = await connection.fetchval(queries.found_on, *_entry_of(way[-1]))
        found = web_addresses(finder or "")
        rows = await connection.fetch(queries.redirects_of, *_columns(map(_entry_of, found)))
        if not any(canonicalise(row["moved_to"]).url_hash == way[-1].url_hash for row in rows):
            break
        way += found
    return way[1:]


def _entry_of(url: CanonicalUrl) -> DocumentKey:
    return DocumentKey(url.bucket, url.url_hash)


async def _without_takedowns(connection: Connection, teller: Teller, jobs: Sequence[NewJob]) -> Sequence[NewJob]:
    """By every address they carry: of the source, of the list or page, and of the place where one applies."""
    told_at = web_addresses(teller.url, teller.source_url)
    carried = [web_addresses(job.apply_url, job.page_url) for job in jobs]
    hosts = {url.host for urls in (told_at, *carried) for url in urls}
    taken_down = await takedowns_for(connection, hosts)
    if not taken_down:
        return jobs
    if any(map(taken_down.covers, told_at)):
        return []
    return [job for job, urls in zip(jobs, carried, strict=True) if not any(map(taken_down.covers, urls))]


async def _without_gone(
    connection: Connection, sightings: Sequence[Sighting], standing: Mapping[DocumentKey, StandingJob]
) -> list[Sighting]:
    """A list brings no vacancy back whose page is gone: the two would alternate."""
    back = {
        one.job.key: address
        for one in sightings
        if isinstance(one, Write) and one.version > 1 and standing[one.job.key].status is JobStatus.EXPIRED
        for address in web_addresses(one.job.apply_url)
    }
    if not back:
        return list(sightings)
    pages = [DocumentKey(address.bucket, address.url_hash) for address in back.values()]
    gone = {row["url_hash"] for row in await connection.fetch(queries.pages_gone, *_columns(pages))}
    over = {key for key, address in back.items() if address.url_hash in gone}
    return [one for one in sightings if not (isinstance(one, Write) and one.job.key in over)]


async def expire_jobs(connection: Connection, now: datetime) -> int:
    """A batch of those whose deadline has passed; fewer than BATCH means that was all."""
    return await _expire(connection, await connection.fetch(queries.overdue_jobs, now, BATCH), now)


async def expire_unnamed(connection: Connection, channel_id: UUID, since: datetime, now: datetime) -> int:
    """Those that their list has not named since then."""
    return await _expire(connection, await connection.fetch(queries.unnamed_jobs, channel_id, since), now)


async def count_named_and_unnamed(
    connection: Connection, channel_id: UUID, since: datetime, stood_before: datetime
) -> tuple[int, int]:
    """Of the open vacancies of a list that stood before: how many it has named since, and how many not."""
    row = await connection.fetchrow(queries.named_and_unnamed, channel_id, since, stood_before)
    assert row is not None
    return row["named"], row["unnamed"]


async def _expire(connection: Connection, rows: Iterable[Any], now: datetime) -> int:
    expired = await connection.fetch(queries.expire_jobs, *_columns([DocumentKey(*row) for row in rows]), now)
    await _tell(connection, expired, Op.DELETE, now)
    return len(expired)


async def leave_jobs(database: Database, source_id: UUID) -> Left:
    """Nobody follows a removed source: its vacancies are over, but for those that another list goes on naming.

    In batches of their own transactions: what an interruption leaves, or is told in this moment, maintenance ends.
    """
    expired = to_others = 0
    async for keys in _open_jobs(database, source_id):
        async with database.transaction() as connection:
            now = await connection.fetchval(queries.server_now)
            held = await connection.fetch(queries.hold_left_jobs, *_columns(keys))
            named = [row for row in held if row["channel_id"]]
            lists = [row["channel_id"] for row in named], [row["listed_at"] for row in named]
            await connection.execute(queries.leave_to_lists, *_columns(map(_key, named)), *lists, now)
            expired += await _expire(connection, (_key(row) for row in held if not row["channel_id"]), now)
            to_others += len(named)
    return Left(expired, to_others)


async def jobs_left_by(database: Database, source_id: UUID) -> Left:
    """Counts the vacancies that `leave_jobs` would change."""
    row = await database.fetchrow(queries.count_jobs_left, source_id)
    assert row is not None
    return Left(row["standing"] - row["named_elsewhere"], row["named_elsewhere"])


async def end_jobs_of_removed(database: Database) -> int:
    """Of sources that were removed lately; how many were still open."""
    rows = await database.fetch(queries.lately_removed_sources)
    return sum([(await leave_jobs(database, row["id"])).expired for row in rows])


async def _open_jobs(database: Database, source_id: UUID) -> AsyncIterator[list[DocumentKey]]:
    """That a source tells, and that were left to its lists before; in batches."""
    place: tuple[Any, ...] = (None, -1, b"")
    while rows := await database.fetch(queries.open_jobs_of_source, source_id, *place, BATCH):
        place = (rows[-1]["created_at"], *_key(rows[-1]))
        yield list(map(_key, rows))
    after = DocumentKey(-1, b"")
    while rows := await database.fetch(queries.open_jobs_of_lists, source_id, *after, BATCH):
        after = _key(rows[-1])
        yield list(map(_key, rows))


def _key(row: Any) -> DocumentKey:
    return DocumentKey(row["bucket"], row["canonical_hash"])


async def delete_jobs(
    connection: Connection, keys: Sequence[DocumentKey], actor: str, reason: str, now: datetime
) -> int:
    """A person's word is for good, however often they are listed again; ours holds as long as its reason."""
    deleted = await connection.fetch(queries.delete_jobs, *_columns(keys), actor, storable(reason), now)
    await _tell(connection, deleted, Op.DELETE, now)
    return len(deleted)


async def forget_sightings(database: Database, days: int) -> int:
    """Those that nobody has repeated for so long, in batches; how many there were."""
    count = 0
    while forgotten := int((await database.execute(queries.forget_sightings, days, BATCH)).split()[-1]):
        count += forgotten
    return count


async def _hold(connection: Connection, keys: Sequence[DocumentKey]) -> Mapping[DocumentKey, StandingJob]:
    rows = await connection.fetch(queries.hold_jobs, *_columns(keys))
    standing = (_standing(row) for row in rows)
    return {one.job.key: one for one in standing}


def _standing(row: Any) -> StandingJob:
    fields = {name: as_given_back(row[name]) for name in FIELDS if name != "document"}
    job = NewJob(**fields, document=key_in(row, "document_bucket", "document_hash"))
    return StandingJob(
        job,
        JobStatus(row["status"]),
        row["version"],
        row["source_id"],
        is_spoken_for=row["is_spoken_for"],
        is_abandoned=row["is_abandoned"],
        is_deleted_by_person=row["status"] == JobStatus.DELETED and row["deleted_by"] != OURSELVES,
    )


async def _tell(connection: Connection, rows: Iterable[Any], op: Op, now: datetime) -> None:
    changes = [Change(RecordKind.JOB, row["bucket"], row["canonical_hash"], row["version"], op) for row in rows]
    await write_changes(connection, changes, now)


def _columns(keys: Iterable[DocumentKey]) -> tuple[list[int], list[bytes]]:
    found = list(keys)
    return [key.bucket for key in found], [key.url_hash for key in found]
