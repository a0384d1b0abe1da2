"""The only door to the URL parser. What a browser would silently repair is refused before it gets there."""

import re
from functools import lru_cache

from ada_url import join_url, normalize_url

from headwater.urls.rejection import MAX_LENGTH, Rejection, rejection

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HEAD = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(//)?([^/?#]*)")
_HOST_AND_PORT = re.compile(r"(\[.*\]|\[.*|[^:]*):?(.*)")
# Characters the parser never changes, and no segment that begins with a dot: nothing to resolve or encode.
_PATH = (
    r"(?:/(?:[A-Za-z0-9_~!$&()*+,;=:@-][A-Za-z0-9_~!$&()*+,;=:@.-]*)?)+"
    r"(?:\?[A-Za-z0-9_~!$&()*+,;=:@./?%-]*)?"
)
_NOTHING_TO_DO = re.compile(rf"(https?://[a-z0-9.-]+(?::[0-9]+)?){_PATH}")
_PLAIN_PATH = re.compile(_PATH)


def resolve(raw: str, base: str | None = None) -> str:
    """The absolute URL as the parser spells it, without its fragment."""
    # Most links arrive as the parser would write them, and asking it costs more than all the rest.
    plain = _NOTHING_TO_DO.fullmatch(raw)
    if plain and len(raw) <= MAX_LENGTH and _is_spelt_well(plain[1]):
        return raw
    return resolve_with_parser(raw, base)


def is_plain_path(path: str) -> bool:
    """Whether the parser would leave a path with its query as it is, behind whatever host."""
    return not path.startswith("//") and _PLAIN_PATH.fullmatch(path) is not None


@lru_cache(maxsize=8192)
def _is_spelt_well(root: str) -> bool:
    url = f"{root}/"
    try:
        return str(normalize_url(url)) == url
    except ValueError:
        return False


def resolve_with_parser(raw: str, base: str | None) -> str:
    _require_clean_text(raw)
    is_relative = _is_relative(raw)
    if is_relative and base is None:
        raise rejection(Rejection.NO_HOST)
    try:
        href: str = join_url(_resolved_base(base), raw) if is_relative else normalize_url(raw)
    except ValueError:
        raise rejection(_why_unparsable(raw)) from None
    href = href.partition("#")[0]
    if len(href) > MAX_LENGTH:
        raise rejection(Rejection.TOO_LONG)
    return href


# Every link of a page is resolved against the same base, and a `<base href>` is as hostile as any link.
@lru_cache(maxsize=256)
def _resolved_base(base: str) -> str:
    return resolve(base)


def _require_clean_text(raw: str) -> None:
    if _CONTROL.search(raw):
        raise rejection(Rejection.CONTROL_CHARACTER)
    if "\\" in raw:
        raise rejection(Rejection.BACKSLASH)
    if raw.strip() != raw:
        raise rejection(Rejection.SURROUNDING_SPACE)
    if len(raw.partition("#")[0]) > MAX_LENGTH:
        raise rejection(Rejection.TOO_LONG)


def _is_relative(raw: str) -> bool:
    """Refuses `http:host`, `http:///host` and `///host`: the parser would find a host that RFC 3986 does not."""
    scheme, slashes, authority = _head(raw)
    if scheme and scheme.lower() not in ("http", "https"):
        raise rejection(Rejection.UNSUPPORTED_SCHEME)
    if not scheme and not slashes:
        return True
    if not slashes or not authority:
        raise rejection(Rejection.NO_HOST)
    if "@" in authority:
        raise rejection(Rejection.USERINFO)
    return not scheme


def _why_unparsable(raw: str) -> Rejection:
    """The parser only says no; for http that can be the host, the port, or text that is not Unicode."""
    if _SURROGATE.search(raw):
        return Rejection.INVALID
    found = _HOST_AND_PORT.match(_head(raw)[2])
    assert found is not None
    host, port = found.groups()
    if not host:
        return Rejection.NO_HOST
    return Rejection.BAD_HOST if is_port(port) else Rejection.BAD_PORT


def is_port(text: str) -> bool:
    """An absent port counts: it stands for the scheme's own."""
    return not text or (text.isascii() and text.isdigit() and 0 < int(text) <= 65535)


def _head(raw: str) -> tuple[str, str, str]:
    found = _HEAD.match(raw)
    assert found is not None
    scheme, slashes, authority = found.groups(default="")
    return scheme, slashes, authority
