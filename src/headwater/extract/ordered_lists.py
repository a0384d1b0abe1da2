"""The numbers of ordered lists, which stand in no page: the reader's browser counts."""

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extract.elements import TEXT, id_of
from headwater.extract.text import KEPT_NUMBER

_MOST_LISTS = 2_000
_MOST_ITEMS = 1_000
_LISTS = "ol:not([class]), ol.arabic, ol.simple"  # a list with another class is a menu, a trail or a gallery as often
_ITEM = id_of("li")
_MOST_DIGITS = 6


def number_lists(tree: LexborHTMLParser) -> None:
    """Changes the tree: the first word of an item gets its number before it."""
    for one in tree.css(_LISTS)[:_MOST_LISTS]:
        _number(one)


def _number(one: LexborNode) -> None:
    items = [item for item in one.iter() if item.tag_id == _ITEM][:_MOST_ITEMS]
    is_reversed = "reversed" in one.attributes
    number = _integer(one, "start", len(items) if is_reversed else 1)
    for item in items:
        number = _integer(item, "value", number)
        first = next((node for node in item.traverse(include_text=True) if _is_word(node)), None)
        if first is not None:
            first.replace_with(f"{KEPT_NUMBER}{number}. {(first.text_content or '').lstrip()}")
        number += -1 if is_reversed else 1


def _is_word(node: LexborNode) -> bool:
    return node.tag_id == TEXT and bool((node.text_content or "").strip())


def _integer(node: LexborNode, name: str, otherwise: int) -> int:
    said = (node.attributes.get(name) or "").strip()
    return int(said) if len(said) <= _MOST_DIGITS and said.isdecimal() else otherwise
