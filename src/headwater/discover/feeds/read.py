"""Any feed, from bytes to items: strict XML first, then mended, then up to where it breaks off, then tolerantly; JSON
Feed by itself.
"""

import re
from dataclasses import replace
from datetime import datetime
from html import escape
from html.entities import html5
from typing import Any

from headwater.discover.feeds.draft import reading_of
from headwater.discover.feeds.guard import TOO_DEEP, Malformed, parse_beginning, parse_xml, without_doctype
from headwater.discover.feeds.json_feed import read_json_feed
from headwater.discover.feeds.tolerant import MOST_CHARACTERS, is_page, read_tolerantly
from headwater.discover.feeds.tree import read_tree
from headwater.discover.items import Reading, Unreadable
from headwater.net.charset import CharsetKind, charset_parameter, decode

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
# An unclosed section counts up to the end, or every one of a thousand would be looked for anew.
_SECTION_OR_AMPERSAND = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?:#([0-9]{1,7});|#[xX]([0-9A-Fa-f]{1,6});|([A-Za-z][A-Za-z0-9]{1,31};))?", re.DOTALL
)
_XML_ITSELF = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})

MOST_BYTES = 16 * 1024 * 1024
# A tree takes far more room than the text that makes it: half a million elements and attributes were 65 MB. The
# densest of real feeds has 42,000 in a megabyte.
MOST_NODES = 500_000

_PART = 65_536
_EMPTY = Unreadable("The feed is empty.")


def mend(text: str) -> str:
    return _SECTION_OR_AMPERSAND.sub(_mended_reference, _ILLEGAL.sub("", text))


def _mended_reference(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if found[0].startswith("<"):
        return found[0]
    if decimal or hexadecimal:
        return found[0] if _is_legal(int(decimal) if decimal else int(hexadecimal, 16)) else ""
    if name in _XML_ITSELF:
        return found[0]
    # Not an entity: the ampersand of `?a=1&b=2` is meant as it stands.
    return escape(html5[name], quote=False) if name in html5 else "&amp;" + found[0][1:]


def _is_legal(number: int) -> bool:
    return number <= 0x10FFFF and not _ILLEGAL.match(chr(number))


def read_feed(body: bytes, content_type: str, base_url: str, now: datetime) -> Reading | Unreadable:
    """RSS, RDF, Atom or JSON Feed; the bytes decide which. `base_url` is where they came from, after redirects."""
    if _is_json(body):
        return _read_json(body, content_type, base_url, now)
    readable = body[: _length_of_readable(body)]
    text = _decoded(readable, CharsetKind.XML, content_type)
    found = _read_xml(text, base_url, now) if text else _EMPTY
    if len(readable) == len(body) or isinstance(found, Unreadable):
        return found
    note = f"Too large to be read whole: only the first {len(readable):,} bytes were read."
    return replace(found, notes=(note, *found.notes), damage=note, is_partial=True)


def _length_of_readable(body: bytes) -> int:
    """All of it for nearly every feed; the rest is cut off where the limits are."""
    if len(body) <= MOST_BYTES and _nodes_in(body) <= MOST_NODES:
        return len(body)
    nodes = 0
    for place in range(0, MOST_BYTES, _PART):
        nodes += _nodes_in(body[place : place + _PART])
        if nodes > MOST_NODES:
            return place
    return MOST_BYTES


def _nodes_in(markup: bytes) -> int:
    return markup.count(b"<") + markup.count(b"=")


def _is_json(body: bytes) -> bool:
    # A byte order mark may come first, and every other byte be zero.
    return body[:64].lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n").startswith((b"{", b"["))


def _read_json(body: bytes, content_type: str, base_url: str, now: datetime) -> Reading | Unreadable:
    if len(body) > MOST_BYTES:
        return Unreadable(f"The feed is larger than {MOST_BYTES:,} bytes.")
    return read_json_feed(_decoded(body, CharsetKind.JSON, content_type), base_url, now)


def _decoded(body: bytes, kind: CharsetKind, content_type: str) -> str:
    return decode(body, kind, charset_parameter(content_type)).text.lstrip("\ufeff \t\r\n")


def _read_xml(text: str, base_url: str, now: datetime) -> Reading | Unreadable:
    if is_page(text):
        return Unreadable("An HTML page, not a feed.")
    bare = without_doctype(text)
    if isinstance(bare, Unreadable):
        return bare
    root = parse_xml(bare)
    if isinstance(root, Malformed):
        return _read_malformed(bare, root.why, base_url, now)
    if root is TOO_DEEP:
        return _read_too_deep(bare, base_url, now)
    return root if isinstance(root, Unreadable) else _read_root(root, base_url, now)


def _read_too_deep(text: str, base_url: str, now: datetime) -> Reading | Unreadable:
    """Only a feed that holds entries before the one beyond the limits is worth the tolerant reader's time."""
    why = "nested too deeply or with a text beyond all measure"
    found = _read_begun(text, why, base_url, now)
    if not isinstance(found, Reading) or not found.items:
        return TOO_DEEP
    return max(found, read_tolerantly(text, why, base_url, now), key=_count_items)


def _read_malformed(text: str, why: str, base_url: str, now: datetime) -> Reading | Unreadable:
    better = mend(text)
    root = Malformed(why) if better == text else parse_xml(better)
    if not isinstance(root, Malformed | Unreadable):
        return _read_root(root, base_url, now, f"Mended: {why}.")
    if found := _read_begun(better, why, base_url, now):
        return found
    if isinstance(root, Unreadable):
        return root
    return _read_with_faults(better, text, why, base_url, now)


def _read_begun(text: str, why: str, base_url: str, now: datetime) -> Reading | Unreadable | None:
    """The part before the break is XML, and is read as such: as a whole feed would be, however long it is."""
    root = parse_beginning(text)
    if root is None:
        return None
    return _read_in_part(root, base_url, now, f"Read up to where it breaks off: {why}.")


def _read_with_faults(better: str, text: str, why: str, base_url: str, now: datetime) -> Reading | Unreadable:
    found = read_tolerantly(text, why, base_url, now)
    root = parse_beginning(better, is_forgiving=True) if len(text) > MOST_CHARACTERS else None
    if root is None:
        return found
    # The tolerant reader sees only the beginning of a long feed.
    forgiven = _read_in_part(root, base_url, now, f"Read with its faults: {why}.")
    return max(forgiven, found, key=_count_items)


def _read_in_part(root: Any, base_url: str, now: datetime, damage: str) -> Reading | Unreadable:
    found = _read_root(root, base_url, now, damage)
    return found if isinstance(found, Unreadable) else replace(found, damage=damage, is_partial=True)


def _count_items(found: Reading | Unreadable) -> int:
    return len(found.items) if isinstance(found, Reading) else -1


def _read_root(root: Any, base_url: str, now: datetime, *notes: str) -> Reading | Unreadable:
    found = read_tree(root, base_url)
    if isinstance(found, Unreadable):
        return found
    feed, drafts = found
    return reading_of(replace(feed, notes=notes), drafts, now)
