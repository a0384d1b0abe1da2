"""One page given to extraction, with the facts known before; on its way into a child, and the answer on its way back.

The answer is checked: a page may have taken its child over.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import orjson

from headwater.errors import UsageError
from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.templates.guide import Guide
from headwater.extraction.text import storable
from headwater.rights.record import UseStatement

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# The fetch path caps bodies below this; a person's own file may be larger.
LONGEST_HTML = 10_000_000
_PART = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedHints:
    """The channel's words about the page; `content` is its full text as HTML, where it has it."""

    title: str = ""
    author: str = ""
    language: str = ""
    content: str = ""
    published_at: datetime | None = None
    updated_at: datetime | None = None
    rights: tuple[UseStatement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selectors:
    """A source's CSS selectors for its articles by field name; `exclude` is left out of the text."""

    fields: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()


def selectors_from(saved: object) -> Selectors:
    """From what a source has saved: `{article, list, page}`, all optional; the article's own are read here."""
    group = saved.get("article") if isinstance(saved, Mapping) else None
    named = group if isinstance(group, Mapping) else {}
    exclude = named.get("exclude")
    return Selectors(
        fields={name: css for name, css in named.items() if isinstance(css, str) and css.strip()},
        exclude=tuple(css for css in exclude if isinstance(css, str)) if isinstance(exclude, list) else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """`codec` is what the fetch path decided, never a label of the page. An empty body leaves the feed's text.

    `guide` is what was learned of the page's host; `is_hurried` asks for the text at the least cost.
    `asks_plugins` is False where the plug-in of the page's host has failed, or is not to be learned from.
    """

    url: str
    body: bytes
    codec: str = "utf-8"
    robots_headers: tuple[str, ...] = ()  # every X-Robots-Tag, in order
    robots_name: str = "headwater"  # the product token: directives for it are for us
    timezone: str = "UTC"  # IANA name, for times that name no zone
    hints: FeedHints = FeedHints()
    selectors: Selectors = Selectors()
    guide: Guide | None = None
    is_hurried: bool = False
    asks_plugins: bool = True

    def html(self) -> str:
        return storable(self.body.decode(self.codec, "replace"), LONGEST_HTML)

    def markup(self) -> str | bytes:
        """For a parser: the body itself where it can be read as it is, as on nearly every page.

        What cannot be stored may be in it: a character reference can name it as well, so a reader of
        the tree has to look.
        """
        is_ready = self.codec == "utf-8" and len(self.body) <= LONGEST_HTML and _is_utf8(self.body)
        return self.body if is_ready else self.html()

    def zone(self) -> tzinfo:
        try:
            return ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return UTC


def _is_utf8(body: bytes) -> bool:
    """Part by part: most parts of most pages are ASCII, and to see that takes no time."""
    begins = 0
    try:
        while begins < len(body):
            ends = _next_character(body, begins + _PART)
            part = body[begins:ends]
            if not part.isascii():
                part.decode()
            begins = ends
    except UnicodeDecodeError:
        return False
    return True


def _next_character(body: bytes, place: int) -> int:
    """Not inside of one: its bytes after the first, three at most, begin with the bits 10."""
    for byte in body[place : place + 3]:
        if byte & 0b1100_0000 != 0b1000_0000:
            break
        place += 1
    return place


def encode_page(page: Page, now: datetime) -> bytes:
    """One line of JSON, then the body as it is: megabytes are neither copied into JSON nor out of it."""
    return orjson.dumps({"page": head_of(page), "now": now}) + b"\n" + page.body


def page_from(received: bytes) -> tuple[Page, datetime]:
    head, _, body = received.partition(b"\n")
    said = orjson.loads(head)
    return page_with(said["page"], body), datetime.fromisoformat(said["now"])


def head_of(page: Page) -> orjson.Fragment:
    """All of it but its body, as JSON."""
    return orjson.Fragment(orjson.dumps(replace(page, body=b""), default=_nothing))


def page_with(head: object, body: bytes) -> Page:
    return replace(_pages().validate_python(head), body=body)


def answer_from(value: object) -> Article | NotAnArticle:
    """A child's answer, read from JSON."""
    try:
        return _answers().validate_python(value)
    except ValueError as problem:
        raise UsageError("An extraction child answered with something that is no article.") from problem


def _nothing(value: object) -> str:
    return "" if value == b"" else str(value)


@cache
def _pages() -> "TypeAdapter[Page]":
    from pydantic import TypeAdapter

    return TypeAdapter(Page)


@cache
def _answers() -> "TypeAdapter[Article | NotAnArticle]":
    from pydantic import TypeAdapter

    return TypeAdapter(Article | NotAnArticle)
