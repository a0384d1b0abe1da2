"""Blocks as they are stored."""

from headwater.blocks.block import BlockKind, BodyBlock, blocks_of_text, pack_blocks, text_of_blocks, unpack_blocks

STORY = "\n".join(f"Sentence number {n} of a story that goes on for a while." for n in range(60))


def test_a_text_that_says_all_by_its_lines_stores_nothing() -> None:
    text = f"{STORY}\n- one\n- two\n| a | b |\n|---|---|\n| c | d |"
    blocks = blocks_of_text(text)
    assert [one.kind for one in blocks[-3:]] == [BlockKind.ITEM, BlockKind.ITEM, BlockKind.TABLE]
    assert text_of_blocks(blocks) == text
    assert pack_blocks(blocks, text) is None
    assert unpack_blocks(None, text) == blocks


def test_blocks_come_back_and_cost_little_beside_their_text() -> None:
    heading = BodyBlock(kind=BlockKind.HEADING, text="What happened", level=2)
    blocks = (heading, *blocks_of_text(STORY), BodyBlock(kind=BlockKind.CODE, text="a\n\n  b", language="sh"))
    text = text_of_blocks(blocks)
    packed = pack_blocks(blocks, text)
    assert packed is not None
    assert unpack_blocks(packed, text) == blocks
    assert len(packed) < len(text) / 10


def test_blocks_of_another_text_are_not_believed() -> None:
    packed = pack_blocks((BodyBlock(kind=BlockKind.HEADING, text=STORY, level=2),), STORY)
    assert unpack_blocks(packed, "Another text.") == blocks_of_text("Another text.")
    assert unpack_blocks(b"no blocks", STORY) == blocks_of_text(STORY)


def test_a_dash_or_a_bar_alone_is_a_paragraph() -> None:
    for text in ("- ", "-", "|", "| a | b", "| a\\| b |", "||"):
        assert text_of_blocks(blocks_of_text(text)) == text
