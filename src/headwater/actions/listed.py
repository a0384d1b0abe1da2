"""A list of pages of another system, read as it streams by: addresses, JSON Lines, or a sitemap."""

import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import orjson
from lxml import etree

from headwater.errors import UnreadableInput

# A page with all its text; a longer line is none.
LONGEST_LINE = 16 * 1024 * 1024
# Of a line that is too long; a longer one is no line at all.
MOST_SKIPPED = 100 * 1024 * 1024
FORMS = "Give addresses, JSON Lines, or a sitemap, in UTF-8."
GZIP = b"\x1f\x8b"
# Of the beginning, by which the kinds are told apart.
PEEKED = 512
# What others call the address of a page, in the order of trust.
ADDRESSES = ("url", "canonical_url", "link", "loc")
TEXTS = ("text", "content", "body")


@dataclass(frozen=True, slots=True)
class ListedPage:
    """`place` counts lines, or pages of a sitemap, from 1. What was not said is empty."""

    place: int
    url: str
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class UnreadableLine:
    place: int
    why: str


def read_listed(stream: BinaryIO, *, is_packed: bool = False) -> Iterator[ListedPage | UnreadableLine]:
    """By its first bytes. Raises UnreadableInput where the rest of a packed file or of a sitemap cannot be read."""
    beginning = stream.read(PEEKED)
    whole: BinaryIO = io.BufferedReader(_Rejoined(beginning, stream))
    try:
        if beginning.startswith(GZIP):
            if is_packed:
                raise UnreadableInput("The list is packed twice.", fix="Unpack it once.")
            with gzip.open(whole) as unpacked:
                yield from read_listed(io.BufferedReader(unpacked), is_packed=True)
        elif beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            yield from _in_sitemap(whole)
        else:
            yield from _in_lines(whole)
    except (OSError, EOFError, etree.XMLSyntaxError) as error:
        raise UnreadableInput(f"The list cannot be read to its end: {error}.", fix=FORMS) from error


class _Rejoined(io.RawIOBase):
    """What was looked at already, and then the rest: a pipe cannot be wound back."""

    def __init__(self, beginning: bytes, rest: BinaryIO) -> None:
        self._beginning, self._rest = beginning, rest

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        given = self._beginning[: len(into)] or self._rest.read(len(into))
        self._beginning = self._beginning[len(given) :]
        into[: len(given)] = given
        return len(given)


def _in_lines(stream: BinaryIO) -> Iterator[ListedPage | UnreadableLine]:
    place = 0
    while line := stream.readline(LONGEST_LINE):
        place += 1
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            _skip_line(stream, place)
            yield UnreadableLine(place, "the line is too long")
        elif text := line.strip(b"\xef\xbb\xbf \t\r\n"):
            yield _of_json(place, text) if text.startswith(b"{") else ListedPage(place, text.decode(errors="replace"))


def _skip_line(stream: BinaryIO, place: int) -> None:
    """Raises UnreadableInput for one that never ends: nobody could interrupt it."""
    skipped = 0
    while (line := stream.readline(LONGEST_LINE)) and not line.endswith(b"\n"):
        skipped += len(line)
        if skipped > MOST_SKIPPED:
            raise UnreadableInput(f"Line {place:,} of the list has no end.", fix=FORMS)


def _of_json(place: int, line: bytes) -> ListedPage | UnreadableLine:
    try:
        said = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return UnreadableLine(place, f"no JSON: {error}")
    url = _first(said, ADDRESSES)
    if not url:
        return UnreadableLine(place, "it names no url")
    return ListedPage(place, url, _first(said, ("title",)), _first(said, TEXTS))


def _first(said: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := said.get(name), str) and value), "")


def _in_sitemap(stream: BinaryIO) -> Iterator[ListedPage | UnreadableLine]:
    """Entities are not followed, nothing is fetched, and what was read is forgotten."""
    place = 0
    for _, element in etree.iterparse(stream, events=("end",), resolve_entities=False, no_network=True):
        name = etree.QName(element).localname if isinstance(element.tag, str) else ""
        if name == "sitemap":
            raise UnreadableInput("It is an index of sitemaps.", fix="Give the sitemaps that it lists, one by one.")
        if name == "url":
            place += 1
            yield _of_element(place, element)
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


def _of_element(place: int, element: Any) -> ListedPage | UnreadableLine:
    texts = {etree.QName(one).localname: (one.text or "").strip() for one in element.iter("{*}loc", "{*}title")}
    if not texts.get("loc"):
        return UnreadableLine(place, "it names no loc")
    return ListedPage(place, texts["loc"], texts.get("title", ""))
