"""Blocks, their text, their Markdown and their form in the archive, for all texts."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.blocks.block import (
    BlockKind,
    BodyBlock,
    blocks_of_text,
    pack_blocks,
    text_of_blocks,
    unpack_blocks,
    without_blank_lines,
)
from headwater.blocks.markdown import markdown_of
from headwater.extraction.hidden import visible_page
from headwater.extraction.structure.alignment import key_of_line
from headwater.extraction.structure.page_blocks import blocks_of_page
from headwater.extraction.structure.structure import structure_of

LETTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Cn", "Zl", "Zp"))
LINES = st.text(LETTERS, max_size=40)
SIGNS = st.text("ab |\\`*_<>&-#1.\t", max_size=30)
CODE = st.lists(st.one_of(LINES, SIGNS), min_size=1, max_size=8).map("\n".join)
CELL = st.one_of(LINES, SIGNS).map(lambda text: " ".join(text.split()))
ROWS = st.integers(2, 4).flatmap(lambda width: st.lists(st.tuples(*[CELL] * width), min_size=2, max_size=5).map(tuple))


@given(st.lists(st.one_of(LINES, SIGNS), max_size=12).map("\n".join))
def test_a_text_is_made_of_its_own_blocks(text: str) -> None:
    blocks = blocks_of_text(text)
    assert text_of_blocks(blocks) == "\n".join(line for line in text.split("\n") if line)
    assert unpack_blocks(pack_blocks(blocks, text), text) == blocks


@given(CODE, st.integers(0, 2))
def test_code_comes_back_from_markdown(code: str, depth: int) -> None:
    around = [BodyBlock(kind=BlockKind.ITEM, text="item", depth=n + 1) for n in range(depth)]
    told = markdown_of([*around, BodyBlock(kind=BlockKind.CODE, text=code, depth=depth)])
    found = re.search(r"^( *)(`{3,})\n(.*)\n\1\2\n\Z", told, re.DOTALL | re.MULTILINE)
    assert found is not None
    indent = found[1]
    lines = [line.removeprefix(indent) for line in found[3].split("\n")]
    assert "\n".join(lines) == code
    assert not any(re.fullmatch(f" *{found[2]}`*", line) for line in lines)


@given(ROWS, st.booleans())
def test_a_table_comes_back_from_markdown(rows: tuple[tuple[str, ...], ...], has_header: bool) -> None:
    told = markdown_of([BodyBlock(kind=BlockKind.TABLE, rows=rows, has_header=has_header)]).splitlines()
    assert set(told[1]) <= set("| -")
    lines = told if has_header else told[2:]
    read = [_cells(line) for number, line in enumerate(lines) if not (has_header and number == 1)]
    assert read == [list(row) for row in rows]


def _cells(line: str) -> list[str]:
    """As GitHub reads a row."""
    cells, cell, letters = [], "", iter(line[1:])
    for letter in letters:
        if letter == "\\":
            cell += next(letters)
        elif letter == "|":
            cells.append(cell)
            cell = ""
        else:
            cell += letter
    return [unescape(one.strip(" ")) for one in cells]


WORDS = st.text("abc äé1", min_size=1, max_size=30).map(lambda text: " ".join(text.split())).filter(bool)
ELEMENTS = st.sampled_from(["p", "h2", "li", "blockquote", "div", "dt", "dd", "figcaption", "pre", "td"])


@given(st.lists(st.tuples(ELEMENTS, WORDS), max_size=15), st.sets(st.integers(0, 14)))
def test_every_line_that_was_chosen_is_said_in_order(elements: list[tuple[str, str]], left_out: set[int]) -> None:
    html = "".join(f"<{tag}>{words}</{tag}>" for tag, words in elements)
    lines = [words for number, (_, words) in enumerate(elements) if number not in left_out]
    text = "\n".join(lines)
    found = blocks_of_page(visible_page(f"<body>{html}</body>"), "https://a.example/")
    said = structure_of(text, found, "https://a.example/")
    left = iter(key_of_line(line) for line in said.text.split("\n"))
    for line in lines:
        assert any(key_of_line(line) in key for key in left), (line, said.text)


@pytest.mark.parametrize("code", ["a\n\n\nb", "\n\na", "a\n \n b\n"])
def test_code_has_no_empty_lines_in_the_text(code: str) -> None:
    assert "\n\n" not in without_blank_lines(code)
