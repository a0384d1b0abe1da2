"""Captions of code and of tables become paragraphs: extractors drop captions, and these say what follows."""

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.elements import id_of, outermost

_MOST_CAPTIONS = 2_000
_LONGEST = 500
# In a bare <span> or <div> of the tools that write documentation: Material for MkDocs, Sphinx.
_OF_CODE = ".highlight span.filename, .literal-block-wrapper > .code-block-caption"
_OF_TABLES = "table > caption"
_TABLE = id_of("table")


def keep_captions(tree: LexborHTMLParser) -> None:
    """Changes the tree: each becomes a paragraph above what it is about."""
    for caption in outermost(tree.css(_OF_CODE)[:_MOST_CAPTIONS]):
        if paragraph := _paragraph(tree, caption):
            caption.replace_with(paragraph)
    for caption in outermost(tree.css(_OF_TABLES)[:_MOST_CAPTIONS]):
        table = caption.parent
        if table is not None and table.tag_id == _TABLE and (paragraph := _paragraph(tree, caption)):
            table.insert_before(paragraph)
            caption.decompose()


def _paragraph(tree: LexborHTMLParser, caption: LexborNode) -> LexborNode | None:
    """None where it holds more than a caption does: lists, code and tables stay as they are."""
    text = " ".join(caption.text().split())
    if not text or len(text) > _LONGEST or caption.css_first("table, pre, ul, ol") is not None:
        return None
    paragraph = tree.create_node("p")
    paragraph.insert_child(text)
    return paragraph
