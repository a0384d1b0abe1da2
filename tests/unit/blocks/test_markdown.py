"""Blocks as Markdown."""

from datetime import UTC, datetime

import pytest

from headwater.blocks.block import (
    BlockKind,
    BodyBlock,
    CellMark,
    InlineMark,
    MarkKind,
    pack_blocks,
    text_of_blocks,
    unpack_blocks,
)
from headwater.blocks.markdown import markdown_of


def paragraph(text: str, *marks: InlineMark) -> BodyBlock:
    return BodyBlock(kind=BlockKind.PARAGRAPH, text=text, marks=marks)


def item(text: str, depth: int = 1, number: int | None = None) -> BodyBlock:
    return BodyBlock(kind=BlockKind.ITEM, text=text, depth=depth, number=number)


def code(text: str, language: str = "", depth: int = 0) -> BodyBlock:
    return BodyBlock(kind=BlockKind.CODE, text=text, language=language, depth=depth)


def test_lists_are_nested_and_what_belongs_to_an_item_stands_below_it() -> None:
    told = markdown_of(
        [item("one", 1, 1), item("in it", 2), code("x\n\ny", "sh", 2), item("two", 1, 2), paragraph("end")]
    )
    assert told == "1. one\n   - in it\n\n     ```sh\n     x\n\n     y\n     ```\n\n2. two\n\nend\n"


def test_code_with_a_fence_inside_has_a_longer_one() -> None:
    assert markdown_of([code("```\nx\n````")]) == "`````\n```\nx\n````\n`````\n"


@pytest.mark.parametrize("language", ["py thon", "x`", "a\nb", "<b>"])
def test_a_language_that_is_no_word_is_not_said(language: str) -> None:
    assert markdown_of([code("x", language)]).startswith("```\n")


def test_a_table_without_a_head_has_an_empty_one() -> None:
    table = BodyBlock(kind=BlockKind.TABLE, rows=(("a|b", "<c>"), ("d", "e")))
    assert markdown_of([table]) == "|  |  |\n| --- | --- |\n| a\\|b | &lt;c&gt; |\n| d | e |\n"


def test_parts_of_a_cell_are_marked() -> None:
    marks = (CellMark(0, 3, MarkKind.CODE, "", 1, 0), CellMark(0, 2, MarkKind.LINK, "https://a.example/", 1, 1))
    rows = (("Name", "See"), ("a|b", "it"))
    table = BodyBlock(kind=BlockKind.TABLE, rows=rows, has_header=True, cell_marks=marks)
    assert markdown_of([table]).splitlines()[2] == "| `a\\|b` | [it](https://a.example/) |"
    text = text_of_blocks([table])
    assert unpack_blocks(pack_blocks([table], text), text) == (table,)


def test_parts_of_a_line_are_marked() -> None:
    text = "Set the limit here, not <there> or `so`."
    marks = (
        InlineMark(4, 7, MarkKind.STRONG),
        InlineMark(8, 13, MarkKind.CODE),
        InlineMark(14, 18, MarkKind.LINK, "https://a.example/b (c)"),
        InlineMark(24, 31, MarkKind.CODE),
    )
    told = markdown_of([paragraph(text, *marks)])
    assert told == "Set **the** `limit` [here](https://a.example/b%20%28c%29), not `<there>` or \\`so\\`.\n"


def test_a_linked_word_may_be_code() -> None:
    marks = (InlineMark(0, 4, MarkKind.LINK, "https://a.example/"), InlineMark(0, 4, MarkKind.CODE))
    assert markdown_of([paragraph("open it", *marks)]) == "[`open`](https://a.example/) it\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# no heading", "\\# no heading"),
        ("1. no item", "1\\. no item"),
        ("- no item", "\\- no item"),
        ("| no | row |", "\\| no | row |"),
        ("> no quote", "&gt; no quote"),
        ("a_b _c_ *d*", "a_b \\_c\\_ \\*d\\*"),
        ("[x](javascript:y)", "\\[x\\](javascript:y)"),
        ("<script>", "&lt;script&gt;"),
    ],
)
def test_words_of_a_page_become_no_markup(text: str, told: str) -> None:
    assert markdown_of([paragraph(text)]) == f"{told}\n"


def test_notes_and_quotes_are_boxes() -> None:
    note = [
        BodyBlock(kind=BlockKind.NOTE, text="Mind this", label="warning", level=1),
        BodyBlock(kind=BlockKind.NOTE, text="It burns.", label="warning"),
    ]
    untitled = BodyBlock(kind=BlockKind.NOTE, text="It helps.", label="tip")
    quote = BodyBlock(kind=BlockKind.QUOTE, text="Said so.")
    assert markdown_of(note) == "> **Mind this**\n>\n> It burns.\n"
    assert markdown_of([untitled, quote]) == "> **Tip**\n>\n> It helps.\n\n> Said so.\n"


def test_pictures_and_entries_are_said() -> None:
    at = datetime(2026, 5, 4, 10, 5, tzinfo=UTC)
    blocks = [
        BodyBlock(kind=BlockKind.ENTRY, text="The gate opens", at=at),
        BodyBlock(kind=BlockKind.FIGURE, url="https://a.example/i.png", alt="A gate", caption="Seen from above"),
        BodyBlock(kind=BlockKind.EMBED, url="https://video.example/1", alt="The opening"),
    ]
    assert markdown_of(blocks) == (
        "## 2026-05-04 10:05 UTC – The gate opens\n\n![A gate](https://a.example/i.png)\n\n*Seen from above*\n\n"
        "[The opening](https://video.example/1)\n"
    )


def test_nothing_is_nothing() -> None:
    assert markdown_of([]) == ""
    assert markdown_of([paragraph("")]) == ""
