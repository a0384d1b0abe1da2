"""What a feed brought whole is kept when its page is refused: a real journey, with real children."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.integration.archive.shelf import key_of
from tests.integration.fetch.conftest import Path, SmallSite, opened_path, robots

from headwater.archive.reads import read_document
from headwater.clock import SystemClock
from headwater.frontier.claim import Claimer
from headwater.ingest.journey import Finished
from headwater.run.extraction_pools import page_pool
from headwater.run.fetching import start_reading_pages
from headwater.simweb.message import Page
from headwater.sources.kinds import ChannelKind
from headwater.sources.store import NewChannel, add_channel
from headwater.supervisor import Supervisor
from headwater.urls.canonical import canonicalise

URL = "http://paper.test/story"
FEED = canonicalise("http://paper.test/feed")
STORY = "".join(f"<p>The council met on day {n} and said that the bridge would be closed again.</p>" for n in range(12))
CHALLENGE = Page(b"<title>Just a moment...</title><form id=challenge-form></form>", "text/html")


@asynccontextmanager
async def refusing(database_url: str, pages: Mapping[str, Page]) -> AsyncIterator[Path]:
    async with opened_path(database_url, {"paper.test": SmallSite(pages)}) as path:
        yield path


async def tell_in_feed(path: Path, content: str, told_from: str = "paper.test") -> None:
    address = canonicalise(URL)
    async with path.database.transaction() as connection:
        channel = await add_channel(connection, path.source, NewChannel(ChannelKind.FEED, FEED))
        await connection.execute("update channels set domains = $1", [told_from])
        await connection.execute(
            "insert into channel_items"
            " (channel_id, url_hash, bucket, signature, title, content, language, published_at)"
            " values ($1, $2, $3, 'x', 'The bridge', $4, 'en', '2026-05-04 08:00Z')",
            channel,
            address.url_hash,
            address.bucket,
            content,
        )


async def travel(path: Path) -> Finished:
    await path.queue(URL)
    token = path.web.identity.product_token
    async with page_pool(path.services) as pool, Supervisor(SystemClock(), path.services.log) as tasks:
        page_reader = start_reading_pages(tasks, path.services, token, pool)
        claimed = await Claimer(path.database, SystemClock(), "w", timedelta(seconds=60)).claim(1)
        return await replace(path.journey(), page_reader=page_reader).travel(claimed.leases[0])


REFUSALS = {
    "forbidden": {"/story": Page(b"<p>no", "text/html", status=403)},
    "robots": {"/robots.txt": robots("User-agent: *\nDisallow: /story"), "/story": Page(b"<p>no", "text/html")},
    "challenge": {"/story": CHALLENGE},
}
STATUSES = {"forbidden": "failed", "robots": "dead", "challenge": "fetched"}
# A challenge is a page, in which the feed's text was found to be the fuller one.
MARKS = {"forbidden": "feed_only", "robots": "feed_only", "challenge": "feed"}


@pytest.mark.parametrize("how", sorted(REFUSALS))
async def test_a_refused_page_leaves_the_text_of_its_feed(how: str, database_url: str) -> None:
    async with refusing(database_url, REFUSALS[how]) as path:
        await tell_in_feed(path, STORY)
        await travel(path)
        found = await read_document(path.database, key_of(URL))
        assert found is not None
        assert (found.title, found.produced_by, found.language) == ("The bridge", MARKS[how], "en")
        assert found.text.count("the bridge would be closed") == 12
        assert found.published_at is not None
        assert await path.database.fetchval("select status from url_frontier") == STATUSES[how]


@pytest.mark.parametrize("how", sorted(REFUSALS))
async def test_a_summary_is_no_document(how: str, database_url: str) -> None:
    async with refusing(database_url, REFUSALS[how]) as path:
        await tell_in_feed(path, "<p>The council met.</p>")
        await travel(path)
        assert await read_document(path.database, key_of(URL)) is None


@pytest.mark.parametrize("how", sorted(REFUSALS))
async def test_a_stranger_s_feed_makes_no_document_of_a_refused_page(how: str, database_url: str) -> None:
    async with refusing(database_url, REFUSALS[how]) as path:
        await tell_in_feed(path, STORY, told_from="mallory.test")
        await travel(path)
        assert await read_document(path.database, key_of(URL)) is None


async def test_a_feed_that_a_person_trusts_speaks_for_a_refused_page(database_url: str) -> None:
    async with refusing(database_url, REFUSALS["forbidden"]) as path:
        await tell_in_feed(path, STORY, told_from="feedburner.test")
        await path.database.execute("update sources set speaks_for = '{paper.test}'")
        await travel(path)
        found = await read_document(path.database, key_of(URL))
        assert found is not None
        assert found.produced_by == "feed_only"


async def test_the_text_of_a_feed_goes_along_where_its_page_is_redirected(database_url: str) -> None:
    pages = {
        "/story": Page(b"", "text/html", status=302, headers=(("Location", "/2026/story"),)),
        "/2026/story": Page(b"<p>no", "text/html", status=403),
    }
    async with refusing(database_url, pages) as path:
        await tell_in_feed(path, STORY)
        await travel(path)
        await path.reopen()
        await travel(path)
        found = await read_document(path.database, key_of("http://paper.test/2026/story"))
        assert found is not None
        assert (found.title, found.produced_by) == ("The bridge", "feed_only")


async def test_a_page_that_is_gone_leaves_nothing(database_url: str) -> None:
    async with refusing(database_url, {"/story": Page(b"", "text/html", status=410)}) as path:
        await tell_in_feed(path, STORY)
        await travel(path)
        assert await read_document(path.database, key_of(URL)) is None
