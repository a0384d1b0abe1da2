"""Plain text out of what pages and feeds carry."""

import re
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.markup_cost import is_costly, without_tags

LONGEST_TEXT = 20_000


# Neither UTF-8 nor PostgreSQL can hold them.
_BREAK = "\ue000"
_BREAKS = re.compile(
    r"<(?:br|/?(?:p|div|li|ul|ol|dl|dt|dd|tr|td|th|table|h[1-6]|section|article|header|footer|blockquote))\b",
    re.IGNORECASE,
)
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def squeeze(text: str) -> str:
    return " ".join(_UNSTORABLE.sub(" ", text).split())


def plain_text(html: str) -> str:
    """Markup, or text with a few entities in it, as one line of text."""
    if "<" not in html:
        return squeeze(unescape(html[:LONGEST_TEXT]))
    markup = html[: LONGEST_TEXT * 5]
    if is_costly(markup):
        return squeeze(unescape(without_tags(markup)))[:LONGEST_TEXT]
    return node_text(LexborHTMLParser(markup).root)


def text_lines(html: str) -> str:
    """The same with a line for every block and every break: what stands on a line of its own is told apart by it."""
    if "<" not in html:
        return "\n".join(filter(None, map(squeeze, unescape(html[:LONGEST_TEXT]).splitlines())))
    markup = html[: LONGEST_TEXT * 5]
    if is_costly(markup):
        return squeeze(unescape(without_tags(markup)))[:LONGEST_TEXT]
    root = LexborHTMLParser(_BREAKS.sub(f"{_BREAK}\\g<0>", markup)).root
    said = "" if root is None else root.text(separator=" ", skip_empty=True)
    return "\n".join(filter(None, map(squeeze, said.split(_BREAK))))[:LONGEST_TEXT]


def node_text(node: LexborNode | None) -> str:
    return "" if node is None else squeeze(node.text(separator=" ", skip_empty=True))[:LONGEST_TEXT]


def shorten(text: str, characters: int) -> str:
    """At most so many characters, cut between words where there are any."""
    if len(text) <= characters:
        return text
    head, space, _ = text[: characters - 1].rpartition(" ")
    return (head if space else text[: characters - 1]).rstrip(" ,;:") + "…"
