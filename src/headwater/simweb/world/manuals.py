"""What manuals have beside paragraphs: code in the markup of highlighters, tables, nested lists, notes, pictures."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from headwater.simweb.world import prose
from headwater.simweb.world.dice import Dice
from headwater.simweb.world.markup import in_html

Rows = tuple[tuple[str, ...], ...]
_WORD = re.compile(r"(\w+)")
_OPTIONS = ("verbose", "quiet", "retries", "timeout", "output|file", "level", "dry-run", "seed")
_TYPES = ("flag", "number", "path", "a | b", "seconds", "<name>")


class Code(NamedTuple):
    language: str
    text: str


class Manual(NamedTuple):
    """As it is written, and all that a reader has to get back exactly."""

    html: str
    headings: tuple[tuple[int, str], ...]
    codes: tuple[Code, ...]
    tables: tuple[Rows, ...]
    items: tuple[tuple[int, str], ...]
    note: str


def manual_of(voice: prose.Voice, key: int, in_the_markup_of: str) -> Manual:
    """A site writes all its code in one highlighter's markup."""
    dice = Dice(key, "manual")
    highlight = HIGHLIGHTERS[Dice(0, in_the_markup_of, "highlighter").one(tuple(HIGHLIGHTERS))]
    codes = (_script(dice), _shell(dice))
    rows, items = _options(dice), _steps(voice, dice)
    usage, options, steps = (prose.title(voice, dice) for _ in range(3))
    note = prose.addition(voice, dice.key())
    html = f"""<h2 id="usage">{in_html(usage)}<a class="headerlink" href="#usage">¶</a></h2>
<p>{in_html(prose.addition(voice, dice.key()))}</p>
{highlight(codes[0])}
<div class="admonition warning"><p class="admonition-title">Warning</p><p>{in_html(note)}</p></div>
<h2 id="options">{in_html(options)}</h2>
<p>{in_html(prose.addition(voice, dice.key()))}</p>
{_table(rows)}
<h3>{in_html(steps)}</h3>
{_list(items)}
{highlight(codes[1])}
<p>{in_html(prose.addition(voice, dice.key()))}</p>"""
    return Manual(html, ((2, usage), (2, options), (3, steps)), codes, (rows,), items, note)


def _script(dice: Dice) -> Code:
    name, count = dice.one(("check", "measure", "collect")), dice.count(2, 9)
    return Code(
        "python",
        f"""def {name}(paths, limit={count}):
    # Not more than <limit> & never none.

    for path in paths[:limit]:
        if path.size > {count} * 1024:
            yield "{name}: " + path.name


print(list({name}([])))""",
    )


def _shell(dice: Dice) -> Code:
    return Code("bash", f"cd build && make all\n\n\t./run --seed {dice.count(1, 99)} | tee log.txt")


def _options(dice: Dice) -> Rows:
    names = dice.some(_OPTIONS, dice.count(3, 6))
    return (("Option", "Value", "Default"), *((f"--{name}", dice.one(_TYPES), str(dice.count(0, 9))) for name in names))


def _steps(voice: prose.Voice, dice: Dice) -> tuple[tuple[int, str], ...]:
    return tuple((depth, prose.title(voice, dice)) for depth in (1, 1, 2, 2, 3, 1))


def _table(rows: Rows) -> str:
    head, *body = (tuple(map(in_html, row)) for row in rows)
    lines = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in body)
    return (
        f"<table><thead><tr>{''.join(f'<th>{one}</th>' for one in head)}</tr></thead>\n<tbody>{lines}</tbody></table>"
    )


def _list(items: tuple[tuple[int, str], ...]) -> str:
    """Numbers outside, points inside."""
    pieces: list[str] = []
    open_lists = 0
    for depth, text in items:
        while open_lists > depth:
            pieces.append("</li></ol>" if open_lists == 1 else "</li></ul>")
            open_lists -= 1
        if open_lists == depth:
            pieces.append("</li>")
        else:
            pieces.append("<ol>" if depth == 1 else "<ul>")
            open_lists += 1
        pieces.append(f"<li>{in_html(text)}")
    pieces.extend("</li></ol>" if depth == 1 else "</li></ul>" for depth in range(open_lists, 0, -1))
    return "".join(pieces)


def _spans(code: Code) -> str:
    """Every word in an element of its own, as highlighters colour it."""
    return "".join(
        f'<span class="n">{piece}</span>' if piece.isalnum() else in_html(piece) for piece in _WORD.split(code.text)
    )


def _sphinx(code: Code) -> str:
    return f"""<div class="highlight-{code.language} notranslate"><div class="highlight">
<pre><span></span>{_spans(code)}
</pre></div></div>"""


def _prism(code: Code) -> str:
    return f'<pre class="language-{code.language}"><code class="language-{code.language}">{_spans(code)}</code></pre>'


def _rouge(code: Code) -> str:
    return f"""<div class="language-{code.language} highlighter-rouge"><div class="highlight"><pre class="highlight">
<code>{_spans(code)}
</code></pre></div></div>"""


def _numbered(code: Code) -> str:
    """Pygments with its numbers in a column beside."""
    numbers = "\n".join(map(str, range(1, code.text.count("\n") + 2)))
    return f"""<div class="highlight-{code.language}"><table class="highlighttable"><tr>
<td class="linenos"><div class="linenodiv"><pre>{numbers}</pre></div></td>
<td class="code"><div class="highlight"><pre>{_spans(code)}
</pre></div></td></tr></table></div>"""


def _lines(code: Code) -> str:
    """Shiki: an element for each line."""
    lines = "\n".join(f'<span class="line">{_spans(Code("", line))}</span>' for line in code.text.split("\n"))
    return f'<pre class="shiki" data-language="{code.language}"><code>{lines}</code></pre>'


HIGHLIGHTERS: Mapping[str, Callable[[Code], str]] = {
    "sphinx": _sphinx,
    "prism": _prism,
    "rouge": _rouge,
    "numbered": _numbered,
    "lines": _lines,
}
