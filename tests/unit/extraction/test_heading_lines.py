"""The short lines beside a heading: which they are, and at what cost."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.elements import Elements
from headwater.extraction.heading_lines import LONGEST_LINE, lines_beside_heading


def lines(html: str) -> list[str]:
    return lines_beside_heading(Elements(LexborHTMLParser(html)))


def test_what_follows_the_heading_comes_before_what_leads_to_it() -> None:
    html = (
        "<main><p>Kicker</p><header><h1>Storm</h1><p>Lead</p></header><div><p>By Ann</p><time>10:30</time></div></main>"
    )
    assert lines(html) == ["Lead", "By Ann", "10:30", "Kicker"]


def test_prose_menus_and_pictures_are_no_lines() -> None:
    long = "word " * LONGEST_LINE
    html = (
        f"<div><h1>Storm</h1><p>{long}</p><nav>Menu</nav><figure>Picture</figure><script>1</script><p>By Ann</p></div>"
    )
    assert lines(html) == ["By Ann"]


def test_a_page_without_a_heading_has_none() -> None:
    assert lines("<p>By Ann</p>") == lines("<h1> </h1><p>By Ann</p>") == []


@pytest.mark.parametrize(
    "beside",
    [
        "<div>" * 4_000 + "By Ann" + "</div>" * 4_000,
        "".join(f"<div><p>{at}</p><p>x</p></div>" for at in range(20_000)),
        f"<section>{'<div><p>' + 'x' * 4_000_000 + '</p></div>'}</section>" * 2,
    ],
)
def test_a_page_without_end_is_looked_at_only_so_often(beside: str) -> None:
    assert len(lines(f"<h1>Storm</h1>{beside}")) <= 40
