from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from tests.integration.archive.shelf import LONG, OTHER, SHORT, Shelf, everything, key_of, page

from headwater.archive.documents import TRACKED, Duplicate, Stored, UnchangedDocument, keep_document
from headwater.archive.reads import read_document, versions_of
from headwater.errors import UsageError
from headwater.rights.record import Convention, PageUse, StatedIn, rights_as_dict, rights_from, statement

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"
RIGHTS = rights_from([statement(Convention.TDMREP, StatedIn.HEADER, "tdm-reservation: 1", refused=[PageUse.TDM])])


async def test_a_new_page_is_stored_and_told(shelf: Shelf) -> None:
    assert await shelf.keep(A) == Stored(1, is_new=True)
    assert await shelf.told() == [(A, 1, "upsert")]


async def test_everything_a_page_says_comes_back(shelf: Shelf) -> None:
    published = datetime(2026, 5, 1, 12, tzinfo=UTC)
    said = page(
        A,
        summary="In short",
        author="Ann",
        published_at=published,
        updated_at=published,
        section="World",
        keywords=("one", "two"),
        images=("https://a.example/i.png",),
        page_type="article",
        quality=80,
        quality_parts={"length": 25},
        simhash=2**64 - 1,
        produced_by="template",
        metadata={"og_type": "article", "json_ld_data": {"jsonld_keywords": ["x"]}},
        rights=RIGHTS,
    )
    async with shelf.database.transaction() as connection:
        await keep_document(connection, said, shelf.now)
    kept = await read_document(shelf.database, said.key)
    assert kept is not None
    assert kept.rights == rights_as_dict(RIGHTS.marks, RIGHTS.said)
    for name in type(said).__dataclass_fields__:
        if name not in ("bucket", "url_hash", "claimed", "rights", "blocks"):
            wanted = getattr(said, name)
            assert getattr(kept, name) == (list(wanted) if isinstance(wanted, tuple) else wanted), name
    assert (kept.version, kept.first_seen_at, kept.crawled_at) == (1, shelf.now, shelf.now)


async def test_a_fetch_that_changes_nothing_writes_nothing(shelf: Shelf) -> None:
    await shelf.keep(A)
    before = await everything(shelf.database)
    assert await shelf.keep(A) == UnchangedDocument(1)
    assert await everything(shelf.database) == before


async def test_what_pages_shuffle_at_every_visit_is_no_change(shelf: Shelf) -> None:
    await shelf.keep(A)
    cdn = ("https://cdn.example/?sig=7",)
    assert await shelf.keep(A, metadata={"nonce": "7"}, images=cdn, updated_at=shelf.now) == UnchangedDocument(1)


async def test_a_changed_text_is_a_new_version_and_the_old_one_stays_readable(shelf: Shelf) -> None:
    await shelf.keep(A)
    assert await shelf.keep(A, OTHER) == Stored(2, is_new=False)
    assert await shelf.told() == [(A, 1, "upsert"), (A, 2, "upsert")]
    now, before = await versions_of(shelf.database, key_of(A))
    assert (now.version, now.text, now.replaced_at) == (2, OTHER, None)
    assert (before.version, before.text, before.replaced_at) == (1, LONG, shelf.now)


async def test_a_changed_title_is_a_change(shelf: Shelf) -> None:
    await shelf.keep(A)
    assert await shelf.keep(A, title="Another") == Stored(2, is_new=False)
    assert len(await versions_of(shelf.database, key_of(A))) == 2


async def test_another_word_on_use_is_a_change(shelf: Shelf) -> None:
    await shelf.keep(A)
    told = await shelf.keep(A, rights=RIGHTS)
    assert isinstance(told, Stored)
    assert told.version == 2
    assert isinstance(await shelf.keep(A, rights=RIGHTS), UnchangedDocument)


@pytest.mark.parametrize("name", TRACKED)
async def test_everything_a_reader_would_call_a_change_makes_a_new_version(shelf: Shelf, name: str) -> None:
    values: dict[str, Any] = {"published_at": shelf.now, "keywords": ("new",), "source_id": UUID(int=1)}
    changed = {"claims": B} if name == "claimed_url" else {name: values.get(name, "new")}
    await shelf.keep(A)
    assert await shelf.keep(A, LONG, **changed) == Stored(2, is_new=False)
    assert await shelf.keep(A, LONG, **changed) == UnchangedDocument(2)


