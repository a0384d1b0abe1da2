"""Links as feeds write them: trimmed, absolute, and only of the kind that can be fetched."""

import re
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

LONGEST_LINK = 8_192

# Browsers do not see white space of this kind inside a link, so `java\nscript:` is a scheme; NUL cannot be stored.
_UNSEEN = re.compile(r"[\x00\t\r\n]")
_HTTP = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_http(link: str) -> bool:
    return _HTTP.match(link) is not None


def absolute(raw: str, base: str) -> str:
    """Nothing, where there is no http(s) link to be had."""
    if len(raw) > LONGEST_LINK:
        return ""
    link = _UNSEEN.sub("", raw).strip()
    if not link or is_http(link):
        return link
    return "" if _SCHEME.match(link) else _joined(link, base)


def base_within(declared: str | None, outer: str) -> str:
    """The base that `xml:base` declares inside an outer one; nonsense changes nothing."""
    return (declared and absolute(declared, outer)) or outer


def _joined(link: str, base: str) -> str:
    try:
        joined = urljoin(base, link)
    except ValueError:
        return ""
    return joined if is_http(joined) else ""


def next_of_wordpress(url: str) -> str:
    """`?paged=` counts the pages of any feed of WordPress."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    page = int(query["paged"]) if query.get("paged", "").isdecimal() else 1
    return urlunsplit(parts._replace(query=urlencode({**query, "paged": page + 1}), fragment=""))
