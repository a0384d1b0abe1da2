"""May a page's canonical link be believed? Only about itself: no page decides over another site's documents."""

from headwater.errors import UrlRejected
from headwater.extract.elements import Elements, attribute
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.scope import without_www

_DEFAULT_PORTS = frozenset({80, 443})
# One site shown in another way, never another site.
_PRESENTATIONS = ("m.", "mobile.", "amp.")


def canonical_links(elements: Elements) -> list[str]:
    links = elements.named("link")
    return [attribute(node, "href") for node in links if "canonical" in attribute(node, "rel").lower().split()]


def canonical_url(page_url: str, base: str, written: list[str]) -> str:
    """The page's own URL unless its links name one other place, on the same site."""
    own = canonicalise(page_url)
    named = [url for href in written if (url := _parsed(href, base))]
    # Two different ones contradict each other, and neither can be believed.
    if len({url.key for url in named}) != 1 or not _is_same_site(own, named[0]):
        return own.url
    # A site that calls its front page the canonical form of every article would have only one document.
    return own.url if named[0].target == "/" else named[0].url


def _parsed(href: str, base: str) -> CanonicalUrl | None:
    try:
        return canonicalise(href.strip(), base=base)
    except UrlRejected:
        return None


def _is_same_site(one: CanonicalUrl, other: CanonicalUrl) -> bool:
    ports = {one.origin.port, other.origin.port}
    return _site_name(one.host) == _site_name(other.host) and (len(ports) == 1 or ports <= _DEFAULT_PORTS)


def _site_name(host: str) -> str:
    bare = without_www(host)
    # The rest must still be a name of its own: `m.com` is a site, not a view of `com`.
    return next((bare.removeprefix(p) for p in _PRESENTATIONS if bare.startswith(p) and bare.count(".") > 1), bare)
