"""Exports on a real archive: what is in them, interrupted at any place, without ever holding much."""

import csv
import io
import json
import os
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch
from uuid import UUID

import feedparser
import pyarrow.parquet as pq
import pytest
import yaml
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import LONG, OTHER, SOURCE, Shelf, key_of
from tests.unit.deliver.samples import HOSTILE
from warcio.checker import Checker

from headwater.actions.exports import Exported, WantedExport, export_records
from headwater.archive.job import Teller
from headwater.archive.jobs import delete_jobs, keep_jobs
from headwater.archive.raw import RawBody
from headwater.archive.stores.known import NO_STORES
from headwater.database.pool import Database
from headwater.deliver.exports import outputs, walking
from headwater.deliver.exports.request import ExportFormat
from headwater.deliver.records import load_standings
from headwater.errors import Busy, DependencyDown, NotFound, UsageError
from headwater.extraction.jobs.identity import canonical_hash
from headwater.record_kind import RecordKind
from headwater.search.views import View, add_view
from headwater.services import Services
from headwater.urls.domains import NO_VOICE
from headwater.urls.fingerprint import DocumentKey
from headwater.vacancy import NewJob

DOCUMENT, JOB = RecordKind.DOCUMENT, RecordKind.JOB
MANY = """
    insert into documents (bucket, url_hash, source_id, url, canonical_url, title, text, summary, author, language,
        section, keywords, images, word_count, page_type, quality_parts, content_hash, produced_by, metadata, version,
        crawled_at, first_seen_at, changed_at, search)
    select get_byte(h, 0), h, $1, u, u, 'Title ' || n, repeat($3::text, 1), '', '', 'en', '', '{}', '{}', 9, 'article',
        '{}', h, 'x', '{}', 1, $2::timestamptz, $2::timestamptz - n * interval '1 second', $2::timestamptz, ''::tsvector
    from generate_series(1, $4::integer) n
    cross join lateral (select sha256(n::text::bytea) as h, 'https://m.example/' || n as u) s
"""


class Interrupted(Exception):
    pass


@pytest.fixture
def shelf(database: Database) -> Shelf:
    return Shelf(database)


def services(shelf: Shelf) -> Services:
    return cast("Services", SimpleNamespace(database=shelf.database, clock=shelf.clock, stores=NO_STORES))


async def many(shelf: Shelf, count: int, text: str = LONG) -> None:
    await shelf.database.execute(MANY, SOURCE, shelf.now, text, count)


async def exported(shelf: Shelf, kind: RecordKind, form: str, place: Path | None, **said: Any) -> Exported:
    hear = {name: said.pop(name) for name in ("on_start", "on_progress") if name in said}
    return await export_records(services(shelf), WantedExport(kind, ExportFormat(form), place=place, **said), **hear)


async def lines(shelf: Shelf, kind: RecordKind = DOCUMENT, **said: Any) -> list[dict[str, Any]]:
    out: list[bytes] = []
    await exported(shelf, kind, "jsonl", None, write=out.append, **said)
    return [json.loads(line) for line in b"".join(out).splitlines()]


def content(place: Path) -> dict[str, bytes]:
    if place.is_file():
        return {"": place.read_bytes()}
    return {str(one.relative_to(place)): one.read_bytes() for one in sorted(place.rglob("*")) if one.is_file()}


async def test_only_what_is_deliverable_is_exported(shelf: Shelf) -> None:
    for number, text in enumerate((LONG, LONG, OTHER, f"{OTHER} x")):
        await shelf.keep(f"https://a.example/{number}", text)
    await shelf.tombstone("https://a.example/2")
    assert sorted(one["url"] for one in await lines(shelf)) == ["https://a.example/0", "https://a.example/3"]


async def test_a_view_a_source_and_a_time_narrow_it(shelf: Shelf) -> None:
    await shelf.keep("https://a.example/1", f"tides {LONG}", published_at=shelf.now - timedelta(days=9))
    await shelf.keep("https://a.example/2", f"tides {OTHER}", source_id=UUID(int=5))
    await shelf.keep("https://a.example/3", f"sands {OTHER}")
    await add_view(shelf.database, View(name="tides", query="tides"))
    assert [one["url"][-1] for one in await lines(shelf, view="tides", since=shelf.now - timedelta(days=1))] == ["2"]
    assert sorted(one["url"][-1] for one in await lines(shelf, view="tides")) == ["1", "2"]
    assert await lines(shelf, JOB, view="tides") == []
    with pytest.raises(NotFound, match="no view 'x'"):
        await lines(shelf, view="x")


