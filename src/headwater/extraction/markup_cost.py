"""How much work markup is for the parser, told before it is parsed. Nothing here touches anything."""

import re

_MOST_WORK = 3_000_000
_MOST_ATTRIBUTES = 200
TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_ANY_TAG = re.compile(r"<[^<>]*+>")
# They have no inside, or end by themselves where the next one begins.
_NEVER_DEEP = frozenset(
    {
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"),
        *("a", "dd", "dt", "li", "option", "p", "path", "td", "th", "tr"),
    }
)
# As the HTML tokeniser sees them; possessive, so that nothing is read twice.
ATTRIBUTE = re.compile(r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'>][^\s>]*+)?)?+""")
_ATTRIBUTES = re.compile(rf"<[a-zA-Z][^\s/>]*+((?:{ATTRIBUTE.pattern})*+)")


def is_costly(text: str) -> bool:
    """The parser's time grows with tags times depth, and with the square of one tag's attributes.

    An estimate, which keeps out the simple bombs: only a process with a time limit keeps out the others.
    """
    return _work(text) > _MOST_WORK or any(
        len(ATTRIBUTE.findall(found)) > _MOST_ATTRIBUTES
        for found in _ATTRIBUTES.findall(text)
        if len(found) > _MOST_ATTRIBUTES
    )


def _work(text: str) -> int:
    tags = TAG.findall(text)
    depth = deepest = 0
    for slash, name in tags:
        if name.lower() not in _NEVER_DEEP:
            depth = max(0, depth - 1 if slash else depth + 1)
            deepest = max(deepest, depth)
    return deepest * len(tags)


def without_tags(text: str) -> str:
    """For markup that is too costly to parse: what stands between its tags, each on a line of its own."""
    return _ANY_TAG.sub("\n", text)
