"""Section D of the hostile inputs: answers, and what must become of the page, or of the site whose robots.txt it is."""

from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple, get_args

from headwater.simweb.mischief.bombs import Bomb, Coding
from headwater.simweb.mischief.framing import (
    BadChunk,
    HalfBody,
    HeaderFlood,
    HttpZeroNine,
    InterimFlood,
    LyingEncoding,
    ResetAt,
    StatusLine,
    TruncatedGzip,
    Unasked,
    WrongLength,
)
from headwater.simweb.mischief.pace import EndlessBody, SlowDrip, StallAt, TinyChunks
from headwater.simweb.mischief.replies import ExtraHeaders, Status, Throttle
from headwater.simweb.mischief.stage import Close, Mischief, Scene, Send, Steps, head_of

FINE = "fetched"
LATER = "wait: robots_unreachable"
TOO_LARGE = "too_large"
TIMEOUT, TRUNCATED, RESET = "failed: timeout", "failed: truncated", "failed: reset"
BAD_RESPONSE, BAD_ENCODING, HEADER_LIMIT = "failed: bad_response", "failed: bad_encoding", "failed: header_limit"
UPSTREAM, SLOW_DOWN = "failed: upstream", "wait: retry_after"


class Row(NamedTuple):
    """`as_robots` says what becomes of a page of a site whose robots.txt answers so."""

    id: str
    mischief: Mischief
    as_page: str
    as_robots: str = LATER


@dataclass(frozen=True, slots=True)
class EndlessInterim(Mischief):
    """Interim answers without end, and never the real one."""

    def play(self, scene: Scene) -> Steps:
        return map(Send, repeat(b"HTTP/1.1 103 Patience\r\n\r\n" * 1000))


@dataclass(frozen=True, slots=True)
class EndlessHead(Mischief):
    """One header line that never ends."""

    def play(self, scene: Scene) -> Steps:
        yield Send(b"HTTP/1.1 200 OK\r\nX-Long: ")
        yield from map(Send, repeat(b"y" * 4096))


@dataclass(frozen=True, slots=True)
class EndlessChunkExtension(Mischief):
    """A chunk whose size line never ends."""

    def play(self, scene: Scene) -> Steps:
        yield Send(scene.head(200, (("Transfer-Encoding", "chunked"),)) + b"4;")
        yield from map(Send, repeat(b"x=y;" * 65_536))


@dataclass(frozen=True, slots=True)
class EndlessTrailers(Mischief):
    """A whole body, and then trailers without end."""

    def play(self, scene: Scene) -> Steps:
        yield Send(scene.head(200, (("Transfer-Encoding", "chunked"),)) + b"2\r\nhi\r\n0\r\n")
        yield from map(Send, repeat(b"X-Trailer: y\r\n" * 100))


@dataclass(frozen=True, slots=True)
class Upgraded(Mischief):
    """101 to a request that asked for no other protocol."""

    def play(self, scene: Scene) -> Steps:
        yield Send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: spam\r\nConnection: Upgrade\r\n\r\nspam spam")
        yield Close()


@dataclass(frozen=True, slots=True)
class HeadTwice(Mischief):
    """The page, and behind it on the same connection an answer to a question nobody asked yet."""

    made_up: bytes = b"planted"

    def play(self, scene: Scene) -> Steps:
        planted = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(self.made_up), self.made_up)
        yield Send(head_of(scene.answer, scene.date) + scene.answer.body + planted)


def header(name: str, value: str) -> ExtraHeaders:
    return ExtraHeaders(((name, value),))


