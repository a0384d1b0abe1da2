"""Lines that only say the section, who wrote it and when stand above a text, and are no part of it."""

import pytest
import trafilatura
from tests.unit.extraction.conftest import PROSE, Read
from tests.unit.extraction.test_article import article, linked

from headwater.extraction.head_lines import is_head_line, page_head

HEAD = page_head(["City", "World, Asia"], ["Ella Whitcombe", "Ella Whitcombe Lee"])


@pytest.mark.parametrize(
    "line",
    [
        "City",
        "ASIA",
        "By Ella Whitcombe ·",
        "Ella Whitcombe Lee and Ella Whitcombe",
        "von Ella Whitcombe, Reporterin",
        "Monday, 4 May 2026, 10:15 am GMT",
        "Ella Whitcombe | 04.05.2026 – 10:15 Uhr",
        "Updated: May 4, 2026",
    ],
)
def test_what_says_only_section_author_and_date_is_told(line: str) -> None:
    assert is_head_line(line, HEAD)


@pytest.mark.parametrize(
    "line",
    [
        "Cities",
        "Ella Whitcombe resigned on Monday",
        "By noon the harbour was closed",
        "On 4 May 2026 the harbour was closed",
        "Monday",
        "By",
        "",
    ],
)
def test_what_says_more_or_nothing_is_kept(line: str) -> None:
    assert not is_head_line(line, HEAD)


BYLINE = "By Ella Whitcombe · <span>4 May 2026</span>"
ABOUT = linked(
    headline="Storm over the city", articleSection="City", author={"@type": "Person", "name": "Ella Whitcombe"}
)


def test_a_text_begins_below_section_and_byline(read: Read) -> None:
    """Whatever the elements are called that hold them."""
    body = f"<article><p>City</p><h1>Storm over the city</h1><p>{BYLINE}</p><div>{PROSE}</div></article>"
    plain = trafilatura.extract(body, fast=True) or ""  # keeps both, or this would prove nothing
    assert "City\n" in plain
    assert "Whitcombe" in plain
    assert article(read(ABOUT, body)).text.startswith("The mayor of the council")


def test_the_same_words_further_down_belong_to_the_story(read: Read) -> None:
    body = f"<article>{PROSE}<h2>City</h2>{PROSE.replace('storm', 'flood')}<p>{BYLINE}</p></article>"
    text = article(read(ABOUT, body)).text
    assert "\nCity\n" in text
    assert "By Ella Whitcombe" in text
