"""The kind of a page, by a few signs each of which can be wrong alone."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from selectolax.lexbor import LexborNode

from headwater.extraction.elements import Elements, attribute, ids_of

SHORTEST_ARTICLE_WORDS, SHORTEST_BRIEF_WORDS = 50, 30
_LONG_ENOUGH_WORDS = 200
_SHORT_NOTICE_WORDS = 150
_ARTICLE_SCORE = 4
_LISTED_LINKS = 20
_WORDS_PER_LISTED_LINK = 10
_NOT_FOUND = re.compile(
    r"\b(?:error 404|404|page not found|not found|no longer available|seite nicht gefunden|page introuvable"
    r"|página no encontrada|página não encontrada|страница не найдена|الصفحة غير موجودة)\b",
    re.IGNORECASE,
)
_CHALLENGE_TITLE = re.compile(
    r"just a moment|attention required|checking your browser|are you (?:a )?(?:human|robot)"
    r"|verify(?:ing)? you are human|access denied|security check|captcha|ddos protection",
    re.IGNORECASE,
)
_TITLE = re.compile(rb"<title[^>]{0,200}>([^<]{0,300})", re.IGNORECASE)
_CHALLENGE_SCRIPT = re.compile(r"/cdn-cgi/challenge-platform/|captcha-delivery\.com")
# Of documentation, menus and sidebars name more pages than a short page has words for.
_MENU_IDS = ids_of({"nav", "aside", "footer"})
_MOST_LINKS, _MOST_STEPS_OUT = 10_000, 30
_MICRODATA = "[itemtype*='Article'], [itemtype*='BlogPosting'], [itemprop='articleBody']"


class PageType(StrEnum):
    ARTICLE = "article"
    VIDEO = "video"
    GALLERY = "gallery"
    LIVE = "live"
    LISTING = "listing"
    STUB = "stub"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """Seen before the tree is pruned. `links_within`: those outside of menus, or all where nothing asks for them."""

    has_password_field: bool
    has_time: bool
    has_microdata: bool
    has_challenge: bool
    has_article_element: bool
    links: int
    links_within: int
    is_article_by_linked_data: bool
    is_article_by_og: bool


def signs_of(elements: Elements, *, links: int, is_article_by_linked_data: bool, is_article_by_og: bool) -> Signs:
    scripts = (attribute(node, "src") for node in elements.named("script"))
    signs = Signs(
        has_password_field=any(attribute(node, "type").lower() == "password" for node in elements.named("input")),
        has_time=any("datetime" in node.attributes for node in elements.named("time")),
        # A walk of its own, for what linked data has said already on most pages.
        has_microdata=not is_article_by_linked_data and elements.tree.css_first(_MICRODATA) is not None,
        has_challenge=bool(elements.challenges) or any(map(_CHALLENGE_SCRIPT.search, scripts)),
        has_article_element=bool(elements.named("article")),
        links=links,
        links_within=links,
        is_article_by_linked_data=is_article_by_linked_data,
        is_article_by_og=is_article_by_og,
    )
    # Whatever its text is, this is no list.
    is_settled = _article_score(signs, is_long=False, is_teasers=True) >= _ARTICLE_SCORE
    if links < _LISTED_LINKS or is_settled:
        return signs
    return replace(signs, links_within=links - _links_in_menus(elements))


def page_type_of(signs: Signs, *, words: int, has_title: bool, is_teasers: bool) -> PageType:
    if signs.has_password_field and words < _LONG_ENOUGH_WORDS:
        return PageType.OTHER
    if (
        _article_score(signs, is_long=has_title and words >= _LONG_ENOUGH_WORDS, is_teasers=is_teasers)
        >= _ARTICLE_SCORE
    ):
        return PageType.ARTICLE
    if _is_list(signs, words=words, is_teasers=is_teasers):
        return PageType.LISTING
    return PageType.STUB if words < SHORTEST_ARTICLE_WORDS else PageType.OTHER


def showing_type(found: PageType, shows: str, og_type: str, words: int) -> PageType:
    """A page whose point is a film or pictures, with few words about them; a story with a film in it stays one."""
    if found is PageType.LISTING or words >= _LONG_ENOUGH_WORDS:
        return found
    if shows == "video" or og_type.lower().startswith("video"):
        return PageType.VIDEO
    return PageType.GALLERY if shows == "gallery" else found


def _is_list(signs: Signs, *, words: int, is_teasers: bool) -> bool:
    if is_teasers:
        return signs.links >= _LISTED_LINKS
    return signs.links_within >= _LISTED_LINKS and words / signs.links_within < _WORDS_PER_LISTED_LINK


def _links_in_menus(elements: Elements) -> int:
    known: dict[int, bool] = {}
    links = (node for node in elements.leading[:_MOST_LINKS] if "href" in node.attributes)
    return sum(_is_in_menu(link, known) for link in links)


def _is_in_menu(link: LexborNode, known: dict[int, bool]) -> bool:
    """`known` is what was said of elements around other links. A selector would look out to the root for each."""
    around, way = link.parent, list[int]()
    answer = False
    while around is not None and len(way) < _MOST_STEPS_OUT and not answer:
        if around.mem_id in known:
            answer = known[around.mem_id]
            break
        way.append(around.mem_id)
        answer = around.tag_id in _MENU_IDS or attribute(around, "role") == "navigation"
        around = around.parent
    known.update(dict.fromkeys(way, answer))
    return answer


def is_challenge(signs: Signs, title: str, words: int) -> bool:
    """A page that asks whether we are human instead of showing what was asked for."""
    return words < _SHORT_NOTICE_WORDS and (signs.has_challenge or bool(_CHALLENGE_TITLE.search(title)))


def has_challenge_title(head: bytes) -> bool:
    """By the beginning of an answer that is no article in any case: it refuses, or says that nothing is here."""
    found = _TITLE.search(head)
    return found is not None and bool(_CHALLENGE_TITLE.search(found[1].decode("utf-8", "replace")))


def is_soft_404(title: str, words: int) -> bool:
    """Says that there is nothing, though the status said there was."""
    return words < _SHORT_NOTICE_WORDS and bool(_NOT_FOUND.search(title))


def _article_score(signs: Signs, *, is_long: bool, is_teasers: bool) -> int:
    """Teasers may add up to many words and may each be an <article>; neither makes their page one."""
    return (
        5 * signs.is_article_by_linked_data
        + 3 * signs.is_article_by_og
        + 3 * signs.has_microdata
        + 2 * (signs.has_article_element and not is_teasers)
        + 1 * signs.has_time
        + 4 * (is_long and not is_teasers)
    )
