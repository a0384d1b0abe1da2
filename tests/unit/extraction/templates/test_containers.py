import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.templates.blocks import blocks_of
from headwater.extraction.templates.containers import Fit, choose_containers, depth_in, holds
from headwater.extraction.templates.votes import Teacher, Vote, votes_on

TEXT = "Every word of this paragraph belongs to the story, and the next one says no more than that."
MORE = "A second paragraph goes on with it, in words of its own, because no page says the same thing twice."
MOST = "The third one ends the story, and after it there is only what somebody would like to sell to us."
NOISE = "Buy this and that and something else besides, as nobody has ever asked you to before today."


def votes(html: str) -> list[Vote]:
    return votes_on(blocks_of(LexborHTMLParser(html)), [Teacher(f"{TEXT}\n{MORE}\n{MOST}")], frozenset(), frozenset())


def chosen(html: str, pages: int = 3) -> list[str]:
    return choose_containers([votes(html)] * pages)


def test_the_container_with_the_least_beside_the_text_wins() -> None:
    html = f'<div class="outer"><p>{NOISE}</p><div class="inner"><p>{TEXT}</p></div></div>'
    assert chosen(html) == ["div.inner"]


def test_the_container_that_holds_all_of_the_text_beats_a_purer_one() -> None:
    both = f'<div class="lead"><p>{TEXT}</p></div><div class="rest"><p>{MORE}</p></div>'
    assert chosen(f'<div class="all">{both}<p>More.</p></div>') == ["div.all"]


def test_an_element_found_once_beats_one_found_often() -> None:
    parts = "".join(f'<div class="part-of-the-text"><p>{text}</p></div>' for text in (TEXT, MORE, MOST))
    assert chosen(f'<div class="all">{parts}</div>') == ["div.all"]


@pytest.mark.parametrize("name", ["css-1a2b3c", "sc-bdVaJa"])
def test_a_generated_name_is_no_container(name: str) -> None:
    assert chosen(f'<div class="{name}"><p>{TEXT}</p></div>') == []


def test_nothing_is_chosen_where_nobody_found_text() -> None:
    assert chosen(f'<div class="a"><p>{NOISE}</p></div>') == []


def test_a_layout_of_two_pages_is_a_variant_and_one_of_a_single_page_is_not() -> None:
    first, second = (f'<div class="{name}"><p>{TEXT}</p></div>' for name in ("first-kind", "second-kind"))
    assert choose_containers([votes(first)] * 3 + [votes(second)] * 2) == ["div.first-kind", "div.second-kind"]
    assert choose_containers([votes(first)] * 3 + [votes(second)]) == ["div.first-kind"]


def test_coverage_counts_most_and_purity_least() -> None:
    whole = Fit(1.0, 1.0, 1.0).score
    assert Fit(0.8, 1.0, 1.0).score == pytest.approx(whole * 0.8**3)
    assert Fit(1.0, 0.25, 1.0).score == pytest.approx(whole * 0.5)
    assert Fit(1.0, 1.0, 0.5).score == pytest.approx(whole * 0.5)


def test_the_outermost_of_nested_containers_is_meant() -> None:
    block = blocks_of(LexborHTMLParser('<div class="a"><div class="b"><div class="a"><p>x'))[0]
    assert depth_in(block, "div.a") == 1
    assert depth_in(block, "div.c") == -1


def test_a_container_that_is_only_found_does_not_hold_the_text() -> None:
    page = votes(f'<div class="old"><p>{TEXT}</p></div><div class="new"><p>{MORE}</p><p>{MOST}</p></div>')
    assert (holds("div.old", page), holds("div.new", page)) == (False, True)
    assert not holds("div.old", votes(f'<div class="old"><p>{NOISE}</p></div>'))
