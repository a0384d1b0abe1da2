"""Lines that look like links or stand above a story: which of them are the story's own."""

import pytest
from tests.unit.extraction.conftest import PROSE, Read

from headwater.extraction.article import Article

PARAGRAPHS = PROSE.split("\n")
FIRST = PARAGRAPHS[0].removeprefix("<p>").removesuffix("</p>")
HEADING = "What became of the old lighthouse"
MENU = f'<div><a href="/lighthouse">{HEADING}</a> <a href="/b">All about the quay</a></div>'


def text_of(read: Read, body: str, head: str = "") -> str:
    found = read(head, body)
    assert isinstance(found, Article)
    return found.text


def story(inner: str, after: str = "") -> str:
    return f"<article>{PARAGRAPHS[0]}{inner}{''.join(PARAGRAPHS[1:])}</article>{after}"


def test_a_heading_that_a_menu_repeats_is_the_storys_own(read: Read) -> None:
    assert HEADING in text_of(read, story(f"<div><h2>{HEADING}</h2></div>", MENU)).split("\n")


@pytest.mark.parametrize("box", [f"<h2><a href=/x>{HEADING}</a></h2>", f"<a href=/x><h2>{HEADING}</h2></a>"])
def test_a_heading_that_leads_on_goes(box: str, read: Read) -> None:
    assert HEADING not in text_of(read, story(box, MENU))


def test_above_the_first_sentence_a_heading_that_a_menu_repeats_is_a_department(read: Read) -> None:
    body = f"<article><h2>{HEADING}</h2>{PROSE}</article>{MENU}"
    assert HEADING not in text_of(read, body)


def test_the_heading_of_a_part_is_no_reference_to_it(read: Read) -> None:
    contents = f'<div><a href="#part">{HEADING}</a></div>'
    part = f'<div><h2 id="part">Towers and quays: {HEADING}</h2></div>'
    assert f"Towers and quays: {HEADING}" in text_of(read, f"{contents}{story(part)}")


LINKED, PLAIN = "The tall old light", "The short new quay"


def a_list(linked: int, plain: int) -> str:
    items = [f"<li><a href=/{at}>{LINKED} {at}</a></li>" for at in range(linked)]
    return f"<ul>{''.join(items)}{''.join(f'<li>{PLAIN} {at}</li>' for at in range(plain))}</ul>"


def test_a_list_of_text_keeps_its_links(read: Read) -> None:
    text = text_of(read, story(a_list(1, 3)))
    assert f"- {LINKED} 0" in text
    assert text.count(PLAIN) == 3


def test_of_a_list_that_leads_on_only_the_text_stays(read: Read) -> None:
    text = text_of(read, story(a_list(1, 2)))
    assert LINKED not in text
    assert text.count(PLAIN) == 2


ABOVE = "<p>Ann Lee | Tide Pictures</p><p>1,204 readers</p>"
LEAD = "<p>Before all else, two dozen of the people at the old harbour asked for a new quay this year.</p>"


def described(summary: str) -> str:
    return f'<meta name="description" content="{summary}">'


@pytest.mark.parametrize("summary", [FIRST, f"{FIRST[:100]} …"], ids=["whole", "cut"])
def test_a_story_begins_with_what_its_page_says_it_is_about(summary: str, read: Read) -> None:
    text = text_of(read, f"<article>{ABOVE}{PROSE}</article>", described(summary))
    assert text.startswith(FIRST)


@pytest.mark.parametrize("summary", ["", "Ann Lee", "The council of the city is to hear about another thing."])
def test_without_that_nothing_is_missed_above_a_story(summary: str, read: Read) -> None:
    text = text_of(read, f"<article>{ABOVE}{PROSE}</article>", described(summary))
    assert "1,204 readers" in text


@pytest.mark.parametrize(
    "above",
    [
        LEAD + ABOVE,
        f"<div><h2>{HEADING}</h2></div>",
        "<table><tr><td>Tides</td><td>Low</td></tr><tr><td>Quay</td><td>1,204 metres</td></tr></table>",
        "".join(f"<p>The {at} of the seven verses about the sea</p>" for at in ("first", "second", "third", "last")),
    ],
    ids=["a sentence", "a heading", "rows", "verses"],
)
def test_more_than_a_few_words_above_its_summary_are_the_storys(above: str, read: Read) -> None:
    text = text_of(read, f"<article>{above}{PROSE}</article>", described(FIRST))
    assert not text.startswith(FIRST)
    assert text == text_of(read, f"<article>{above}{PROSE}</article>")


def test_a_text_in_linked_data_may_be_escaped_once_too_often(read: Read) -> None:
    body = PROSE.replace("\n", "").replace("<", "&lt;").replace(">", "&gt;")
    linked = f'{{"@type": "NewsArticle", "headline": "Storm", "articleBody": "{body}"}}'
    found = read(f'<script type="application/ld+json">{linked}</script>', "<div>Please wait.</div>")
    assert isinstance(found, Article)
    assert found.text.count("\n") == len(PARAGRAPHS) - 1
    assert "<p>" not in found.text
