"""The language of code, as highlighters and the tools that write documentation say it."""

import re

from selectolax.lexbor import LexborNode

from headwater.extraction.elements import attribute

_STEPS_OUT = 3
_LONGEST = 30
_NAMED = re.compile(r"(?:language|lang|highlight|highlight-source|brush)[-:]\s*([\w+#.-]+)", re.IGNORECASE)
_WORD = re.compile(r"[a-z][\w+#.-]*")
# Pandoc, Rouge, Hexo and CodeRay name the language beside these.
_BESIDE = frozenset(
    {"sourcecode", "highlight", "hljs", "chroma", "coderay", "crayon-pre", "prettyprint", "shiki", "src"}
)
_NO_LANGUAGES = frozenset({
    *("none", "default", "text", "txt", "plain", "plaintext", "nohighlight", "no-highlight", "highlight"),
    *("code", "pre"),
    *("literal-block", "notranslate", "numbersource", "linenums", "numberlines", "astro-code", "github-dark"),
    *("nord", "light", "dark", "auto", "source", "wrapper", "block", "table", "lines", "inline", "highlighted"),
})  # fmt: skip


def language_of_code(place: LexborNode) -> str:
    """Of the place itself, the element inside that holds all of it, or one not far around; empty where none says it."""
    inner = place.css_first("code")
    around: LexborNode | None = place
    nodes = [inner] if inner is not None else []
    for _ in range(_STEPS_OUT):
        if around is None:
            break
        nodes.append(around)
        around = around.parent
    for node in nodes:
        if named := _language_in(node):
            return named
    return ""


def _language_in(node: LexborNode) -> str:
    for name in ("data-lang", "data-language", "data-code-language"):
        if said := _known(attribute(node, name)):
            return said
    classes = attribute(node, "class")[:500]
    for named in _NAMED.findall(classes):
        if said := _known(named):
            return said
    words = classes.lower().split()
    if _BESIDE.isdisjoint(words):
        return ""
    others = [word for word in words if word not in _BESIDE and _WORD.fullmatch(word) and "-" not in word]
    return _known(others[0]) if len(others) == 1 else ""


def _known(said: str) -> str:
    word = said.strip().lower()[:_LONGEST]
    return "" if word in _NO_LANGUAGES or not _WORD.fullmatch(word) else word
