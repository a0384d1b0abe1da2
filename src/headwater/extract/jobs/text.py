"""Plain text out of what pages and feeds carry."""

import re
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extract.markup_cost import is_costly, without_tags

LONGEST_TEXT = 20_000


# Neither UTF-8 nor PostgreSQL can hold them.
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def squeezed(text: str) -> str:
    return " ".join(_UNSTORABLE.sub(" ", text).split())


def plain_text(html: str) -> str:
    """Markup, or text with a few entities in it, as one line of text."""
    if "<" not in html:
        return squeezed(unescape(html[:LONGEST_TEXT]))
    markup = html[: LONGEST_TEXT * 5]
    if is_costly(markup):
        return squeezed(unescape(without_tags(markup)))[:LONGEST_TEXT]
    return node_text(LexborHTMLParser(markup).root)


def node_text(node: LexborNode | None) -> str:
    return "" if node is None else squeezed(node.text(separator=" ", skip_empty=True))[:LONGEST_TEXT]


def shortened(text: str, characters: int) -> str:
    """At most so many characters, cut between words where there are any."""
    if len(text) <= characters:
        return text
    head, space, _ = text[: characters - 1].rpartition(" ")
    return (head if space else text[: characters - 1]).rstrip(" ,;:") + "…"
