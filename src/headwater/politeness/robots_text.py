"""From the bytes of a robots.txt to the lines that mean something. Pure."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

# RFC 9309 2.5. Fetch one byte more: only so can a cut be told from an end.
LARGEST_BYTES = 500 * 1024
LONGEST_LINE = 16 * 1024

# A byte order mark may arrive without its tail.
_UTF8_MARK = re.compile(rb"\A\xef(?:\xbb\xbf?)?")
_STRAY_OCTET = re.compile(r"[\udc80-\udcff]")
_LINE_END = re.compile(r"\r\n|\r|\n")


class Key(StrEnum):
    AGENT = "user-agent"
    ALLOW = "allow"
    DISALLOW = "disallow"
    CRAWL_DELAY = "crawl-delay"
    SITEMAP = "sitemap"


RULES = frozenset({Key.ALLOW, Key.DISALLOW})

# Misspellings that site owners make and Google understands. Whole words only: `disallowed` is no rule.
_KEYS = {
    **{key.value: key for key in Key},
    **dict.fromkeys(("useragent", "user agent"), Key.AGENT),
    **dict.fromkeys(("dissallow", "dissalow", "disalow", "diasllow", "disallaw"), Key.DISALLOW),
    **dict.fromkeys(("crawldelay", "crawl delay"), Key.CRAWL_DELAY),
    **dict.fromkeys(("site-map", "sitemaps"), Key.SITEMAP),
}


class Record(NamedTuple):
    """A line we understand; `written` is the line as it stands, without its comment."""

    line_number: int
    key: Key
    value: str
    written: str


def robots_text(body: bytes) -> str:
    """The text to store: the part that is read, as text any database takes, which reads again to the same rules."""
    text = _decoded(body[:LARGEST_BYTES])
    if len(body) > LARGEST_BYTES:
        # Half a line would be another rule: `Disallow: /private` cut short forbids the site.
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    # Dropping NULs also makes UTF-16 without its mark readable.
    return text.replace("\0", "")


def _decoded(body: bytes) -> str:
    if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    text = _UTF8_MARK.sub(b"", body).decode("utf-8", "surrogateescape")
    # Paths are compared as octets, so an octet of another charset is kept as what a URL would say for it.
    return _STRAY_OCTET.sub(lambda octet: f"%{ord(octet[0]) - 0xDC00:02X}", text)


def records_of(text: str) -> Iterator[Record]:
    for line_number, line in enumerate(_LINE_END.split(text), start=1):
        written = line[:LONGEST_LINE].partition("#")[0].strip()
        if field := _field(written):
            yield Record(line_number, *field, written)


def _field(written: str) -> tuple[Key, str] | None:
    name, colon, value = written.partition(":")
    if colon and (key := _KEYS.get(name.rstrip().lower())):
        return key, value.strip()
    # `Disallow /private`: the colon is forgotten, the meaning is plain. More words than two are prose.
    words = written.split(maxsplit=2)
    if len(words) == 2 and (key := _KEYS.get(words[0].lower())):
        return key, words[1]
    return None
