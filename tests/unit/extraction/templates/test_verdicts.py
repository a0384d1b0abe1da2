import pytest

from headwater.extraction.templates.blocks import Block
from headwater.extraction.templates.verdicts import ElementPath, Verdicts, learn_verdicts
from headwater.extraction.templates.votes import Vote


def vote(way: ElementPath, *, keep: bool | None, letters: int = 100) -> tuple[ElementPath, Vote]:
    return way, Vote(Block("x" * letters, way, tuple(range(len(way))), 0), "x", keep)


def learned(*pages: list[tuple[ElementPath, Vote]]) -> Verdicts:
    return learn_verdicts(pages)


KNOWN = learned(
    *[
        [
            vote(("p",), keep=True),
            vote(("ul.list", "li"), keep=True),
            vote(("div", "p"), keep=True),
            vote(("div.promo", "p"), keep=False),
            vote(("h4",), keep=False),
        ]
    ]
    * 3
)


@pytest.mark.parametrize(
    ("way", "keep", "is_seen"),
    [
        (("p",), True, True),
        (("h4",), False, True),
        (("div.promo", "p"), False, True),
        (("div.promo", "section", "p"), False, True),
        (("section", "p"), True, False),
        (("p.related",), True, False),
        (("p#comment",), True, False),
        (("div.author-bio", "p"), True, False),
        (("section", "h4"), False, False),
        (("section", "li"), True, False),
        (("section", "div"), False, False),
        (("section", "p:hidden"), False, False),
        (("section:hidden", "p"), False, False),
        ((), False, False),
    ],
)
def test_a_way_is_judged_by_itself_its_beginning_its_last_step_or_not_kept(
    way: ElementPath, *, keep: bool, is_seen: bool
) -> None:
    verdict = KNOWN.of(way)
    assert (verdict.keep, verdict.is_seen) == (keep, is_seen)
    assert verdict.why


@pytest.mark.parametrize(
    ("way", "keep"),
    [
        (("div.box", "p"), True),
        (("ul", "li"), True),
        (("h2.heading",), True),
        (("ul.related", "li"), False),
        (("div", "td"), False),
        (("div",), False),
    ],
)
def test_without_any_likeness_what_is_marked_up_as_text_is_text(way: ElementPath, *, keep: bool) -> None:
    assert Verdicts({}, frozenset()).of(way).keep is keep


def test_the_larger_share_of_letters_decides() -> None:
    page = [vote(("p",), keep=True, letters=500), *[vote(("p",), keep=False, letters=90)] * 5]
    assert learned(page, page).of(("p",)).keep
    assert not learned([*page, vote(("p",), keep=False, letters=101)], page).of(("p",)).keep


def test_a_way_on_which_nobody_voted_is_not_known_unless_a_name_tells() -> None:
    page = [vote(("ul", "li"), keep=None), vote(("p.ad",), keep=None)]
    known = learned(page, page)
    assert [(one.keep, one.is_seen) for one in (known.of(("ul", "li")), known.of(("p.ad",)))] == [
        (True, False),
        (False, True),
    ]


def test_a_name_of_one_page_does_not_hide_the_way() -> None:
    pages = [[vote((f"div#story-of-{name}", "p"), keep=True)] for name in ("rain", "snow", "wind")]
    known = learned(*pages)
    assert known.ways == {("div.*", "p"): True}
    assert known.of(("div#story-of-hail", "p")).is_seen
    assert not known.of(("div", "p")).is_seen


def test_one_paragraph_with_a_name_of_its_own_says_nothing_of_another() -> None:
    plain, lead, opening = vote(("p",), keep=True), vote(("p.lead",), keep=True), vote(("p.opening",), keep=True)
    assert not learned([plain, lead], [plain]).of(("p.related",)).is_seen
    assert learned([plain, lead], [plain, opening]).of(("p.first-words",)).is_seen


def test_what_one_page_alone_dropped_does_not_condemn_all_below_it() -> None:
    box = [vote(("div.box", "figcaption"), keep=False)]
    assert learned(box, [vote(("p",), keep=True)]).barren == frozenset()
    assert ("div.box",) in learned(box, box).barren
