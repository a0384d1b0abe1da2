"""Code keeps its lines and indentation, and headings lose the signs that link to them."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headwater.extraction.article import Article
from headwater.extraction.blocks import text_of_html
from headwater.extraction.extractor import extract
from headwater.extraction.hidden import visible_page
from headwater.extraction.page import Page, Selectors
from headwater.extraction.structure.page_blocks import blocks_of_page
from headwater.extraction.structure.structure import structure_of
from headwater.extraction.templates.blocks import blocks_of

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
SENTENCE = "The river rose slowly through the night and nobody in the valley slept before the rain had stopped. "
PARAGRAPH = f"<p>{SENTENCE * 4}</p>"

SPHINX = """<section id="use"><div class="highlight-python notranslate"><div class="highlight"><pre><span></span>
<span class="k">def</span> <span class="nf">f</span><span class="p">(</span>x<span class="p">):</span>
    <span class="k">if</span> x:

        <span class="k">return</span>  <span class="mi">1</span>
</pre></div></div></section>"""
MKDOCS = """<table class="highlighttable"><tbody><tr><td class="linenos"><div class="linenodiv"><pre>
<span></span><span class="normal">1</span>\n<span class="normal">2</span></pre></div></td><td class="code"><div><pre>
<span></span><code><span class="nt">site</span>:\n  <span class="nt">name</span>: x</code></pre></div></td></tr></tbody>
</table>"""
DOCUSAURUS = (
    '<div class="codeBlockContent"><pre class="prism-code"><code>'
    '<span class="token-line"><span>if (x) {</span><br></span>'
    '<span class="token-line"><span>  </span><span>y();</span><br></span><span class="token-line">}</span></code></pre>'
    "</div>"
)
GITHUB = '<div class="highlight highlight-source-shell"><pre>make <span>\\</span>\n\t<a href="/all">all</a></pre></div>'
WORDPRESS = (
    '<div class="syntaxhighlighter"><table><tbody><tr><td class="gutter"><div class="line number1">1</div>'
    '<div class="line number2">2</div></td><td class="code"><div class="container"><div class="line number1">'
    '<code class="php keyword">function</code> <code>f() {</code></div><div class="line number2">'
    '<code class="php spaces">&nbsp;&nbsp;&nbsp;&nbsp;</code><code>x();</code></div></div></td></tr></tbody></table>'
    "</div>"
)
HIGHLIGHT_JS = (
    '<pre><code><table class="hljs-ln"><tr><td class="hljs-ln-numbers" data-line-number="1">1</td><td>a:</td></tr>'
    '<tr><td class="hljs-ln-numbers">2</td><td>  b</td></tr></table></code></pre>'
)
CODE = {
    "sphinx": (SPHINX, "def f(x):\n    if x:\n        return  1"),
    "mkdocs": (MKDOCS, "site:\n  name: x"),
    "docusaurus": (DOCUSAURUS, "if (x) {\n  y();\n}"),
    "github": (GITHUB, "make \\\n\tall"),
    "wordpress": (WORDPRESS, "function f() {\n    x();"),
    "highlight.js": (HIGHLIGHT_JS, "a:\n  b"),
    "breaks": ("<pre>a<br>  b<br/>c</pre>", "a\n  b\nc"),
    "a div a line": ("<pre><div>a</div><div>  b</div></pre>", "a\n  b"),
}


def page(inside: str, heading: str = "The river rose") -> str:
    body = f"<main><article><h1>{heading}</h1>{PARAGRAPH}{inside}{PARAGRAPH}</article></main>"
    return f"<html><head><title>The river rose</title></head><body>{body}</body></html>"


def article(html: str, **fields: str) -> Article:
    selectors = Selectors(fields=fields)
    found = extract(Page(url="https://site.example/docs/river", body=html.encode(), selectors=selectors), NOW)
    assert isinstance(found, Article)
    return found


def by_the_general_extractor(html: str) -> str:
    return article(html).text


def by_selectors(html: str) -> str:
    return article(html, body="article").text


def by_the_blocks_of_a_template(html: str) -> str:
    return "\n".join(block.text for block in blocks_of(visible_page(html)))


READERS = (by_the_general_extractor, by_selectors, by_the_blocks_of_a_template, text_of_html)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(("html", "code"), CODE.values(), ids=CODE)
def test_code_has_its_lines_and_indentation_whoever_reads_it(read: Callable[[str], str], html: str, code: str) -> None:
    # The lines before and after are paragraphs of their own.
    assert f"{SENTENCE.strip()}\n{code}\n{SENTENCE.strip()}" in read(page(html))


# As MkDocs (pymdown-extensions 13), Sphinx 9 and Hugo 0.168 write it, in each of their ways to number lines.
NUMBERED = sorted((Path(__file__).parent / "numbered_code").glob("*.html"))


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.stem)
def test_numbered_code_is_read_without_its_numbers(read: Callable[[str], str], path: Path) -> None:
    text = read(page(path.read_text()))
    before, _, after = text.partition('def f(x):\n    if x > 1 & 3:\n        return "<b>"\n    return x\n')
    assert before.strip().split("\n")[-1] in ((SENTENCE * 4).strip(), "f.py", "Python")
    assert after.startswith(SENTENCE.strip())


@pytest.mark.parametrize("path", [one for one in NUMBERED if "titled" in one.stem], ids=lambda path: path.stem)
def test_the_name_of_a_file_stands_above_its_code(path: Path) -> None:
    assert "\nf.py\ndef f(x):\n" in by_the_general_extractor(page(path.read_text()))


SPHINX_LISTING = """<div class="literal-block-wrapper docutils container" id="filling">
<div class="code-block-caption"><span class="caption-number">Listing 1 </span><span class="caption-text">Filling
a kettle</span><a class="headerlink" href="#filling" title="Link to this code">¶</a></div>
<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>boil<span class="p">(</span>2)
</pre></div></div></div>"""
FURO_TABLE = """<div class="table-wrapper docutils container" id="times">
<table class="docutils align-default" id="times"><caption>
<span class="caption-number">Table 1 </span><span class="caption-text">Times by volume</span>
<a class="headerlink" href="#times" title="Link to this table">¶</a></caption>
<thead><tr class="row-odd"><th class="head"><p>Litres</p></th><th class="head"><p>Seconds</p></th></tr></thead>
<tbody><tr class="row-even"><td><p>1</p></td><td><p>90</p></td></tr></tbody></table></div>"""


@pytest.mark.parametrize("read", READERS)
def test_a_caption_stands_above_its_code(read: Callable[[str], str]) -> None:
    assert "\nListing 1 Filling a kettle\nboil(2)\n" in read(page(SPHINX_LISTING))


@pytest.mark.parametrize("read", READERS)
def test_a_caption_stands_above_its_table(read: Callable[[str], str]) -> None:
    before, caption, after = read(page(FURO_TABLE)).partition("\nTable 1 Times by volume\n")
    assert (bool(caption), "Seconds" in before, "Seconds" in after) == (True, False, True)


@pytest.mark.parametrize(
    "inside",
    [
        "<table><caption>" * 2_000 + "x",
        "<div class=literal-block-wrapper><div class=code-block-caption>" * 2_000 + "x",
        "<table><caption>" + "<b>" * 20_000 + "x",
        "<table><caption></caption><caption>one</caption><caption>two</caption></table>" * 500,
    ],
    ids=["tables", "listings", "deep", "several"],
)
def test_no_nesting_of_captions_harms(inside: str) -> None:
    text_of_html(inside + "<p>after</p>")


@pytest.mark.parametrize("read", READERS)
def test_code_whose_names_are_links_is_no_menu(read: Callable[[str], str]) -> None:
    code = '<pre><a href="/use">use</a> <a href="/all">all</a>\n  <a href="/of">of</a> <a href="/it">it</a></pre>'
    assert "\nuse all\n  of it\n" in read(page(code))


def test_code_whose_names_are_links_is_a_block_like_others() -> None:
    code = '<pre><a href="/use">use</a> <a href="/all">all</a></pre><p><a href="/next">The next of the pages</a></p>'
    links = {block.text: block.is_link for block in blocks_of(visible_page(page(code)))}
    assert (links["use all"], links["The next of the pages"]) == (False, True)


def test_code_is_one_block_of_a_template() -> None:
    assert CODE["sphinx"][1] in [block.text for block in blocks_of(visible_page(page(SPHINX)))]


def test_links_in_code_stay_links() -> None:
    assert article(page(GITHUB)).links == ("https://site.example/all",)


def test_words_count_the_same_in_code() -> None:
    assert article(page("<pre>one two\n  three</pre>")).word_count == len(f"{SENTENCE * 8} 1 2 3".split())


@pytest.mark.parametrize(
    "sign",
    [
        '<a class="headerlink" href="#rose" title="Permalink to this heading">¶</a>',
        '<a class="headerlink" href="#rose" title="Permanent link">#</a>',
        '<a href="#rose" class="hash-link" aria-label="Direct link to The river rose">\u200b</a>',
        '<a id="user-content-rose" class="anchor" href="#rose"><svg></svg></a>',
        '<a class="header-anchor" href="/docs/river#rose">§</a>',
        '<span><a href="#rose">🔗</a></span>',
        '<a class="headerlink" href="#rose">\uf0c1</a>',
        '<a class="anchor" href="#rose">Link</a>',
    ],
)
def test_a_heading_loses_the_sign_that_links_to_it(sign: str) -> None:
    found = article(page(f"<h2>What it took{sign}</h2>", heading=f"The river rose{sign}"))
    assert found.title == "The river rose"
    assert "What it took" in found.text.split("\n")
    blocks = [block.text for block in blocks_of(visible_page(page(f"<h2>{sign}What it took</h2>")))]
    assert "What it took" in blocks


@pytest.mark.parametrize(
    "heading",
    [
        "Learn C#",
        "We are #1",
        '<a href="#n1">#1</a> of many',
        '<a href="/c#intro">C#</a> in a day',
        "Section § 5",
        "A & B ¶",
    ],
)
def test_a_sign_that_is_said_stays(heading: str) -> None:
    text = text_of_html(f"<h2>{heading}</h2>")
    assert text == text_of_html(f"<p>{heading}</p>")
    assert any(sign in text for sign in "#§¶")


def test_a_sign_in_a_sentence_stays() -> None:
    assert text_of_html('<p>See <a href="#five">§</a> five, or <a href="#notes">#</a>.</p>') == "See § five, or #."


@pytest.mark.parametrize(
    "inside",
    [
        "<pre>" * 3_000 + "x",
        "<pre>" + "<span>" * 20_000 + "  x",
        "<pre>" + "<table><tr><td class='gutter'>1</td><td class='code'><div class='container'>" * 2_000 + "x",
        "<table><tr><td class='gutter'><table><tr><td class='gutter'><pre>1</pre></td></tr></table></td></tr></table>"
        * 500,
        "<pre>" + "<div>" * 5_000 + "\n" * 100_000,
        "<table><tr><td>" * 3_000 + "<pre><span class='ln'>1</span></pre></td>" * 3_000,
        "<pre>" + "<a name='l'>" * 5_000 + "x",
    ],
    ids=["pre", "spans", "tables", "numbers", "lines", "cells", "names"],
)
def test_no_nesting_of_code_harms(inside: str) -> None:
    text_of_html(inside + "<p>after</p>")


def test_headings_that_a_table_of_contents_names_are_kept_once() -> None:
    contents = '<ul><li><a href="#warp">Setting up the warp</a></li><li><a href="#weft">Usage</a></li></ul>'
    read = by_the_general_extractor(
        f"<nav><a href=/usage>Usage</a>{contents}</nav><article>{contents}{PARAGRAPH}<h2 id=warp>Setting up the warp"
        f"<a class=headerlink href=#warp>¶</a></h2>{PARAGRAPH}<h2 id=weft>Usage</h2>{PARAGRAPH}"
        "<p><a href=#top>Back to top</a></p></article>"
    )
    lines = read.split("\n")
    assert [lines.count(one) for one in ("Setting up the warp", "Usage")] == [1, 1]
    assert "- Usage" not in lines
    assert "Back to top" not in lines


def test_a_headline_that_links_to_another_page_is_no_heading_of_this_one() -> None:
    teaser = '<h2><a href="/flood">The flood of last year</a></h2>'
    read = by_the_general_extractor(
        f'<nav><a href="#flood">The flood of last year</a></nav><article>{PARAGRAPH * 3}{teaser}</article>'
    )
    assert "The flood of last year" not in read


LIST = "<ol><li>How hard it rained</li><li>How long it lasted</li></ol>"
LOST = "<h3>What the gauges said</h3>"


def blocks_between(inside: str) -> list[str]:
    """Of a page where only its paragraphs were read."""
    tree = visible_page(f"<main><div>{PARAGRAPH}{inside}{PARAGRAPH.replace('river', 'brook')}</div></main>")
    paragraph = (SENTENCE * 4).strip()
    found = blocks_of_page(tree, "https://a.example/")
    said = structure_of(f"{paragraph}\n{paragraph.replace('river', 'brook')}", found, "https://a.example/")
    return [one.text for one in said.blocks[1:-1]]


def test_lists_and_headings_among_the_paragraphs_of_a_text_are_the_story_s() -> None:
    assert blocks_between(LOST + LIST) == ["What the gauges said", "How hard it rained", "How long it lasted"]


@pytest.mark.parametrize(
    "inside",
    [
        f"<section>{LOST}</section>",
        f"<aside>{LIST}</aside>",
        f"<div class=more><div>{LIST}</div></div>",
        "<ul><li><a href=/a>How hard it rained</a></li></ul>",
        f"{LOST}<figure><figcaption>{SENTENCE}</figcaption></figure>{LOST}",
    ],
    ids=["heading of a box", "list beside", "list in a box", "links", "said again"],
)
def test_those_of_boxes_between_them_are_not(inside: str) -> None:
    found = blocks_between(inside)
    assert "What the gauges said" not in found
    assert "How hard it rained" not in found
