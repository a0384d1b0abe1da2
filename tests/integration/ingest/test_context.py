"""What is known of a claim's pages is asked for at once, and what of it was not asked then is asked later."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from headwater.archive.raw import KeptBody, RawBody
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.entry import Lease
from headwater.ingest.page_context import Context
from headwater.ingest.stored_pages import lease_of
from headwater.learning.template_cache import TemplateCache
from headwater.sources.kinds import ChannelKind
from headwater.sources.store import NewChannel, add_channel, create_source
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

NOW = datetime(2026, 3, 2, tzinfo=UTC)
URLS = [f"http://host-{n % 2}.test/story-{n}" for n in range(4)]


def context_on(database: Database) -> Context:
    return Context(database, SystemClock(), TemplateCache(SystemClock(), random_from(1)))


def lease_on(url: str, source: UUID) -> Lease:
    address = canonicalise(url)
    raw = RawBody(DocumentKey(address.bucket, address.url_hash), source, url, 200, {}, b"")
    return replace(lease_of(KeptBody(NOW, raw)), token=uuid4())


@pytest.fixture
async def leases(database: Database) -> list[Lease]:
    """Of a source whose feed listed all of them."""
    async with database.transaction() as connection:
        source = await create_source(connection, "A", "http://host-0.test/")
        feed = NewChannel(ChannelKind.FEED, canonicalise("http://host-0.test/feed"))
        channel = await add_channel(connection, source, feed)
        await connection.execute("update channels set domains = '{host-0.test, host-1.test}'")
        for url in URLS:
            address = canonicalise(url)
            await connection.execute(
                "insert into channel_items"
                " (channel_id, url_hash, bucket, signature, title, first_seen_at, last_seen_at)"
                " values ($1, $2, $3, $4, $5, $6, $6)",
                *(channel, address.url_hash, address.bucket, b"x" * 16, f"Title of {url}", NOW),
            )
    return [lease_on(url, source) for url in URLS]


async def titles(context: Context, leases: list[Lease]) -> list[str]:
    return [(await context.context_of(lease)).hints.title for lease in leases]


async def test_each_page_of_a_claim_is_known_by_its_own_words(database: Database, leases: list[Lease]) -> None:
    context = context_on(database)
    await context.expect(leases)
    # Nothing more is asked of the database.
    await database.execute("delete from channel_items")
    assert await titles(context, list(reversed(leases))) == [f"Title of {url}" for url in reversed(URLS)]
    # Once: a page that is read again is looked up again.
    assert await titles(context, leases) == [""] * len(URLS)


async def test_what_was_not_expected_is_looked_up_when_it_is_read(database: Database, leases: list[Lease]) -> None:
    context = context_on(database)
    assert await titles(context, leases) == [f"Title of {url}" for url in URLS]


async def test_what_was_not_fetched_is_forgotten(database: Database, leases: list[Lease]) -> None:
    context = context_on(database)
    await context.expect(leases)
    for lease in leases:
        context.forget(lease)
    assert context._expected == {}
    await database.execute("delete from channel_items")
    assert await titles(context, leases) == [""] * len(URLS)
