"""The blocks of documents in the archive."""

from datetime import UTC, datetime, timedelta

from tests.integration.archive.shelf import LONG, OTHER, Shelf, key_of

from headwater.archive.documents import Stored, UnchangedDocument
from headwater.archive.reads import read_blocks
from headwater.blocks.block import BlockKind, BodyBlock, pack_blocks, text_of_blocks

A = "https://a.example/live"
AT = datetime(2026, 5, 4, 9, tzinfo=UTC)


def blog(posts: int) -> tuple[BodyBlock, ...]:
    """Newest first."""
    return tuple(
        block
        for n in reversed(range(posts))
        for block in (
            BodyBlock(kind=BlockKind.ENTRY, text=f"Post {n}", at=AT + timedelta(minutes=n)),
            BodyBlock(kind=BlockKind.PARAGRAPH, text=f"{LONG} {n}"),
        )
    )


async def keep(shelf: Shelf, blocks: tuple[BodyBlock, ...]) -> object:
    text = text_of_blocks(blocks)
    return await shelf.keep(A, text, page_type="live", blocks=pack_blocks(blocks, text))


async def test_a_revisit_of_a_live_blog_adds_its_entries_as_a_version(shelf: Shelf) -> None:
    assert await keep(shelf, blog(2)) == Stored(1, is_new=True)
    assert await keep(shelf, blog(2)) == UnchangedDocument(1)
    assert await keep(shelf, blog(3)) == Stored(2, is_new=False)
    for version, posts in ((None, 3), (2, 3), (1, 2)):
        kept = await read_blocks(shelf.database, key_of(A), version)
        assert kept is not None
        assert kept.blocks == blog(posts)
    assert await read_blocks(shelf.database, key_of(A), 3) is None


async def test_a_document_of_before_gets_its_blocks_once(shelf: Shelf) -> None:
    blocks = blog(1)
    text = text_of_blocks(blocks)
    await shelf.keep(A, text)
    assert (await shelf.row(A))["blocks"] is None
    assert await shelf.keep(A, text, blocks=pack_blocks(blocks, text)) == UnchangedDocument(2)
    kept = await read_blocks(shelf.database, key_of(A))
    assert kept is not None
    assert kept.blocks == blocks
    # From then on another structure is no change, as another address of a picture is none.
    other = (BodyBlock(kind=BlockKind.HEADING, text="Post 0", level=2), *blocks[1:])
    assert await shelf.keep(A, text, blocks=pack_blocks(other, text)) == UnchangedDocument(2)
    assert (await read_blocks(shelf.database, key_of(A))) == kept
    assert await shelf.told() == [(A, 1, "upsert"), (A, 2, "upsert")]


async def test_another_text_has_no_blocks_of_the_former_one(shelf: Shelf) -> None:
    await keep(shelf, blog(2))
    await shelf.keep(A, OTHER)
    kept = await read_blocks(shelf.database, key_of(A))
    assert kept is not None
    assert [one.text for one in kept.blocks] == [OTHER]
