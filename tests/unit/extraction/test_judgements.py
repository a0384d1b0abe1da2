"""Small decisions: page type, quality, title, language, likeness, words."""

import pytest
from tests.simhashes import hamming
from tests.unit.extraction.conftest import NOW, PROSE, Read

from headwater.extraction.article import Article
from headwater.extraction.language import language_of
from headwater.extraction.metadata import Metadata
from headwater.extraction.page_type import PageType, Signs, page_type_of
from headwater.extraction.quality import Quality, QualitySigns, quality_of
from headwater.extraction.similarity import simhash
from headwater.extraction.site_names import site_names
from headwater.extraction.text import content_hash, count_words, page_line, storable
from headwater.extraction.title import headline_in, surroundings, without_surroundings

AROUND = surroundings(site_names("https://www.example-times.co.uk/a", ["The Example"]), ["Local News"])
GERMAN = (
    "Der Bürgermeister sagte am Montag, dass der Sturm mehr vom alten Hafen zerstört habe, als irgendjemand in der "
    "Stadt befürchtet hatte, und dass die Arbeiten am Kai noch vor dem Ende des Monats beginnen werden, sobald das "
    "Geld dafür da ist."
)


def signs(**more: bool | int) -> Signs:
    nothing: dict[str, bool | int] = dict.fromkeys(Signs.__slots__, False)
    return Signs(**(nothing | more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seen", "words", "expected"),
    [
        (signs(is_article_by_linked_data=True), 10, PageType.ARTICLE),
        (signs(is_article_by_og=True), 100, PageType.OTHER),
        (signs(is_article_by_og=True, has_time=True), 100, PageType.ARTICLE),
        (signs(), 200, PageType.ARTICLE),
        (signs(links=20, links_within=20), 199, PageType.LISTING),
        (signs(links=200, links_within=19), 199, PageType.OTHER),
        (signs(links=5), 49, PageType.STUB),
        (signs(has_password_field=True, is_article_by_linked_data=True), 100, PageType.OTHER),
        (signs(has_password_field=True), 300, PageType.ARTICLE),
    ],
)
def test_page_types_follow_the_signs(seen: Signs, words: int, expected: PageType) -> None:
    assert page_type_of(seen, words=words, has_title=True, is_teasers=False) is expected


def test_a_page_of_teasers_is_a_listing_however_many_words_it_has(read: Read) -> None:
    paragraphs = PROSE.split("\n")
    cards = "".join(
        f"<article><h2><a href=/{n}>The story number {n} of today</a></h2>{paragraphs[n % 4]}</article>"
        for n in range(24)
    )
    assert read("<title>News</title>", f"<main>{cards}</main>").page_type is PageType.LISTING
    assert page_type_of(signs(links=24), words=900, has_title=True, is_teasers=True) is PageType.LISTING


@pytest.mark.parametrize(
    ("tag", "role"), [("nav", ""), ("aside", ""), ("footer", ""), ("div", "navigation")], ids=lambda said: said or "-"
)
def test_a_short_page_beside_a_long_menu_is_no_listing(read: Read, tag: str, role: str) -> None:
    chapters = "".join(f"<li><a href=/chapter/{n}>Chapter {n}</a></li>" for n in range(60))
    short = "\n".join(PROSE.split("\n")[:2])
    menu = f"<{tag} role={role or 'complementary'}><ul>{chapters}</ul></{tag}>"
    shown = read("<title>Settings</title>", f"{menu}<main>{short}</main>")
    assert isinstance(shown, Article)
    assert shown.page_type is PageType.OTHER
    listed = read("<title>Chapters</title>", f"<main>{short}<ul>{chapters}</ul></main>")
    assert listed.page_type is PageType.LISTING


@pytest.mark.parametrize(("words", "points"), [(99, 0), (100, 10), (299, 10), (300, 15), (500, 20), (1000, 25)])
def test_length_counts_in_steps(words: int, points: int) -> None:
    assert quality_of(evidence(words=words)).length == points


def test_the_best_article_has_a_hundred_points_and_the_poorest_ten() -> None:
    og = Metadata(og_title="t", og_image="i", og_type="article", og_url="u")
    rich = evidence(
        words=1000, title="t", description="d", published_at=NOW, keywords=("k",), has_canonical=True, metadata=og
    )
    assert quality_of(rich) == Quality(length=25, metadata=30, richness=25, readability=20, score=100)
    assert quality_of(evidence(words=60)) == Quality(length=0, metadata=0, richness=0, readability=10, score=10)


def evidence(**more: object) -> QualitySigns:
    nothing: dict[str, object] = {
        "words": 0,
        "title": "",
        "description": "",
        "published_at": None,
        "keywords": (),
        "has_canonical": False,
        "metadata": Metadata(),
    }
    return QualitySigns(**(nothing | more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Storm hits the city | The Example", "", "Storm hits the city"),
        ("The Example: Storm hits the city", "", "Storm hits the city"),
        ("Storm hits the city – Some Paper", "", "Storm hits the city"),
        ("Storm: the city counts its dead", "", "Storm: the city counts its dead"),
        ("Some Paper: Storm hits", "Storm hits", "Storm hits"),
        ("Storm hits - live", "Storm hits - live", "Storm hits - live"),
        ("Storm", "", "Storm"),
        ("", "", ""),
    ],
)
def test_a_page_title_loses_the_name_of_its_site(title: str, heading: str, expected: str) -> None:
    assert headline_in(title, heading, AROUND) == expected


def test_a_shared_title_loses_nothing_but_a_known_name() -> None:
    assert without_surroundings("Storm - a report", AROUND) == "Storm - a report"
    assert without_surroundings("Storm - the example", AROUND) == "Storm"


def test_the_text_corrects_a_page_that_lies_about_its_language() -> None:
    assert language_of(GERMAN, "en-US") == "de"
    assert language_of(GERMAN) == "de"
    assert language_of(GERMAN, "de-AT", "en") == "de"
    assert language_of("Kurz", "", "de_AT") == "de"
    assert language_of("Kurz", "English (US)") == ""


def test_likeness_survives_a_small_change_and_not_a_large_one() -> None:
    words = (PROSE + GERMAN).split()
    changed = [*words[:40], "entirely", *words[41:]]
    assert hamming(simhash(" ".join(words)), simhash(" ".join(changed))) <= 10
    assert hamming(simhash(PROSE), simhash(GERMAN)) >= 20
    assert simhash(" ".join(words).upper()) == simhash(" ".join(words))
    assert simhash("") == 0
    assert 0 < simhash("word") < 2**64


def test_words_are_counted_where_there_are_no_spaces() -> None:
    assert count_words(" two  words\n") == 2
    assert count_words("商品の改造が商標法違反に") == 6
    assert count_words("Kindle を使う") == 2


def test_hashes_ignore_white_space_and_composition_only() -> None:
    assert content_hash("a  b\nc") == content_hash("a b c")
    assert content_hash("e\u0301") == content_hash("é")
    assert content_hash("A b c") != content_hash("a b c")


def test_strings_become_storable() -> None:
    assert storable("a\x00b\ud800c\x1bd\n\te") == "abcd\n\te"
    assert page_line("  a \n\t b\x00 ", 3) == "a b"
    assert page_line(" " * 50 + "a b c d e f", 10) == "a b c d e"
