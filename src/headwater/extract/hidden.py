"""Text that a page does not show, and what its readers wrote below it: taken out before anything reads the page.

Seen by attributes, inline styles and the plain rules of the page's own <style>; what only starts collapsed stays.
"""

import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

_MOST_ELEMENTS = 20_000
_MOST_CSS = 200_000
_MOST_RULES = 5_000
_MOST_SPARED = 50
_LITTLE_TEXT, _MOST_OF_A_PAGE = 500, 0.5

_CANDIDATES = '[hidden], [aria-hidden="true"], [style]'
_WHOLE_PAGE = frozenset({"html", "head", "body", "main"})
# The page itself, which scripts reveal when they are done, and menus, whose links lead on.
_NEVER = frozenset({"html", "head", "body", "main", "article", "nav", "header", "footer", "details", "summary"})
_HOLDS_THE_PAGE = "main, article, h1, nav"
# Said about the page rather than shown in it.
_KEPT = "script, meta, link, base, time, style"
_KEPT_TAGS = frozenset({"script", "meta", "link", "base", "time", "style"})
_TEXT = "-text"

_COMMENTS = frozenset(
    {
        *("comment", "comments", "comment-list", "comments-list", "commentlist", "comments-area", "comment-body"),
        *("comment-content", "comment-text", "comment-thread", "comments-section", "comments-container"),
        *("user-comments", "reader-comments", "comments-wrapper", "fb-comments", "disqus", "disqus_thread"),
    }
)
_COMMENT_PLACES = ", ".join(
    [
        *(f".{name}" for name in sorted(_COMMENTS)),
        *("#comments", "#comment-list", "#disqus_thread", "#respond", '[itemprop="comment"]'),
    ]
)