async def test_a_failed_transaction_leaves_nothing(shelf: Shelf) -> None:
    async def store_and_fail() -> None:
        async with shelf.database.transaction() as connection:
            await keep_document(connection, page(A), shelf.now)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store_and_fail()
    assert await read_document(shelf.database, key_of(A)) is None
    assert await shelf.told() == []


async def test_a_copy_is_kept_and_not_delivered(shelf: Shelf) -> None:
    await shelf.keep(A)
    assert await shelf.keep(B) == Duplicate(1, key_of(A))
    assert await shelf.told() == [(A, 1, "upsert")]
    assert (await shelf.row(B))["text"] == LONG


async def test_a_copy_seen_again_is_unchanged(shelf: Shelf) -> None:
    await shelf.keep(A)
    await shelf.keep(B)
    assert await shelf.keep(B) == UnchangedDocument(1)


@pytest.mark.parametrize("text", ["", SHORT, " ".join(["word"] * 49)])
async def test_short_texts_are_never_copies(shelf: Shelf, text: str) -> None:
    await shelf.keep(A, text)
    assert await shelf.keep(B, text) == Stored(1, is_new=True)


async def test_a_text_of_fifty_words_may_be_a_copy(shelf: Shelf) -> None:
    text = " ".join(["word"] * 50)
    await shelf.keep(A, text)
    assert await shelf.keep(B, text) == Duplicate(1, key_of(A))


async def test_a_delivered_page_that_becomes_a_copy_leaves_the_sinks(shelf: Shelf) -> None:
    await shelf.keep(A)
    await shelf.keep(B, OTHER)
    assert await shelf.keep(B, LONG) == Duplicate(2, key_of(A))
    assert await shelf.told() == [(A, 1, "upsert"), (B, 1, "upsert"), (B, 2, "delete")]


async def test_a_copy_that_says_something_of_its_own_is_delivered(shelf: Shelf) -> None:
    await shelf.keep(A)
    await shelf.keep(B)
    assert await shelf.keep(B, OTHER) == Stored(2, is_new=False)
    assert (await shelf.told())[-1] == (B, 2, "upsert")


async def test_a_tombstone_takes_a_document_from_sinks_and_keeps_its_past(shelf: Shelf) -> None:
    await shelf.keep(A)
    await shelf.keep(A, OTHER)
    assert await shelf.tombstone(A, "gone\0")
    assert await shelf.told() == [(A, 1, "upsert"), (A, 2, "upsert"), (A, 3, "delete")]
    row = await shelf.row(A)
    assert (row["deleted_at"], row["deleted_reason"], row["search"]) == (shelf.now, "gone\ufffd", None)
    assert [one.text for one in await versions_of(shelf.database, key_of(A))] == [OTHER, LONG]


async def test_what_is_not_there_cannot_be_deleted(shelf: Shelf) -> None:
    assert not await shelf.tombstone(A)
    await shelf.keep(A)
    assert await shelf.tombstone(A)
    before = await everything(shelf.database)
    assert not await shelf.tombstone(A)
    assert await everything(shelf.database) == before


async def test_a_deleted_document_that_is_back_lives_again(shelf: Shelf) -> None:
    await shelf.keep(A)
    await shelf.tombstone(A)
    assert await shelf.keep(A) == Stored(3, is_new=False)
    assert [told[1:] for told in await shelf.told()] == [(1, "upsert"), (2, "delete"), (3, "upsert")]
    assert (await shelf.row(A))["deleted_at"] is None


async def test_the_oldest_copy_takes_the_place_of_a_deleted_original(shelf: Shelf) -> None:
    for url in (A, B, C):
        await shelf.keep(url)
    await shelf.tombstone(A)
    assert await shelf.told() == [(A, 1, "upsert"), (A, 2, "delete"), (B, 2, "upsert")]
    assert (await shelf.row(C))["duplicate_of"] == key_of(B).url_hash


async def test_a_deleted_original_that_is_back_is_the_original_again(shelf: Shelf) -> None:
    for url in (A, B, C):
        await shelf.keep(url)
    await shelf.tombstone(A)
    assert await shelf.keep(A) == Stored(3, is_new=False)
    assert (await shelf.told())[-2:] == [(A, 3, "upsert"), (B, 3, "delete")]
    assert {(await shelf.row(url))["duplicate_of"] for url in (B, C)} == {key_of(A).url_hash}


