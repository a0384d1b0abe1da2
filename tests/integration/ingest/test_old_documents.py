"""What goes with a document that is too old, and what stays because something else needs it."""

import asyncio
import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from tests.clocks import ManualClock
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import LONG, OTHER, Shelf, broken, key_of, page

from headwater.archive.documents import keep_document
from headwater.archive.forgetting import forget_old_versions
from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.archive.raw import RawBody
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.ingest.old_documents import remove_old_documents
from headwater.log import make_logger
from headwater.run.maintenance import ArchiveDays, Maintenance
from headwater.search.question import Filters
from headwater.search.search import search
from headwater.sources.kinds import ChannelKind
from headwater.sources.store import NewChannel, add_channel, channels_of, create_source, read_source
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import Voice
from headwater.vacancy import NewJob

PAGE, COPY, OPEN = "https://old.example/a", "https://copy.example/a", "https://old.example/job"
THIRD = " ".join(f"third{n}" for n in range(60))


def days_ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


@pytest.fixture
def past(database: Database) -> Shelf:
    """An archive 500 days ago."""
    return Shelf(database, ManualClock(days_ago(500)))


async def text_of(database: Database, url: str) -> str:
    text: str = await database.fetchval("select text from documents where url_hash = $1", key_of(url).url_hash)
    return text


async def test_an_old_document_goes_whole_and_sinks_are_told(past: Shelf, database: Database) -> None:
    await past.keep(PAGE, OTHER, title="First")
    await past.keep(PAGE, LONG, title="Second")
    async with database.transaction() as connection:
        # Read again lately, as it was.
        await keep_body(connection, RawBody(key_of(PAGE), uuid4(), PAGE, 200, {}, b"<p>"), days_ago(0))
        await connection.execute("insert into outlinks values ($1, $2, 'x')", *key_of(PAGE))
    assert await remove_old_documents(database, 400) == 1
    row = await past.row(PAGE)
    assert (row["deleted_reason"], row["title"], row["text"], row["search"]) == ("too_old", "", "", None)
    for table in ("document_versions", "outlinks", "raw_bodies"):
        assert await database.fetchval(f"select count(*) from {table}") == 0
    assert (await past.told())[-1] == (PAGE, 3, "delete")
    assert not (await search(database, "word1", Filters())).hits
    assert await remove_old_documents(database, 400) == 0
    assert await broken(database) == []


async def test_a_document_that_changed_lately_stays_with_its_past(past: Shelf, database: Database) -> None:
    await past.keep(PAGE, OTHER)
    past.wait(200 * 86_400)
    await past.keep(PAGE, LONG)
    assert await remove_old_documents(database, 400) == 0
    assert await text_of(database, PAGE) == LONG
    assert await database.fetchval("select count(*) from document_versions") == 1


async def test_nothing_is_ever_too_old_for_those_who_keep_for_ever(past: Shelf, database: Database) -> None:
    await past.keep(PAGE, OTHER)
    await past.keep(PAGE, LONG)
    assert await remove_old_documents(database, None) == 0
    assert await forget_old_versions(database, None) == 0
    assert await database.fetchval("select count(*) from outbox") == 2


async def test_a_page_that_was_removed_is_nothing_new_when_it_is_read_again_as_it_was(
    past: Shelf, database: Database
) -> None:
    await past.keep(PAGE)
    await remove_old_documents(database, 400)
    told = await past.told()
    past.clock.move(timedelta(days=499))
    await past.keep(PAGE, title="Another title")
    assert ((await past.row(PAGE))["deleted_reason"], await past.told()) == ("too_old", told)


async def test_a_page_that_was_removed_comes_back_with_another_text(past: Shelf, database: Database) -> None:
    await past.keep(PAGE)
    await remove_old_documents(database, 400)
    past.clock.move(timedelta(days=499))
    await past.keep(PAGE, OTHER)
    row = await past.row(PAGE)
    assert (row["text"], row["deleted_at"], row["is_emptied"], row["version"]) == (OTHER, None, False, 3)
    assert [op for _, _, op in await past.told()] == ["upsert", "delete", "upsert"]
    assert await database.fetchval("select count(*) from document_versions") == 0
    assert await remove_old_documents(database, 400) == 0


async def test_the_address_of_a_removed_document_is_not_queued_as_new(past: Shelf, database: Database) -> None:
    async with database.transaction() as connection:
        source = await create_source(connection, "Old", "https://old.example/")
        await submit(connection, Submitter(source, EntryOrigin.FEED), [FoundUrl(PAGE)])
    await database.execute("update url_frontier set status = 'fetched', last_fetched_at = now()")
    await past.keep(PAGE)
    await remove_old_documents(database, 400)
    async with database.transaction() as connection:
        await submit(connection, Submitter(source, EntryOrigin.FEED), [FoundUrl(PAGE)])
    assert [row["status"] for row in await database.fetch("select status from url_frontier")] == ["fetched"]


async def test_an_original_stays_while_a_younger_page_is_its_duplicate(past: Shelf, database: Database) -> None:
    await past.keep(PAGE)
    past.wait(200 * 86_400)
    await past.keep(COPY)
    assert (await past.row(COPY))["duplicate_of"] == key_of(PAGE).url_hash
    assert await remove_old_documents(database, 400) == 0
    assert await text_of(database, PAGE) == LONG
    # Once the copy is as old, both go, and no sink hears of the copy.
    assert await remove_old_documents(database, 200) == 1
    assert await remove_old_documents(database, 200) == 1
    assert await past.told() == [(PAGE, 1, "upsert"), (PAGE, 2, "delete")]
    assert await broken(database) == []


