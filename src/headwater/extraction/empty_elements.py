"""Pieces of lines that say nothing: what is left of pictures and signs when these were taken out.

A reader that asks every element for its class takes as long for these as for a paragraph.
"""

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.elements import TEXT

# Not of blocks: an empty one parts what stands around it.
_PIECES = "span, i"
_MOST_PIECES = 20_000


def remove_empty_pieces(tree: LexborHTMLParser) -> None:
    """Changes the tree: white space stays, as the words around it are two."""
    # What lies inside comes first: a piece that held only such is empty then.
    for node in reversed(tree.css(_PIECES)[:_MOST_PIECES]):
        if node.first_child is None:
            node.decompose()
        elif _is_blank(node):
            node.replace_with(" ")


def _is_blank(node: LexborNode) -> bool:
    inner = node.first_child
    while inner is not None and inner.tag_id == TEXT and not (inner.text_content or "").strip():
        inner = inner.next
    return inner is None