async def test_the_oldest_copy_takes_the_place_of_an_original_that_says_something_else(shelf: Shelf) -> None:
    for url in (A, B, C):
        await shelf.keep(url)
    assert await shelf.keep(A, OTHER) == Stored(2, is_new=False)
    assert await shelf.told() == [(A, 1, "upsert"), (B, 2, "upsert"), (A, 2, "upsert")]
    assert (await shelf.row(C))["duplicate_of"] == key_of(B).url_hash


async def test_a_deleted_copy_is_nobodys_successor(shelf: Shelf) -> None:
    for url in (A, B, C):
        await shelf.keep(url)
    await shelf.tombstone(B)
    await shelf.tombstone(A)
    assert (await shelf.told())[-1] == (C, 2, "upsert")


@pytest.mark.parametrize(("bits", "is_near"), [(0b0111, True), (1 | 1 << 20 | 1 << 63, True), (0b1111, False)])
async def test_up_to_three_bits_are_nearly_the_same(shelf: Shelf, bits: int, is_near: bool) -> None:
    likeness = 0xF0F0_1234_5678_9ABC
    await shelf.keep(A, LONG, simhash=likeness)
    told = await shelf.keep(B, OTHER, simhash=likeness ^ bits)
    assert told == Stored(1, is_new=True, near=key_of(A) if is_near else None)
    assert len(await shelf.told()) == 2
    assert (await shelf.row(B))["near_duplicate_of"] == (key_of(A).url_hash if is_near else None)


async def test_the_oldest_of_several_near_ones_is_named(shelf: Shelf) -> None:
    for number, url in enumerate((B, A)):
        await shelf.keep(url, f"{LONG} {number}", simhash=number)
    told = await shelf.keep(C, OTHER, simhash=0b11)
    assert isinstance(told, Stored)
    assert told.near == key_of(B)


async def test_short_texts_are_near_to_nobody(shelf: Shelf) -> None:
    await shelf.keep(A, SHORT, simhash=5)
    assert await shelf.keep(B, f"{SHORT}!", simhash=5) == Stored(1, is_new=True)


HOSTILE: dict[str, Callable[[], str]] = {
    "a word of a megabyte": lambda: "x" * 1_000_000,
    "a million distinct words": lambda: " ".join(f"{n:x}" for n in range(1_000_000)),
    "one unbroken run the parser chokes on": lambda: "a_" * 500_000,
    "roots of paths": lambda: "~/" * 500_000,
    "comments without an end": lambda: "<!-- a " * 100_000,
    "distinct letters of four bytes": lambda: "-".join(chr(0x20000 + n) for n in range(42_000)),
    "distinct compounds": lambda: " ".join(
        f"{chr(0xAC00 + n % 11_000)}-{chr(0x4E00 + n % 20_000)}" for n in range(40_000)
    ),
    "what PostgreSQL cannot keep": lambda: "nul \0 half \ud800 end",
    "joined emoji and both directions": lambda: "👩‍👩‍👧 \u202eabc\u202c שלום مرحبا",
}


@pytest.mark.parametrize("made", HOSTILE.values(), ids=HOSTILE.keys())
async def test_no_words_can_fail_a_document(shelf: Shelf, made: Callable[[], str]) -> None:
    text = made()
    hostile = {
        "title": text,
        "summary": text,
        "author": text,
        "keywords": (text,),
        "metadata": {text[:100]: [text]},
    }
    assert isinstance(await shelf.keep(A, text, **hostile), Stored)
    assert isinstance(await shelf.keep(A, text, **hostile), UnchangedDocument)


def test_a_hash_of_another_length_is_refused() -> None:
    with pytest.raises(UsageError, match="32 bytes"):
        page(A, content_hash=b"short")


async def test_another_spelling_of_its_address_is_told_with_a_version(shelf: Shelf) -> None:
    await shelf.keep("http://a.example/1")
    assert await shelf.keep("https://a.example/1") == UnchangedDocument(2)
    stored = await shelf.row("https://a.example/1")
    assert (stored["url"], stored["canonical_url"], stored["version"]) == ("https://a.example/1",) * 2 + (2,)
    assert await shelf.told() == [("https://a.example/1", version, "upsert") for version in (1, 2)]


async def test_another_spelling_of_a_duplicates_address_is_told_to_nobody(shelf: Shelf) -> None:
    await shelf.keep("https://a.example/1")
    await shelf.keep("http://b.example/1")
    assert await shelf.keep("https://b.example/1") == UnchangedDocument(2)
    assert await shelf.told() == [("https://a.example/1", 1, "upsert")]
