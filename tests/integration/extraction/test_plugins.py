"""Extractors of other distributions: real ones, with metadata as an installer writes it, in real children."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from multidict import CIMultiDict
from tests.plugins import Installs, installing

import headwater
from headwater.clock import SystemClock
from headwater.extraction.article import Article
from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.ingest.judge import ReadPage
from headwater.ingest.page_context import PageContext
from headwater.ingest.page_reader import ChildReader
from headwater.log import make_logger
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.plugins import EXTRACTORS, installed
from headwater.reports.doctor import check_plugins
from headwater.reports.template_words import reader_in_words
from headwater.urls.canonical import canonicalise

NOW = datetime(2026, 5, 4, tzinfo=UTC)
OURS = "The tide tables were printed this week. " * 20
THEIRS = "A plug-in wrote this sentence for its host. " * 20
HTML = f"<title>A story of tides</title><article><p>{OURS}</article>"
SAYS = (
    f"def read(html, url):\n    assert 'tides' in html and url.startswith('http')\n    return {{'text': {THEIRS!r}}}\n"
)


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installs]:
    with installing(EXTRACTORS, tmp_path / "site", monkeypatch) as install:
        yield install


async def read_in_child(url: str, timeout: float = 30.0, html: str = HTML) -> ReadPage:
    answer = Response(
        url=canonicalise(url),
        status=200,
        headers=CIMultiDict({"Content-Type": "text/html; charset=utf-8"}),
        raw_headers=[],
        content=Complete(html.encode()),
        duration=timedelta(),
        is_reused=False,
        address="127.0.0.1",
        at=NOW,
    )
    work = "headwater.extraction.work:read_sent"
    async with ExtractionPool(work, size=1, timeout=timeout, clock=SystemClock(), memory_bytes=512 << 20) as pool:
        return await ChildReader(pool, "headwater", log=make_logger("info", "json")).read(answer, PageContext(), NOW)


async def test_a_child_reads_the_pages_of_a_host_by_its_plugin(installs: Installs) -> None:
    installs("acme-reader", "news.example", SAYS)
    read = await read_in_child("https://www.news.example/1")
    assert isinstance(read, Article)
    assert (read.text, read.title) == (THEIRS.strip(), "A story of tides")
    assert (read.produced_by, read.plugin_failure) == ("plugin:acme-reader", "")
    assert reader_in_words(read.produced_by) == "the extractor of acme-reader"


DIES = "import os\ndef read(html, url):\n    os._exit(3)\n"
HANGS = "import time\ndef read(html, url):\n    time.sleep(600)\n"
# Only one that hangs waits for it to the end; on a busy machine our own rules, which come next, need some of it too.
LIMIT_SECONDS = 15.0


@pytest.mark.heavy_rows
@pytest.mark.parametrize(("code", "why"), [(DIES, "exit 3"), (HANGS, "took too long")], ids=["dies", "hangs"])
async def test_a_plugin_that_takes_its_child_along_costs_the_page_nothing(
    installs: Installs, capsys: pytest.CaptureFixture[str], code: str, why: str
) -> None:
    installs("acme-reader", "news.example", code)
    read = await read_in_child("https://news.example/1", timeout=LIMIT_SECONDS)
    assert isinstance(read, Article)
    assert read.text == OURS.strip()
    assert read.plugin_failure == f"The extractor of acme-reader 1.2 for news.example failed: {why}."
    assert "extractor_failed" in capsys.readouterr().err


BAD = {
    "raises": ("def read(html, url):\n    raise ValueError(html)\n", "ValueError at acme_reader.py:2"),
    "exits": ("def read(html, url):\n    raise SystemExit\n", "SystemExit at acme_reader.py:2"),
    "answers with text": ("def read(html, url):\n    return html\n", "it answered with str"),
    "answers with other fields": ("def read(html, url):\n    return {'body': 'x'}\n", "unknown fields"),
    "answers with other types": ("def read(html, url):\n    return {'title': 7}\n", "its title is no text"),
    "answers without a zone": (
        "import datetime\ndef read(html, url):\n    return {'published_at': datetime.datetime(2026, 5, 1)}\n",
        "its published_at is no datetime with a time zone",
    ),
    "cannot be imported": ("import no_such_module\n", "No module named 'no_such_module'"),
    "is no function": ("read = 7\n", "acme_reader:read is not a function"),
}


@pytest.mark.parametrize(("code", "why"), BAD.values(), ids=BAD.keys())
def test_a_bad_plugin_is_named_and_the_page_is_read_by_our_own_rules(installs: Installs, code: str, why: str) -> None:
    installs("acme-reader", "news.example", code)
    read = headwater.extract(HTML, "https://news.example/1")
    assert (read.text, read.read_by) == (OURS.strip(), "trafilatura")
    [note] = read.notes
    assert note.startswith("The extractor of acme-reader 1.2 for news.example failed: ")
    assert why in note


def test_fields_that_a_plugin_leaves_out_are_ours(installs: Installs) -> None:
    installs(
        "acme-reader", "news.example", "def read(html, url):\n    return {'author': ' A.\\nBerg\\0', 'text': 'No.'}\n"
    )
    read = headwater.extract(HTML, "https://news.example/1")
    assert (read.author, read.title, read.text, read.notes) == ("A. Berg", "A story of tides", OURS.strip(), ())


def test_none_leaves_everything(installs: Installs) -> None:
    installs("acme-reader", "news.example", "def read(html, url):\n    return None\n")
    assert headwater.extract(HTML, "https://news.example/1").text == OURS.strip()


def test_other_hosts_are_not_its_own_and_import_nothing(installs: Installs) -> None:
    installs("acme-reader", "news.example", "raise RuntimeError")
    for url in ("https://example/1", "https://othernews.example/1", "https://news.example.org/1"):
        assert headwater.extract(HTML, url).notes == ()
    assert "acme_reader" not in sys.modules


def test_the_nearest_name_reads(installs: Installs) -> None:
    installs("broad-reader", "example", SAYS)
    installs("near-reader", "news.example", SAYS)
    assert headwater.extract(HTML, "https://www.news.example/1").read_by == "plugin:near-reader"
    assert headwater.extract(HTML, "https://blog.example/1").read_by == "plugin:broad-reader"


def test_doctor_names_them_with_what_is_wrong(installs: Installs) -> None:
    assert [check.says for check in check_plugins(EXTRACTORS, ())] == [
        "No extractors of other distributions are installed"
    ]
    installs("acme-reader", "news.example", SAYS)
    installs("best-reader", "news.example", SAYS)
    installs("sick-reader", "sick.example", "raise RuntimeError('ill')")
    told = check_plugins(EXTRACTORS, installed(EXTRACTORS))
    assert [(check.level, check.says.partition(":")[0]) for check in told] == [
        ("ok", "Extractor for news.example"),
        ("warning", "Extractor for news.example"),
        ("failure", "Extractor for sick.example"),
    ]
    assert "RuntimeError: ill" in told[2].says
    assert "acme-reader 1.2" in told[1].fix