async def test_the_page_of_an_open_vacancy_stays(past: Shelf, database: Database) -> None:
    await past.keep(OPEN)
    job = NewJob(
        canonical_hash=b"1" * 32,
        title="Cook",
        org_name="Org",
        apply_url="https://elsewhere.example/",
        page_url=OPEN,
        is_detailed=True,
        document=key_of(OPEN),
    )
    async with database.transaction() as connection:
        teller = Teller(uuid4(), OPEN, Voice("old.example"), None, "https://old.example/")
        await keep_jobs(connection, teller, [job], await connection.fetchval("select clock_timestamp()"))
    assert await remove_old_documents(database, 400) == 0
    await database.execute("/* by hand */ update jobs set status = 'expired'")
    assert await remove_old_documents(database, 400) == 1


async def test_what_was_withdrawn_for_another_reason_keeps_that_and_loses_its_words(
    past: Shelf, database: Database
) -> None:
    await past.keep(PAGE)
    await past.tombstone(PAGE, "gone")
    told = await past.told()
    assert await remove_old_documents(database, 400) == 1
    row = await past.row(PAGE)
    assert (row["deleted_reason"], row["text"]) == ("gone", "")
    assert await past.told() == told
    # It is there again: that it was gone said nothing of its age.
    past.clock.move(timedelta(days=499))
    await past.keep(PAGE)
    assert await text_of(database, PAGE) == LONG


async def test_those_that_stay_do_not_hide_those_behind_them(past: Shelf, database: Database) -> None:
    for number in range(5):
        text = f"{LONG} {number}"
        await past.keep(f"https://old.example/{number}", text)
    past.wait(200 * 86_400)
    for number in range(3):
        await past.keep(f"https://copy.example/{number}", f"{LONG} {number}")
    assert await remove_old_documents(database, 400, batch=2) == 2


async def test_versions_go_by_the_day_they_were_replaced_in_batches(past: Shelf, database: Database) -> None:
    for text in (LONG, OTHER, THIRD, LONG, OTHER):
        await past.keep(PAGE, text)
    past.wait(400 * 86_400)
    await past.keep(PAGE, THIRD)
    await past.keep(PAGE, LONG)
    assert await forget_old_versions(database, 300, batch=2) == 4
    assert await database.fetchval("select count(*) from document_versions") == 2
    assert await text_of(database, PAGE) == LONG


async def test_the_chore_says_in_one_line_what_it_removed(past: Shelf, database: Database) -> None:
    for text in (LONG, OTHER):
        await past.keep(PAGE, text)
        await past.keep(COPY, f"{text} again")
    said = io.StringIO()
    kept = ArchiveDays(documents=400, versions=400)
    await maintained(database, said, archive_days=kept).once()
    lines = [json.loads(line) for line in said.getvalue().splitlines()]
    assert [(line["documents"], line["versions"]) for line in lines if line["event"] == "archive_aged"] == [(2, 0)]
    # What was told before is in the log; the removal is told in the next round.
    assert [op for _, _, op in await past.told()] == ["delete", "delete"]


async def test_what_is_told_of_the_last_run_of_a_channel_outlives_the_days_of_runs(database: Database) -> None:
    """Runs go by the day; what is told of the last one stands with its channel and its source."""
    async with database.transaction() as connection:
        source = await create_source(connection, "Old", "https://old.example/")
        feed = NewChannel(ChannelKind.FEED, canonicalise("https://old.example/feed"))
        channel = await add_channel(connection, source, feed)
    await database.execute("select ensure_days('runs', (now() at time zone 'utc')::date - 100, 1)")
    long_ago = days_ago(100)
    await database.execute(
        "insert into runs (at, id, source_id, channel_id, kind, trigger, status, duration_ms)"
        " values ($1, $2, $2, $3, 'feed', 'schedule', 'ok', 1)",
        *(long_ago, source, channel),
    )
    await database.execute("update channels set last_polled_at = $1, last_status = 200", long_ago)
    await database.execute("update sources set last_run_at = $1, last_run_status = 'ok'", long_ago)
    kept = maintained(database, io.StringIO())
    await replace(kept, history_days={"runs": 90, "fetch_log": 30}).once()
    assert await database.fetchval("select count(*) from runs") == 0
    told = await read_source(database, source)
    assert (told.last_run_at, told.last_run_status) == (long_ago, "ok")
    assert [one.last_polled_at for one in (await channels_of(database, [source]))[source]] == [long_ago]


def maintained(database: Database, said: io.StringIO, **more: Any) -> Maintenance:
    log = make_logger("info", "json", stream=said)
    return Maintenance(
        database, SystemClock(), random_from(1), log, timedelta(seconds=10), {"fetch_log": 30}, 60, 30, **more
    )


async def test_a_document_that_changes_in_the_moment_of_its_removal_stays(past: Shelf, database: Database) -> None:
    await past.keep(PAGE)
    async with database.transaction() as connection:
        await keep_document(connection, page(PAGE, OTHER), days_ago(0))
        removing = asyncio.create_task(remove_old_documents(database, 400))
        await until_somebody_waits(database)
    assert await removing == 0
    assert await text_of(database, PAGE) == OTHER


async def until_somebody_waits(database: Database) -> None:
    while not await database.fetchval(
        "select exists (select from pg_locks where not granted and locktype = 'advisory')"
    ):
        pass