async def test_the_documents_of_a_source_are_walked_by_their_time(shelf: Shelf, tmp_path: Path) -> None:
    added = "insert into sources (id, name, url, url_hash) values ($1, 'Many', 'https://m.example/', sha256('m'))"
    await shelf.database.execute(added, SOURCE)
    await many(shelf, 250)
    with patch.object(walking, "KEYS_AT_ONCE", 70), patch.object(walking, "LOADED_AT_ONCE", 30):
        found = [one["title"] for one in await lines(shelf, source="Many")]
        assert found == [f"Title {number}" for number in range(1, 251)]
        recent = await lines(shelf, source="Many", since=shelf.now - timedelta(seconds=100))
        assert len(recent) == 100


FORMATS = ["jsonl", "csv", "markdown", "atom", "warc", "parquet"]


@asynccontextmanager
async def small_steps() -> AsyncIterator[None]:
    with (
        patch.object(walking, "KEYS_AT_ONCE", 40),
        patch.object(walking, "LOADED_AT_ONCE", 7),
        patch.object(outputs, "SAVED_EVERY", 10),
        patch.object(outputs, "PIECE_ROWS", 25),
    ):
        yield


def interrupting(after: int) -> Callable[[int, int | None], None]:
    left = after

    def on_progress(_done: int, _total: int | None) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Interrupted

    return on_progress


async def with_bodies(shelf: Shelf, count: int) -> None:
    """Every third page is not kept."""
    await many(shelf, count)
    rows = await shelf.database.fetch("select bucket, url_hash, url from documents order by 1, 2")
    async with shelf.database.transaction() as connection:
        for number, row in enumerate(rows):
            if number % 3:
                key = key_of(row["url"])._replace(bucket=row["bucket"], url_hash=row["url_hash"])
                raw = RawBody(key, SOURCE, row["url"], 200, {"content-type": "text/html"}, b"<p>%d</p>" % number)
                await keep_body(connection, raw, shelf.now)


@pytest.mark.parametrize("is_killed", [False, True], ids=["stopped", "killed"])
@pytest.mark.parametrize("form", FORMATS)
async def test_an_interrupted_export_ends_as_one_that_was_not(
    shelf: Shelf, tmp_path: Path, form: str, *, is_killed: bool
) -> None:
    await with_bodies(shelf, 120)
    whole, resumed, started = tmp_path / "whole", tmp_path / "resumed", list[int]()
    async with small_steps():
        told = await exported(shelf, DOCUMENT, form, whole)
        for steps in (3, 6, 9):
            with pytest.raises(Interrupted):
                await interrupted(shelf, form, resumed, steps, is_killed=is_killed)
            assert not resumed.exists()
        again = await exported(shelf, DOCUMENT, form, resumed, on_start=started.append)
    assert content(resumed) == content(whole)
    assert (again.records, again.without_body, again.size_bytes) == (told.records, told.without_body, told.size_bytes)
    assert started == [again.resumed_after]
    assert again.resumed_after > 20
    assert not (tmp_path / "resumed.part").exists()
    assert told.records == (80 if form == "warc" else 120)


async def interrupted(shelf: Shelf, form: str, place: Path, steps: int, *, is_killed: bool) -> None:
    """A killed program saves nothing at its end, and what it wrote last may be half there."""
    if not is_killed:
        await exported(shelf, DOCUMENT, form, place, on_progress=interrupting(steps))
        return
    with patch.object(outputs.FileOutput, "_save_at_end", lambda self: None):
        try:
            await exported(shelf, DOCUMENT, form, place, on_progress=interrupting(steps))
        finally:
            part = place.with_name(f"{place.name}.part") / "data"
            if part.exists():
                part.write_bytes(part.read_bytes() + b'{"half')


