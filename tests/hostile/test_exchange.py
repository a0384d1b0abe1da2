"""Rows 96 and 123 of the hostile inputs: files of sources that expand, never end, lie or bite."""

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.errors import UsageError
from headwater.sources.exchange.fields import Row
from headwater.sources.exchange.reading import MAX_BYTES, MOST_BAD, ListFormat, open_sources, read_sources
from headwater.sources.exchange.writing import write_rejected, write_sources

# As a program of its own, so that neither memory nor time can be hidden: 256 MB of addresses, 10 s of processor.
LIMITED = """
import resource, sys
from pathlib import Path
from headwater.errors import UsageError
from headwater.sources.exchange.reading import ListFormat, read_sources
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
resource.setrlimit(resource.RLIMIT_AS, (2**28, 2**28))
try:
    found = read_sources(Path(sys.argv[1]).read_bytes(), ListFormat(sys.argv[2]))
    print("read", len(found.rows), len(found.bad_lines))
except UsageError as refusal:
    print("refused", refusal)
"""
# The limit on processor time ends the rest, however busy the machine is.
HANGS_AFTER_SECONDS = 600
OUTLINE = b'<outline text="a" xmlUrl="https://a.example/feed"/>'


def opml(body: bytes, before: bytes = b"") -> bytes:
    return before + b"<opml><body>" + body + b"</body></opml>"


def read_under_limits(data: bytes, as_format: ListFormat, folder: Path) -> list[str]:
    file = folder / "sources"
    file.write_bytes(data)
    child = [sys.executable, "-c", LIMITED, str(file), as_format.value]
    done = subprocess.run(child, capture_output=True, text=True, timeout=HANGS_AFTER_SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout.split(maxsplit=2)


DOCTYPES = [
    b'<!DOCTYPE opml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    b'<!DOCTYPE opml [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
    b'<!DOCTYPE opml [<!ENTITY % a SYSTEM "http://127.0.0.1:9/"> %a;]>',
    b'<!DOCTYPE opml SYSTEM "http://169.254.169.254/x.dtd">',
]


@pytest.mark.parametrize("doctype", DOCTYPES)
def test_a_document_type_is_refused_outright(doctype: bytes) -> None:
    with pytest.raises(UsageError, match="document type"):
        read_sources(opml(OUTLINE, doctype))


MANY = 100_005


@pytest.mark.long
def test_every_outline_is_read_however_many_there_are() -> None:
    outlines = "\n".join(f'<outline xmlUrl="https://a.example/{number}"/>' for number in range(MANY))
    file = open_sources(opml(b"\n" + outlines.encode()))
    assert (file.rows, file.bad) == (MANY, 0)


@pytest.mark.long
def test_a_list_is_read_as_far_as_an_outline() -> None:
    file = open_sources("\n".join(f"https://a.example/{number}" for number in range(MANY)).encode())
    assert (file.rows, file.bad) == (MANY, 0)


@pytest.mark.long
def test_a_file_of_something_else_is_refused_as_a_whole() -> None:
    with pytest.raises(UsageError, match=r"More than 100,000 lines of the file are no sources\. .* line 100,002"):
        open_sources(b"url\n" + b"a\n" * (MOST_BAD + 5))


@pytest.mark.long
def test_more_elements_than_anybody_reads_are_refused_before_the_first_is_taken() -> None:
    with pytest.raises(UsageError, match="more than 2,000,000 elements"):
        open_sources(opml(OUTLINE + b"<b/>" * 2_000_001))


def test_ten_thousand_folders_in_one_another_end_at_a_hundred() -> None:
    found = read_sources(opml(OUTLINE + b'\n<outline text="x">' * 10_000 + OUTLINE + b"</outline>" * 10_000))
    assert len(found.rows) == 1
    assert found.bad_lines[0].line < 110
    assert "nested deeper than 100 levels" in found.bad_lines[0].reason


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "gopher://a/",
        "https://u:p@a.example/",
        "a\\b",
        "//a",
    ],
)
@pytest.mark.parametrize("attribute", ["xmlUrl", "url", "htmlUrl"])
def test_every_address_goes_through_the_gate(address: str, attribute: str) -> None:
    feed = "" if attribute == "xmlUrl" else ' xmlUrl="https://a.example/feed"'
    if attribute == "url":
        feed = ""
    found = read_sources(opml(f'<outline text="a"{feed} {attribute}="{address}"/>'.encode()))
    assert found.rows == ()
    assert len(found.bad_lines) == 1


