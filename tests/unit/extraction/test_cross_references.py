"""Lines that lead to other stories: with their label, and with what announces them."""

import pytest
from tests.unit.extraction.conftest import PROSE, Read

from headwater.extraction.article import Article
from headwater.extraction.cross_references import is_link_behind_label, said_by_reference, without_labels

OTHER = '<a href="/news/other">What became of the old lighthouse</a>'
PARAGRAPHS = PROSE.split("\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("READ MORE: What became of the lighthouse", "what became of the lighthouse"),
        ("Lee también | Qué fue del faro", "qué fue del faro"),
        ("What became of the lighthouse [VIDEO]|", "what became of the lighthouse"),
        ("What became of the lighthouse", ""),
        ("Photo: Ann Lee", ""),
        ("The mayor of the old harbour town said: what became of it", ""),
        ("Read more: " + "very " * 100 + "long", ""),
    ],
)
def test_what_a_line_leads_to_stands_behind_its_label(line: str, said: str) -> None:
    assert said_by_reference(line) == said


def test_by_linked_letters_all_behind_the_label_has_to_be_the_link() -> None:
    line = "Read more: What became of the lighthouse"
    assert is_link_behind_label(line, 29)
    assert not is_link_behind_label(line, 10)
    assert not is_link_behind_label(line, 0)
    assert not is_link_behind_label(line.removeprefix("Read more: "), 29)


@pytest.mark.parametrize(
    ("lines", "left_out", "kept"),
    [
        (["A", "Don't miss", "x", "B"], {2}, ["A", "B"]),
        (["A", "Lesen Sie auch", "x", "y", "B"], {2, 3}, ["A", "B"]),
        (["A", "Sources:", "x", "B"], {2}, ["A", "B"]),
        (["A", "The harbour", "x", "B"], {2}, ["A", "The harbour", "B"]),
        (["A", "Read more", "B"], set(), ["A", "Read more", "B"]),
        (["A", "Read more"], set(), ["A"]),
        (["A", "Run this:"], set(), ["A", "Run this:"]),
        ([], set(), []),
    ],
    ids=["one", "several", "colon", "heading", "leads to text", "at the end", "before code", "nothing"],
)
def test_a_label_goes_with_all_that_it_announced(lines: list[str], left_out: set[int], kept: list[str]) -> None:
    stays = without_labels(lines, [at in left_out for at in range(len(lines))])
    assert [line for line, stayed in zip(lines, stays, strict=True) if stayed] == kept


@pytest.mark.parametrize(
    "box",
    [
        f"<p>Read more: {OTHER}</p>",
        f"<p>{OTHER} [VIDEO]</p>",
        f"<p>Lesen Sie auch</p><p>{OTHER}</p>",
        f"<p><strong>DON'T MISS</strong></p><p>{OTHER} [INSIGHT]</p>",
    ],
    ids=["label", "kind", "line above", "both"],
)
def test_a_story_is_read_without_them(box: str, read: Read) -> None:
    plain = read("", f"<article>{PROSE}</article>")
    found = read("", f"<article>{PARAGRAPHS[0]}{box}{''.join(PARAGRAPHS[1:])}</article>")
    assert isinstance(plain, Article)
    assert isinstance(found, Article)
    assert found.text == plain.text


def test_a_reference_to_somebody_else_is_the_authors_word(read: Read) -> None:
    source = '<p>Source: <a href="https://elsewhere.example/report">The report on the old lighthouse</a></p>'
    found = read("", f"<article>{PARAGRAPHS[0]}{source}{''.join(PARAGRAPHS[1:])}</article>")
    assert isinstance(found, Article)
    assert "Source: The report on the old lighthouse" in found.text
