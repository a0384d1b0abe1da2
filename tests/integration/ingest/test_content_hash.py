"""The content hash of an entry is that of the text extracted from its page; the same bytes are not read twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from tests.integration.fetch.conftest import Path, SmallSite, opened_path
from tests.integration.ingest.press import reading_pool

from headwater.clock import SystemClock
from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, SubmitOutcome, Submitter, submit
from headwater.frontier.verdicts import Fetched, Unchanged, Verdict
from headwater.run.fetching import journey_of, start_reading_pages
from headwater.simweb.message import Page
from headwater.sources.store import create_source
from headwater.supervisor import Supervisor

URL = "http://a.test/news/the-harbour-opens-again"
TEXT = " ".join(f"Sentence number {n} tells what happened at the harbour on that long morning." for n in range(30))
OTHER = TEXT.replace("harbour", "station")


def article(text: str, advertisement: str = "") -> Page:
    body = f"<article><h1>The harbour opens again</h1><p>{text}</p></article><aside>{advertisement}</aside>"
    return Page(f"<html><head><title>The harbour</title></head><body>{body}</body></html>".encode())


@dataclass
class Reading:
    path: Path
    site: SmallSite
    pool: ExtractionPool

    async def fetch(self, page: Page) -> Verdict | None:
        self.site.pages["/news/the-harbour-opens-again"] = page
        # Without validators: the server sends it whole, as many do.
        due = "status = 'pending', next_fetch_at = now(), etag = null, last_modified = null"
        await self.path.database.execute(f"update url_frontier set {due} where status = 'fetched'")
        await self.path.reopen()
        claimed = await Claimer(self.path.database, SystemClock(), "w", timedelta(seconds=60)).claim(1)
        async with Supervisor(SystemClock(), self.path.services.log) as tasks:
            page_reader = start_reading_pages(tasks, self.path.services, "Headwater", self.pool)
            journey = replace(journey_of(self.path.services, self.path.web, page_reader), rendering=None)
            return (await journey.travel(claimed.leases[0])).verdict

    async def entry(self) -> Any:
        return await self.path.database.fetchrow("select content_hash, status, fetch_count from url_frontier")

    async def document_hash(self) -> bytes:
        found: bytes = await self.path.database.fetchval("select content_hash from documents")
        return found


@asynccontextmanager
async def reading_on(database_url: str) -> AsyncIterator[Reading]:
    site = SmallSite({})
    async with reading_pool() as pool, opened_path(database_url, {"a.test": site}) as path:
        await path.queue(URL)
        yield Reading(path, site, pool)


@pytest.fixture
async def reading(database_url: str) -> AsyncIterator[Reading]:
    async with reading_on(database_url) as opened:
        yield opened


async def test_the_hash_of_an_entry_is_that_of_its_text(reading: Reading) -> None:
    assert isinstance(await reading.fetch(article(TEXT)), Fetched)
    first = (await reading.entry())["content_hash"]
    assert first == await reading.document_hash()
    assert isinstance(await reading.fetch(article(TEXT, "Buy a boat")), Fetched)
    assert (await reading.entry())["content_hash"] == first
    assert isinstance(await reading.fetch(article(OTHER)), Fetched)
    assert (await reading.entry())["content_hash"] == await reading.document_hash() != first


async def test_the_same_bytes_are_not_read_again(reading: Reading) -> None:
    await reading.fetch(article(TEXT))
    before = await reading.entry()
    assert isinstance(await reading.fetch(article(TEXT)), Unchanged)
    assert (await reading.entry())["content_hash"] == before["content_hash"]
    assert await reading.path.database.fetchval("select count(*) from raw_bodies") == 1


async def test_the_same_bytes_are_read_again_for_another_source_and_after_a_failure(reading: Reading) -> None:
    await reading.fetch(article(TEXT))
    await reading.path.database.execute("update url_frontier set content_hash = null")
    assert isinstance(await reading.fetch(article(TEXT)), Fetched)
    await reading.path.database.execute("update url_frontier set retry_count = 1")
    assert isinstance(await reading.fetch(article(TEXT)), Fetched)


async def test_the_document_of_a_removed_source_belongs_to_the_source_that_is_added_again(reading: Reading) -> None:
    database = reading.path.database
    await reading.fetch(article(TEXT))
    await database.execute("update sources set status = 'deleted'")
    async with database.transaction() as connection:
        again = await create_source(connection, "Again", "http://a.test/again")
        assert [
            one.outcome for one in await submit(connection, Submitter(again, EntryOrigin.FEED), [FoundUrl(URL)])
        ] == [SubmitOutcome.TAKEN_OVER]
    assert isinstance(await reading.fetch(article(TEXT)), Fetched)
    [document] = await database.fetch("select source_id, version from documents")
    assert tuple(document) == (again, 2)
    told = await database.fetch("select version, op from outbox where kind = 'document' order by seq")
    assert [tuple(row) for row in told] == [(1, "upsert"), (2, "upsert")]


async def test_the_same_length_is_not_the_same_page(reading: Reading) -> None:
    await reading.fetch(article(TEXT))
    first = (await reading.entry())["content_hash"]
    assert isinstance(await reading.fetch(article(TEXT.replace("morning", "evening"))), Fetched)
    assert (await reading.entry())["content_hash"] != first


async def test_a_page_is_read_again_once_its_body_was_dropped(reading: Reading) -> None:
    await reading.fetch(article(TEXT))
    await reading.path.database.execute("delete from raw_bodies")
    assert isinstance(await reading.fetch(article(TEXT)), Fetched)
    assert await reading.path.database.fetchval("select max(version) from documents") == 1
