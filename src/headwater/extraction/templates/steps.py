"""One element on the way to a text: its tag and those of its names that are the same on every page of a host.

Dropped from an id or a class, because another page or the next build of the site has another:
names that a style library generates (`css-1x2`, `sc-bdVaJa`, `dcr-7z`, `jsx-12`, `svelte-x`), the segment of any other
name that is a hash (`body__text__17Yit` becomes `body__text`) or a number (`paragraph-3` becomes `paragraph`), and the
states, positions and topics that differ from one story to the next (`is-open`, `first`, `tag-sports`, `postid`).
"""

import re
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.text import comparable

# Part of the tag rather than a name: what a page does not show is never taken for the same thing shown.
HIDDEN = ":hidden"
# Of parts of a page; its first names the whole of it.
HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
_MOST_NAMES = 4
_LONGEST_NAME = 40
_LONGEST_ATTRIBUTE = 300
_SEPARATOR = re.compile(r"(__|--|[-_:/])")
_GENERATED = re.compile(r"(?:css|sc|dcr|jsx|svelte|emotion|astro|chakra|makestyles|jss)-?\d*[-_]\w", re.IGNORECASE)
_CHANGING = re.compile(
    r"(?:is|has|js|no|tag|category|status|format)[-_]|(?:first|last|odd|even|active|post|postid|page|hentry)$"
)
_NUMBER = re.compile(r"\d+")
_WITH_DIGIT = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+=]{5,}")
# Letters alone are a hash when capitals stand where no word begins: `bdVaJa`, but not `articleBody`.
_WITH_CAPITALS = re.compile(r"[a-z]*(?:[A-Z]+[a-z]?){2,}[a-z]?|[a-zA-Z]*[a-z][A-Z][a-z]?[A-Z][a-zA-Z]*")
_SHORTEST_HASH = 5
_PLAIN = re.compile(r"[^\w-]+")


@lru_cache(maxsize=8_192)
def step_of(tag: str, identifier: str, classes: str) -> str:
    """As a selector would say it: `div#story.body.text`, names sorted and bounded."""
    own = stable_name(identifier[:_LONGEST_ATTRIBUTE]) if identifier and " " not in identifier else ""
    named = sorted({name for one in classes[:_LONGEST_ATTRIBUTE].split() if (name := stable_name(one))})
    return tag + (f"#{own}" if own else "") + "".join(f".{name}" for name in named[:_MOST_NAMES])


@lru_cache(maxsize=8_192)
def handles_of(step: str) -> frozenset[str]:
    """Every selector this element can be found by: the tag with one of its names each, and a telling tag alone."""
    tag, *names = re.split(r"(?=[.#])", step)
    if tag == "body":
        # It holds everything, so it would be found on every page and keep nothing out.
        return frozenset()
    alone = {tag} if tag in {"article", "main"} else set()
    return frozenset({tag + name for name in names} | alone)


@lru_cache(maxsize=8_192)
def tag_of(step: str) -> str:
    return re.split(r"[.#]", step, maxsplit=1)[0]


def headings_of(tree: LexborHTMLParser) -> frozenset[str]:
    """As `comparable` writes them."""
    return frozenset(comparable(node.text()) for node in tree.css(", ".join(sorted(HEADINGS))))


def stable_name(name: str) -> str:
    """The part of a name that is the same on every page; nothing if it was generated or says a state."""
    if _GENERATED.match(name) or _CHANGING.match(name):
        return ""
    pieces = _SEPARATOR.split(name)
    words = [(mark, word) for mark, word in zip(["", *pieces[1::2]], pieces[::2], strict=True) if _is_word(word)]
    kept = "".join(mark + word for mark, word in words).lstrip("-_:/")
    return _PLAIN.sub("", kept)[:_LONGEST_NAME]


def _is_word(segment: str) -> bool:
    if not segment or _NUMBER.fullmatch(segment) or _WITH_DIGIT.fullmatch(segment):
        return False
    return len(segment) < _SHORTEST_HASH or segment.isupper() or not _WITH_CAPITALS.fullmatch(segment)
