"""What extraction is given: one fetched page, and what was known about it before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from headwater.extraction.templates.guide import Guide
from headwater.extraction.text import storable

# The fetch path caps bodies below this; a person's own file may be larger.
LONGEST_HTML = 10_000_000
_PART = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedHints:
    """What the channel knew; `content` is its full text as HTML, where it has it."""

    title: str = ""
    author: str = ""
    language: str = ""
    content: str = ""
    published_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selectors:
    """A source's CSS selectors for its articles by field name; `exclude` is left out of the text."""

    fields: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()


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
