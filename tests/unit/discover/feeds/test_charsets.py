from collections.abc import Callable

import pytest

from headwater.discover.items import Reading

Read = Callable[..., Reading]


def feed(title: str, declared: str = "") -> str:
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    return f"{declaration}<rss><channel><title>{title}</title></channel></rss>"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (feed("Größe").encode(), ""),
        (b"\xef\xbb\xbf" + feed("Größe", "iso-8859-1").encode(), "text/xml; charset=koi8-r"),
        (feed("Größe", "iso-8859-1").encode("latin-1"), "application/rss+xml"),
        (feed("Größe", "windows-1252").encode("cp1252"), ""),
        (feed("Größe", "utf-8").encode("latin-1"), "text/xml; charset=iso-8859-1"),
        (feed("Größe").encode("cp1252"), ""),
        (feed("Größe", "utf-16").encode("utf-16"), ""),
        (b"\r\n " + feed("Größe", "utf-8").encode(), ""),
    ],
    ids=["none", "mark", "declaration", "windows", "header", "guessed", "wide", "space before"],
)
def test_evidence_comes_in_the_order_of_the_house(read: Read, body: bytes, content_type: str) -> None:
    reading = read(body, content_type)
    assert (reading.title, reading.notes) == ("Größe", ())


def test_a_byte_that_is_no_text_costs_one_character(read: Read) -> None:
    body = feed("Größe und weiter", "utf-8").encode().replace(b"und", b"\xff")
    assert read(body).title == "Größe � weiter"


def test_json_feed_may_have_a_byte_order_mark(read: Read) -> None:
    text = '{"version": "https://jsonfeed.org/version/1", "title": "Größe", "items": []}'
    assert read(b"\xef\xbb\xbf" + text.encode()).title == "Größe"
    assert read(text.encode("utf-16")).title == "Größe"
