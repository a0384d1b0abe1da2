"""The text of a page that scripts would write: held as HTML in the state that came with it. Bounded, no recursion."""

import re
from collections.abc import Iterator
from itertools import islice
from json import JSONDecoder

import orjson
from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.blocks import text_of_html
from headwater.extraction.elements import attribute
from headwater.extraction.text import LONGEST_TEXT

_MOST_SCRIPTS, _MOST_LINES, _LONGEST_SCRIPT = 200, 2_000, 3_000_000
_MOST_VALUES = 50_000
_FEWEST_PARAGRAPHS = 2
_MARKUP = re.compile(r"(?:<|\\u003c)p\b", re.IGNORECASE)
_DECODER = JSONDecoder()
_PARAGRAPH = re.compile(r"<p[\s>]")
# A framework sends its state in pieces, each a string in a call: their strings are one text of many lines.
_PIECE = re.compile(r'__next_f\.push\(\[\d+,\s*("(?:[^"\\]++|\\.)*+")\]\)')
_LINE_OF_STATE = re.compile(r"^[0-9a-f]{1,8}:", re.MULTILINE)
_JSON_TYPE = re.compile(r"^application/json$", re.IGNORECASE)
# The value of `window.state = {…}` or `queue.push({…})`.
_GIVEN = re.compile(r'[=(]\s*(?=\{\s*")')
_MOST_GIVEN = 20


def scripted_text(markup: str | bytes) -> str:
    """The longest text of several paragraphs that a script of the page holds."""
    found = [value for value in _values(markup) if len(_PARAGRAPH.findall(value)) >= _FEWEST_PARAGRAPHS]
    longest = sorted(dict.fromkeys(found), key=len)[-1:]
    return text_of_html(longest[0]) if longest else ""


def _values(markup: str | bytes) -> Iterator[str]:
    pieces: list[str] = []
    for script in LexborHTMLParser(markup).css("script:not([src])")[:_MOST_SCRIPTS]:
        written = script.text()[:_LONGEST_SCRIPT]
        if _JSON_TYPE.match(attribute(script, "type")):
            yield from _strings(_parsed(written))
        elif "__next_f" in written:
            pieces += [said for piece in _PIECE.findall(written) if isinstance(said := _parsed(piece), str)]
        elif _MARKUP.search(written):
            yield from _strings(_given(written))
    # A long text of its own is a piece, a short one stands in a line.
    yield from pieces
    for line in islice(_LINE_OF_STATE.split("".join(pieces)[:_LONGEST_SCRIPT]), _MOST_LINES):
        yield from _strings(_parsed(line))


def _given(written: str) -> list[object]:
    """The objects that a script is given, each once: what lies inside of one is not looked for again."""
    found: list[object] = []
    at = 0
    for _ in range(_MOST_GIVEN):
        begins = _GIVEN.search(written, at)
        if begins is None:
            break
        try:
            value, at = _DECODER.raw_decode(written, begins.end())
        except (ValueError, RecursionError):
            at = begins.end()
            continue
        found.append(value)
    return found


def _strings(value: object) -> Iterator[str]:
    waiting = [value]
    for _ in range(_MOST_VALUES):
        if not waiting:
            return
        match waiting.pop():
            case str() as text:
                yield text[:LONGEST_TEXT]
            case dict() as held:
                waiting.extend(held.values())
            case list() as held:
                waiting.extend(held)


def _parsed(written: str) -> object:
    try:
        return orjson.loads(written)
    except ValueError:
        return None
