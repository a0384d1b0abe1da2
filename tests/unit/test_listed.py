"""Lists of other systems, as they stream by: told apart by how they begin, whatever stands in them."""

import gzip
import io
from typing import Any

import pytest

from headwater.actions import listed
from headwater.actions.comparing import is_same_title, share_of_words
from headwater.actions.listed import ListedPage, UnreadableLine, read_listed
from headwater.errors import UnreadableInput

SITEMAP = b"""<?xml version="1.0"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:n="http://www.google.com/schemas/sitemap-news/0.9">
<url><loc> https://a.example/1 </loc><n:news><n:title>One</n:title></n:news></url>
<url><lastmod>2026-01-01</lastmod></url>
<url><loc>https://a.example/3</loc></url>
</urlset>"""


def read(text: bytes) -> list[Any]:
    return list(read_listed(io.BytesIO(text)))


def test_addresses_are_lines_and_empty_ones_count() -> None:
    assert read(b"\xef\xbb\xbfhttps://a.example/1\r\n\n  https://a.example/2") == [
        ListedPage(1, "https://a.example/1"),
        ListedPage(3, "https://a.example/2"),
    ]
    assert read(b"") == []


def test_json_lines_name_an_address_a_title_and_a_text_by_usual_names() -> None:
    lines = b'{"link": "https://a.example/1", "title": "One", "content": "Text"}\n{"title": "x"}\n{"url": 7}\n{\n'
    page, *bad = read(lines)
    assert page == ListedPage(1, "https://a.example/1", "One", "Text")
    assert [one.place for one in bad] == [2, 3, 4]
    assert all(isinstance(one, UnreadableLine) for one in bad)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_sitemap_is_read_packed_or_not(pack: Any) -> None:
    assert read(pack(SITEMAP)) == [
        ListedPage(1, "https://a.example/1", "One"),
        UnreadableLine(2, "it names no loc"),
        ListedPage(3, "https://a.example/3"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        b"<urlset><url><loc>https://a.example/1</loc></url>",
        gzip.compress(SITEMAP)[:-20],
        gzip.compress(gzip.compress(SITEMAP)),
        b"<sitemapindex><sitemap><loc>https://a.example/s.xml</loc></sitemap></sitemapindex>",
        b'<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]><urlset><url><loc>&z;</loc></url>',
        b"<" + b"a>" * 10,
    ],
)
def test_what_breaks_off_says_so(text: bytes) -> None:
    with pytest.raises(UnreadableInput):
        read(text)


def test_entities_of_a_file_are_not_followed() -> None:
    text = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://a/&x;</loc></url></urlset>'
    (page,) = read(text)
    assert page == ListedPage(1, "http://a/")


def test_a_line_without_an_end_is_one_line_and_costs_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed, "LONGEST_LINE", 100)
    assert read(b"x" * 1_000 + b"\nhttps://a.example/2\n") == [
        UnreadableLine(1, "the line is too long"),
        ListedPage(2, "https://a.example/2"),
    ]


def test_a_list_is_not_read_before_it_is_needed() -> None:
    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def readinto(self, into: Any) -> int:
            self.given += 1
            line = b"https://a.example/1\n"
            into[: len(line)] = line
            return len(line)

    source = Endless()
    pages = read_listed(io.BufferedReader(source, 64))
    assert [next(pages) for _ in range(3)] == [ListedPage(place, "https://a.example/1") for place in (1, 2, 3)]
    assert source.given < 2_000


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("The tide turns.", "the TIDE, turns", 1.0),
        ("a b c d", "a b", 0.5),
        ("a a", "a", 0.5),
        ("", "", 1.0),
        ("a", "b", 0.0),
    ],
)
def test_texts_are_as_alike_as_their_words(one: str, other: str, share: float) -> None:
    assert share_of_words(one, other) == share
    assert share_of_words(other, one) == share


def test_titles_are_compared_without_case_and_spaces() -> None:
    assert is_same_title("The  Tide\nturns", "the tide Turns")
    assert not is_same_title("The tide", "The tide turns")


class Endless(io.RawIOBase):
    """What /dev/zero says."""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        into[:] = bytes(len(into))
        return len(into)


def test_a_list_that_never_ends_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="Line 1 of the list has no end"):
        list(read_listed(io.BufferedReader(Endless())))
