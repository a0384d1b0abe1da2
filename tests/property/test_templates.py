import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.templates.blocks import blocks_of
from headwater.extraction.templates.explain import explain
from headwater.extraction.templates.learner import NotLearned, TrainingPage, learn
from headwater.extraction.templates.server import ServedPage, TemplateRefusal, serve
from headwater.extraction.templates.steps import handles_of, step_of
from headwater.extraction.templates.template import Template, template_from, template_to_json

any_text = st.text(st.characters(exclude_categories=()))
words = st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=20, max_size=60).map(" ".join)
tags = st.sampled_from(
    ["div", "p", "article", "main", "section", "h1", "h2", "a", "span", "li", "ul", "table", "td", "br"]
)
names = st.sampled_from(["body", "story", "css-1x2", "promo", "post-12", "twitter-tweet", "", "a b c d e f"])
opened = st.builds('<{} class="{}" id="{}">'.format, tags, names, names)
closed = st.builds("</{}>".format, tags)
bodies = st.lists(st.one_of(opened, closed, words, any_text), max_size=25).map("".join)
paragraphs = st.lists(words, min_size=4, max_size=8, unique=True)


def page_of(lines: list[str], more: str = "") -> str:
    text = "".join(f"<p>{line}</p>" for line in lines)
    return f'<title>T</title><main><div class="story">{text}</div>{more}</main>'


def training(number: int, lines: list[str], more: str = "") -> TrainingPage:
    return TrainingPage(url=f"https://x.example/{number}", html=page_of(lines, more), general="\n".join(lines))


NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
three_pages = st.lists(paragraphs, min_size=3, max_size=4)


@pytest.mark.long
@given(bodies)
def test_blocks_of_any_page_are_storable_and_placed(html: str) -> None:
    for block in blocks_of(LexborHTMLParser(html)):
        block.text.encode()
        assert block.text == " ".join(block.text.split()) != ""
        assert len(block.path) == len(block.places) >= 1
        assert 0 <= block.linked <= len(block.text)


@given(any_text, any_text)
def test_any_name_becomes_one_that_a_step_can_hold(identifier: str, classes: str) -> None:
    step = step_of("div", identifier, classes)
    assert not set(step) & set(" >\x00\n")
    assert all(handle.startswith(("div#", "div.")) for handle in handles_of(step))


@pytest.mark.long
@given(three_pages, bodies)
@settings(max_examples=30, deadline=None)
def test_learning_is_repeatable_and_what_was_learned_can_be_written_down(pages: list[list[str]], more: str) -> None:
    trainings = [training(at, lines, more) for at, lines in enumerate(pages)]
    found = learn(trainings)
    assert found == learn(trainings)
    if isinstance(found, Template):
        assert template_from(orjson.loads(orjson.dumps(template_to_json(found)))) == found


@pytest.mark.long
@given(three_pages, paragraphs, bodies)
@settings(max_examples=30, deadline=None)
def test_any_page_is_served_storable_or_refused(pages: list[list[str]], lines: list[str], more: str) -> None:
    template = learn([training(at, one) for at, one in enumerate(pages)])
    if isinstance(template, NotLearned):
        return
    for html in (more, page_of(lines, more)):
        answer = serve(template, html)
        assert isinstance(answer, ServedPage | TemplateRefusal)
        assert (explain(template, html).against is None) == isinstance(answer, ServedPage)
        if isinstance(answer, ServedPage):
            answer.text.encode()
            assert len(answer.paragraphs) == len(answer.hashes)


@pytest.mark.long
@given(three_pages, paragraphs)
@settings(max_examples=30, deadline=None)
def test_nothing_is_served_that_does_not_stand_on_the_page(pages: list[list[str]], lines: list[str]) -> None:
    template = learn([training(at, one) for at, one in enumerate(pages)])
    answer = serve(template, page_of(lines)) if isinstance(template, Template) else None
    if isinstance(answer, ServedPage):
        assert set(answer.paragraphs) <= set(lines)


@pytest.mark.long
@given(st.lists(st.lists(st.integers(0, 2**40 - 1), max_size=40), max_size=12))
def test_what_a_template_remembers_is_bounded_and_written_exactly(pages: list[list[int]]) -> None:
    template = learn([training(at, [f"{line} {at} " + " ".join(NUMBERS) for line in NUMBERS[:4]]) for at in range(3)])
    assert isinstance(template, Template)
    for number, hashes in enumerate(pages):
        template = template.after(number, hashes)
    assert sum(map(len, template.doubted)) <= 128
    assert len(template.repeated) <= 64
    assert template_from(template_to_json(template)) == template
