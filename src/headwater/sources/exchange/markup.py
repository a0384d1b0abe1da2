"""XML as a stream of events: no tree to fill memory with, no document type, no entities, nothing fetched."""

import html
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from lxml import etree

DEEPEST = 100
MOST_ELEMENTS = 2_000_000
_MOST_MENDED = 500_000
_PIECE = 65_536
_LONGEST_COMPLAINT = 200

_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*\?>")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_STRAY = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|&(?!(?:amp|lt|gt|quot|apos);)(?:#x?[0-9A-Fa-f]{1,8};|[A-Za-z][A-Za-z0-9]{1,31};)?"
    rf"|{_CONTROL.pattern}",
    re.DOTALL,
)


class ParseStopped(Exception):
    """A listener has heard enough; the text is a sentence for people."""


class MarkupTooLarge(ParseStopped):
    """There is more than anybody reads; in pieces it would be read."""


@dataclass(frozen=True, slots=True)
class ElementEnd:
    """How a reading ended: `why` is empty if it reached the end."""

    why: str = ""
    is_malformed: bool = False
    is_too_large: bool = False


class MarkupListener:
    """Hears elements by their local names. `path` holds the names of those that are open around the one told."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self._elements = 0

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        """`name` is not in the path yet."""

    def closed(self, name: str) -> None:
        """`name` is no longer in the path."""

    def pieces(self, text: str) -> Iterator[bytes]:
        """Bits of the text for the parser, one after the other."""
        return (text[at : at + _PIECE].encode() for at in range(0, len(text), _PIECE))

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise MarkupTooLarge(f"It has more than {MOST_ELEMENTS:,} elements.")
        if len(self.path) >= DEEPEST:
            raise ParseStopped(f"It is nested deeper than {DEEPEST} levels.")
        name = tag.rpartition("}")[2]
        self.opened(name, attributes)
        self.path.append(name)

    def end(self, tag: str) -> None:
        self.closed(self.path.pop())

    def data(self, text: str) -> None:
        """Text between elements, in pieces of any size."""

    def doctype(self, name: str, public_id: str | None, system_id: str | None) -> None:
        # Before any entity is declared, so there is none to expand or to fetch.
        if name.lower() == "html":
            raise ParseStopped("It is a web page.")
        raise ParseStopped("It declares a document type, which is refused.")

    def close(self) -> None:
        pass


L = TypeVar("L", bound=MarkupListener)


def read_markup(text: str, new_listener: Callable[[], L]) -> tuple[L, ElementEnd]:
    """Strictly first; if that fails on something that can be mended, once more with it mended."""
    listener, ending, _ = parse_markup(text, new_listener)
    return listener, ending


def parse_markup(text: str, new_listener: Callable[[], L]) -> tuple[L, ElementEnd, str]:
    """And the text as it was parsed: a second parse need not mend it again."""
    text = _DECLARATION.sub(_line_ends, text, count=1) if _DECLARATION.match(text) else text
    listener = new_listener()
    ending = _hear_all(text, listener)
    if not ending.is_malformed or (mended := _STRAY.sub(_mended, text, count=_MOST_MENDED)) == text:
        return listener, ending, text
    listener = new_listener()
    return listener, _hear_all(mended, listener), mended


def _hear_all(text: str, listener: MarkupListener) -> ElementEnd:
    hearing = hear(text, listener)
    while True:
        try:
            next(hearing)
        except StopIteration as ended:
            ending: ElementEnd = ended.value
            return ending


def hear(text: str, listener: MarkupListener) -> Generator[None, None, ElementEnd]:
    """Piece by piece, so that what the listener has heard so far can be taken from it."""
    # Entities are the five of XML itself, since a document type is refused; left unresolved, `&amp;` would be told as
    # `&#38;`.
    parser = etree.XMLParser(
        target=listener, encoding="utf-8", resolve_entities="internal", load_dtd=False, no_network=True, huge_tree=False
    )
    try:
        for piece in listener.pieces(text):
            parser.feed(piece)
            yield
        parser.close()
    except ParseStopped as stop:
        return ElementEnd(str(stop), is_too_large=isinstance(stop, MarkupTooLarge))
    except etree.XMLSyntaxError as problem:
        complaint = " ".join(str(problem.msg).split())[:_LONGEST_COMPLAINT]
        return ElementEnd(f"It is not well-formed XML: {complaint}.", is_malformed=True)
    return ElementEnd()


def _line_ends(declaration: re.Match[str]) -> str:
    # The text is decoded, so what it declares no longer counts; and often enough something stands before it.
    return re.sub(r"[^\r\n]", "", declaration[0])


def _mended(stray: re.Match[str]) -> str:
    """`?a=1&b=2`, `&nbsp;` and `&#27;` are what people write; none of them is XML."""
    found = stray[0]
    if found.startswith("<"):
        return found
    return html.escape(_CONTROL.sub("", html.unescape(found) if found.endswith(";") else found))
