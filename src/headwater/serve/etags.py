"""ETag and 304 for reads: a reader that has the same bytes already is not sent them again."""

import xxhash
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.serve.editions import edition_in

# Larger answers are streams: they are not held back to be counted.
LARGEST_BYTES = 4_000_000


class Revalidation:
    """Looks at whole JSON answers to GET; streams and others pass."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Watch(send, Headers(scope=scope).get("if-none-match", "")))


class _Watch:
    def __init__(self, send: Send, known: str) -> None:
        self._send = send
        self._known = known
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if not may_be_known(message):
                await self._send(message)
                return
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            await self._finish(self._start, message)
            self._start = None

    async def _finish(self, start: Message, message: Message) -> None:
        headers = MutableHeaders(scope=start)
        if message.get("more_body"):
            await self._send(start)
            await self._send(message)
            return
        tag = etag_of(message.get("body", b""), edition_in(headers))
        headers["etag"] = tag
        headers["cache-control"] = "private, no-cache"
        if is_known(tag, self._known):
            start["status"] = 304
            for name in ("content-length", "content-type"):
                del headers[name]
            message = {"type": "http.response.body", "body": b""}
        await self._send(start)
        await self._send(message)


def may_be_known(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    length = headers.get("content-length", "")
    is_json = headers.get("content-type", "").startswith("application/json")
    return start["status"] == 200 and is_json and length.isdigit() and int(length) <= LARGEST_BYTES


def etag_of(body: bytes, edition: str = "") -> str:
    """Weak: compressed or not, it is the same answer. With its edition, where it can be changed."""
    whole = xxhash.xxh3_128_hexdigest(body)
    return f'W/"{edition}.{whole}"' if edition else f'W/"{whole}"'


def is_known(tag: str, known: str) -> bool:
    """By the comparison that If-None-Match asks for. Pure."""
    names = {one.strip().removeprefix("W/") for one in known.split(",")}
    return known.strip() == "*" or tag.removeprefix("W/") in names
