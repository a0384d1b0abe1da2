"""The hub that an answer names: in its head before its body, WebSub before rssCloud. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from headwater.discover.items import HubLinks
from headwater.errors import UrlRejected
from headwater.urls.canonical import CanonicalUrl, canonicalise

# A head with more links than this names its hub among the first.
MOST_LINKS = 100
LONGEST_HEADER = 16_384
_LINK = re.compile(r"<([^<>]{1,2083})>([^<]{0,2000})")
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)

Headers = Iterable[tuple[bytes, bytes]]


class Protocol(StrEnum):
    WEBSUB = "websub"
    RSSCLOUD = "rsscloud"


@dataclass(frozen=True, slots=True)
class NamedHub:
    """`topic`: what is subscribed to, as the publisher writes it."""

    protocol: Protocol
    hub: str
    topic: str


def hub_named(headers: Headers, links: HubLinks, answered_at: CanonicalUrl) -> NamedHub | None:
    """`links`: of the body. A topic that nobody names is the address that answered."""
    head = links_in_head(headers, answered_at)
    topic = _usable(head.topic) or _usable(links.topic) or answered_at
    if hub := _usable(head.hub) or _usable(links.hub):
        return NamedHub(Protocol.WEBSUB, hub.url, topic.url)
    # A cloud pings about the feed where it is.
    cloud = _usable(links.cloud)
    return NamedHub(Protocol.RSSCLOUD, cloud.url, answered_at.url) if cloud else None


def links_in_head(headers: Headers, base: CanonicalUrl) -> HubLinks:
    """RFC 8288; the first link of each role counts."""
    found: dict[str, str] = {}
    for target, roles in _links(headers):
        for role in {"hub", "self"}.intersection(roles) - set(found):
            if place := _usable(target, base):
                found[role] = place.url
    return HubLinks(found.get("hub", ""), found.get("self", ""))


def is_about(topic: str, other: str) -> bool:
    """Whether two addresses name the same page, however they are spelled."""
    mine, theirs = _usable(topic), _usable(other)
    return mine is not None and theirs is not None and mine.url_hash == theirs.url_hash


def _links(headers: Headers) -> Iterator[tuple[str, list[str]]]:
    written = b", ".join(value for name, value in headers if name.lower() == b"link")[:LONGEST_HEADER]
    for count, found in enumerate(_LINK.finditer(written.decode("latin-1"))):
        if count == MOST_LINKS:
            return
        rel = _REL.search(found[2])
        yield found[1].strip(), (rel[1] or rel[2] or "").lower().split() if rel else []


def _usable(url: str, base: CanonicalUrl | None = None) -> CanonicalUrl | None:
    if not url:
        return None
    try:
        return canonicalise(url, base=base.url if base else None)
    except UrlRejected:
        return None