async def test_a_page_that_was_renamed_during_the_stop_is_there_once(shelf: Shelf, tmp_path: Path) -> None:
    for number in range(40):
        await shelf.keep(f"https://a.example/{number}", f"{number} {OTHER}", title=f"Title {number}")
    async with small_steps():
        with pytest.raises(Interrupted), patch.object(Path, "write_bytes", failing_after(Path.write_bytes, 25)):
            await exported(shelf, DOCUMENT, "markdown", tmp_path / "out")
        for number in range(40):
            await shelf.keep(f"https://a.example/{number}", f"{number} {OTHER}", title=f"New {number}")
        await exported(shelf, DOCUMENT, "markdown", tmp_path / "out")
    pages = [name for name in content(tmp_path / "out") if name.endswith(".md")]
    assert len(pages) == 40
    assert len({name[-19:] for name in pages}) == 40


def failing_after(function: Any, calls: int) -> Any:
    left = calls

    def call(*values: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Interrupted
        return function(*values)

    return call


async def test_another_request_begins_anew_and_a_moment_stays_the_one_that_was_meant(
    shelf: Shelf, tmp_path: Path
) -> None:
    await many(shelf, 100)
    place, said = tmp_path / "out.jsonl", {"since_as_said": "50s"}
    async with small_steps():
        since = shelf.now - timedelta(seconds=50)
        with pytest.raises(Interrupted):
            await exported(shelf, DOCUMENT, "jsonl", place, since=since, **said, on_progress=interrupting(5))
        shelf.wait(20)
        since = shelf.now - timedelta(seconds=50)
        other = await exported(shelf, DOCUMENT, "jsonl", tmp_path / "other.jsonl", since=since)
        done = await exported(shelf, DOCUMENT, "jsonl", place, since=since, **said)
        assert (done.records, other.records) == (50, 30)
        with pytest.raises(Interrupted):
            await exported(shelf, DOCUMENT, "jsonl", tmp_path / "b", on_progress=interrupting(5))
        fresh = await exported(shelf, DOCUMENT, "csv", tmp_path / "b")
    assert (fresh.resumed_after, fresh.records) == (0, 100)


@pytest.mark.parametrize("form", FORMATS)
async def test_an_empty_archive_is_an_empty_export(shelf: Shelf, tmp_path: Path, form: str) -> None:
    done = await exported(shelf, DOCUMENT, form, tmp_path / "out")
    assert done.records == 0
    assert (tmp_path / "out").exists()


async def test_hostile_titles_in_every_format(shelf: Shelf, tmp_path: Path) -> None:
    for number, title in enumerate(HOSTILE):
        await shelf.keep(f"https://a.example/{number}", f"{number} {title} {OTHER}", title=title, author=title)
    count = len(HOSTILE)
    for form in FORMATS:
        assert (await exported(shelf, DOCUMENT, form, tmp_path / form)).records == (0 if form == "warc" else count)
    assert len((tmp_path / "jsonl").read_bytes().splitlines()) == count
    rows = list(csv.DictReader(io.StringIO((tmp_path / "csv").read_text("utf-8", errors="strict"), newline="")))
    assert len(rows) == count
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]
    read = feedparser.parse((tmp_path / "atom").read_bytes())
    assert (read.bozo, len(read.entries)) == (False, count)
    assert pq.read_table(tmp_path / "parquet").num_rows == count
    pages = [body.decode() for name, body in content(tmp_path / "markdown").items() if name.endswith(".md")]
    assert len(pages) == count
    assert all(yaml.safe_load(page.split("---\n")[1])["id"] for page in pages)


