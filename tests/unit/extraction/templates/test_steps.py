import pytest

from headwater.extraction.templates.steps import handles_of, stable_name, step_of


@pytest.mark.parametrize(
    ("name", "stable"),
    [
        ("article-body", "article-body"),
        ("articleBody", "articleBody"),
        ("RichTextStoryBody", "RichTextStoryBody"),
        ("entry__content", "entry__content"),
        ("body__text__17Yit", "body__text"),
        ("paragraph-3", "paragraph"),
        ("post-41873", "post"),
        ("h2-title", "h2-title"),
        ("COPY", "COPY"),
    ],
)
def test_what_lasts_of_a_name_is_kept(name: str, stable: str) -> None:
    assert stable_name(name) == stable


@pytest.mark.parametrize(
    "name",
    ["css-1x2y3z", "sc-bdVaJa", "dcr-7zq", "jsx-2871293847", "bdVaJa", "is-open", "tag-sports", "12345", "a1b2c3d4"],
)
def test_names_of_one_build_or_one_page_are_dropped(name: str) -> None:
    assert stable_name(name) == ""


def test_the_order_in_which_classes_are_written_does_not_matter() -> None:
    assert step_of("div", "main", "b a") == step_of("div", "main", "a  b") == "div#main.a.b"


def test_an_element_is_found_by_each_of_its_names_and_a_telling_tag_alone() -> None:
    assert handles_of("div#main.a.b") == {"div#main", "div.a", "div.b"}
    assert handles_of("article") == {"article"}
    assert handles_of("div") == frozenset()
