import codecs

import pytest

from headwater.net.charset import CharsetEvidence, CharsetKind, Decoded, charset_parameter, decode, encoding_named
from headwater.net.charset_labels import CODECS, ENCODING_OF_LABEL

META = b'<html><head><meta charset="windows-1251"></head>'
EQUIV = b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">'
DECLARATION = b'<?xml version="1.0" encoding="ISO-8859-2"?>'


def found(body: bytes, kind: CharsetKind, http: str = "") -> tuple[str, str]:
    decoded = decode(body, kind, http)
    return decoded.charset, decoded.evidence


def test_a_byte_order_mark_beats_everything() -> None:
    assert decode(b"\xef\xbb\xbf\xc3\xa9", CharsetKind.HTML, "windows-1252") == Decoded(
        "é", "utf-8", CharsetEvidence.BYTE_ORDER_MARK
    )
    assert decode("\ufeffé".encode("utf-16-le"), CharsetKind.TEXT) == Decoded(
        "é", "utf-16le", CharsetEvidence.BYTE_ORDER_MARK
    )
    assert decode("\ufeffé".encode("utf-16-be"), CharsetKind.JSON) == Decoded(
        "é", "utf-16be", CharsetEvidence.BYTE_ORDER_MARK
    )


def test_the_header_beats_the_document() -> None:
    assert found(META, CharsetKind.HTML, "koi8-r") == ("koi8-r", CharsetEvidence.HTTP)
    assert found(DECLARATION, CharsetKind.XML, "utf-8") == ("utf-8", CharsetEvidence.HTTP)


@pytest.mark.parametrize("body", [META, EQUIV, b"<META CHARSET=cp1251>", b"<meta\ncharset = 'x-cp1251' />"])
def test_a_page_says_it_in_a_meta_element(body: bytes) -> None:
    assert found(body + b"\xff", CharsetKind.HTML) == ("windows-1251", CharsetEvidence.DOCUMENT)


def test_a_declaration_counts_in_xml_and_in_xhtml() -> None:
    assert found(DECLARATION + b"\xff", CharsetKind.XML) == ("iso-8859-2", CharsetEvidence.DOCUMENT)
    assert found(b"\n" + DECLARATION + b"\xff", CharsetKind.HTML) == ("iso-8859-2", CharsetEvidence.DOCUMENT)


def test_other_kinds_say_nothing_about_themselves() -> None:
    assert found(META + b"\xff", CharsetKind.XML) == ("windows-1252", CharsetEvidence.NONE)
    assert found(META + b"\xff", CharsetKind.TEXT) == ("windows-1252", CharsetEvidence.NONE)
    assert found(DECLARATION, CharsetKind.JSON) == ("utf-8", CharsetEvidence.VALID_UTF8)


def test_only_the_first_kilobyte_is_read_for_it() -> None:
    assert found(b" " * 1000 + META, CharsetKind.HTML) == ("utf-8", CharsetEvidence.VALID_UTF8)
    assert found(b" " * 900 + META, CharsetKind.HTML) == ("windows-1251", CharsetEvidence.DOCUMENT)


def test_a_meta_element_in_a_comment_is_no_evidence() -> None:
    assert found(b"<!-- " + META + b" -->\xff", CharsetKind.HTML) == ("windows-1252", CharsetEvidence.NONE)


def test_a_document_that_can_be_read_is_not_in_utf16() -> None:
    assert found(b'<meta charset="utf-16">', CharsetKind.HTML) == ("utf-8", CharsetEvidence.DOCUMENT)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_xml_in_utf16_is_known_by_its_declaration(codec: str) -> None:
    decoded = decode('<?xml version="1.0"?><a>é</a>'.encode(codec), CharsetKind.XML)
    assert decoded.text.endswith("<a>é</a>")
    assert decoded.evidence is CharsetEvidence.DOCUMENT


def test_without_evidence_valid_utf8_is_utf8_and_the_rest_is_windows() -> None:
    assert decode("zażółć".encode(), CharsetKind.TEXT) == Decoded("zażółć", "utf-8", CharsetEvidence.VALID_UTF8)
    assert decode(b"caf\xe9 \x93x\x94", CharsetKind.TEXT) == Decoded("café “x”", "windows-1252", CharsetEvidence.NONE)
    assert decode(b"", CharsetKind.HTML) == Decoded("", "utf-8", CharsetEvidence.VALID_UTF8)


def test_a_character_cut_in_two_at_the_end_costs_itself_alone() -> None:
    whole = "<p>Größe und Maß – ü".encode()
    for missing in (1, 2):
        found = decode(whole[:-missing], CharsetKind.JSON)
        assert (found.charset, found.text.startswith("<p>Größe und Maß")) == ("utf-8", True)
    # Nothing else speaks for UTF-8: a last letter of its own.
    assert decode("<p>Caf\xe9".encode("latin-1"), CharsetKind.JSON).text == "<p>Café"


@pytest.mark.parametrize(
    ("label", "octets", "text"),
    [
        ("iso-8859-1", b"\x80", "€"),
        ("ascii", b"\xe9", "é"),
        ("iso-8859-9", b"\xfe", "ş"),
        ("gb2312", b"\xd6\xd0", "中"),
        ("gb2312", b"\x81\x30\x84\x36", "¥"),
        ("big5", b"\xa4\xa4", "中"),
        ("shift_jis", b"\x87\x40", "①"),
        ("euc-kr", b"\xb0\xa1", "가"),
        ("iso-2022-jp", b"\x1b$B$\x22\x1b(B", "あ"),
        ("tis-620", b"\xa1", "ก"),
        ("x-mac-cyrillic", b"\x80", "А"),
        ("UTF8 ", "é".encode(), "é"),
    ],
)
def test_a_label_means_what_browsers_take_it_for(label: str, octets: bytes, text: str) -> None:
    assert decode(octets, CharsetKind.TEXT, label).text == text


def test_every_encoding_has_a_codec_that_makes_text() -> None:
    for name in CODECS.values():
        assert b"<\x00".decode(name).replace("\x00", "") in ("<", "\u3c00")
        assert codecs.lookup(name).name not in ("utf-7", "idna", "rot13")
    assert set(ENCODING_OF_LABEL.values()) == CODECS.keys()


def test_labels_are_all_lower_case_or_they_would_never_be_found() -> None:
    assert all(label == label.lower().strip() for label in ENCODING_OF_LABEL)


@pytest.mark.parametrize(
    ("content_type", "label"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;charset="UTF-8"', "UTF-8"),
        ("text/html; Charset = utf-8 ; x=y", "utf-8"),
        ("text/html; boundary=x; charset=koi8-r", "koi8-r"),
        ("text/html", ""),
        ("text/html; charset=", ""),
        ("", ""),
        ("text/html; xcharset=utf-8", ""),
    ],
)
def test_the_charset_is_found_in_a_content_type(content_type: str, label: str) -> None:
    assert charset_parameter(content_type) == label


def test_an_unknown_label_names_no_encoding() -> None:
    assert encoding_named("klingon") is None
    assert encoding_named("") is None
