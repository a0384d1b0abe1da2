"""Elements that show nothing: places of advertisements, and what is left of pictures and scripts.

A reader that asks every element for its class takes as long for these as for a paragraph.
"""

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.elements import TEXT, ids_of

_PLACES = "div, section, span, i"
_MOST_PLACES = 20_000
_BLOCKS = ids_of({"div", "section"})
_HOLDERS = _BLOCKS | ids_of({"article", "main", "body"})
_FEW, _MOST_BESIDE = 3, 20


def remove_empty(tree: LexborHTMLParser) -> None:
    """Changes the tree: white space stays, as the words around it are two."""
    # What lies inside comes first: an element that held only such is empty then.
    for node in reversed(tree.css(_PLACES)[:_MOST_PLACES]):
        if not _is_blank(node) or (node.tag_id in _BLOCKS and _counts(node)):
            continue
        if node.first_child is None:
            node.decompose()
        else:
            node.replace_with(" ")


def _is_blank(node: LexborNode) -> bool:
    inner = node.first_child
    while inner is not None and inner.tag_id == TEXT and not (inner.text_content or "").strip():
        inner = inner.next
    return inner is None


def _counts(block: LexborNode) -> bool:
    """Whether readers take what is beside it otherwise without it: they ask for the last block, and for three of them,
    and one in a line parts its words.
    """
    if block.parent is None or block.parent.tag_id not in _HOLDERS:
        return True
    before, behind = _beside(block, is_forward=False), _beside(block, is_forward=True)
    return (before > 0 and behind == 0) or before + 1 + behind == _FEW


def _beside(node: LexborNode, *, is_forward: bool) -> int:
    """How many elements; no more of them are counted than matter."""
    count = 0
    one = node.next if is_forward else node.prev
    for _ in range(_MOST_BESIDE):
        if one is None or count == _FEW:
            break
        count += one.is_element_node
        one = one.next if is_forward else one.prev
    return count
