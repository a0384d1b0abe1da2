import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.templates.blocks import Block, blocks_of
from headwater.extraction.templates.votes import Teacher, repeated_texts, teachers_of, votes_on
from headwater.extraction.text import comparable

LINES = [
    "The council met on Monday to talk about the harbour, and nobody came to listen.",
    "It will meet again on Friday, when the surveyor is back from the mountains.",
]


def split(html: str) -> list[Block]:
    return blocks_of(LexborHTMLParser(html))


@pytest.mark.parametrize(
    ("block", "keep"),
    [
        (LINES[0], True),
        (LINES[0].upper().replace(",", " –"), True),
        ("talk about the harbour, and nobody came", True),
        (f"{LINES[0]} More.", True),
        ("Monday", False),
        ("An advertisement for something that nobody in this whole city has ever asked for.", False),
        ("It will meet again on Friday, when everybody else has already gone home for the night.", None),
    ],
)
def test_a_block_is_text_when_its_teacher_knows_it_again(block: str, *, keep: bool | None) -> None:
    assert Teacher("\n".join(LINES)).keeps(comparable(block)) is keep


def test_the_cells_of_a_table_are_text() -> None:
    teacher = Teacher("| Mill | 1,200 sacks |\n| --- | --- |\nSack | Barrel")
    assert [teacher.keeps(cell) for cell in ("mill", "1 200 sacks", "barrel")] == [True, True, False]


def test_a_summary_does_not_vote() -> None:
    whole = "\n".join(LINES)
    assert len(teachers_of(whole, whole, "")) == 2
    assert len(teachers_of(whole, LINES[0][:30])) == 1


def test_teachers_who_disagree_leave_a_block_open() -> None:
    votes = votes_on(split(f"<p>{LINES[0]}"), [Teacher(LINES[0]), Teacher(LINES[1])], frozenset(), frozenset())
    assert [vote.keep for vote in votes] == [None]


def test_a_whole_text_without_headings_does_not_vote_them_out() -> None:
    general, structured = Teacher(f"{LINES[0]}\nWhat we know\n{LINES[1]}"), Teacher(" ".join(LINES))
    page = split(f"<h2>What we know</h2><p>{LINES[1]}")
    votes = votes_on(page, [general, structured, structured], frozenset(), frozenset())
    assert [vote.keep for vote in votes] == [True, True]


def test_the_heading_of_an_item_is_known_again_in_the_items_line() -> None:
    assert Teacher(f"- First step {LINES[0]}").keeps("first step")


@pytest.mark.parametrize(
    "html",
    [
        f"<p><a href=/x>{LINES[0]}</a>",
        f"<h1>{LINES[0]}</h1>",
        f'<blockquote class="twitter-tweet"><p>{LINES[0]}',
    ],
)
def test_links_titles_and_embeds_have_no_vote(html: str) -> None:
    titles = frozenset({comparable(LINES[0])} if "h1" in html else ())
    assert [vote.keep for vote in votes_on(split(html), [Teacher(LINES[0])], titles, frozenset())] == [None]


def test_a_text_that_stands_twice_is_wanted_once() -> None:
    votes = votes_on(
        split(f"<p>{LINES[0]}</p><div>{LINES[0].upper()}</div>"), [Teacher(LINES[0])], frozenset(), frozenset()
    )
    assert [vote.keep for vote in votes] == [True, None]


def test_what_stands_on_two_pages_has_no_vote() -> None:
    pages = [split(f"<p>{LINES[0]}<p>Only here, on the first page."), split(f"<p>{LINES[0].upper()}")]
    repeated = repeated_texts(pages)
    assert repeated == {comparable(LINES[0])}
    assert [vote.keep for vote in votes_on(pages[1], [Teacher(LINES[0])], frozenset(), repeated)] == [None]
