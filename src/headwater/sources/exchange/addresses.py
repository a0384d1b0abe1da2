"""Every URL of a file goes through the one gate; where it is refused, a guess at what was meant."""

import re
from difflib import get_close_matches

from headwater.errors import UrlRejected
from headwater.urls.canonical import canonicalise
from headwater.urls.rejection import MAX_LENGTH, Rejection

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:[/:?#]|$)")
# `htp`, `hhtps` and `http` itself are near enough; `ftp` and `file` are not.
_NEAR = 0.7


def check_url(raw: str) -> str:
    """The URL as it will be asked for; a ValueError says why it never will be."""
    try:
        # Whatever is longer is refused for its length, and nobody needs to read all of it to know.
        return canonicalise(raw[: MAX_LENGTH * 2]).url
    except UrlRejected as refusal:
        raise ValueError(_reason(raw, refusal)) from None


def _reason(raw: str, refusal: UrlRejected) -> str:
    meant = _meant_start(raw) if refusal.reason in (Rejection.UNSUPPORTED_SCHEME, Rejection.NO_HOST) else ""
    if not meant:
        return refusal.what
    return f"{refusal.reason.replace('_', ' ')} (did you mean {meant}?)"


def _meant_start(raw: str) -> str:
    if _NAME.match(raw):
        return "https://"
    found = _SCHEME.match(raw)
    if not found:
        return ""
    scheme = found[1].lower()
    # Some readers write `feed://` for the address of a feed.
    near = ["https"] if scheme == "feed" else get_close_matches(scheme, ("http", "https"), 1, _NEAR)
    return f"{near[0]}://" if near else ""
