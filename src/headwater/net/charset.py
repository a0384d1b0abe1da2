"""Text from bytes, by one order of evidence. Pure; whatever the bytes, there is a text.

1. A byte order mark.
2. The charset of the Content-Type header.
3. What the document says in its first 1,024 bytes: `<meta charset>` or an XML declaration in HTML, the declaration in
   XML; JSON and plain text say nothing.
4. UTF-8, if the whole body is valid UTF-8, or all of it but a last character that was cut in two.
5. Windows-1252.

A label that is not in the table is no evidence. Python's own list of codecs is never asked about a label from outside:
it holds codecs that decompress, rotate letters or read UTF-7.
"""

import re
from codecs import getincrementaldecoder
from enum import StrEnum
from typing import NamedTuple

from headwater.net.charset_labels import CODECS, ENCODING_OF_LABEL


class CharsetKind(StrEnum):
    HTML = "html"
    XML = "xml"
    JSON = "json"
    TEXT = "text"


class CharsetEvidence(StrEnum):
    BYTE_ORDER_MARK = "byte_order_mark"
    HTTP = "http"
    DOCUMENT = "document"
    VALID_UTF8 = "valid_utf8"
    NONE = "none"


class Decoded(NamedTuple):
    """`charset` is the WHATWG name of the encoding that was used."""

    text: str
    charset: str
    evidence: CharsetEvidence


_HEAD_BYTES = 1024
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_WIDE_DECLARATIONS = ((b"<\x00?\x00x\x00", "utf-16le"), (b"\x00<\x00?\x00x", "utf-16be"))
_PARAMETER = re.compile(r""";\s*charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"""<meta[\s/][^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)
_DECLARATION = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"'>]+)["']""")


def decode(body: bytes, kind: CharsetKind, http_charset: str = "") -> Decoded:
    """`http_charset` is the label alone, see `charset_parameter`."""
    for mark, marked in _MARKS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], marked, CharsetEvidence.BYTE_ORDER_MARK)
    if charset := encoding_named(http_charset):
        return _decoded(body, charset, CharsetEvidence.HTTP)
    if charset := _said_by_document(body[:_HEAD_BYTES], kind):
        return _decoded(body, charset, CharsetEvidence.DOCUMENT)
    text = _utf8_in(body)
    if text is None:
        return _decoded(body, "windows-1252", CharsetEvidence.NONE)
    return Decoded(_without_nul(text), "utf-8", CharsetEvidence.VALID_UTF8)


def _utf8_in(body: bytes) -> str | None:
    try:
        text = getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return None
    # A single byte beyond ASCII at the end of an answer is more likely a letter of its own than half of one.
    return text if body.isascii() or not text.isascii() else None


def charset_parameter(content_type: str) -> str:
    """The charset that a Content-Type header names, or nothing."""
    found = _PARAMETER.search(content_type)
    return found[1] if found else ""


def encoding_named(label: str) -> str | None:
    return ENCODING_OF_LABEL.get(label.strip().lower())


def _said_by_document(head: bytes, kind: CharsetKind) -> str | None:
    if kind not in (CharsetKind.HTML, CharsetKind.XML):
        return None
    for start, wide in _WIDE_DECLARATIONS:
        if head.startswith(start):
            return wide
    found = (_META.search(_COMMENT.sub(b"", head)) if kind is CharsetKind.HTML else None) or _DECLARATION.match(head)
    charset = encoding_named(found[1].decode("latin-1")) if found else None
    # Words that could be read byte by byte were not written in UTF-16, whatever they say.
    return "utf-8" if charset and charset.startswith("utf-16") else charset


def _decoded(body: bytes, charset: str, evidence: CharsetEvidence) -> Decoded:
    return Decoded(_without_nul(body.decode(CODECS[charset], "replace")), charset, evidence)


def _without_nul(text: str) -> str:
    # PostgreSQL cannot store it.
    return text.replace("\x00", "")
