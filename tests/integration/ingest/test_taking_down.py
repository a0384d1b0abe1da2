"""What goes with a place that is taken down, address by address, and what stays."""

from uuid import UUID, uuid4

import pytest
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import LONG, OTHER, Shelf, key_of

from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.archive.raw import RawBody
from headwater.database.pool import Database
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.ingest.taking_down import lift, take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.sources.kinds import ChannelKind
from headwater.sources.store import NewChannel, add_channel, create_source
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import Voice
from headwater.vacancy import NewJob

FINE, GONE = "https://fine.example", "https://gone.example"
PLACES = ["gone.example", "https://gone.example/jobs"]


async def tell(database: Database, teller: Teller, *jobs: NewJob) -> None:
    async with database.transaction() as connection:
        await keep_jobs(connection, teller, jobs, await connection.fetchval("select clock_timestamp()"))


def vacancy(number: int, **fields: str) -> NewJob:
    said = {"title": f"Job {number}", "org_name": "Org", "apply_url": f"{FINE}/{number}", "page_url": f"{FINE}/list"}
    return NewJob(canonical_hash=bytes([number]) * 32, **said | fields)  # type: ignore[arg-type]


async def standing(database: Database) -> set[str]:
    return {row["title"] for row in await database.fetch("select title from jobs where status = 'active'")}


def told_at(url: str, source: UUID | None = None, channel: UUID | None = None) -> Teller:
    return Teller(source or uuid4(), url, Voice("fine.example"), channel, f"{FINE}/")


@pytest.mark.parametrize("place", PLACES)
async def test_vacancies_go_by_where_one_applies_and_by_where_they_were_read(database: Database, place: str) -> None:
    by = told_at(f"{FINE}/list")
    await tell(database, by, vacancy(1, apply_url=f"{GONE}/jobs/1"), vacancy(2, page_url=f"{GONE}/jobs?p=2"))
    await tell(database, by, vacancy(3), vacancy(4, apply_url="https://gone.example.fine.example/jobs/1"))
    done = await take_down_everywhere(database, parse_takedown(place))
    assert (done.vacancies, await standing(database)) == (2, {"Job 3", "Job 4"})
    deleted = await database.fetch("select deleted_by, deleted_reason from jobs where status = 'deleted'")
    assert {tuple(row) for row in deleted} == {("headwater", "takedown")}
    told = await database.fetch("select op from outbox where kind = 'job' order by seq")
    assert [row["op"] for row in told] == ["upsert"] * 4 + ["delete"] * 2


@pytest.mark.parametrize("place", PLACES)
async def test_vacancies_go_with_the_source_or_the_list_that_tells_them(database: Database, place: str) -> None:
    async with database.transaction() as connection:
        theirs = await create_source(connection, "Gone", f"{GONE}/jobs/")
        ours = await create_source(connection, "Fine", f"{FINE}/")
        listed = NewChannel(ChannelKind.FEED, canonicalise(f"{GONE}/jobs/list"))
        channel = await add_channel(connection, ours, listed)
    await tell(database, told_at(f"{FINE}/list", theirs), vacancy(1))
    await tell(database, told_at(f"{FINE}/list", ours, channel), vacancy(2))
    await tell(database, told_at(f"{FINE}/list", ours), vacancy(3))
    await tell(database, told_at(f"{GONE}/jobs/list", uuid4(), uuid4()), vacancy(3))
    assert await database.fetchval("select count(*) from job_sightings") == 1
    done = await take_down_everywhere(database, parse_takedown(place))
    assert (done.vacancies, await standing(database)) == (2, {"Job 3"})
    assert await database.fetchval("select count(*) from job_sightings") == 0


async def test_a_vacancy_is_told_again_once_its_place_is_lifted(database: Database) -> None:
    by, takedown = told_at(f"{FINE}/list"), parse_takedown("gone.example")
    await tell(database, by, vacancy(1, apply_url=f"{GONE}/1"))
    await take_down_everywhere(database, takedown)
    await tell(database, by, vacancy(1, apply_url=f"{GONE}/1"))
    assert await standing(database) == set()
    await lift(database, takedown)
    await tell(database, by, vacancy(1, apply_url=f"{GONE}/1"))
    assert await standing(database) == {"Job 1"}


@pytest.mark.parametrize("place", PLACES)
async def test_what_was_sent_for_a_page_and_what_channels_said_of_it_is_forgotten(
    database: Database, place: str
) -> None:
    async with database.transaction() as connection:
        source = await create_source(connection, "Fine", f"{FINE}/")
        channel = await add_channel(connection, source, NewChannel(ChannelKind.FEED, canonicalise(f"{FINE}/feed")))
        now = await connection.fetchval("select clock_timestamp()")
        for url in (f"{GONE}/jobs/1", f"{FINE}/1"):
            await submit(connection, Submitter(source, EntryOrigin.FEED), [FoundUrl(url)])
            await keep_body(connection, RawBody(key_of(url), source, url, 200, {}, b"<p>"), now)
            await connection.execute(
                "insert into channel_items (channel_id, url_hash, bucket, signature, title, content)"
                " values ($1, $2, $3, 'x', 'A title', 'Words')",
                channel,
                key_of(url).url_hash,
                key_of(url).bucket,
            )
    await take_down_everywhere(database, parse_takedown(place))
    assert [row["url"] for row in await database.fetch("select url from raw_bodies")] == [f"{FINE}/1"]
    rows = await database.fetch("select title, content, length(signature) from channel_items order by title")
    assert [tuple(row) for row in rows] == [("A title", "Words", 1), (None, None, 0)]


async def test_a_document_in_a_feeds_words_goes_with_its_source_and_one_that_it_only_found_stays(
    database: Database,
) -> None:
    shelf = Shelf(database)
    async with database.transaction() as connection:
        source = await create_source(connection, "Gone", f"{GONE}/")
    await shelf.keep(f"{FINE}/1", LONG, source_id=source, produced_by="feed_only")
    await shelf.keep(f"{FINE}/2", OTHER, source_id=source, produced_by="trafilatura")
    assert (await take_down_everywhere(database, parse_takedown("gone.example"))).documents == 1
    assert (await shelf.row(f"{FINE}/1"))["deleted_reason"] == "takedown"
    assert (await shelf.row(f"{FINE}/2"))["deleted_at"] is None