_DECLARATION = re.compile(r"\s*([a-z-]+)\s*:\s*([^;]*)", re.IGNORECASE)
_ZERO = re.compile(r"[-+]?0*\.?0*(?:px|em|rem|%|pt|vw|vh)?")
_FAR = re.compile(r"-(?:\d{4,}|9\d\d)(?:\.\d+)?(?:px|pt)?|-(?:\d{3,})(?:em|rem|%|vw|vh)")
_CLIPPED = re.compile(r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)")
_CLIPPED_AWAY = re.compile(r"(?:inset|polygon|circle)\(\s*(?:50%|100%|0(?:px)?\s*\)|0 0,\s*0 0).*")
_NAMED_COLOURS = {"white": "#ffffff", "black": "#000000"}
_SHORT_COLOUR = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])")
_COLOUR_OF_THREE = re.compile(r"rgba?\((\d+),(\d+),(\d+)(?:,1)?\)")
# Scripts and animations show these in their time.
_REVEALED = re.compile(
    r"accordion|collaps|panel|tab|toggle|expand|slide|swiper|carousel|lazy|fade|anim|aos|wow|reveal|motion|faq|answer"
    r"|read-?more|dropdown|content|body|story|article|paywall"
)
_MOVING = ("transform", "transition", "animation", "animation-name", "will-change")
_SHOWING = frozenset({"display", "visibility", "opacity", "position", "clip", "left", "font-size", "height"})
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_AT_BLOCK = re.compile(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_PLAIN_SELECTOR = re.compile(r"[a-z0-9]*([.#][a-zA-Z_][\w-]*)")
_NAME_IN_SELECTOR = re.compile(r"[.#][a-zA-Z_][\w-]*")


def seen_page(markup: str | bytes) -> LexborHTMLParser:
    """The tree of a page as its readers see it, without what other readers wrote below it."""
    tree = LexborHTMLParser(markup)
    remove_hidden(tree)
    _remove_comments(tree)
    return tree


def remove_hidden(tree: LexborHTMLParser) -> None:
    """Changes the tree. Metadata inside of hidden elements stays."""
    page = _Paragraphs(tree)
    _remove(
        [node for node in tree.css(_CANDIDATES)[:_MOST_ELEMENTS] if node.tag not in _NEVER and _is_hidden(node)],
        lambda node: node.css_first(_HOLDS_THE_PAGE) is not None or (_is_for_ears(node) and page.are_mostly_in(node)),
    )
    if rules := hiding_rules(tree):
        found = tree.css(", ".join(sorted(rules)))[:_MOST_ELEMENTS]
        _remove(
            [node for node in found if node.tag not in _NEVER and _is_hidden_by_rule(node)],
            lambda node: node.css_first(_HOLDS_THE_PAGE) is not None,
        )


def _remove_comments(tree: LexborHTMLParser) -> None:
    found = tree.css(_COMMENT_PLACES)[:_MOST_ELEMENTS]
    if not found:
        return
    page = _Paragraphs(tree)
    # A newspaper may call its opinion pages so.
    is_only_article = len(tree.css("article")) == 1
    _remove(
        [node for node in found if node.tag not in _WHOLE_PAGE and not (is_only_article and node.tag == "article")],
        lambda node: node.css_first("main, h1") is not None or page.are_mostly_in(node),
    )


class _Paragraphs:
    """Of a page, counted once where somebody asks."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._letters: int | None = None

    def are_mostly_in(self, node: LexborNode) -> bool:
        """Then it is the page."""
        inside = _letters_in(node)
        if inside < _LITTLE_TEXT:
            return False
        if self._letters is None:
            self._letters = _letters_in(self._tree)
        return inside > _MOST_OF_A_PAGE * self._letters


def _letters_in(within: LexborHTMLParser | LexborNode) -> int:
    return sum(len(paragraph.text()) for paragraph in within.css("p"))


def _remove(nodes: list[LexborNode], is_the_page: Callable[[LexborNode], bool]) -> None:
    """`nodes` in page order: the outer one first, with which the inner ones go."""
    fates: dict[int, bool] = {}
    chosen: list[LexborNode] = []
    spared = 0
    for node in nodes:
        if _goes_with_another(node, fates):
            continue
        # Bounded: looking into each of many that stand inside of each other takes the square of their number.
        if spared < _MOST_SPARED and is_the_page(node):
            spared += 1
        else:
            fates[node.mem_id] = True
            chosen.append(node)
    for node in chosen:
        _clear(node)


def _goes_with_another(node: LexborNode, fates: dict[int, bool]) -> bool:
    """Whether something around it goes. What was found out on the way is noted, so that no step is made twice."""
    way: list[int] = []
    above = node.parent
    while above is not None and above.mem_id not in fates:
        way.append(above.mem_id)
        above = above.parent
    goes = above is not None and fates[above.mem_id]
    fates.update(dict.fromkeys(way, goes))
    return goes


def _clear(node: LexborNode) -> None:
    if node.css_first(_KEPT) is None:
        node.decompose()
        return
    for child in list(node.iter(include_text=True)):
        if child.tag == _TEXT:
            child.decompose()
        elif child.tag not in _KEPT_TAGS:
            _clear(child)


def _is_for_ears(node: LexborNode) -> bool:
    """Hidden from readers who listen, and perhaps only while a dialogue stands before it."""
    return node.attributes.get("aria-hidden") == "true"


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    # A card's second link to the same page is hidden so.
    if _is_for_ears(node) and node.tag != "a":
        return True
    return hides(declarations(attributes.get("style") or ""), node)


def _is_hidden_by_rule(node: LexborNode) -> bool:
    # `md:block` shows on wide screens what `hidden` hides on narrow ones.
    names = node.attributes.get("class") or ""
    return ":" not in names and not _REVEALED.search(names.lower())


def declarations(style: str) -> dict[str, str]:
    """By property; the last word counts."""
    if ":" not in style:
        return {}
    pairs = (found.groups() for found in map(_DECLARATION.match, style[:2_000].split(";")) if found)
    return {name.lower(): " ".join(value.lower().replace("!important", "").split()) for name, value in pairs}


def hides(said: dict[str, str], node: LexborNode | None = None) -> bool:
    if not said:
        return False
    if said.get("display") == "none" or _is_away(said) or _is_clipped(said) or _is_uncoloured(said):
        return True
    if _is_zero(said.get("font-size", "")):
        # Lists are set without gaps so: what stands inside has a size of its own.
        return node is None or all(one.mem_id == node.mem_id for one in node.css("[style*=font-size]"))
    is_faint = said.get("visibility") in ("hidden", "collapse") or _is_zero(said.get("opacity", ""))
    if not is_faint or any(name in said for name in _MOVING):
        return False
    return node is None or not _REVEALED.search((node.attributes.get("class") or "").lower())


def _is_away(said: dict[str, str]) -> bool:
    if _FAR.fullmatch(said.get("text-indent", "")):
        return True
    is_taken_out = said.get("position") in ("absolute", "fixed")
    return is_taken_out and any(
        _FAR.fullmatch(said.get(side, "")) for side in ("left", "top", "right", "bottom", "margin-left", "margin-top")
    )


def _is_clipped(said: dict[str, str]) -> bool:
    if _CLIPPED.fullmatch(said.get("clip", "")) or _CLIPPED_AWAY.fullmatch(said.get("clip-path", "")):
        return True
    sizes = [said.get(name, "") for name in ("width", "height")]
    return said.get("overflow") == "hidden" and all(size == "1px" or _is_zero(size) for size in sizes)


def _is_uncoloured(said: dict[str, str]) -> bool:
    colour = _colour(said.get("color", ""))
    if not colour:
        return False
    background = _colour(said.get("background-color", "") or said.get("background", ""))
    is_unpainted = colour == "transparent" and not any("background-clip" in name for name in said)
    return is_unpainted or colour == background


def _colour(text: str) -> str:
    text = text.replace(" ", "")
    if found := _SHORT_COLOUR.fullmatch(text):
        return "#" + "".join(letter * 2 for letter in found.groups())
    if found := _COLOUR_OF_THREE.fullmatch(text):
        return "#" + "".join(f"{min(int(number), 255):02x}" for number in found.groups())
    return _NAMED_COLOURS.get(text, text)


def _is_zero(text: str) -> bool:
    return bool(text) and any(letter == "0" for letter in text) and _ZERO.fullmatch(text) is not None


def hiding_rules(tree: LexborHTMLParser) -> frozenset[str]:
    """Classes and ids, as selectors, that the page's own rules hide and that none of its rules shows again."""
    css = _CSS_COMMENT.sub("", "\n".join(node.text() for node in tree.css("style"))[:_MOST_CSS])
    if not css:
        return frozenset()
    hidden = {name for name, said in _plain_rules(_AT_BLOCK.sub("", css)) if hides(said)}
    return frozenset(hidden - _shown_somewhere(css)) if hidden else frozenset()


def _plain_rules(css: str) -> Iterator[tuple[str, dict[str, str]]]:
    for number, rule in enumerate(_RULE.finditer(css)):
        if number >= _MOST_RULES:
            return
        said = declarations(rule[2])
        if not said:
            continue
        for selector in rule[1].split(","):
            if plain := _PLAIN_SELECTOR.fullmatch(selector.strip()):
                yield plain[1], said


def _shown_somewhere(css: str) -> set[str]:
    """Names that some rule, under whatever condition, mentions without hiding by it."""
    found: set[str] = set()
    for number, rule in enumerate(_RULE.finditer(css)):
        said = declarations(rule[2])
        if number >= _MOST_RULES:
            break
        if not _SHOWING.isdisjoint(said) and not hides(said):
            found.update(_NAME_IN_SELECTOR.findall(rule[1]))
    return found
