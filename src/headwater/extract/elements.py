"""The elements that say something about their page, found in one walk through it.

A walk takes as long as reading what it finds, and each question used to make its own: ten for every page.
"""

from collections import defaultdict
from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

_LEADING = frozenset({"a", "area"})
_TAGS = _LEADING | {"meta", "script", "link", "base", "input", "time", "article", "h1", "title"}
# What asks whether a reader is human.
_CHALLENGES = ("#challenge-form", "#challenge-running", "#cf-challenge-running", "#px-captcha")
_WANTED = ", ".join((*sorted(_TAGS), *_CHALLENGES))


class Elements:
    """In page order, and of the tree as it was: what is pruned later was seen before."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.tree = tree
        self.leading: list[LexborNode] = []  # where links may be
        self.challenges: list[LexborNode] = []
        self._by_tag: defaultdict[str, list[LexborNode]] = defaultdict(list)
        for node in tree.css(_WANTED):
            tag = node.tag or ""
            if tag in _LEADING:
                self.leading.append(node)
            elif tag in _TAGS:
                self._by_tag[tag].append(node)
            else:
                self.challenges.append(node)

    def named(self, tag: str) -> Sequence[LexborNode]:
        return self._by_tag.get(tag, ())


def attribute(node: LexborNode, name: str) -> str:
    return node.attributes.get(name) or ""
