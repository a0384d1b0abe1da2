"""Any feed, from bytes to items: strict XML first, then mended, then tolerantly; JSON Feed by itself."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from headwater.discover.feeds.draft import filled
from headwater.discover.feeds.guard import Malformed, parsed, without_doctype
from headwater.discover.feeds.json_feed import read_json_feed
from headwater.discover.feeds.mend import mended
from headwater.discover.feeds.tolerant import MOST_CHARACTERS, is_page, read_tolerantly
from headwater.discover.feeds.tree import read_tree
from headwater.discover.items import Reading, Unreadable
from headwater.net.charset import Kind, charset_parameter, decode

MOST_BYTES = 16 * 1024 * 1024
# A tree takes far more room than the text that makes it: half a million elements and attributes were 65 MB. The
# densest of real feeds has 42,000 in a megabyte.
MOST_NODES = 500_000

_EMPTY = Unreadable("The feed is empty.")


def read_feed(body: bytes, content_type: str, base_url: str, now: datetime) -> Reading | Unreadable:
    """RSS, RDF, Atom or JSON Feed; the bytes decide which. `base_url` is where they came from, after redirects."""
    if _is_json(body):
        return _read_json(body, content_type, base_url, now)
    if len(body) > MOST_BYTES or body.count(b"<") + body.count(b"=") > MOST_NODES:
        text = _decoded(body[: 4 * MOST_CHARACTERS], Kind.XML, content_type)
        return read_tolerantly(text, "too large to be read whole", base_url, now)
    text = _decoded(body, Kind.XML, content_type)
    return _read_xml(text, base_url, now) if text else _EMPTY


def _is_json(body: bytes) -> bool:
    # A byte order mark may come first, and every other byte be zero.
    return body[:64].lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n").startswith((b"{", b"["))


def _read_json(body: bytes, content_type: str, base_url: str, now: datetime) -> Reading | Unreadable:
    if len(body) > MOST_BYTES:
        return Unreadable(f"The feed is larger than {MOST_BYTES:,} bytes.")
    return read_json_feed(_decoded(body, Kind.JSON, content_type), base_url, now)


def _decoded(body: bytes, kind: Kind, content_type: str) -> str:
    return decode(body, kind, charset_parameter(content_type)).text.lstrip("\ufeff \t\r\n")


def _read_xml(text: str, base_url: str, now: datetime) -> Reading | Unreadable:
    if is_page(text):
        return Unreadable("An HTML page, not a feed.")
    bare = without_doctype(text)
    if isinstance(bare, Unreadable):
        return bare
    root = parsed(bare)
    if isinstance(root, Malformed):
        return _read_malformed(bare, root.why, base_url, now)
    return root if isinstance(root, Unreadable) else _read_root(root, base_url, now)


def _read_malformed(text: str, why: str, base_url: str, now: datetime) -> Reading | Unreadable:
    root = parsed(mended(text))
    if isinstance(root, Malformed):
        return read_tolerantly(text, why, base_url, now)
    return root if isinstance(root, Unreadable) else _read_root(root, base_url, now, f"Mended: {why}.")


def _read_root(root: Any, base_url: str, now: datetime, *notes: str) -> Reading | Unreadable:
    found = read_tree(root, base_url)
    if isinstance(found, Unreadable):
        return found
    feed, drafts = found
    return filled(replace(feed, notes=notes), drafts, now)
