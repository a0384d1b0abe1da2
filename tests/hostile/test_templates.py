"""Pages made to hurt their reader: a template answers each, within bounds and without recursion."""

import tracemalloc

import orjson
import pytest
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.templates.blocks import blocks_of
from headwater.extraction.templates.explain import explain
from headwater.extraction.templates.learner import TrainingPage, learn
from headwater.extraction.templates.server import ServedPage, TemplateRefusal, serve
from headwater.extraction.templates.template import Template, template_to_json
from headwater.extraction.text import LONGEST_TEXT

LARGEST_TEMPLATE_BYTES = 40_000
LARGEST_MEMORY_BYTES = 200_000_000


def lines(number: int, count: int = 6) -> list[str]:
    return [" ".join(f"w{number}x{at}y{word}" for word in range(30)) for at in range(count)]


def page(text: list[str], more: str = "", inside: str = "") -> str:
    body = "".join(f"<p>{line}</p>" for line in text)
    return f'<title>T</title><main><div class="story">{body}{inside}</div>{more}</main>'


def training(number: int, more: str = "", inside: str = "") -> TrainingPage:
    text = lines(number)
    return TrainingPage(url=f"http://x.example/{number}", html=page(text, more, inside), general="\n".join(text))


@pytest.fixture(scope="module")
def template() -> Template:
    learned = learn([training(number) for number in range(4)])
    assert isinstance(learned, Template)
    return learned


HEAVY = {
    "nested": "<div>" * 5_000 + "deep",
    "nested and named": "".join(f'<div class="a{n} b{n}" id="c{n}">' for n in range(5_000)) + "deep",
    "text at every depth": "<div>x" * 3_000,
    "many blocks": "<p>x" * 100_000,
    "many links": "<a href=/x>a</a><br>" * 30_000,
    "formatting": "<b><i><u>" * 3_000 + "text",
    "open anchors": "<a href=x><p>" * 2_000 + "text",
    "one line": f"<p>{'x' * 3_000_000}",
    "many text nodes": "<p>" + "x<!-- -->" * 100_000,
    "long classes": f'<p class="{"a " * 500_000}" id="{"i" * 1_000_000}">text',
    "metas": "".join(f'<meta name="n{n}" content="c">' for n in range(20_000)),
    "titles": "<h1>T</h1>" * 5_000,
    "linked data": '<script type="application/ld+json">' + '{"@type":"NewsArticle","a":' * 2_000 + "</script>",
    "deep linked data": '<script type="application/ld+json">' + "[" * 900 + "]" * 900 + "</script>",
    "wide linked data": '<script type="application/ld+json">[' + '{"@type":"Thing"},' * 50_000 + "1]</script>",
    "types": '<script type="application/ld+json">' + '"@type":' * 100_000 + "</script>",
    "controls": "<p>" + "".join(map(chr, range(1, 0x100))) * 100,
    "plaintext": "<plaintext>" + "<p>" * 50_000,
}  # fmt: skip


@pytest.mark.heavy_rows
@pytest.mark.parametrize("more", HEAVY.values(), ids=HEAVY.keys())
def test_a_heavy_page_is_answered_within_bounds(template: Template, more: str) -> None:
    for html in (more, page(lines(9), more), page(lines(9), inside=more)):
        answer = serve(template, html)
        assert isinstance(answer, ServedPage | TemplateRefusal)
        if isinstance(answer, ServedPage):
            assert len(answer.text) <= LONGEST_TEXT
            answer.text.encode()


@pytest.mark.heavy_rows
@pytest.mark.parametrize("more", HEAVY.values(), ids=HEAVY.keys())
def test_heavy_pages_teach_a_small_template_or_none(more: str) -> None:
    learned = learn([training(number, inside=more) for number in range(3)])
    if isinstance(learned, Template):
        assert len(orjson.dumps(template_to_json(learned))) < LARGEST_TEMPLATE_BYTES


def test_text_at_every_depth_does_not_cost_its_square() -> None:
    tree = LexborHTMLParser("<div>x" * 6_000)
    tracemalloc.start()
    blocks = blocks_of(tree)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(blocks) == 5_000
    assert peak < LARGEST_MEMORY_BYTES


def test_a_host_that_names_its_classes_anew_on_every_page_fills_no_template() -> None:
    def boxes(number: int) -> str:
        return "".join(f'<div class="box{number}q{at}"><p>{number} {at} z</p></div>' for at in range(300))

    learned = learn([training(number, inside=boxes(number)) for number in range(4)])
    if isinstance(learned, Template):
        assert len(orjson.dumps(template_to_json(learned))) < LARGEST_TEMPLATE_BYTES


def test_pages_that_name_every_element_anew_do_not_fill_the_memory_of_a_template(template: Template) -> None:
    for number in range(8):
        names = (f"{chr(97 + at % 26)}{chr(97 + at // 26 % 26)}{chr(97 + number)}x" for at in range(600))
        serve(template, page(lines(9), inside="".join(f'<div class="{name}">z</div>' for name in names)))
    assert 0 < len(template.variants[0].verdicts._steps) <= 2_000


@pytest.mark.parametrize("html", ["", "\x00", "<", "<html>", "<!doctype html>", "\ufeff", "<frameset><frame>", "&#0;"])
def test_what_is_hardly_a_page_is_refused(template: Template, html: str) -> None:
    assert isinstance(serve(template, html), TemplateRefusal)
    assert explain(template, html).against is not None


def test_markup_in_text_stays_text(template: Template) -> None:
    attack = "&lt;script&gt;alert(1)&lt;/script&gt; " + lines(9)[0]
    answer = serve(template, page([attack, *lines(9)[1:]]))
    assert isinstance(answer, ServedPage)
    assert answer.paragraphs[0].startswith("<script>alert(1)</script>")
    assert all("alert" not in line for line in answer.paragraphs[1:])
