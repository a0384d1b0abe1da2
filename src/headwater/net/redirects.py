"""Where an answer with a 3xx status leads a request. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from headwater.errors import UrlRejected
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.effects import has_effects

LONGEST_CHAIN = 5
_PERMANENT = frozenset({301, 308})
_TEMPORARY = frozenset({302, 303, 307})
REPEATS_THE_METHOD = frozenset({307, 308})


class Flaw(StrEnum):
    """Why a redirect leads nowhere, where the URL itself is not to blame."""

    NO_LOCATION = "no_location"
    SEVERAL_LOCATIONS = "several_locations"
    SELF_LOOP = "self_loop"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    HAS_EFFECTS = "has_effects"
    WOULD_BETRAY_US = "would_carry_our_key_elsewhere"
    HAS_A_BODY = "would_not_repeat_the_same_request"


_IN_WORDS: dict[str, str] = {
    Flaw.NO_LOCATION: "it names no address",
    Flaw.SEVERAL_LOCATIONS: "it names several addresses",
    Flaw.SELF_LOOP: "it leads to itself",
    Flaw.TOO_MANY_REDIRECTS: "there are too many, one behind the other",
    Flaw.HAS_EFFECTS: "what it leads to looks as if it did something when it is fetched",
    Flaw.WOULD_BETRAY_US: "it would carry our key elsewhere",
    Flaw.HAS_A_BODY: "it would not repeat the same request",
}


def flaw_in_words(reason: str) -> str:
    """Of a Flaw, or of a target that was rejected as a URL."""
    return _IN_WORDS.get(reason) or f"its target is no address that can be asked ({reason.replace('_', ' ')})"


@dataclass(frozen=True, slots=True)
class NotARedirect:
    pass


@dataclass(frozen=True, slots=True)
class BrokenRedirect:
    """`reason` is a Flaw, or why the target was rejected as a URL."""

    reason: str


@dataclass(frozen=True, slots=True)
class Hop:
    """`is_same_host` decides about slots, `is_same_site` about what may be another page of the same make, and
    `is_same_origin` about headers that were meant for one server only.
    """

    url: CanonicalUrl
    is_same_host: bool
    is_same_site: bool
    is_same_origin: bool
    is_permanent: bool
    is_downgrade: bool


@dataclass(frozen=True, slots=True)
class PermanentRun:
    """The unbroken run of permanent redirects from the start of a chain; `target` may replace a channel's URL."""

    target: CanonicalUrl | None = None
    is_broken: bool = False

    def after(self, hop: Hop) -> "PermanentRun":
        # Never from https to http: what a network on the way answered once would then hold for good.
        if self.is_broken or not hop.is_permanent or hop.is_downgrade:
            return PermanentRun(self.target, is_broken=True)
        return PermanentRun(hop.url)


def next_hop(
    status: int, locations: Sequence[bytes], current: CanonicalUrl, hops: int, most: int = LONGEST_CHAIN
) -> Hop | NotARedirect | BrokenRedirect:
    """`hops` redirects led to `current`; `locations` are the Location headers of its answer, as they came."""
    if status not in _PERMANENT | _TEMPORARY:
        return NotARedirect()
    if hops >= most:
        return BrokenRedirect(Flaw.TOO_MANY_REDIRECTS)
    written = {_text(location) for location in locations}
    if len(written) > 1:
        return BrokenRedirect(Flaw.SEVERAL_LOCATIONS)
    return _followed(written.pop() if written else "", current, status in _PERMANENT)


def _followed(location: str, current: CanonicalUrl, is_permanent: bool) -> Hop | BrokenRedirect:
    if not location:
        return BrokenRedirect(Flaw.NO_LOCATION)
    try:
        target = canonicalise(location, base=current.url)
    except UrlRejected as refusal:
        return BrokenRedirect(refusal.reason)
    if target.url == current.url:
        return BrokenRedirect(Flaw.SELF_LOOP)
    if has_effects(target):
        # Not even where a person named the first address: a server could lead us to another one's logout.
        return BrokenRedirect(Flaw.HAS_EFFECTS)
    return Hop(
        target,
        is_same_host=target.host == current.host,
        is_same_site=target.site == current.site,
        is_same_origin=target.origin == current.origin,
        is_permanent=is_permanent,
        is_downgrade=(current.origin.scheme, target.origin.scheme) == ("https", "http"),
    )


def _text(location: bytes) -> str:
    """UTF-8, else Latin-1: servers write both, and the standard wants neither."""
    location = location.strip(b" \t")
    try:
        return location.decode()
    except UnicodeDecodeError:
        return location.decode("latin-1")
