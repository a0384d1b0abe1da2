import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.empty_elements import remove_empty


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>a<span></span>b</p>", "<p>ab</p>"),
        ("<p>a<span>\n</span>b</p>", "<p>a b</p>"),
        ("<p>a<i><span></span></i>b</p>", "<p>ab</p>"),
        ("<p>a<span>b</span></p>", "<p>a<span>b</span></p>"),
        ("<p>a<span><br></span>b</p>", "<p>a<span><br></span>b</p>"),
        ("<div></div><p>a</p>", "<p>a</p>"),
        ("<section><div></div></section><p>a</p>", "<p>a</p>"),
    ],
)
def test_what_shows_nothing_goes_and_words_stay_apart(before: str, after: str) -> None:
    assert without_empty(before) == after


@pytest.mark.parametrize(
    "html",
    [
        "<p>a</p><div></div>",  # the last
        "<p>a</p><div></div><p>b</p>",  # one of three
        "<a>a<div></div>b</a>",  # in a line
        "<p></p><ul><li></li></ul>",
    ],
)
def test_blocks_that_others_are_told_by_stay(html: str) -> None:
    assert without_empty(html) == html


def without_empty(html: str) -> str:
    tree = LexborHTMLParser(f"<body>{html}")
    remove_empty(tree)
    assert tree.body is not None
    return tree.body.inner_html or ""
