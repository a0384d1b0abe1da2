"""Pages of a source with `revisit_every` are fetched again by the clock: real journeys on the simulated web."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.integration.archive.shelf import key_of
from tests.integration.fetch.conftest import Path, SmallSite, opened_path

from headwater.archive.reads import read_document
from headwater.clock import SystemClock
from headwater.frontier.claim import Claimer
from headwater.frontier.explain import explain
from headwater.frontier.maintain import queue_revisits
from headwater.ingest.journey import Finished, Journey
from headwater.ingest.page_context import next_revisit
from headwater.run.extraction_pools import page_pool
from headwater.run.fetching import start_reading_pages
from headwater.simweb.message import Page
from headwater.sources.source import SourceStatus
from headwater.sources.store import edit_source, set_status
from headwater.supervisor import Supervisor
from headwater.urls.canonical import canonicalise

URL = "http://paper.test/story"
DAY, WEEK = timedelta(days=1), timedelta(days=7)


def story(closed_on: str) -> Page:
    text = "".join(
        f"<p>The council met on day {n}; the bridge is closed again on {closed_on}, it said.</p>" for n in range(12)
    )
    return Page(f"<html lang=en><title>The bridge</title><article>{text}</article>".encode())


@asynccontextmanager
async def paper(database_url: str, *times: timedelta) -> AsyncIterator[tuple[Path, SmallSite, Journey]]:
    site = SmallSite({"/story": story("Monday"), "/new": story("no day")})
    async with opened_path(database_url, {"paper.test": site}) as path:
        await edit(path, *times)
        token = path.web.identity.product_token
        async with page_pool(path.services) as pool, Supervisor(SystemClock(), path.services.log) as tasks:
            page_reader = start_reading_pages(tasks, path.services, token, pool)
            yield path, site, replace(path.journey(), page_reader=page_reader)


async def edit(path: Path, *times: timedelta) -> None:
    async with path.database.transaction() as connection:
        await edit_source(connection, path.source, {"revisit_every": times}, "test")


async def travel(path: Path, journey: Journey) -> Finished:
    await path.reopen()
    claimed = await Claimer(path.database, SystemClock(), "w", timedelta(seconds=60)).claim(1)
    await journey.page_reader.expect(claimed.leases)
    return await journey.travel(claimed.leases[0])


async def entry(path: Path, url: str = URL) -> Any:
    address = canonicalise(url)
    return await path.database.fetchrow(
        "select *, revisit_at - last_fetched_at as due_in from url_frontier where url_hash = $1", address.url_hash
    )


async def pass_time(path: Path, wait: timedelta) -> int:
    now: datetime = await path.database.fetchval("select clock_timestamp()")
    return await queue_revisits(path.database, now + wait)


async def test_an_unchanged_page_is_fetched_again_for_the_price_of_a_304(database_url: str) -> None:
    async with paper(database_url, WEEK) as (path, _site, journey):
        await path.queue(URL)
        await travel(path, journey)
        assert (await entry(path))["due_in"] == WEEK
        assert await pass_time(path, WEEK - timedelta(minutes=5)) == 0
        assert await pass_time(path, WEEK) == 1
        await path.database.execute("update url_frontier set next_fetch_at = now()")
        again = await travel(path, journey)
        assert again.visit.status == 304
        assert (await entry(path))["status"] == "fetched"
        assert (await entry(path))["due_in"] == WEEK
        assert await path.database.fetchval("select count(*) from document_versions") == 0


async def test_a_changed_page_gives_a_new_version(database_url: str) -> None:
    async with paper(database_url, DAY, WEEK) as (path, site, journey):
        await path.queue(URL)
        await travel(path, journey)
        assert (await entry(path))["due_in"] == DAY
        site.pages["/story"] = story("Friday")
        assert await pass_time(path, DAY) == 1
        await path.database.execute("update url_frontier set next_fetch_at = now()")
        again = await travel(path, journey)
        assert again.visit.status == 200
        document = await read_document(path.database, key_of(URL))
        assert document is not None
        assert "Friday" in document.text
        assert document.version == 2
        # The last of its times holds from the second visit on.
        assert (await entry(path))["due_in"] == WEEK


async def test_new_pages_come_before_revisits(database_url: str) -> None:
    async with paper(database_url, DAY) as (path, _site, journey):
        await path.queue(URL)
        await travel(path, journey)
        await pass_time(path, DAY)
        await path.database.execute("update url_frontier set next_fetch_at = now() - interval '1 hour'")
        await path.queue("http://paper.test/new")
        first = await travel(path, journey)
        assert first.lease.url.endswith("/new")
        assert (await entry(path))["priority"] == 1


async def test_a_page_that_is_gone_is_not_visited_any_more(database_url: str) -> None:
    async with paper(database_url, DAY) as (path, site, journey):
        await path.queue(URL)
        await travel(path, journey)
        site.pages["/story"] = Page(b"<p>gone", status=410)
        await pass_time(path, DAY)
        await path.database.execute("update url_frontier set next_fetch_at = now()")
        await travel(path, journey)
        assert (await entry(path))["status"] == "dead"
        assert (await entry(path))["revisit_at"] is None
        assert await pass_time(path, 100 * DAY) == 0


async def test_an_edit_plans_the_visits_of_pages_that_were_fetched_before(database_url: str) -> None:
    async with paper(database_url) as (path, _site, journey):
        await path.queue(URL)
        await travel(path, journey)
        assert (await entry(path))["revisit_at"] is None
        await edit(path, DAY, WEEK)
        assert (await entry(path))["due_in"] == DAY
        told = await explain(path.database, canonicalise(URL))
        assert told.why == "it is fetched again by the clock of its source"
        assert told.next_at == (await entry(path))["revisit_at"]
        await edit(path)
        assert (await entry(path))["revisit_at"] is None


async def test_pages_of_a_removed_source_are_not_visited_again(database_url: str) -> None:
    async with paper(database_url, DAY) as (path, _site, journey):
        await path.queue(URL)
        await travel(path, journey)
        async with path.database.transaction() as connection:
            await set_status(connection, path.source, SourceStatus.DELETED, None, "test")
        assert await pass_time(path, DAY) == 0
        assert (await entry(path))["status"] == "fetched"
        assert (await entry(path))["revisit_at"] is None


async def test_a_long_queue_of_revisits_is_taken_in_pieces(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.frontier.maintain.BATCH", 2)
    monkeypatch.setattr("headwater.frontier.maintain.MOST_BATCHES", 2)
    async with opened_path(database_url, {}) as path:
        await path.queue(*(f"http://paper.test/{n}" for n in range(5)))
        await path.database.execute("update url_frontier set status = 'fetched', revisit_at = now() - interval '1 s'")
        assert await queue_revisits(path.database) == 4
        assert await queue_revisits(path.database) == 1


@pytest.mark.parametrize(
    ("times", "fetched_before", "expected"),
    [((), 0, None), ((WEEK,), 0, WEEK), ((WEEK,), 9, WEEK), ((DAY, WEEK), 0, DAY), ((DAY, WEEK), 1, WEEK)],
)
def test_the_times_are_taken_one_after_the_other(
    times: tuple[timedelta, ...], fetched_before: int, expected: timedelta | None
) -> None:
    assert next_revisit(times, fetched_before) == expected
