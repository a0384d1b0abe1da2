"""The metadata in the head of a page: OpenGraph, Twitter and plain <meta>."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from headwater.extraction.elements import Elements
from headwater.extraction.text import page_line, unescape_line

MOST_KEYWORDS = 50
_LONGEST_KEYWORD = 200
_LONGEST_CONTENT = 5_000
_MOST_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Field names are those of the raw_content document."""

    og_title: str = ""
    og_description: str = ""
    og_image: str = ""
    og_url: str = ""
    og_type: str = ""
    og_site_name: str = ""
    og_image_width: int | None = None
    og_image_height: int | None = None
    meta_description: str = ""
    meta_keywords: str = ""
    twitter_card: str = ""
    twitter_site: str = ""
    article_section: str = ""
    article_opinion: str = ""
    article_content_tier: str = ""


def metas_of(elements: Elements) -> list[tuple[str, str]]:
    """Names in lower case with their contents, in page order; the same name may come again."""
    return list(_metas(elements))


def first_of_each(metas: Iterable[tuple[str, str]]) -> dict[str, str]:
    said: dict[str, str] = {}
    for name, content in metas:
        if content:
            said.setdefault(name, content)
    return said


def metadata_from(said: Mapping[str, str]) -> Metadata:
    return Metadata(
        og_title=said.get("og:title", ""),
        og_description=said.get("og:description", ""),
        og_image=said.get("og:image") or said.get("og:image:url") or said.get("twitter:image", ""),
        og_url=said.get("og:url", ""),
        og_type=said.get("og:type", ""),
        og_site_name=said.get("og:site_name", ""),
        og_image_width=_side(said.get("og:image:width", "")),
        og_image_height=_side(said.get("og:image:height", "")),
        meta_description=said.get("description", ""),
        meta_keywords=said.get("keywords") or said.get("news_keywords", ""),
        twitter_card=said.get("twitter:card", ""),
        twitter_site=said.get("twitter:site", ""),
        article_section=said.get("article:section", ""),
        article_opinion=said.get("article:opinion", ""),
        article_content_tier=said.get("article:content_tier", ""),
    )


def keywords_in(written: Iterable[str]) -> tuple[str, ...]:
    """Distinct, in the order given; each string may hold several, between commas."""
    each = (page_line(word, _LONGEST_KEYWORD) for text in written for word in text.split(","))
    return tuple(islice(dict.fromkeys(word for word in each if word), MOST_KEYWORDS))


def _metas(elements: Elements) -> Iterator[tuple[str, str]]:
    for node in elements.named("meta"):
        said = node.attributes
        if "content" not in said:
            continue
        for key in ("property", "name", "itemprop"):
            # Real sites write `property` and `name` for one another, and some put two names into one.
            for name in (said.get(key) or "")[:200].lower().split():
                yield name, unescape_line(said.get("content") or "", _LONGEST_CONTENT)


def _side(written: str) -> int | None:
    is_number = written.isascii() and written.isdigit() and len(written) <= _MOST_DIGITS
    return int(written) if is_number else None
