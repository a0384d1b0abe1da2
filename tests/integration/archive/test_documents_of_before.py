"""Documents that an older Headwater stored under the address another page called canonical."""

from collections.abc import AsyncIterator

import pytest
from tests.integration.archive.shelf import LONG, OTHER, Shelf, broken, key_of

from headwater.archive.document import Duplicate, Stored, Unchanged
from headwater.database.migrate import known_migrations, migrate
from headwater.database.pool import Database

CLAIMS = 14
AMP, STORY = "https://a.example/amp/1", "https://a.example/1"
# As it was stored from the first of the two pages.
DOCUMENT = """
    INSERT INTO documents (bucket, url_hash, source_id, url, canonical_url, title, text, summary, author, language,
                           section, keywords, images, word_count, page_type, quality_parts, content_hash, produced_by,
                           metadata, version, crawled_at, first_seen_at, changed_at, search, page_bucket, page_hash)
    VALUES ($1, $2, gen_random_uuid(), $3, $4, 'A title', $5, '', '', 'en', '', '{}', '{}', 60, '', '{}',
            sha256(convert_to($5, 'utf8')), '', '{}', 1, now(), now(), now(), '', $6, $7)"""
TOLD = """
    INSERT INTO outbox (kind, bucket, hash, version, op, at) VALUES ('document', $1, $2, 1, 'upsert', now())"""
ENTRY = """
    INSERT INTO url_frontier (bucket, url_hash, host, url, source_id, origin, priority, status, etag, content_hash)
    VALUES ($1, $2, 'a.example', $3, gen_random_uuid(), 'feed', 5, 'fetched', '"1"', sha256('page'))"""


@pytest.fixture
async def before(empty_database_url: str) -> AsyncIterator[Shelf]:
    async with await Database.connect(empty_database_url, size=5) as database:
        await migrate(database, target=max(one.number for one in known_migrations() if one.number < CLAIMS))
        await database.execute(DOCUMENT, *key_of(STORY), AMP, STORY, OTHER, *key_of(AMP))
        await database.execute(TOLD, *key_of(STORY))
        for url in (AMP, STORY):
            await database.execute(ENTRY, *key_of(url), url)
        await migrate(database)
        yield Shelf(database)
        assert await broken(database) == []


async def entry(shelf: Shelf, url: str) -> tuple[bool, bool]:
    """Whether it is to be fetched again, and whether in full."""
    row = await shelf.database.fetchrow(
        "SELECT revisit_at IS NOT NULL, etag IS NULL AND content_hash IS NULL FROM url_frontier WHERE url = $1", url
    )
    assert row is not None
    return tuple(row)


async def test_its_own_page_is_asked_for_again_in_full(before: Shelf) -> None:
    assert await entry(before, STORY) == (True, True)
    assert await entry(before, AMP) == (False, False)


async def test_it_gives_way_to_its_own_page(before: Shelf) -> None:
    assert await before.keep(STORY, LONG) == Stored(2, is_new=False)
    row = await before.row(STORY)
    assert (row["url"], row["canonical_url"], row["text"]) == (STORY, STORY, LONG)


async def test_its_own_page_that_says_the_same_speaks_for_it(before: Shelf) -> None:
    source = (await before.row(STORY))["source_id"]
    assert await before.keep(STORY, OTHER, source_id=source) == Unchanged(1)


async def test_the_page_it_was_read_from_is_one_of_its_own_by_now(before: Shelf) -> None:
    assert await before.keep(AMP, OTHER, claims=STORY) == Duplicate(1, key_of(STORY))
    await before.keep(STORY, LONG)
    assert await before.keep(AMP, f"{OTHER} anew", claims=STORY) == Stored(3, is_new=False)


async def test_the_page_it_was_read_from_does_not_withdraw_it(before: Shelf) -> None:
    await before.database.execute("SELECT withdraw_page($1, $2, 'gone', now())", *key_of(AMP))
    assert (await before.row(STORY))["deleted_at"] is None
