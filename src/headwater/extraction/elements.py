"""The elements that say something about their page, found in one walk through it.

A walk takes as long as reading what it finds, and each question used to make its own: ten for every page.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

_NO_PAGE = LexborHTMLParser("<p>text<!--comment--></p>")


def id_of(tag: str) -> int:
    """The parser's number of a tag that HTML knows: asking a node for it costs a third of asking for the name.

    A tag that HTML does not know has another number on every page.
    """
    return _NO_PAGE.create_node(tag).tag_id


def ids_of(tags: Iterable[str]) -> frozenset[int]:
    return frozenset(map(id_of, tags))


TEXT, COMMENT = (node.tag_id for node in _NO_PAGE.css("p")[0].iter(include_text=True))
_LEADING = {"a", "area"}
_SAYING = {"meta", "script", "link", "base", "input", "time", "article", "h1", "title"}
# What asks whether a reader is human.
_CHALLENGES = ("#challenge-form", "#challenge-running", "#cf-challenge-running", "#px-captcha")
_WANTED = ", ".join((*sorted(_LEADING | _SAYING), *_CHALLENGES))
_MOST_PARTS = 100
LEADING_IDS, _SAYING_IDS = ids_of(_LEADING), {id_of(tag): tag for tag in _SAYING}


class Elements:
    """In page order, and of the tree as it was: what is pruned later was seen before."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.tree = tree
        self.leading: list[LexborNode] = []  # where links may be
        self.challenges: list[LexborNode] = []
        self._by_tag: defaultdict[str, list[LexborNode]] = defaultdict(list)
        for node in tree.css(_WANTED):
            number = node.tag_id
            if number in LEADING_IDS:
                self.leading.append(node)
            elif tag := _SAYING_IDS.get(number):
                self._by_tag[tag].append(node)
            else:
                self.challenges.append(node)

    def named(self, tag: str) -> Sequence[LexborNode]:
        return self._by_tag.get(tag, ())


def attribute(node: LexborNode, name: str) -> str:
    return node.attributes.get(name) or ""


def beginning_of(node: LexborNode, letters: int) -> str:
    """Of its text: all of the text of many elements that lie in one another would be the square of it."""
    pieces, left = list[str](), letters
    for part in islice(node.traverse(include_text=True), _MOST_PARTS):
        if part.tag_id == TEXT:
            pieces.append((part.text_content or "")[:left])
            left -= len(pieces[-1])
        if left <= 0:
            break
    return "".join(pieces)


def outermost(nodes: list[LexborNode]) -> list[LexborNode]:
    """Of `nodes` in page order, without those inside of another: a node that went with another must not be asked."""
    found: list[LexborNode] = []
    inside: set[int] = set()
    for node in nodes:
        if node.mem_id not in inside:
            found.append(node)
            inside.update(one.mem_id for one in node.traverse())
    return found
