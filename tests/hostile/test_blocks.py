"""Pages whose structure is made to hurt: the work and what is kept of them have bounds."""

from datetime import UTC
from time import process_time

import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.blocks.block import MOST_BLOCKS, BlockKind, pack_blocks, text_of_blocks
from headwater.blocks.markdown import markdown_of
from headwater.extraction.elements import Elements
from headwater.extraction.structure.live import live_blog_in
from headwater.extraction.structure.page_blocks import blocks_of_page
from headwater.extraction.structure.structure import structure_of, structure_of_live
from headwater.extraction.text import LONGEST_TEXT

BASE = "https://a.example/"
STORY = "<p>What happened on that day was told by everybody who had seen it from the quay.</p>"
LARGE = {
    "a table of a million cells": f"<table>{('<tr>' + '<td>x</td>' * 1_000 + '</tr>') * 1_000}</table>",
    "rows without end": f"<table>{'<tr><td>a</td><td>b</td></tr>' * 200_000}</table>",
    "cells that take all rows": f"<table>{('<tr>' + '<td rowspan=999 colspan=999>a' * 100) * 1_000}</table>",
    "tables in tables": f"{'<table><tr><td>' * 3_000}x",
    "nesting": f"{'<div>' * 10_000}x",
    "quotes in quotes": f"{'<blockquote>' * 20_000}x",
    "notes in notes": f"{'<div class=admonition>' * 20_000}x",
    "figures in figures": f"{'<figure>' * 5_000}x",
    "lists in lists": f"{'<ul><li>a' * 5_000}",
    "items": f"<ul>{'<li>item</li>' * 100_000}</ul>",
    "marks": f"<p>{'<b>x</b> <a href=/x>y</a> ' * 50_000}</p>",
    "open marks": f"<p>{'<b>x' * 10_000}</p>",
    "lines of code": f"<pre>{'x' * 3}{chr(10)}</pre>" * 50_000,
    "one line again and again": "<p>the same line of text again</p>" * 50_000,
    "pictures": "<figure><img src=a.png alt=x></figure>" * 50_000,
}
ENTRY = '<div><time datetime="2026-01-01T00:00:00Z">0:00</time><h3>headline</h3><p>text of an entry</p></div>'


@pytest.mark.long
@pytest.mark.parametrize("inside", LARGE.values(), ids=LARGE)
def test_the_structure_of_a_page_has_bounds(inside: str) -> None:
    tree = LexborHTMLParser(f"<body>{STORY}{inside}{STORY.replace('day', 'night')}</body>")
    assert tree.body is not None
    text = "\n".join(line for line in tree.body.text(separator="\n").split("\n") if line)[:LONGEST_TEXT]
    began = process_time()
    said = structure_of(text, blocks_of_page(tree, BASE), BASE)
    packed = pack_blocks(said.blocks, said.text)
    markdown_of(said.blocks)
    assert process_time() - began < 10
    assert len(said.blocks) <= MOST_BLOCKS
    assert len(said.text) <= LONGEST_TEXT
    assert len(packed or b"") < 4_000_000
    assert not said.blocks or text_of_blocks(said.blocks) == said.text


@pytest.mark.parametrize("inside", [f"{'<ul><li>a' * 300}", f"{'<table><tr><td>' * 50}x", "<p><b>x" * 300])
def test_a_small_one_has_them_too(inside: str) -> None:
    tree = LexborHTMLParser(f"<body>{STORY}{inside}</body>")
    said = structure_of("a\nx", blocks_of_page(tree, BASE), BASE)
    assert said.text
    assert max(block.depth for block in said.blocks) <= 20


@pytest.mark.long
def test_a_live_blog_of_a_hundred_thousand_entries_is_cut() -> None:
    tree = LexborHTMLParser(f"<body><main class=live>{ENTRY * 100_000}</main></body>")
    began = process_time()
    live = live_blog_in(Elements(tree), tree, UTC, is_said=True)
    assert live is not None
    said = structure_of_live("Above.", blocks_of_page(tree, BASE, live.entries), BASE, live)
    assert process_time() - began < 10
    entries = [block for block in said.blocks if block.kind is BlockKind.ENTRY]
    assert 0 < len(entries) <= len(said.blocks) <= MOST_BLOCKS
    assert len(said.text) <= LONGEST_TEXT


@pytest.mark.parametrize(
    "told",
    [
        "[]",
        "{}",
        '{"liveBlogUpdate": 7}',
        '{"liveBlogUpdate": [1, [], {"articleBody": {}, "headline": []}]}',
        "[" * 50_000,
    ],
)
def test_linked_data_that_is_no_live_blog_makes_none(told: str) -> None:
    tree = LexborHTMLParser(f'<script type="application/ld+json">{told}</script><body>{STORY}</body>')
    live = live_blog_in(Elements(tree), tree, UTC, is_said=True)
    if live is not None:
        found = blocks_of_page(tree, BASE, live.entries)
        assert not structure_of_live("Above.", found, BASE, live).text.count("\n")
