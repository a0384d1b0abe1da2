import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.page import Selectors, selectors_from
from headwater.extraction.selectors import check_selectors, fields_of_items, selected_text, selected_value

HTML = """<main><article><h1>T</h1><p class=lead>Intro.</p><div class=b>One<br>two <b>bold</b><p>three</p>tail
<script>no()</script></div><aside class=x>Ad</aside><div class=b>four<div class=b>inner</div></div></article></main>"""


def text(exclude: tuple[str, ...] = (), **fields: str) -> str:
    return selected_text(LexborHTMLParser(HTML), Selectors(fields=fields, exclude=exclude))


def test_every_body_is_read_once_in_paragraphs() -> None:
    assert text(body=".b") == "One\ntwo bold\nthree\ntail\nfour\ninner"


def test_the_intro_comes_first_and_what_is_excluded_never() -> None:
    assert text(container="article", intro=".lead", exclude=(".b", "h1", "aside")) == "Intro."
    assert text(body=".b", intro=".lead", exclude=("p", "div div")) == "One\ntwo bold\ntail\nfour"


def test_a_container_bounds_the_search() -> None:
    assert text(container="aside", body=".b") == ""
    assert text(container="aside") == "Ad"


def test_without_a_place_for_the_text_nothing_is_selected() -> None:
    assert text(title="h1") == ""


def test_a_value_is_read_where_its_element_keeps_it() -> None:
    tree = LexborHTMLParser("<meta name=a content='by meta'><time datetime=2026-05-03>x</time><i>text</i><img src=/i>")
    fields = {"author": "[name=a]", "published_time": "time", "section": "i", "image": "img", "title": "h1"}
    read = [selected_value(tree, Selectors(fields=fields), name) for name in fields]
    assert read == ["by meta", "2026-05-03", "text", "/i", ""]
    assert selected_value(tree, Selectors(fields=fields), "title", "section") == "text"


def test_saved_selectors_are_read_without_trusting_them() -> None:
    saved = {"article": {"title": "h1", "body": 5, "intro": " ", "exclude": [".ad", 7]}, "list": "x"}
    assert selectors_from(saved) == Selectors(fields={"title": "h1"}, exclude=(".ad",))
    assert selectors_from({"article": []}) == Selectors()


def test_good_selectors_have_no_problems() -> None:
    assert check_selectors({"article": {"title": "h1", "body": "article > div, .x", "exclude": ["nav", ".ad"]}}) == []
    assert check_selectors({"list": {"article_cards": ".card"}, "page": {"content": "main"}}) == []
    assert check_selectors({}) == []


@pytest.mark.parametrize(
    ("saved", "place"),
    [
        ({"article": {"title": "h1["}}, "article.title"),
        ({"article": {"title": ""}}, "article.title"),
        ({"article": {"title": "h1" * 1000}}, "article.title"),
        ({"article": {"title": ["h1"]}}, "article.title"),
        ({"article": {"title": 7}}, "article.title"),
        ({"article": {"title": "\ud800"}}, "article.title"),
        ({"article": {"exclude": ".ad"}}, "article.exclude"),
        ({"article": {"exclude": [".ad", "]["]}}, "article.exclude"),
        ({"article": {"exclude": [".ad"] * 500}}, "article.exclude"),
        ({"article": {"titel": "h1"}}, "article.titel"),
        ({"article": "h1"}, "article"),
        ({"articles": {}}, "articles"),
    ],
)
def test_each_problem_names_its_place(saved: dict[str, object], place: str) -> None:
    (problem,) = check_selectors(saved)
    assert problem.startswith(f"{place}: ")
    problem.encode()


def test_facts_of_a_lists_items_are_named_in_its_group() -> None:
    saved = {
        "list": {"location": ".where", "deadline": "time", "organisation": ".by", "description": "p", "title": "h3"}
    }
    assert check_selectors(saved) == []
    facts = {"location": ".where", "deadline": "time", "org_name": ".by", "description": "p", "title": "h3"}
    assert fields_of_items(saved) == facts
    assert check_selectors({"list": {"salary": "p"}}) == ["list.salary: there is no such field."]


@pytest.mark.parametrize("saved", [None, {}, {"list": None}, {"list": {"location": "[["}}, {"list": {"location": 1}}])
def test_what_is_no_selector_of_a_fact_finds_nothing(saved: object) -> None:
    assert fields_of_items(saved) == {}