ROWS = [
    # What a bomb of zeros says as robots.txt, up to the limit, is nothing.
    *(Row(f"64 {coding}", Bomb(coding), TOO_LARGE, FINE) for coding in get_args(Coding)),
    Row("65 100 codings", LyingEncoding(", ".join(["gzip"] * 100)), BAD_ENCODING),
    Row("65 three codings", LyingEncoding("gzip, gzip, gzip"), BAD_ENCODING),
    Row("66 plain called gzip", LyingEncoding("gzip"), BAD_ENCODING),
    Row("66 plain called br", LyingEncoding("br"), BAD_ENCODING),
    Row("66 plain called zstd", LyingEncoding("zstd"), BAD_ENCODING),
    Row("66 gzip called br", LyingEncoding("br", "gzip"), BAD_ENCODING),
    Row("66 br called gzip", LyingEncoding("gzip", "br"), BAD_ENCODING),
    Row("66 gzip called deflate", LyingEncoding("deflate", "gzip"), BAD_ENCODING),
    Row("66 unknown coding", LyingEncoding("snappy"), BAD_ENCODING),
    Row("66 half a gzip", TruncatedGzip(), TRUNCATED),
    Row("67 endless and slow", EndlessBody(bytes=64, every_ms=50), TIMEOUT),
    Row("67 endless and fast", EndlessBody(), TOO_LARGE, FINE),
    Row("67 no last chunk", BadChunk("missing_last"), TRUNCATED),
    Row("67 body in drops", SlowDrip(every_ms=1000), TIMEOUT),
    Row("67 silent after the head", StallAt("head"), TIMEOUT),
    Row("67 silent in the body", StallAt("body"), TIMEOUT),
    Row("67 trailers without end", EndlessTrailers(), TRUNCATED),
    Row("68 chunks of one byte", TinyChunks(), FINE, FINE),
    Row("68 chunk size without end", EndlessChunkExtension(), TRUNCATED),
    Row("69 length 10^18", WrongLength("huge"), TRUNCATED),
    Row("69 too long", WrongLength("too_long"), TRUNCATED),
    Row("69 negative", WrongLength("negative"), BAD_RESPONSE),
    Row("69 no number", WrongLength("garbage"), BAD_RESPONSE),
    Row("69 two lengths", WrongLength("two"), BAD_RESPONSE),
    Row("69 length and chunks", WrongLength("with_chunked"), BAD_RESPONSE),
    Row("69 chunk size", BadChunk("size"), BAD_RESPONSE),
    Row("69 chunk end", BadChunk("end"), BAD_RESPONSE),
    Row("69 chunk of 2^64", BadChunk("huge"), TRUNCATED),
    Row("69 negative chunk", BadChunk("negative"), BAD_RESPONSE),
    Row("69 half a body", HalfBody(), TRUNCATED),
    Row("69 reset in the body", ResetAt("body"), TRUNCATED),
    Row("69 reset at once", ResetAt(), RESET),
    Row("70 many headers", HeaderFlood("many"), HEADER_LIMIT),
    Row("70 long header", HeaderFlood("long", 1_000_000), HEADER_LIMIT),
    Row("70 header without end", EndlessHead(), HEADER_LIMIT),
    Row("70 NUL in a header", HeaderFlood("nul", 1), BAD_RESPONSE),
    Row("70 CR in a header", HeaderFlood("bare_cr", 1), BAD_RESPONSE),
    # RFC 9112 5.2: a client reads a folded line as one.
    Row("70 folded header", HeaderFlood("folded", 1), FINE, FINE),
    Row("71 noise", StatusLine(), BAD_RESPONSE),
    Row("71 binary noise", StatusLine("\udcff\udcfe\x00\x01"), BAD_RESPONSE),
    Row("71 HTTP/0.9", HttpZeroNine(), BAD_RESPONSE),
    Row("71 status 999", StatusLine("HTTP/1.1 999 Odd"), UPSTREAM),
    Row("71 status 9999", StatusLine("HTTP/1.1 9999 Odd"), BAD_RESPONSE),
    Row("71 status 000", StatusLine("HTTP/1.1 000 Odd"), BAD_RESPONSE),
    Row("71 many 1xx", InterimFlood(), BAD_RESPONSE),
    Row("71 1xx without end", EndlessInterim(), BAD_RESPONSE),
    Row("71 101", Upgraded(), BAD_RESPONSE),
    Row("71 304 unasked", Unasked(304), BAD_RESPONSE),
    Row("71 206 unasked", Unasked(206), BAD_RESPONSE),
    Row("72 silent", StallAt("connect"), TIMEOUT),
    Row("72 head in drops", SlowDrip(every_ms=1000, of="head"), TIMEOUT),
    Row("76 10 000 cookies", HeaderFlood("cookies"), HEADER_LIMIT),
    Row("76 100 cookies", HeaderFlood("cookies", 100), FINE, FINE),
    Row("77 Refresh inwards", header("Refresh", "0; url=http://127.0.0.2:{port}/"), FINE, FINE),
    Row("77 Link inwards", header("Link", "<http://127.0.0.2:{port}/>; rel=next"), FINE, FINE),
    Row("77 Alt-Svc inwards", header("Alt-Svc", 'h2="127.0.0.2:{port}"; ma=99999'), FINE, FINE),
    Row("78 ETag of 1 MB", header("ETag", '"' + "x" * 1_000_000 + '"'), HEADER_LIMIT),
    Row("78 ETag of 10 kB", header("ETag", '"' + "x" * 10_000 + '"'), FINE, FINE),
    Row("78 ETag of odd bytes", header("ETag", '"\udcff\udc80é"'), FINE, FINE),
    Row("79 modified in 9999", header("Last-Modified", "Fri, 31 Dec 9999 23:59:59 GMT"), FINE, FINE),
    Row("79 modified in 1601", header("Last-Modified", "Mon, 01 Jan 1601 00:00:00 GMT"), FINE, FINE),
    Row("106 gone", Status(410), "gone", FINE),
    Row("107 legal", Status(451), "legal", FINE),
    Row("107 unauthorized", Status(401), "failed: forbidden", FINE),
    Row("107 payment", Status(402), "failed: payment_required", FINE),
    Row("107 forbidden", Status(403), "failed: forbidden", FINE),
    Row("107 come back in 10^40 s", Throttle(told_as="words", words="9" * 40), SLOW_DOWN),
    Row("107 come back in -1 s", Throttle(told_as="words", words="-1"), SLOW_DOWN),
    Row("107 come back in year 99999", Throttle(told_as="words", words="Fri, 31 Dec 99999 23:59:59 GMT"), SLOW_DOWN),
    Row("107 overloaded", Status(503), SLOW_DOWN),
]
