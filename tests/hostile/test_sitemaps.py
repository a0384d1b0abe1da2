"""Rows 80 to 84, 94 and 95 of the hostile inputs: sitemaps that expand, reach out, never end, or cry wolf."""

import gzip
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwater.discover.items import Reading, Unreadable
from headwater.discover.sitemaps.read import MAX_BYTES, read_sitemap

NOW = datetime(2026, 5, 10, 12, 0, tzinfo=UTC)
HOME = "https://harbour.example"
BASE = f"{HOME}/sitemap.xml"
ONE_URL = b"<url><loc>https://harbour.example/a</loc></url>"

# The limit on processor time ends the rest, however busy the machine is.
HANGS_AFTER_SECONDS = 600
# As a program of its own, so that neither memory nor time can be hidden: 400 MB of addresses, 10 s of processor.
LIMITED = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from headwater.discover.sitemaps.read import read_sitemap
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
resource.setrlimit(resource.RLIMIT_AS, (400 * 2**20, 400 * 2**20))
body = Path(sys.argv[1]).read_bytes()
reading = read_sitemap(body, "https://harbour.example/sitemap.xml", datetime(2026, 5, 10, tzinfo=UTC), None)
print(type(reading).__name__, len(getattr(reading, "items", ())))
print(getattr(reading, "why", "") or reading.notes[0])
"""


def read(body: bytes, now: datetime = NOW) -> Reading | Unreadable:
    return read_sitemap(body, BASE, now, timedelta(hours=48))


def readable(body: bytes, now: datetime = NOW) -> Reading:
    reading = read(body, now)
    assert isinstance(reading, Reading), reading
    return reading


def read_under_limits(body: bytes, folder: Path) -> tuple[str, str]:
    file = folder / "sitemap"
    file.write_bytes(body)
    child = [sys.executable, "-c", LIMITED, str(file)]
    done = subprocess.run(child, capture_output=True, text=True, timeout=HANGS_AFTER_SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    what, why = done.stdout.splitlines()
    return what, why


def with_doctype(declarations: bytes, loc: bytes) -> bytes:
    return b"<!DOCTYPE urlset [" + declarations + b"]><urlset><url><loc>" + loc + b"</loc></url></urlset>"


def laughs() -> bytes:
    levels = [b'<!ENTITY l0 "lol">']
    levels += [b'<!ENTITY l%d "%s">' % (level, b"&l%d;" % (level - 1) * 10) for level in range(1, 12)]
    return with_doctype(b"".join(levels), b"&l11;")


DOCTYPES = {
    "80 billion laughs": laughs(),
    "81 quadratic": with_doctype(b'<!ENTITY a "' + b"x" * 60_000 + b'">', b"&a;" * 10_000),
    "82 file": with_doctype(b'<!ENTITY a SYSTEM "file:///etc/hostname">', b"https://harbour.example/&a;"),
    "82 address": with_doctype(b'<!ENTITY a SYSTEM "http://169.254.169.254/">', b"&a;"),
    "82 parameter": with_doctype(b'<!ENTITY % a SYSTEM "http://127.0.0.1:9/x"> %a;', b"&b;"),
    "82 external": b'<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/x.dtd"><urlset>' + ONE_URL + b"</urlset>",
}


@pytest.mark.parametrize("body", DOCTYPES.values(), ids=DOCTYPES.keys())
def test_a_document_type_is_refused_outright(body: bytes) -> None:
    assert read(body) == Unreadable("It declares a document type, which is refused.")
    assert read(gzip.compress(body)) == read(body)


def test_a_document_type_sends_nobody_anywhere() -> None:
    with socket.create_server(("127.0.0.1", 0)) as ear:
        ear.setblocking(False)
        address = f"http://127.0.0.1:{ear.getsockname()[1]}/x".encode()
        for declared in (b'<!ENTITY a SYSTEM "%s">', b'<!ENTITY %% p SYSTEM "%s"> %%p;'):
            read(with_doctype(declared % address, b"&a;"))
        read(b'<!DOCTYPE urlset SYSTEM "%s"><urlset>&a;</urlset>' % address)
        with pytest.raises(BlockingIOError):
            ear.accept()


def test_a_title_without_end_is_cut() -> None:
    body = (
        b"<urlset><url><loc>https://harbour.example/a</loc><news><title>"
        + b"x" * 5_000_000
        + b"</title></news></url></urlset>"
    )
    assert len(readable(body).items[0].title) == 4_096


def test_an_attribute_of_four_megabytes_is_nothing() -> None:
    body = b'<urlset x="' + b"y" * 4 * 2**20 + b'">' + ONE_URL + b"</urlset>"
    assert len(readable(body).items) == 1


def test_deep_nesting_ends_at_a_hundred_levels() -> None:
    body = b"<urlset>" + ONE_URL + b"<url>" * 200_000 + b"</url>" * 200_000 + b"</urlset>"
    reading = readable(body)
    assert len(reading.items) == 1
    assert reading.notes == ("It is nested deeper than 100 levels.",)


def many_urls() -> bytes:
    return b"".join(b"<url><loc>https://harbour.example/%d</loc></url>" % number for number in range(60_000))


LONG_URL = b"<url><loc>https://harbour.example/" + b"x" * 1_200 + b"</loc></url>"
BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "60 MB": (lambda: b"<urlset>" + LONG_URL * 50_000 + b"</urlset>", "Reading"),
    "gzip bomb": (lambda: gzip.compress(b"\x00" * 60 * 2**20, 1), "Unreadable"),
    "gzip bomb of spaces": (lambda: gzip.compress(b"<urlset>" + b" " * 60 * 2**20, 1), "Unreadable"),
    "gzip bomb of lines": (lambda: gzip.compress(b"\n" * 60 * 2**20, 1), "Unreadable"),
    "gzip of many members": (lambda: gzip.compress(b"") * 100_000, "Unreadable"),
    "50,001 URLs and more": (lambda: b"<urlset>" + many_urls() + b"</urlset>", "Reading"),
    "millions of empty elements": (lambda: b"<urlset>" + ONE_URL + b"<b/>" * 3_000_000 + b"</urlset>", "Reading"),
    "millions of unclosed CDATA": (lambda: b"<urlset>&x;" + b"<![CDATA[" * 1_200_000, "Unreadable"),
    "millions of stray ampersands": (lambda: b"<urlset>" + b"&" * 11_000_000, "Unreadable"),
    "one loc of 11 MB": (
        lambda: b"<urlset><url><loc>" + b"x" * 11_000_000 + b"</loc></url></urlset>",
        "Unreadable",
    ),
    "an attribute of 11 MB": (lambda: b'<urlset x="' + b"y" * 11 * 2**20 + b'">' + ONE_URL, "Reading"),
    "a text of one line": (lambda: b"https://harbour.example/" + b"x" * 11_000_000, "Unreadable"),
}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory hold on Linux only")
@pytest.mark.parametrize(("made", "expected"), BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_read_within_limits(made: Callable[[], bytes], expected: str, tmp_path: Path) -> None:
    what, why = read_under_limits(made(), tmp_path)
    assert what.split()[0] == expected
    assert why.endswith(".")


@pytest.mark.long
def test_no_more_than_50_000_urls_are_taken() -> None:
    urls = [f"https://harbour.example/{number}" for number in range(50_001)]
    as_xml = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    for body in (f"<urlset>{as_xml}</urlset>", "\n".join(urls)):
        reading = readable(body.encode())
        assert len(reading.items) == 50_000
        assert reading.notes == ("It lists more than 50,000 URLs; the rest was left out.",)
    exactly = readable("\n".join(urls[1:]).encode())
    assert (len(exactly.items), exactly.notes) == (50_000, ())


@pytest.mark.long
def test_what_is_beyond_50_mb_is_not_looked_at() -> None:
    start = b"<urlset>" + ONE_URL
    body = start + b" " * (MAX_BYTES - len(start)) + ONE_URL + b"</urlset>"
    for sent in (body, gzip.compress(body, 1)):
        reading = readable(sent)
        assert len(reading.items) == 1
        assert reading.notes[0] == "It is larger than 50 MB; the rest was left out."


def test_an_index_that_lists_itself_does_not_go_round() -> None:
    spellings = [BASE, "http://harbour.example/sitemap.xml", f"{BASE}#x", f"{BASE}?utm_source=x", f"{HOME}/b.xml"]
    body = "".join(f"<sitemap><loc>{one}</loc></sitemap>" for one in spellings)
    reading = readable(f"<sitemapindex>{body}</sitemapindex>".encode())
    assert reading.more == (f"{HOME}/b.xml",)
    assert reading.notes == ("Left out because it is the sitemap's own URL: 4.",)


@pytest.mark.parametrize(
    "loc",
    [
        *(
            "https://evil.example/",
            "http://169.254.169.254/latest",
            "http://127.0.0.1/",
            "http://[::1]/",
            "http://0x7f.1/",
        ),
        *("file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "https://harbour.example@evil.example/"),
        *("https://evil.example\\@harbour.example/", "//evil.example/", "https://harbour.example:99999/"),
    ],
)
def test_a_sitemap_leads_nowhere_else(loc: str) -> None:
    reading = readable(f"<urlset>{ONE_URL.decode()}<url><loc>{loc}</loc></url></urlset>".encode())
    assert [item.url for item in reading.items] == [f"{HOME}/a"]
    assert len(reading.notes) == 1


def dated(*lastmods: str) -> bytes:
    urls = (f"<url><loc>{HOME}/{n}</loc><lastmod>{lastmod}</lastmod></url>" for n, lastmod in enumerate(lastmods))
    return f"<urlset>{''.join(urls)}</urlset>".encode()


def test_a_date_to_come_is_kept_but_asks_for_no_visit() -> None:
    """Were it taken for now, every poll would say that the page changed since it was fetched."""
    reading = readable(dated("2026-05-10T12:00:01Z", "2030-01-01", "9990-12-31"))
    assert [item.updated_at for item in reading.items] == [None] * 3


@pytest.mark.parametrize(("at", "read"), [(NOW + timedelta(hours=20), NOW), (NOW + timedelta(hours=30), None)])
def test_a_publication_to_come_counts_as_now_for_a_day_and_then_for_none(at: datetime, read: datetime | None) -> None:
    news = f"<news><publication_date>{at.isoformat()}</publication_date></news>"
    body = f"<urlset><url><loc>{HOME}/a</loc>{news}</url></urlset>".encode()
    assert readable(body).items[0].published_at == read


def test_dates_that_are_new_at_every_poll_ask_for_no_visit() -> None:
    for poll in range(3):
        now = NOW + timedelta(hours=6 * poll)
        made = [(now - timedelta(seconds=number)).isoformat() for number in range(12)]
        reading = readable(dated(*made), now)
        assert {item.updated_at for item in reading.items} == {None}
        assert reading.notes == ("Every page carries the same date, so it says nothing about any of them.",)


def test_dates_that_differ_are_believed() -> None:
    real = [(NOW - timedelta(hours=number)).isoformat() for number in range(12)]
    assert all(item.updated_at for item in readable(dated(*real)).items)


@pytest.mark.long
def test_a_full_sitemap_is_not_held_as_a_tree() -> None:
    extras = "<image><loc>https://harbour.example/i.png</loc></image>" * 20
    body = "".join(f"<url><loc>{HOME}/{number}</loc>{extras}</url>" for number in range(5_000))
    sent = f"<urlset>{body}</urlset>".encode()
    tracemalloc.start()
    assert len(readable(sent).items) == 5_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * len(sent)
