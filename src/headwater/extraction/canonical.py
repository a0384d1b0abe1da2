"""The page that a page calls canonical: a claim, of which only the form is judged here."""

from headwater.errors import UrlRejected
from headwater.extraction.elements import Elements, attribute
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.domains import is_same_site


def canonical_links(elements: Elements) -> list[str]:
    links = elements.named("link")
    return [attribute(node, "href") for node in links if "canonical" in attribute(node, "rel").lower().split()]


def canonical_url(page_url: str, base: str, written: list[str]) -> str:
    """The page's own URL unless its links name one other place, on the same site."""
    own = canonicalise(page_url)
    named = [url for href in written if (url := _parsed(href, base))]
    # Two different ones contradict each other, and neither can be believed.
    if len({url.key for url in named}) != 1 or not is_same_site(own, named[0]):
        return own.url
    # A site that calls its front page the canonical form of every article would have only one document.
    return own.url if named[0].target == "/" else named[0].url


def _parsed(href: str, base: str) -> CanonicalUrl | None:
    try:
        return canonicalise(href.strip(), base=base)
    except UrlRejected:
        return None
