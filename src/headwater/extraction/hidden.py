"""Text that a page does not show, and what its readers wrote below it: taken out before anything reads the page.

Seen by attributes, inline styles and the plain rules of the page's own <style>; what only starts collapsed stays.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.captions import keep_captions
from headwater.extraction.elements import id_of, ids_of
from headwater.extraction.permalinks import remove_permalinks
from headwater.extraction.preformatted import keep_code

_MOST_ELEMENTS = 20_000
_MOST_CSS = 50_000
_MOST_RULES = 5_000
_MOST_NAMES = 100
_MOST_SHEETS = 100  # of five megabytes together
_MOST_SPARED = 50
_LITTLE_TEXT, _MOST_OF_A_PAGE = 500, 0.5

_CANDIDATES = '[hidden], [aria-hidden="true"], [style]'
_WHOLE_PAGE = frozenset({"html", "head", "body", "main"})
# The page itself, which scripts reveal when they are done, and menus, whose links lead on.
_NEVER = ids_of({"html", "head", "body", "main", "article", "nav", "header", "footer", "details", "summary"})
_HOLDING = {"main", "article", "h1", "nav"}
# Said about the page rather than shown in it.
_KEPT = {"script", "meta", "link", "base", "time", "style"}
_HOLDING_IDS, _KEPT_IDS, _HEADING_IDS = ids_of(_HOLDING), ids_of(_KEPT), ids_of({"main", "h1"})
_LINK = id_of("a")
# What has none of these inside goes without further questions.
_TELLING = ", ".join(sorted(_HOLDING | _KEPT | {"p", "a"}))
_TELLING_IDS = _HOLDING_IDS | _KEPT_IDS
_FEW_STEPS = 5
# As many links are a menu that opens when it is touched; a single one may be a trap for those who follow all of them.
_LINKS_OF_A_MENU = 5

_COMMENTS = frozenset(
    {
        *("comment", "comments", "comment-list", "comments-list", "commentlist", "comments-area", "comment-body"),
        *("comment-content", "comment-text", "comment-thread", "comments-section", "comments-container"),
        *("user-comments", "reader-comments", "comments-wrapper", "fb-comments"),
    }
)
_COMMENT_PLACES = '[class*="omment"], [id*="omment"], #disqus_thread, #respond, [itemprop="comment"]'
_COMMENT_IDS = frozenset({"comments", "comment-list", "commentlist", "disqus_thread", "respond"})

_LONGEST_STYLE = 2_000
_DECLARATION = re.compile(r"(?:^|;) ?([a-z-]+) ?: ?([^;]*[^; ])")
_ZERO = re.compile(r"[-+]?0*\.?0*(?:px|em|rem|%|pt|vw|vh)?")
_FAR = re.compile(r"-(?:\d{4,}|9\d\d)(?:\.\d+)?(?:px|pt)?|-(?:\d{3,})(?:em|rem|%|vw|vh)")
_CLIPPED = re.compile(r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)")
_CLIPPED_AWAY = re.compile(r"(?:inset|polygon|circle)\(\s*(?:50%|100%|0(?:px)?\s*\)|0 0,\s*0 0).*")
_HIDES_PLAINLY = frozenset({"display:none", "display:none;", "display: none", "display: none;"})
# Wider than what hides, and enough to pass over nearly all that does not.
_FAR_SOMEWHERE = re.compile(r"-\d\d\d")
_NEARLY_ZERO = re.compile(r"(?:opacity|font-size)\s*:\s*[-+]?[.0]")
_COLOURED = re.compile(r"(?<!-)color\s*:")
_NAMED_COLOURS = {"white": "#ffffff", "black": "#000000"}
_SHORT_COLOUR = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])")
_COLOUR_OF_THREE = re.compile(r"rgba?\((\d+),(\d+),(\d+)(?:,1)?\)")
# Scripts and animations show these in their time.
_REVEALED = re.compile(
    r"accordion|collaps|panel|tab|toggle|expand|slide|swiper|carousel|lazy|fade|anim|aos|wow|reveal|motion|faq|answer"
    r"|read-?more|dropdown|paywall"
)
_REVEALING_ATTRIBUTE = re.compile(r"data-(?:w-id|aos|anim|scroll|sal|motion|reveal|wow|framer)")
_MOVING = ("transform", "transition", "animation", "animation-name", "will-change")
_SHOWING = frozenset({"display", "visibility", "opacity", "position", "clip", "left", "font-size", "height"})
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_PLAIN_SELECTOR = re.compile(r"[a-z0-9]*([.#][a-zA-Z_][\w-]*)")
# In the words of a style sheet that may hide something; looked for as they are, which takes no time.
_HINTS = (":none", ": none", ":hidden", ": hidden", "opacity:0", "font-size:0", "-9", "-1000", "rect(")


def visible_page(markup: str | bytes) -> LexborHTMLParser:
    """The tree of a page as its readers see it, without what other readers wrote below it; code keeps its form."""
    tree = LexborHTMLParser(markup)
    remove_hidden(tree)
    _remove_comments(tree)
    remove_permalinks(tree)
    keep_code(tree)
    keep_captions(tree)
    return tree


def remove_hidden(tree: LexborHTMLParser) -> None:
    """Changes the tree. Metadata inside of hidden elements stays."""
    page = _Paragraphs(tree)
    _remove(
        [node for node in tree.css(_CANDIDATES)[:_MOST_ELEMENTS] if node.tag_id not in _NEVER and _is_hidden(node)],
        lambda node, tags: not _HOLDING_IDS.isdisjoint(tags) or (_is_for_ears(node) and page.are_mostly_in(node)),
    )
    if names := _hidden_by_rules(_css_of(tree)):
        found = [node for node in tree.css(names) if node.tag_id not in _NEVER and _is_hidden_by_rule(node)]
        _remove(found[:_MOST_ELEMENTS], lambda _, tags: not _HOLDING_IDS.isdisjoint(tags))


def _remove_comments(tree: LexborHTMLParser) -> None:
    found = [node for node in tree.css(_COMMENT_PLACES)[:_MOST_ELEMENTS] if _is_comment(node)]
    if not found:
        return
    page = _Paragraphs(tree)
    # A newspaper may call its opinion pages so.
    is_only_article = len(tree.css("article")) == 1
    _remove(
        [node for node in found if node.tag not in _WHOLE_PAGE and not (is_only_article and node.tag == "article")],
        lambda node, tags: not _HEADING_IDS.isdisjoint(tags) or page.are_mostly_in(node),
        least_links=sys.maxsize,
    )


def _is_comment(node: LexborNode) -> bool:
    said = node.attributes
    names = (said.get("class") or "").lower().split()
    is_named = not _COMMENTS.isdisjoint(names) or (said.get("id") or "").lower() in _COMMENT_IDS
    return is_named or said.get("itemprop") == "comment"


class _Paragraphs:
    """Of a page, counted once when first asked for."""

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


def _remove(
    nodes: list[LexborNode], is_the_page: Callable[[LexborNode, set[int]], bool], least_links: int = _LINKS_OF_A_MENU
) -> None:
    """`nodes` in page order: the outer one first, with which the inner ones go."""
    emptied: set[int] = set()
    spared = 0
    for node in nodes:
        if node.parent is None or node.mem_id in emptied:
            continue  # gone with another
        if _is_plain(node):
            node.decompose()
            continue
        inside = node.css(_TELLING)
        # Bounded: looking into each of many that stand inside of each other takes the square of their number.
        if inside and spared < _MOST_SPARED and is_the_page(node, {one.tag_id for one in inside}):
            spared += 1
            continue
        links = [one for one in inside if one.tag_id == _LINK]
        kept = [one for one in inside if one.tag_id in _KEPT_IDS]
        emptied |= _clear(node, kept, links if len(links) >= least_links else [])


def _is_plain(node: LexborNode) -> bool:
    """A short text or a picture in few elements, as most are: to ask the parser instead takes ten times as long."""
    for _ in range(_FEW_STEPS):
        if node.tag_id in _TELLING_IDS:
            return False
        inner = node.first_child
        if inner is None:
            return len(node.text_content or "") < _LITTLE_TEXT
        if inner.next is not None:
            return False
        node = inner
    return False


def _clear(node: LexborNode, kept: list[LexborNode], links: list[LexborNode]) -> set[int]:
    """Leaves what is kept, the links without their texts and what is around both: the ids of all these.

    Without recursion: a page may be deeper than the interpreter's stack.
    """
    if not kept and not links:
        node.decompose()
        return set()
    kept_ids, link_ids = ({one.mem_id for one in nodes} for nodes in (kept, links))
    around = _ids_around([*kept, *links], node) | link_ids
    waiting = [node]
    while waiting:
        child = waiting.pop().first_child
        while child is not None:
            following, number = child.next, child.mem_id
            if number in around and number not in kept_ids:
                waiting.append(child)
            elif number not in kept_ids:
                child.decompose()
            child = following
    return around | kept_ids


def _ids_around(nodes: list[LexborNode], outer: LexborNode) -> set[int]:
    """Of the elements between `outer` and these inside of it, and its own; no step is made twice."""
    ids = {outer.mem_id}
    for node in nodes:
        above = node.parent if node.mem_id not in ids else None
        while above is not None and above.mem_id not in ids:
            ids.add(above.mem_id)
            above = above.parent
    return ids


def _is_for_ears(node: LexborNode) -> bool:
    """Hidden from readers who listen, and perhaps only while a dialogue stands before it."""
    return node.attributes.get("aria-hidden") == "true"


def _is_hidden(node: LexborNode) -> bool:
    said = node.attributes
    if "hidden" in said and (said["hidden"] or "").lower() != "until-found":
        return True
    # A card's second link to the same page is hidden so.
    if said.get("aria-hidden") == "true" and node.tag != "a":
        return True
    style = said.get("style")
    if style is None or style in _HIDES_PLAINLY:
        return style is not None
    return _may_hide(style) and hides(declarations(style), node)


def _is_hidden_by_rule(node: LexborNode) -> bool:
    # `md:block` shows on wide screens what `hidden` hides on narrow ones.
    names = node.attributes.get("class") or ""
    return ":" not in names and not _REVEALED.search(names.lower())


def _may_hide(style: str) -> bool:
    """Whether it is worth reading: nearly no style has words in it that hide, and looking for words takes no time."""
    said = style.lower()
    return (
        ("none" in said and "display" in said)
        or "visibility" in said
        or ("-" in said and ("position" in said or "text-indent" in said) and _FAR_SOMEWHERE.search(said) is not None)
        or "clip" in said
        or ("hidden" in said and "overflow" in said and "height" in said and "width" in said)
        or "transparent" in said
        or ("background" in said and _COLOURED.search(said) is not None)
        or (("opacity" in said or "font-size" in said) and _NEARLY_ZERO.search(said) is not None)
    )


def declarations(style: str) -> dict[str, str]:
    """By property; the last word counts."""
    if ":" not in style:
        return {}
    said = " ".join(style[:_LONGEST_STYLE].lower().replace("!important", "").split())
    return dict(_DECLARATION.findall(said))


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
    return node is None or not _is_revealed(node)


def _is_revealed(node: LexborNode) -> bool:
    """By a script or an animation, in its time: by what its classes are called, and by what such scripts look for."""
    said = node.attributes
    return (
        any(_REVEALING_ATTRIBUTE.match(name) for name in said)
        or _REVEALED.search((said.get("class") or "").lower()) is not None
    )


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


def _css_of(tree: LexborHTMLParser) -> str:
    sheets: list[str] = []
    length = 0
    for node in tree.css("style"):
        only = node.first_child
        sheets.append((only.text_content or "") if only is not None and only.next is None else node.text())
        length += len(sheets[-1]) + 1
        if length > _MOST_CSS:
            break
    return "\n".join(sheets)[:_MOST_CSS]


@lru_cache(maxsize=_MOST_SHEETS)
def _hidden_by_rules(css: str) -> str:
    """One selector for all that rules hide and none shows. Kept, as the pages of a host repeat their style sheets."""
    css = _CSS_COMMENT.sub("", css) if "/*" in css else css
    names = islice(sorted(set(_hidden_by(css))), _MOST_NAMES)
    # What a class is called says the same of each element that has it, see `_is_hidden_by_rule`.
    lasting = (name for name in names if name.startswith("#") or not _REVEALED.search(name.lower()))
    return ", ".join(name for name in lasting if not _is_shown_by_a_rule(name, css))


def _hidden_by(css: str) -> Iterator[str]:
    """Classes and ids, as selectors. Only rules with a word in them that may hide are read: nearly all have none;
    one inside of `@media` holds only sometimes.
    """
    depth = counted = end = 0
    for place in _hints_in(css):
        begins, close = css.rfind("{", end, place), css.find("}", place)
        if place < end or begins < 0 or close < 0:
            continue
        end = close
        said = css[begins + 1 : close]
        if not _may_hide(said):
            continue
        selectors = css[css.rfind("}", 0, begins) + 1 : begins]
        plain = [found[1] for one in selectors.split(",") if (found := _PLAIN_SELECTOR.fullmatch(one.strip()))]
        if plain and hides(declarations(said)):
            depth += css.count("{", counted, begins) - css.count("}", counted, begins)
            counted = begins
            if depth == 0:
                yield from plain


def _hints_in(css: str) -> list[int]:
    return sorted(islice((place for hint in _HINTS for place in _places_of(hint, css)), _MOST_RULES))


def _places_of(hint: str, css: str) -> Iterator[int]:
    place = css.find(hint)
    while place >= 0:
        yield place
        place = css.find(hint, place + 1)


def _is_shown_by_a_rule(name: str, css: str) -> bool:
    """Whether some rule, under whatever condition, mentions this name without hiding by it."""
    return any(
        not (css[place + len(name) : place + len(name) + 1].isalnum() or css[place + len(name)] in "-_")
        and _shows(css, place)
        for place in islice(_places_of(name, css), _MOST_RULES)
        if place + len(name) < len(css)
    )


def _shows(css: str, place: int) -> bool:
    """Whether the rule with this place in its selector shows what it speaks of."""
    begins, close = css.find("{", place), css.find("}", place)
    if begins < 0 or close < begins:
        return False
    said = declarations(css[begins + 1 : close])
    return not _SHOWING.isdisjoint(said) and not hides(said)
