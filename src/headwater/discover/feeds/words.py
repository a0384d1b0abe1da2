"""Words for people out of the text of feeds: markup removed, entities decoded, nothing left that could act.

And links: trimmed, absolute, and only of the kind that can be fetched.
"""

import re
from collections.abc import Mapping
from html import unescape
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from headwater.storable import one_line

LONGEST_TITLE = 500
LONGEST_NAME = 200
LONGEST_SUMMARY = 1_000
# Markup takes room too: what is cut off before it is looked at costs nothing.
_MARKUP_PER_CHARACTER = 4

_BLOCK = re.compile(r"</?(?:p|div|br|hr|li|ul|ol|h[1-6]|t[dhr]|table|section|blockquote|pre)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?(?:-->|\Z)", re.DOTALL)
_CUT_TAG = re.compile(r"<[^<>]*\Z")
_SCRIPT = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
# Python refuses to make a number of thousands of digits, and no character has one of eight.
_IMPOSSIBLE_NUMBER = re.compile(r"&#[0-9]{8,};?")
_SURE_SIGN_OF_MARKUP = re.compile(r"</[A-Za-z]\w*\s*>|&(?:#\w{1,8}|[A-Za-z]\w{1,31});")

LONGEST_LINK = 8_192

# Browsers do not see white space of this kind inside a link, so `java\nscript:` is a scheme.
_UNSEEN = re.compile(r"[\t\r\n]")
_HTTP = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def plain(markup: str, longest: int) -> str:
    """One line of text; what is not a tag stays, so `1 < 2` survives and `<script>` only loses its tags."""
    if "<" in markup or "&" in markup:
        markup = _without_markup(markup, longest * _MARKUP_PER_CHARACTER)
    return one_line(markup, longest)


def _without_markup(markup: str, longest: int) -> str:
    if len(markup) > longest:
        markup = _CUT_TAG.sub("", markup[:longest])
    markup = _TAG.sub("", _BLOCK.sub(" ", markup))
    return unescape(_IMPOSSIBLE_NUMBER.sub("", markup))


def summary_from(markup: str) -> str:
    """Unlike a title a summary is cut from an article, scripts included."""
    return plain(_SCRIPT.sub(" ", markup[: LONGEST_SUMMARY * _MARKUP_PER_CHARACTER]), LONGEST_SUMMARY)


def looks_like_markup(text: str) -> bool:
    """Whether text that calls itself plain is HTML after all: it closes a tag or names a character."""
    return ("<" in text or "&" in text) and _SURE_SIGN_OF_MARKUP.search(text) is not None


def is_http(link: str) -> bool:
    return _HTTP.match(link) is not None


def absolute(raw: str, base: str) -> str:
    """Nothing, where there is no http(s) link to be had."""
    # Without its NUL a link would lead to somewhere else than what was written.
    if len(raw) > LONGEST_LINK or "\x00" in raw:
        return ""
    link = _UNSEEN.sub("", raw).strip()
    if not link or is_http(link):
        return link
    return "" if _SCHEME.match(link) else _joined(link, base)


def base_within(declared: str | None, outer: str) -> str:
    """The base that `xml:base` declares inside an outer one; nonsense changes nothing."""
    return (declared and absolute(declared, outer)) or outer


def cloud_address(said: Mapping[str, str]) -> str:
    """Where the `<cloud>` of an RSS feed is asked by a plain form; its other protocols are not ours."""
    protocol, domain, port, path = (
        one_line(said.get(name, ""), LONGEST_NAME) for name in ("protocol", "domain", "port", "path")
    )
    if protocol.lower() not in ("http-post", "https-post"):
        return ""
    scheme = "https" if protocol.lower() == "https-post" or port == "443" else "http"
    if not domain or set(domain) & set("/@?#\\ ") or not port.isascii() or not port.isdigit():
        return ""
    return absolute(f"{scheme}://{domain}:{port}/{path.removeprefix('/')}", "")


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
