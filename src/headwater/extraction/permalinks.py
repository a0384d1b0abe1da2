"""The signs behind headings that link to the heading itself: written by tools of documentation, read by nobody."""

import re
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.elements import TEXT, ids_of

_MOST_LINKS = 20_000
_LINKS = 'a[href*="#"]'
_CLASSES = frozenset({
    *("headerlink", "anchor", "anchor-link", "anchorjs-link", "hash-link", "header-anchor", "heading-anchor"),
    *("heading-link", "permalink", "header-link", "toclink-anchor", "direct-link"),
})  # fmt: skip
# Not a letter, and not a number: a sign, a picture of one in a font's own place, or nothing that can be seen.
_SIGN = re.compile("[\\s#¶§🔗⚓\u200b\u200c\u200d\ufe0f\u2060\uf0c1\ue000-\uf8ff]{0,8}")
_WORDS = frozenset({"link", "permalink", "anchor", "direct link"})
_HEADING_IDS = ids_of({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "caption", "figcaption", "summary"})
_MOST_STEPS_OUT = 3
# Of one link; a picture of a chain has a handful. Links nest without end inside of <svg>.
_MOST_PARTS = 24
_LONGEST_SIGN = 200


def remove_permalinks(tree: LexborHTMLParser) -> None:
    """Changes the tree. A link that says a word, or stands in a sentence, stays: "C#" and "#1" are no signs."""
    gone: set[int] = set()
    for link in tree.css(_LINKS)[:_MOST_LINKS]:
        # One that went with another must not be asked.
        if link.mem_id in gone:
            continue
        parts = list(islice(link.traverse(include_text=True), _MOST_PARTS + 1))
        if len(parts) <= _MOST_PARTS and _is_sign(link, parts):
            gone.update(part.mem_id for part in parts)
            link.decompose()


def _is_sign(link: LexborNode, parts: list[LexborNode]) -> bool:
    text = "".join((part.text_content or "")[:_LONGEST_SIGN] for part in parts if part.tag_id == TEXT).strip()
    if _SIGN.fullmatch(text):
        return _is_named(link) or _is_in_heading(link)
    return text.casefold() in _WORDS and _is_named(link) and _is_in_heading(link)


def _is_named(link: LexborNode) -> bool:
    return not _CLASSES.isdisjoint((link.attributes.get("class") or "").lower().split())


def _is_in_heading(link: LexborNode) -> bool:
    around = link.parent
    for _ in range(_MOST_STEPS_OUT):
        if around is None or around.tag_id in _HEADING_IDS:
            break
        around = around.parent
    return around is not None and around.tag_id in _HEADING_IDS
