"""Rows 74, 75 and 78 of the hostile inputs: charsets that lie, bytes that are no text, unsafe validators."""

import codecs
from collections.abc import Iterator

import pytest

from headwater.net.charset import CharsetEvidence, CharsetKind, Decoded, charset_parameter, decode
from headwater.net.validators import conditional_headers, validators_from

LABELS = ["utf-7", "UTF7", "rot13", "rot_13", "zlib", "bz2", "base64", "hex", "uu", "idna", "punycode", "undefined"]
PATHS = ["../../etc", "../../etc/passwd", "/etc/passwd", "unicode_escape", "raw_unicode_escape", "mbcs", "x" * 100_000]


@pytest.fixture
def asked_codecs() -> Iterator[list[str]]:
    """Names for which Python had no codec at hand and went to look for one."""
    asked: list[str] = []

    def note(name: str) -> None:
        asked.append(name)

    codecs.register(note)
    yield asked
    codecs.unregister(note)


@pytest.mark.parametrize("label", [*LABELS, *PATHS])
@pytest.mark.parametrize("where", ["http", "meta", "declaration"])
def test_a_label_outside_the_table_never_reaches_pythons_codecs(
    label: str, where: str, asked_codecs: list[str]
) -> None:
    body = b"+ADw-script+AD4- caf\xe9"
    written = label.encode()
    match where:
        case "http":
            decoded = decode(body, CharsetKind.TEXT, charset_parameter(f"text/html; charset={label}"))
        case "meta":
            decoded = decode(b'<meta charset="' + written + b'">' + body, CharsetKind.HTML)
        case _:
            decoded = decode(b'<?xml version="1.0" encoding="' + written + b'"?>' + body, CharsetKind.XML)
    assert decoded.evidence is CharsetEvidence.NONE
    assert decoded.text.endswith("+ADw-script+AD4- café")
    assert asked_codecs == []


ROWS = [
    (74, b"h\x00i\x00", "", Decoded("hi", "utf-8", CharsetEvidence.VALID_UTF8)),
    (74, b"a\x00b", "utf-8", Decoded("ab", "utf-8", CharsetEvidence.HTTP)),
    (74, b"\xed\xa0\x80", "utf-8", Decoded("\ufffd" * 3, "utf-8", CharsetEvidence.HTTP)),
    (74, b"\x00\xd8a\x00", "utf-16le", Decoded("\ufffda", "utf-16le", CharsetEvidence.HTTP)),
    (74, b"\xff\xfe\x00\xd8", "", Decoded("\ufffd", "utf-16le", CharsetEvidence.BYTE_ORDER_MARK)),
    (75, b"\xc0\xaf", "utf-8", Decoded("\ufffd" * 2, "utf-8", CharsetEvidence.HTTP)),
    (75, "a\ufeffb".encode(), "", Decoded("a\ufeffb", "utf-8", CharsetEvidence.VALID_UTF8)),
    (75, "é".encode() + b"\xe9", "utf-8", Decoded("é\ufffd", "utf-8", CharsetEvidence.HTTP)),
]


@pytest.mark.parametrize(("row", "body", "label", "expected"), ROWS)
def test_bytes_that_are_no_text_are_replaced(row: int, body: bytes, label: str, expected: Decoded) -> None:
    assert decode(body, CharsetKind.TEXT, label) == expected


def test_a_megabyte_of_invalid_utf8_is_replaced() -> None:
    assert decode(b"\xff" * 1_000_000, CharsetKind.HTML, "utf-8").text == "\ufffd" * 1_000_000


@pytest.mark.parametrize("etag", [b'"' + b"x" * 1_000_000 + b'"', b'"a\r\nHost: evil.example"', b'"a\x00"', b'"a\nb"'])
def test_a_hostile_etag_is_neither_kept_nor_sent(etag: bytes) -> None:
    kept = validators_from([(b"ETag", etag)]).etag
    assert kept is None
    assert conditional_headers(etag.decode("latin-1"), None) == {}
