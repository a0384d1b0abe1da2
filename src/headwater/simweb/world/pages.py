"""Turning text into the pages a site serves, and the small files every site has."""

import struct
import zlib
from collections.abc import Mapping
from datetime import datetime

from headwater.simweb.message import Page
from headwater.simweb.world.publishers import Publisher

STYLE = b"body{font:16px/1.5 serif;max-width:70em;margin:auto}.sidebar{float:right;width:20em}"


def html_page(publisher: Publisher, text: str, changed: datetime | None = None, cache_control: str = "") -> Page:
    # What the charset cannot say is written as a character reference, as browsers' own forms do.
    body = text.encode(publisher.charset, "xmlcharrefreplace")
    return Page(body, publisher.html_type, last_modified=changed, cache_control=cache_control)


def xml_page(text: str, changed: datetime | None = None, content_type: str = "application/xml") -> Page:
    return Page(text.encode(), content_type, last_modified=changed)


def text_page(text: str) -> Page:
    return Page(text.encode(), "text/plain; charset=utf-8", cache_control="max-age=86400")


def robots_page(publisher: Publisher) -> Page | None:
    if publisher.robots.is_missing:
        return None
    return text_page(publisher.robots.text([sitemap.url for sitemap in publisher.sitemaps]))


def _png_chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _grey_pixel() -> bytes:
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0\x88")), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(name, content) for name, content in chunks)


IMAGE = Page(_grey_pixel(), "image/png", cache_control="max-age=31536000, immutable")
FILES: Mapping[str, Page] = {
    "/static/site.css": Page(STYLE, "text/css", cache_control="max-age=31536000"),
    "/favicon.ico": Page(_grey_pixel(), "image/png", cache_control="max-age=31536000"),
}


def file_page(path: str) -> Page | None:
    return IMAGE if path.startswith("/media/") else FILES.get(path)
