"""Where a page's story stands: other stories' cards, and what a publisher says below."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.story_part import remove_river, shown_words, story_ends, text_of_densest
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
    assert story_ends([*story, *[tail] * 10], densest) == len(STORY) + 10
    assert story_ends([*[tail] * 30, *story, tail], densest) == len(STORY) + 31
    assert story_ends([*story, tail], "") == len(STORY) + 1
    assert text_of_densest(tree_of("<div>No paragraph.</div>")) == ""