def test_markup_in_an_attribute_stays_text() -> None:
    name = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&apos;&#x1b;[2J"
    row = read_sources(opml(f"<outline text='{name}' xmlUrl='https://a.example/'/>".encode())).rows[0]
    assert row.name == "<script>alert(1)</script>\"'[2J"
    assert "<script>" not in "".join(write_sources([row], ListFormat.OPML))


def test_a_bad_line_holds_nothing_a_terminal_would_obey() -> None:
    found = read_sources("https://a.example/\nx://\x1b]0;owned\x07\u0085\x9b31m\n".encode(), ListFormat.URLS)
    assert found.bad_lines[0].text.isprintable()


def test_the_same_feed_a_thousand_times_is_one_source_and_no_fault() -> None:
    found = read_sources(opml((OUTLINE + b"\n") * 1_000))
    assert len(found.rows) == 1
    assert (found.bad_lines, found.duplicates) == ((), 999)


def test_more_than_200_mb_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UsageError, match="larger than 200 MB"):
        read_sources(bytes(MAX_BYTES + 1))


def test_a_zip_named_opml_is_refused() -> None:
    with pytest.raises(UsageError, match="zip archive"):
        read_sources(b"PK\x03\x04" + opml(OUTLINE), ListFormat.OPML, filename="feeds.opml")


def test_a_charset_pythons_codecs_would_obey_is_only_a_word() -> None:
    for label in (b"utf-7", b"rot13", b"zlib", b"idna", b"../../etc/passwd"):
        found = read_sources(opml(OUTLINE, b'<?xml version="1.0" encoding="' + label + b'"?>'))
        assert found.rows[0].feed_url == "https://a.example/feed"


BOMBS: dict[str, tuple[Callable[[], bytes], ListFormat]] = {
    "elements": (lambda: opml(OUTLINE + b"<b/>" * 3_000_000), ListFormat.OPML),
    "attribute": (lambda: opml(OUTLINE + b'<outline text="' + b"x" * 11_000_000 + b'"/>'), ListFormat.OPML),
    "lines of XML": (lambda: opml(OUTLINE + b"\n" * 11_000_000), ListFormat.OPML),
    "outlines on one line": (lambda: opml(OUTLINE * 40_000), ListFormat.OPML),
    "blank lines": (lambda: b"\n" * 11_000_000 + b"https://a.example/", ListFormat.URLS),
    "one line of text": (lambda: b"https://a.example/" + b"x" * 11_000_000, ListFormat.URLS),
    "columns": (lambda: b"url" + b",a" * 5_500_000, ListFormat.CSV),
    "records": (lambda: b"url\n" + b"a\n" * 225_000, ListFormat.CSV),
    "an open quote": (lambda: b'url\n"' + b"a\n" * 225_000, ListFormat.CSV),
    "open quotes": (lambda: b"url,name\n" + b'x","y\n' * 225_000, ListFormat.CSV),
    "quotes": (lambda: b"url\n" + b'"' * 225_000, ListFormat.CSV),
    "brackets": (lambda: b'{"url":' + b"[" * 225_000, ListFormat.JSONL),
    "tags": (lambda: b"https://a.example/ " + b"a," * 100_000, ListFormat.URLS),
}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory hold on Linux only")
@pytest.mark.parametrize(("made", "as_format"), BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_read_within_limits(made: Callable[[], bytes], as_format: ListFormat, tmp_path: Path) -> None:
    said = read_under_limits(made(), as_format, tmp_path)
    assert said[0] == "refused" or int(said[2]) <= MOST_BAD


FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", '=HYPERLINK("http://evil")', "''=1"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_of_an_export_begins_like_a_formula(formula: str) -> None:
    row = Row(
        1, "https://a.example/", formula, tags=(formula,), org_type=formula, parser_hint=f"\t{formula}", max_depth=-1
    )
    quoted = formula.replace('"', '""')
    read = read_sources(f'url,"{quoted}"\nftp://x,"{quoted}"\n'.encode(), ListFormat.CSV)
    assert read.bad_lines
    for file in (write_sources([row], ListFormat.CSV), write_rejected(read.bad_lines, read)):
        cells = [cell for record in csv.reader(file) for cell in record]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
