"""Where a page's story stands: other stories' cards, and what a publisher says below."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.story_part import (
    html_of_parts,
    parts_of_story,
    prose_in,
    remove_river,
    shown_words,
    story_ends,
    text_of_densest,
)
from headwater.extraction.text import comparable

STORY = [f"The ferry number {n} left the old harbour on time and came back late at night." for n in range(20)]
PARAGRAPHS = "".join(f"<p>{line}</p>" for line in STORY)
CARDS = "".join(f"<div><h3><a href=/{n}>Another story number {n}</a></h3><p>Its lead.</p></div>" for n in range(8))
TAIL = "Buy our paper and read it every day of the week."


def tree_of(body: str) -> LexborHTMLParser:
    return LexborHTMLParser(f"<html><body>{body}</body></html>")


@pytest.mark.parametrize(
    ("body", "removed"),
    [
        (f"<main>{PARAGRAPHS}</main><section>{CARDS}</section>", 8),
        (f"<main>{'<br>'.join(STORY * 2)}</main><section>{CARDS}</section>", 8),
        (f"<section>{CARDS}</section>", 0),
        (f"<main>{PARAGRAPHS}</main><section>{CARDS[: CARDS.index('number 3')]}</section>", 0),
        (f"<main>{PARAGRAPHS}</main>", 0),
    ],
    ids=["below paragraphs", "below lines", "front page", "few", "none"],
)
def test_cards_of_other_stories_go_where_the_page_has_one_of_its_own(body: str, removed: int) -> None:
    tree = tree_of(body)
    before = shown_words(tree)
    assert remove_river(tree) == removed
    assert ("Another story" in (tree.body.text() if tree.body else "")) == ("Another" in body and not removed)
    assert (shown_words(tree) < before) == (removed > 0)


def test_a_story_ends_with_its_densest_part() -> None:
    densest = text_of_densest(tree_of(f"<div><div>{PARAGRAPHS}</div></div><div>{TAIL}</div>"))
    story, tail = [comparable(line) for line in STORY], comparable(TAIL)
    assert story_ends([*story, tail], densest) == len(STORY)
    # What goes on for long is no notice, and so is a text of which little stands there.
    assert story_ends([*story, *[tail] * 20], densest) == len(STORY) + 20
    assert story_ends([*[tail] * 30, *story, tail], densest) == len(STORY) + 31
    assert story_ends([*story, tail], "") == len(STORY) + 1
    assert text_of_densest(tree_of("<div>No paragraph.</div>")) == ""


def test_a_quotation_is_no_part_of_its_own() -> None:
    quoted = f"<div><p>What the captain said.</p><blockquote>{PARAGRAPHS}</blockquote><p>And he laughed.</p></div>"
    assert comparable("And he laughed.") in text_of_densest(tree_of(f"{quoted}<div><p>{TAIL}</p></div>"))


def test_a_few_notices_below_the_densest_part_are_no_story_and_several_paragraphs_are() -> None:
    densest = text_of_densest(tree_of(f"<div><div>{PARAGRAPHS}</div></div><div>{TAIL}</div>"))
    story = [comparable(line) for line in STORY]
    notice = comparable("Our paper is made by people who have to live of it. " * 3)
    assert story_ends([*story, notice, notice], densest) == len(STORY)
    assert story_ends([*story, notice, notice, notice], densest) == len(STORY) + 3


LINES = [f"{line} Nobody on the quay knew why it was so." for line in STORY]
FIRST, SECOND = ("".join(f"<p>{line}</p>" for line in LINES[at : at + 4]) for at in (0, 4))
SPLIT = {
    "made like it": (f"<div><div class=text>{FIRST}</div></div><div><div class=text>{SECOND}</div></div>", True),
    "beside it": (f"<main><div class=text>{FIRST}</div><section>{SECOND}</section></main>", True),
    "elsewhere": (f"<div><div class=text>{FIRST}</div></div><div><ul><li class=reply>{SECOND}</li></ul></div>", False),
    "beside it in the page": (f"<div class=text>{FIRST}</div><div class=popup>{SECOND}</div>", False),
    "the next story": (
        f"<article><h1>1</h1><div>{FIRST}</div></article><article><h1>2</h1><div>{SECOND}</div></article>",
        False,
    ),
    "lines of an old page": (
        f"<main><div class=text>{FIRST}</div><div>{'<br>'.join(LINES[4:8])}</div></main>",
        True,
    ),
}


@pytest.mark.parametrize(("body", "is_part"), SPLIT.values(), ids=SPLIT.keys())
def test_a_story_goes_on_beside_what_was_read_or_in_elements_made_like_it(body: str, *, is_part: bool) -> None:
    parts = parts_of_story(prose_in(tree_of(body)), "\n".join(LINES[:4]))
    assert (LINES[5] in html_of_parts(parts)) is is_part
    assert (parts.lost >= sum(map(len, LINES[4:8]))) is is_part
    assert LINES[0] in html_of_parts(parts)


def test_where_nothing_was_read_there_are_no_parts() -> None:
    assert parts_of_story(prose_in(tree_of(PARAGRAPHS)), "Something else.").holders == ()
    assert parts_of_story([], "").lost == 0
