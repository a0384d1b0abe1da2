"""Which of several documents with one text is the original: the page that told the story first, as far as we saw."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from tests.integration.archive.shelf import LONG, OTHER, SHORT, SOURCE, Shelf, key_of

from headwater.archive.documents import Duplicate, Stored
from headwater.urls.canonical import canonicalise

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"
STORY, EDITED, UNLIKE = 0xF0F0_1234_5678_9ABC, 0xF0F0_1234_5678_0000, 0x0F0F_EDCB_A987_6543
EDITED_TEXT = f"{LONG} and what became of it"


async def found(shelf: Shelf, url: str, at: datetime) -> None:
    await shelf.database.execute(
        "INSERT INTO url_frontier (bucket, url_hash, host, url, source_id, origin, priority, discovered_at)"
        " VALUES ($1, $2, $3, $4, $5, 'feed', 5, $6)",
        *key_of(url),
        canonicalise(url).host,
        url,
        SOURCE,
        at,
    )


async def delivered(shelf: Shelf) -> list[str]:
    rows = await shelf.database.fetch(
        "SELECT url FROM documents WHERE duplicate_of IS NULL AND deleted_at IS NULL ORDER BY url"
    )
    return [row["url"] for row in rows]


@pytest.mark.parametrize("simhash", [EDITED, None], ids=["alike", "not compared"])
async def test_a_copy_published_before_the_original_is_fetched_again_stays_a_copy(
    shelf: Shelf, simhash: int | None
) -> None:
    await shelf.keep(A, LONG, simhash=STORY)
    shelf.wait(7200)
    await shelf.keep(B, EDITED_TEXT, simhash=simhash)
    shelf.wait(7200)
    assert await shelf.keep(A, EDITED_TEXT, simhash=simhash) == Stored(2, is_new=False)
    assert await shelf.told() == [(A, 1, "upsert"), (B, 1, "upsert"), (A, 2, "upsert"), (B, 2, "delete")]
    assert (await shelf.row(B))["duplicate_of"] == key_of(A).url_hash


async def test_copies_of_a_copy_are_the_originals_when_it_comes(shelf: Shelf) -> None:
    await shelf.keep(A, LONG, simhash=STORY)
    shelf.wait(7200)
    for url in (B, C):
        await shelf.keep(url, EDITED_TEXT, simhash=EDITED)
    await shelf.keep(A, EDITED_TEXT, simhash=EDITED)
    assert {(await shelf.row(url))["duplicate_of"] for url in (B, C)} == {key_of(A).url_hash}


async def test_a_page_that_was_found_first_is_the_original_although_its_copy_was_fetched_first(shelf: Shelf) -> None:
    await found(shelf, A, shelf.now - timedelta(hours=5))
    await found(shelf, B, shelf.now - timedelta(hours=2))
    await shelf.keep(B)
    assert await shelf.keep(A) == Stored(1, is_new=True)
    assert await delivered(shelf) == [A]


async def test_an_old_address_that_is_filled_with_a_copy_is_not_older_than_the_story(shelf: Shelf) -> None:
    await shelf.keep(B, OTHER, simhash=UNLIKE)
    await shelf.keep(C, SHORT)
    shelf.wait(7200)
    await shelf.keep(A, LONG, simhash=STORY)
    shelf.wait(7200)
    assert await shelf.keep(B, LONG, simhash=STORY) == Duplicate(2, key_of(A))
    assert await shelf.keep(C, LONG, simhash=STORY) == Duplicate(2, key_of(A))
    assert await delivered(shelf) == [A]


async def test_an_old_address_does_not_come_to_a_copy_step_by_step(shelf: Shelf) -> None:
    await shelf.keep(B, OTHER, simhash=UNLIKE)
    shelf.wait(7200)
    await shelf.keep(A, LONG, simhash=STORY)
    # Each step keeps three quarters of the likeness of the one before.
    for step in range(1, 5):
        shelf.wait(7200)
        bits = (1 << 16 * step) - 1
        await shelf.keep(B, LONG if step == 4 else f"{OTHER} {step}", simhash=UNLIKE & ~bits | STORY & bits)
    assert await delivered(shelf) == [A]


@pytest.mark.parametrize(
    ("apart", "original"),
    [(timedelta(minutes=59), B), (timedelta(hours=1), A)],
    ids=["within an hour dates decide", "later they do not"],
)
async def test_a_date_of_publication_only_breaks_ties(shelf: Shelf, apart: timedelta, original: str) -> None:
    begin = shelf.now - timedelta(days=1)
    await found(shelf, A, begin)
    await found(shelf, B, begin + apart)
    await shelf.keep(A, published_at=begin)
    await shelf.keep(B, published_at=begin - timedelta(days=100))
    assert await delivered(shelf) == [original]


async def test_the_successor_is_who_told_first(shelf: Shelf) -> None:
    for hours, url in ((9, A), (1, B), (5, C)):
        await found(shelf, url, shelf.now - timedelta(hours=hours))
    for url in (A, B, C):
        await shelf.keep(url)
    await shelf.tombstone(A)
    assert await delivered(shelf) == [C]


async def test_the_younger_of_two_that_are_nearly_the_same_names_the_older(shelf: Shelf) -> None:
    await found(shelf, A, shelf.now - timedelta(hours=5))
    await found(shelf, B, shelf.now - timedelta(hours=2))
    assert await shelf.keep(B, OTHER, simhash=STORY) == Stored(1, is_new=True)
    assert await shelf.keep(A, LONG, simhash=STORY ^ 1) == Stored(1, is_new=True)
    assert await shelf.keep(B, OTHER, simhash=STORY, title="Again") == Stored(2, is_new=False, near=key_of(A))


async def test_another_owner_of_the_same_page_is_written_and_told(shelf: Shelf) -> None:
    await shelf.keep(A)
    owner = UUID(int=7)
    assert await shelf.keep(A, source_id=owner) == Stored(2, is_new=False)
    assert (await shelf.row(A))["source_id"] == owner
    assert (await shelf.told())[-1] == (A, 2, "upsert")
