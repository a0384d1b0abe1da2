"""The picture a page puts first, with what it says of it: size, caption, credit. Bounded."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.linked_values import number
from headwater.extraction.links import absolute
from headwater.extraction.metadata import Metadata
from headwater.extraction.text import page_line, unescape_line

_MOST_FIGURES = 10
_LONGEST_CAPTION, _LONGEST_CREDIT = 1_000, 300
_CREDITS = "[class*=credit], [class*=copyright], [class*=source], [itemprop=copyrightHolder], small, cite"
_CREDIT_PROPERTIES = ("creditText", "copyrightHolder", "creator", "author", "copyrightNotice")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadImage:
    url: str
    width: int | None = None
    height: int | None = None
    caption: str = ""
    credit: str = ""


def lead_image_of(
    tree: LexborHTMLParser, base: str, metadata: Metadata, linked: dict[str, Any] | None
) -> LeadImage | None:
    """What the linked data says comes before the <meta> elements; caption and credit may be those of its figure."""
    said = _described(linked or {})
    url = absolute(metadata.og_image, base) or absolute(_text(said.get("url")) or _text(said.get("contentUrl")), base)
    if not url:
        return None
    figure = next((one for one in islice(tree.css("figure"), _MOST_FIGURES) if _shows(one, url)), None)
    shown_caption, shown_credit = _captions(figure) if figure else ("", "")
    return LeadImage(
        url=url,
        width=metadata.og_image_width or number(said, "width"),
        height=metadata.og_image_height or number(said, "height"),
        caption=page_line(_text(said.get("caption")) or shown_caption, _LONGEST_CAPTION),
        credit=page_line(_credit(said) or shown_credit, _LONGEST_CREDIT),
    )


def _described(linked: dict[str, Any]) -> dict[str, Any]:
    said = linked.get("image")
    first = said[0] if isinstance(said, list) and said else said
    return first if isinstance(first, dict) else {}


def _credit(said: dict[str, Any]) -> str:
    each = (said.get(name) for name in _CREDIT_PROPERTIES)
    names = (_text(one.get("name")) if isinstance(one, dict) else _text(one) for one in each)
    return next((name for name in names if name), "")


def _text(value: object) -> str:
    return unescape_line(value, _LONGEST_CAPTION) if isinstance(value, str) else ""


def _shows(figure: LexborNode, url: str) -> bool:
    """By the name of its file: sizes stand in the other parts of the address."""
    picture = figure.css_first("img")
    source = (picture.attributes.get("src") or picture.attributes.get("data-src") or "") if picture else ""
    name = _file_of(url)
    return bool(name) and _file_of(source[:2_000]) == name


def _file_of(url: str) -> str:
    return url.partition("?")[0].rstrip("/").rpartition("/")[2]


def _captions(figure: LexborNode) -> tuple[str, str]:
    caption = figure.css_first("figcaption")
    if caption is None:
        return "", ""
    credit = caption.css_first(_CREDITS)
    text = page_line(caption.text(separator=" "), _LONGEST_CAPTION)
    named = page_line(credit.text(separator=" "), _LONGEST_CREDIT) if credit else ""
    return text.removesuffix(named).strip() if named else text, named
