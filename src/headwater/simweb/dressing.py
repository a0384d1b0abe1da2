"""Correct HTTP around a page: validators, conditional answers, codings, ranges, HEAD (RFC 9110, 9111)."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus

from headwater.simweb.codings import encoded
from headwater.simweb.message import Page, Request
from headwater.simweb.negotiation import best_coding, http_date, modified_after, names_tag, wanted_range

Headers = tuple[tuple[str, str], ...]

SMALLEST_TO_COMPRESS_BYTES = 512
_COMPRESSIBLE = ("text/", "application/xml", "application/json", "application/rss", "application/atom")
_COMPRESSIBLE_ENDS = ("+xml", "+json", "javascript")
_KEPT_IN_304 = frozenset(("etag", "last-modified", "cache-control", "expires", "vary", "age", "content-location"))
_WITHOUT_BODY = frozenset((204, 304))


@dataclass(frozen=True, slots=True)
class Answer:
    """A response ready but for its Date; `head` holds status line and headers without the empty line."""

    status: int
    headers: Headers
    body: bytes
    head: bytes

    def wire(self, date: bytes, *, closing: bool = False) -> bytes:
        last = b"Connection: close\r\n\r\n" if closing else b"\r\n"
        return b"".join((self.head, date, last, self.body))


@dataclass(frozen=True, slots=True)
class Dressed:
    """One page in one coding: as a whole, and as the 304 that stands for it."""

    whole: Answer
    unchanged: Answer
    etag: str
    last_modified: datetime | None


def head_bytes(status: int, headers: Headers) -> bytes:
    lines = [f"HTTP/1.1 {status} {reason(status)}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n"


def reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unheard Of"


def date_line(now: datetime) -> bytes:
    return b"Date: " + http_date(now).encode() + b"\r\n"


def answer(status: int, headers: Headers, body: bytes) -> Answer:
    if status in _WITHOUT_BODY:
        return Answer(status, headers, b"", head_bytes(status, headers))
    headers = (*headers, ("Content-Length", str(len(body))))
    return Answer(status, headers, body, head_bytes(status, headers))


def coding_for(page: Page, accept_encoding: str) -> str:
    welcome = best_coding(accept_encoding)
    return welcome if welcome != "identity" and is_compressible(page) else "identity"


def is_compressible(page: Page) -> bool:
    kind = page.content_type.partition(";")[0].strip().lower()
    if len(page.body) < SMALLEST_TO_COMPRESS_BYTES or _given(page, "content-encoding"):
        return False
    return kind.startswith(_COMPRESSIBLE) or kind.endswith(_COMPRESSIBLE_ENDS)


def dress(page: Page, coding: str) -> Dressed:
    """Everything that depends on the page and its coding alone, so it can be kept."""
    body = encoded(page.body, coding)
    etag = _given(page, "etag") or _etag(body) if page.status == HTTPStatus.OK else ""
    headers = _headers(page, coding, etag)
    unchanged = tuple(pair for pair in headers if pair[0].lower() in _KEPT_IN_304)
    return Dressed(answer(page.status, headers, body), answer(304, unchanged, b""), etag, page.last_modified)


def _headers(page: Page, coding: str, etag: str) -> Headers:
    ours = {"Content-Type": page.content_type}
    if etag:
        ours |= {"ETag": etag, "Accept-Ranges": "bytes"}
    if page.last_modified is not None:
        ours["Last-Modified"] = http_date(page.last_modified)
    if page.cache_control:
        ours["Cache-Control"] = page.cache_control
    if coding != "identity":
        ours["Content-Encoding"] = coding
    if is_compressible(page):
        ours["Vary"] = "Accept-Encoding"
    theirs = {name.lower() for name, _ in page.headers}
    return (*(pair for pair in ours.items() if pair[0].lower() not in theirs), *page.headers)


def _etag(body: bytes) -> str:
    return f'"{hashlib.blake2b(body, digest_size=9).hexdigest()}"'


def _given(page: Page, name: str) -> str:
    return next((value for given, value in page.headers if given.lower() == name), "")


def chosen(dressed: Dressed, headers: Mapping[str, str]) -> Answer:
    """Whole, unchanged or in part: what these request headers deserve."""
    if not dressed.etag:
        return dressed.whole
    if is_unchanged(dressed, headers):
        return dressed.unchanged
    if "range" in headers and _range_still_holds(dressed, headers.get("if-range")):
        return part(dressed.whole, headers["range"])
    return dressed.whole


def is_unchanged(dressed: Dressed, headers: Mapping[str, str]) -> bool:
    """If-None-Match decides alone where present (RFC 9110 13.2.2)."""
    tags = headers.get("if-none-match")
    if tags is not None:
        return names_tag(tags, dressed.etag)
    since = headers.get("if-modified-since")
    return since is not None and not modified_after(dressed.last_modified, since)


def _range_still_holds(dressed: Dressed, if_range: str | None) -> bool:
    if if_range is None:
        return True
    is_strong = not dressed.etag.startswith("W/")
    moment = dressed.last_modified
    return (is_strong and if_range == dressed.etag) or (moment is not None and if_range == http_date(moment))


def part(whole: Answer, header: str) -> Answer:
    size = len(whole.body)
    wanted = wanted_range(header, size)
    if wanted is None:
        return whole
    if not wanted:
        return answer(416, (("Content-Range", f"bytes */{size}"),), b"")
    headers = tuple(pair for pair in whole.headers if pair[0] != "Content-Length")
    where = ("Content-Range", f"bytes {wanted.start}-{wanted.stop - 1}/{size}")
    return answer(206, (*headers, where), whole.body[wanted.start : wanted.stop])


class Wardrobe:
    """Keeps dressed pages, least recently used out first, so that a page asked again is a look-up."""

    def __init__(self, most_bytes: int = 64 * 1024 * 1024) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[Page, str], Dressed] = OrderedDict()

    def answer(self, page: Page, request: Request) -> Answer:
        headers = request.headers
        # A range counts bytes of what is sent; without a coding both sides mean the same bytes.
        coding = "identity" if "range" in headers else coding_for(page, headers.get("accept-encoding", ""))
        fitting = chosen(self._dressed(page, coding), headers)
        return replace(fitting, body=b"") if request.method == "HEAD" else fitting

    def _dressed(self, page: Page, coding: str) -> Dressed:
        key = (page, coding)
        dressed = self._kept.get(key)
        if dressed is None:
            dressed = self._kept[key] = dress(page, coding)
            self._bytes += _weight(page, dressed)
            self._let_go()
        else:
            self._kept.move_to_end(key)
        return dressed

    def _let_go(self) -> None:
        while self._bytes > self._most_bytes and self._kept:
            (page, _), dressed = self._kept.popitem(last=False)
            self._bytes -= _weight(page, dressed)


def _weight(page: Page, dressed: Dressed) -> int:
    return len(page.body) + (len(dressed.whole.body) if dressed.whole.body is not page.body else 0) + 1024
