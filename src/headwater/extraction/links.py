"""Where a page points: absolute, distinct, in page order."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from headwater.errors import UrlRejected
from headwater.extraction.elements import LEADING_IDS, TEXT, Elements, attribute
from headwater.extraction.text import comparable
from headwater.urls.origin import site_at
from headwater.urls.parse import is_plain_path, resolve

MOST_LINKS = 2_000
# Beyond what is kept, because most links of a page repeat; a page of nothing but links ends here.
_MOST_ANCHORS = 10_000
_LONGEST_ANCHOR_TEXT = 300
# Indentation counts here, and not above.
_LONGEST_READ = 10 * _LONGEST_ANCHOR_TEXT
_MOST_PARTS = 100
_PATH_FROM = len("https://")
_SURELY_SHORT = 1_000  # no host makes this longer than an address may be
# Publishers mark what they were paid for or did not write themselves: no more their word than nofollow.
_UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})


class Anchor(NamedTuple):
    href: str
    relations: str
    node: LexborNode


@dataclass(frozen=True)
class Anchors:
    """`links` are URLs, `unfollowed` those of them the page does not vouch for."""

    found: Sequence[Anchor]
    links: tuple[str, ...]
    unfollowed: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.found)

    @cached_property
    def texts(self) -> frozenset[str]:
        """The texts of the anchors, as `comparable` writes it: a line that says no more is a link, not prose.

        Asked for the first time before the tree is pruned, if at all: few pages need it.
        """
        return texts_of(anchor.node for anchor in self.found)

    @cached_property
    def texts_within(self) -> frozenset[str]:
        """The texts of anchors that lead to a place of their own page, as in a table of contents."""
        return texts_of(anchor.node for anchor in self.found if len(anchor.href) > 1 and anchor.href[0] == "#")


def texts_of(nodes: Iterable[LexborNode]) -> frozenset[str]:
    # What is longer than a headline can be is prose, whatever it leads to.
    texts = map(comparable, {_said_by(node)[:_LONGEST_READ] for node in nodes})
    return frozenset(text for text in texts if 0 < len(text) <= _LONGEST_ANCHOR_TEXT)


def _said_by(node: LexborNode) -> str:
    """Nothing for one with so many parts that it is no headline: links may nest without end inside of <svg>."""
    only = node.first_child
    if only is not None and only.next is None and only.tag_id == TEXT:
        return only.text_content or ""
    parts = list(islice(node.traverse(include_text=True), _MOST_PARTS + 1))
    if len(parts) > _MOST_PARTS:
        return ""
    return " ".join(part.text_content or "" for part in parts if part.tag_id == TEXT)


def leads_on(node: LexborNode) -> bool:
    """Whether it holds a link, or so many parts that it may."""
    parts = list(islice(node.traverse(), _MOST_PARTS + 1))
    return len(parts) > _MOST_PARTS or any(part.tag_id in LEADING_IDS and "href" in part.attributes for part in parts)


def anchors_of(elements: Elements, base: str) -> Anchors:
    """`base` is what relative links are resolved against, see `base_of`."""
    found = list(islice(_anchors(elements), _MOST_ANCHORS))
    links = _links(found, base)
    unfollowed = tuple(url for url, anchor in links.items() if not _is_followed(anchor))
    return Anchors(found, tuple(links), unfollowed)


def base_of(elements: Elements, page_url: str) -> str:
    """`<base href>` where it is a usable one."""
    node = next((node for node in elements.named("base") if "href" in node.attributes), None)
    return absolute(attribute(node, "href") if node else "", page_url) or page_url


def absolute(href: str, base: str) -> str:
    """The URL as it would be fetched, or nothing."""
    try:
        return _as_fetched(href.strip(), base) if href.strip() else ""
    except UrlRejected:
        return ""


def _as_fetched(href: str, base: str) -> str:
    """As `canonicalise` has it, without the key and its hash: half of the time, for a hundred links a page."""
    url = resolve(href, base)
    path = url.index("/", _PATH_FROM)
    return site_at(url[:path]).url_root + url[path:]


def _links(found: list[Anchor], base: str) -> dict[str, Anchor]:
    """Each address with the first anchor that leads to it."""
    # Resolving is what costs, and half of a page's links are written more than once.
    distinct: dict[str, Anchor] = {}
    for anchor in found:
        distinct.setdefault(anchor.href, anchor)
    links: dict[str, Anchor] = {}
    root = _root_of(base)
    for anchor in distinct.values():
        url = _target(anchor.href, base, root)
        if url and len(links) < MOST_LINKS:
            links.setdefault(url, anchor)
    return links


def _root_of(base: str) -> str:
    """Scheme and host of an absolute URL, as they are spelt in links."""
    scheme, slashes, rest = base.partition("://")
    return absolute(f"{scheme}{slashes}{rest.partition('/')[0]}/", base).removesuffix("/")


def _target(href: str, base: str, root: str) -> str:
    if href.startswith("#"):
        return ""
    # Most links are of this kind, with their host or without it: nothing is left to be looked at.
    if root and len(href) < _SURELY_SHORT and is_plain_path(path := href.removeprefix(root)):
        return root + path
    # And where an address is whole already, the slow parser is passed by.
    is_on_this_host = href.startswith("/") and not href.startswith("//")
    return absolute(root + href if is_on_this_host else href, base)


def _is_followed(anchor: Anchor) -> bool:
    return not anchor.relations or _UNFOLLOWED.isdisjoint(anchor.relations.lower().split())


def _anchors(elements: Elements) -> Iterator[Anchor]:
    for node in elements.leading:
        said = node.attributes
        if "href" in said:
            yield Anchor((said["href"] or "").strip(), (said.get("rel") or "")[:200], node)
