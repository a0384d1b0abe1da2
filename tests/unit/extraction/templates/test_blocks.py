import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.templates.blocks import Block, blocks_of


def split(html: str) -> list[Block]:
    return blocks_of(LexborHTMLParser(html))


def test_blocks_come_in_document_order_with_their_paths() -> None:
    blocks = split("<div id=a>One<p class=b>Two <b>bold</b> words</p>Three</div><section>Four</section>")
    assert [(block.text, block.path[1:]) for block in blocks] == [
        ("One", ("div#a",)),
        ("Two bold words", ("div#a", "p.b")),
        ("Three", ("div#a",)),
        ("Four", ("section",)),
    ]


def test_equal_paths_of_different_elements_have_different_places() -> None:
    first, second = split("<div class=x><p>One</div><div class=x><p>Two</div>")
    assert first.path == second.path
    assert first.places[:1] == second.places[:1]
    assert first.places[1] != second.places[1]


def test_a_line_break_ends_a_block_and_an_inline_element_does_not() -> None:
    assert [block.text for block in split("<div>One<br>Two <i>three</i><br><br>Four</div>")] == [
        "One",
        "Two three",
        "Four",
    ]


def test_what_nobody_reads_is_no_text() -> None:
    html = "<p>Shown</p><script>no()</script><style>no{}</style><nav>No</nav><template><p>No</p></template><!-- no -->"
    assert [block.text for block in split(html)] == ["Shown"]


def test_linked_letters_are_counted() -> None:
    text, link = split("<p>Read <a href=/x>this</a> now</p><p><a href=/y>All of <b>it</b></a></p>")
    assert (text.linked, text.is_link) == (4, False)
    assert link.is_link


def test_words_for_screen_readers_inside_a_link_are_left_out() -> None:
    block = split('<p>The <a href=/x>bank (X.Y)<span class="visually-hidden">, opens new tab</span></a> fell</p>')[0]
    assert block.text == "The bank (X.Y) fell"


def test_text_comes_out_storable() -> None:
    assert split("<p>a&#27;b&nbsp;c</p>")[0].text == "ab c"


@pytest.mark.parametrize(
    ("html", "teases"),
    [
        ("<a href=/x>What the harbour costs</a> It has been a long year.", True),
        ("<b><a href=/x>What the harbour costs</a></b> It has been a long year.", True),
        ("It has been a long year. <a href=/x>More</a>", True),
        ("<a href=/x>Ada Quill</a> has had a long year.", False),
        ("<a href=/x>The old harbour of the town</a> has had a long year.", False),
        ("<a href=/x>The old harbour of the town</a>, so the mayor, has had a long year.", False),
        ("<a href=/x>ميناء المدينة القديم كله</a> كان العام طويلا", True),
        ("It has been a <a href=/x>long and costly year</a> for all.", False),
        ("It has been a long year. <a href=/x> <img src=/y></a>", False),
        ("It has been a long year.", False),
    ],
)
def test_a_teaser_opens_with_a_linked_headline_or_closes_with_a_link(html: str, *, teases: bool) -> None:
    assert split(f"<p>Before</p><p> {html} </p>")[1].teases is teases


@pytest.mark.parametrize("said", ["hidden", 'style="color:red; display: none"', 'style="VISIBILITY:hidden"'])
def test_what_a_page_does_not_show_has_a_path_of_its_own(said: str) -> None:
    shown, inside, again = split(f"<p class=a>One</p><div {said}><p class=a>Two</p></div><p class=a>Three</p>")
    assert shown.path == again.path
    assert inside.path[1:] == ("div:hidden", "p.a")


def test_white_space_is_evened_out_wherever_it_stands() -> None:
    assert [block.text for block in split("<p>\n a  b\tc\u2003d </p><p>e <i> f</i></p>")] == ["a b c d", "e f"]
