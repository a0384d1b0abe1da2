"""Which items of an answer are new, which changed, and what the frontier is told of them. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from headwater.discover.items import Item
from headwater.errors import UrlRejected
from headwater.frontier.submit import DEEPEST, FoundUrl
from headwater.urls.canonical import CanonicalUrl, canonicalise

# So many items claiming at once that they changed since the last poll are a clock, not a publisher.
FEWEST_TO_DISTRUST = 10
MOST_CHANGED_AT_ONCE = 0.5
HALF = 8  # bytes of a signature
# Stands in the memory for what was listed, offered and refused: by a takedown, or as out of scope.
REFUSED = b""


@dataclass(frozen=True, slots=True)
class ListedItem:
    item: Item
    url: CanonicalUrl
    signature: bytes
    is_rewritten: bool = False  # under another headline than before


@dataclass(frozen=True, slots=True)
class Sifted:
    new: tuple[ListedItem, ...]
    changed: tuple[ListedItem, ...] = ()
    known: tuple[ListedItem, ...] = ()
    refused: tuple[ListedItem, ...] = ()  # before: what forbade them may be gone

    @property
    def fresh(self) -> tuple[ListedItem, ...]:
        """What the frontier is told of."""
        return (*self.new, *self.changed, *self.refused)


def distinct_items(items: Sequence[Item]) -> tuple[list[ListedItem], int]:
    """Each address once, and how many can never be fetched."""
    found: dict[bytes, ListedItem] = {}
    rejected = 0
    for item in items:
        try:
            url = canonicalise(item.url)
        except UrlRejected:
            rejected += 1
            continue
        found.setdefault(url.url_hash, ListedItem(item, url, signature_of(item)))
    return list(found.values()), rejected


def sift(found: Sequence[ListedItem], known: Mapping[bytes, bytes]) -> Sifted:
    """`known`: the signatures this channel's items had, by the hash of their address."""
    changed = [one for one in found if known.get(one.url.url_hash, one.signature) not in (one.signature, REFUSED)]
    return Sifted(
        new=tuple(one for one in found if one.url.url_hash not in known),
        changed=tuple(
            replace(one, is_rewritten=known[one.url.url_hash][:HALF] != one.signature[:HALF]) for one in changed
        ),
        known=tuple(one for one in found if known.get(one.url.url_hash) == one.signature),
        refused=tuple(one for one in found if known.get(one.url.url_hash) == REFUSED),
    )


def without(sifted: Sifted, urls: Collection[str]) -> Sifted:
    """Without the new and changed items at these addresses."""
    new, changed = (tuple(one for one in group if one.item.url not in urls) for group in (sifted.new, sifted.changed))
    return replace(sifted, new=new, changed=changed)


def signature_of(item: Item) -> bytes:
    """Half of it of the headline, half of the rest: a new headline is worth a visit, a new teaser is not."""
    updated = item.updated_at.isoformat() if item.updated_at else ""
    return _short(item.title) + _short(f"{item.summary}\x00{updated}")


def _short(text: str) -> bytes:
    return sha256(text.encode(errors="replace")).digest()[:HALF]


def found_from(one: ListedItem, parent: str, now: datetime, *, is_believed: bool = True) -> FoundUrl:
    """What says when it changed is believed; what only shows another headline changed by now."""
    changed_at = one.item.updated_at or (now if one.is_rewritten else None)
    changed_at = changed_at if is_believed else None
    return FoundUrl(one.item.url, parent, min(one.item.depth, DEEPEST), changed_at=changed_at)


def is_believable(changed: Sequence[ListedItem], listed: int, since: datetime | None) -> bool:
    """Whether dates of change mean anything: where half of a long list changed since the last poll, they do not."""
    if since is None or listed < FEWEST_TO_DISTRUST:
        return True
    late = sum(one.is_rewritten or (one.item.updated_at or since) > since for one in changed)
    return late <= MOST_CHANGED_AT_ONCE * listed
