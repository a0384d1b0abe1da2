"""Broken HTTP: cut, misframed and garbled answers, and heads that no client should swallow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from headwater.simweb.codings import encoded
from headwater.simweb.mischief.stage import Close, Mischief, Reset, Scene, Send, Steps, Wait, head_of, streamed

# Lets the bytes before a reset reach the client: the reset itself would overtake them.
_BEFORE_RESET_S = 0.05


@dataclass(frozen=True, slots=True)
class ResetAt(Mischief):
    """A TCP reset instead of an answer, or in the middle of its body."""

    point: Literal["head", "body"] = "head"

    def play(self, scene: Scene) -> Steps:
        if self.point == "body":
            body = scene.answer.body
            yield Send(head_of(scene.answer, scene.date) + body[: len(body) // 2])
            yield Wait(_BEFORE_RESET_S)
        yield Reset()


@dataclass(frozen=True, slots=True)
class HalfBody(Mischief):
    """The connection ends after half of the promised Content-Length."""

    def play(self, scene: Scene) -> Steps:
        body = scene.answer.body
        yield Send(head_of(scene.answer, scene.date) + body[: len(body) // 2])
        yield Close()


_LENGTHS: dict[str, Callable[[int], tuple[str, ...]]] = {
    "too_long": lambda size: (str(size + 1000),),
    "too_short": lambda size: (str(size // 2),),
    "negative": lambda size: ("-1",),
    "huge": lambda size: (str(10**18),),
    "two": lambda size: (str(size), str(size + 1)),
    "garbage": lambda size: ("many",),
}


@dataclass(frozen=True, slots=True)
class WrongLength(Mischief):
    """The whole body under a Content-Length that is not its own, or beside chunked framing."""

    how: Literal["too_long", "too_short", "negative", "huge", "two", "garbage", "with_chunked"] = "too_long"

    def play(self, scene: Scene) -> Steps:
        body = scene.answer.body
        head = head_of(scene.answer, scene.date, but="content-length")[:-2]
        if self.how == "with_chunked":
            head += b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        else:
            head += b"".join(b"Content-Length: %b\r\n" % text.encode() for text in _LENGTHS[self.how](len(body)))
        yield Send(head + b"\r\n" + body)
        yield Close()


_CHUNKS = {
    "size": b"4\r\nWiki\r\nnot hexadecimal\r\n",
    "end": b"4\r\nWikipedia",
    "missing_last": b"4\r\nWiki\r\n",
    "huge": b"ffffffffffffffff\r\nWiki\r\n",
    "negative": b"-4\r\nWiki\r\n0\r\n\r\n",
}


@dataclass(frozen=True, slots=True)
class BadChunk(Mischief):
    """Chunked framing that breaks: in the size, the chunk's end, or by never ending."""

    how: Literal["size", "end", "missing_last", "huge", "negative"] = "size"

    def play(self, scene: Scene) -> Steps:
        yield Send(scene.head(200, (("Content-Type", "text/html"), ("Transfer-Encoding", "chunked"))))
        yield Send(_CHUNKS[self.how])
        yield Close()


@dataclass(frozen=True, slots=True)
class TruncatedGzip(Mischief):
    """Gzip that stops in the middle although the HTTP framing is whole."""

    def play(self, scene: Scene) -> Steps:
        packed = encoded(scene.page.body, "gzip")
        headers = (("Content-Type", scene.page.content_type), ("Content-Encoding", "gzip"))
        return streamed(scene, headers, (packed[: max(12, len(packed) // 2)],))


@dataclass(frozen=True, slots=True)
class LyingEncoding(Mischief):
    """Content-Encoding `says` one thing, the body is another."""

    says: str = "gzip"
    really: Literal["identity", "gzip", "br", "zstd"] = "identity"

    def play(self, scene: Scene) -> Steps:
        headers = (("Content-Type", scene.page.content_type), ("Content-Encoding", self.says))
        return streamed(scene, headers, (encoded(scene.page.body, self.really),))


@dataclass(frozen=True, slots=True)
class StatusLine(Mischief):
    """Any first line instead of the status line, such as `HTTP/1.1 999 Odd` or plain noise."""

    line: str = "SPAM/7 yes please"

    def play(self, scene: Scene) -> Steps:
        _, _, rest = scene.wire(scene.page).partition(b"\r\n")
        yield Send(self.line.encode("utf-8", "surrogateescape") + b"\r\n" + rest)
        yield Close()


@dataclass(frozen=True, slots=True)
class HttpZeroNine(Mischief):
    """The body alone, as before there were headers."""

    def play(self, scene: Scene) -> Steps:
        yield Send(scene.page.body)
        yield Close()


@dataclass(frozen=True, slots=True)
class InterimFlood(Mischief):
    """`count` interim answers before the real one."""

    count: Annotated[int, Field(gt=0, le=1_000_000)] = 1000
    status: Annotated[int, Field(ge=100, le=199)] = 103

    def play(self, scene: Scene) -> Steps:
        interim = b"HTTP/1.1 %d Patience\r\n\r\n" % self.status
        for start in range(0, self.count, 1000):
            yield Send(interim * min(1000, self.count - start))
        yield Send(scene.wire(scene.page))


_FLOODS: dict[str, Callable[[int], bytes]] = {
    "many": lambda count: b"".join(b"X-Flood-%d: y\r\n" % number for number in range(count)),
    "cookies": lambda count: b"".join(b"Set-Cookie: c%d=1; Domain=.test\r\n" % number for number in range(count)),
    "long": lambda count: b"X-Long: " + b"y" * count + b"\r\n",
    "nul": lambda count: b"X-Nul: a\0b\r\n" * count,
    "bare_cr": lambda count: b"X-Bare: a\rb\r\n" * count,
    "folded": lambda count: b"X-Folded: a\r\n  b\r\n" * count,
}


@dataclass(frozen=True, slots=True)
class HeaderFlood(Mischief):
    """`count` headers or cookies, one header of `count` bytes, or headers with bytes they must not have."""

    how: Literal["many", "cookies", "long", "nul", "bare_cr", "folded"] = "many"
    count: Annotated[int, Field(gt=0, le=10_000_000)] = 10_000

    def play(self, scene: Scene) -> Steps:
        yield Send(scene.answer.head + _FLOODS[self.how](self.count) + scene.date + b"\r\n" + scene.answer.body)


@dataclass(frozen=True, slots=True)
class Unasked(Mischief):
    """A 304 to a request without validators, or a 206 to one without a range."""

    status: Literal[206, 304] = 304

    def play(self, scene: Scene) -> Steps:
        if self.status == 304:
            yield Send(scene.head(304, (("ETag", '"never seen"'),)))
            return
        body = scene.page.body
        half = body[: len(body) // 2]
        where = f"bytes 0-{len(half) - 1}/{len(body)}"
        kind = ("Content-Type", scene.page.content_type)
        yield Send(scene.head(206, (kind, ("Content-Range", where), ("Content-Length", str(len(half))))) + half)


KINDS = (
    ResetAt,
    HalfBody,
    WrongLength,
    BadChunk,
    TruncatedGzip,
    LyingEncoding,
    StatusLine,
    HttpZeroNine,
    InterimFlood,
    HeaderFlood,
    Unasked,
)