async def test_a_warc_passes_the_check_of_warcio(
    shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await with_bodies(shelf, 30)
    await exported(shelf, DOCUMENT, "warc", tmp_path / "out.warc.gz")
    asked = SimpleNamespace(verbose=True, inputs=[str(tmp_path / "out.warc.gz")])
    checker = Checker(asked)
    checker.process_all()
    said = capsys.readouterr().out
    assert checker.exit_value == 0
    assert said.count("digest pass") == 21


async def test_vacancies_are_exported_while_they_are_open(shelf: Shelf, tmp_path: Path) -> None:
    teller = Teller(UUID(int=1), "https://j.example/", NO_VOICE)
    urls = [f"https://j.example/{name}" for name in ("Nurse", "Cook")]
    jobs = [
        NewJob(canonical_hash=canonical_hash(url, url[18:], "Org", ""), title=url[18:], org_name="Org", apply_url=url)
        for url in urls
    ]
    async with shelf.database.transaction() as connection:
        await keep_jobs(connection, teller, jobs, shelf.now)
        cook = DocumentKey(jobs[1].canonical_hash[0], jobs[1].canonical_hash)
        await delete_jobs(connection, [cook], "ann", "no job", shelf.now)
    assert [one["title"] for one in await lines(shelf, JOB)] == ["Nurse"]
    assert (await exported(shelf, JOB, "parquet", tmp_path / "jobs.parquet")).records == 1
    assert pq.read_table(tmp_path / "jobs.parquet").to_pylist()[0]["title"] == "Nurse"
    for form in ("csv", "markdown", "atom"):
        assert (await exported(shelf, JOB, form, tmp_path / form)).records == 1


async def test_what_is_there_is_replaced_only_when_asked(shelf: Shelf, tmp_path: Path) -> None:
    await many(shelf, 3)
    for form in ("jsonl", "markdown"):
        place = tmp_path / form
        await exported(shelf, DOCUMENT, form, place)
        with pytest.raises(UsageError, match="exists"):
            await exported(shelf, DOCUMENT, form, place)
        assert (await exported(shelf, DOCUMENT, form, place, is_forced=True)).records == 3
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "letter.txt").write_text("mine")
    with pytest.raises(UsageError, match="no export wrote"):
        await exported(shelf, DOCUMENT, "markdown", tmp_path / "own", is_forced=True)
    with pytest.raises(UsageError, match="is a folder"):
        await exported(shelf, DOCUMENT, "csv", tmp_path / "own", is_forced=True)
    with pytest.raises(UsageError, match="There is no folder"):
        await exported(shelf, DOCUMENT, "csv", tmp_path / "nowhere" / "x.csv")
    (tmp_path / "y.part").mkdir()
    (tmp_path / "y.part" / "mine").write_text("mine")
    with pytest.raises(UsageError, match="is in the way"):
        await exported(shelf, DOCUMENT, "csv", tmp_path / "y")
    with pytest.raises(UsageError, match="needs a place"):
        await exported(shelf, DOCUMENT, "parquet", None, write=bytes)


async def test_two_exports_do_not_write_one_file(shelf: Shelf, tmp_path: Path) -> None:
    await many(shelf, 20)
    refused: list[str] = []

    async def try_too() -> None:
        with pytest.raises(Busy) as told:
            await exported(shelf, DOCUMENT, "jsonl", tmp_path / "out")
        refused.append(told.value.what)

    before = load_standings

    async def meanwhile(*values: Any, **named: Any) -> Any:
        if not refused:
            refused.append("")
            await try_too()
        return await before(*values, **named)

    with patch.object(walking, "load_standings", meanwhile):
        await exported(shelf, DOCUMENT, "jsonl", tmp_path / "out")
    assert refused[1].startswith("Another export writes to")


async def test_a_full_disk_is_told_and_the_export_goes_on_afterwards(shelf: Shelf, tmp_path: Path) -> None:
    await many(shelf, 100)

    def full(*_values: Any) -> None:
        raise OSError(28, "No space left on device")

    async with small_steps():
        with patch.object(os, "fsync", full), pytest.raises(DependencyDown, match="is full") as told:
            await exported(shelf, DOCUMENT, "jsonl", tmp_path / "out")
        assert "goes on where it stopped" in told.value.fix
        assert (await exported(shelf, DOCUMENT, "jsonl", tmp_path / "out")).records == 100


@pytest.mark.long
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
async def test_ten_thousand_documents_take_little_memory(shelf: Shelf, tmp_path: Path, form: str) -> None:
    await many(shelf, 10_000, "water " * 500)
    with patch.object(outputs, "PIECE_CHARACTERS", 1 << 20):
        tracemalloc.start()
        done = await exported(shelf, DOCUMENT, form, tmp_path / "out")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert done.records == 10_000
    # All of it is 30 MB, and twice that with every object.
    assert peak < 12_000_000


async def test_what_may_come_is_told_from_what_came(shelf: Shelf) -> None:
    await many(shelf, 500)
    told: list[tuple[int, int | None]] = []
    await lines(shelf, on_progress=lambda done, total: told.append((done, total)))
    assert sum(done for done, _ in told) == 500
    assert told[-1][1] is not None
    assert replace(WantedExport(DOCUMENT, ExportFormat.JSONL)).place is None
