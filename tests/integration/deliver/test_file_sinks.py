"""JSON Lines and Parquet: files that are whole or not there, by day and size, and nothing lost by a kill."""

import errno
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.integration.archive.shelf import LONG, OTHER, SOURCE, Shelf
from tests.integration.deliver.folders import Bench, log_written, viewed
from tests.unit.deliver.samples import HOSTILE, document, job, key, removal, upsert

from headwater.database.pool import Database
from headwater.deliver.kinds import kind_named
from headwater.deliver.sink import Delivery, LeaseEnded, SinkDown
from headwater.deliver.store import add_sink_row, ask_backfill, sink_named

DAY = "2026-11-18"


@pytest.fixture
def jsonl(tmp_path: Path) -> Bench:
    return Bench(tmp_path, "jsonl")


@pytest.fixture
def parquet(tmp_path: Path) -> Bench:
    return Bench(tmp_path, "parquet")


def upserts(first: int, last: int, **said: Any) -> list[Delivery]:
    return [upsert(number, document(number, **said)) for number in range(first, last + 1)]


def positions(bench: Bench) -> list[int]:
    return [line["position"] for line in bench.lines()]


def rows(bench: Bench, under: str = "documents") -> list[dict[str, Any]]:
    found = [pq.ParquetFile(bench.folder / under / name).read().to_pylist() for name in bench.names(under)]
    return [row for table in found for row in table]


async def test_a_batch_is_a_file_named_by_its_positions(jsonl: Bench) -> None:
    await jsonl.sends(upserts(3, 5))
    assert jsonl.names() == [f"{DAY}/000000000003-000000000005.jsonl"]
    assert positions(jsonl) == [3, 4, 5]


async def test_small_batches_share_a_file_and_a_new_day_begins_another(jsonl: Bench) -> None:
    await jsonl.sends(upserts(1, 2), upserts(3, 3))
    await jsonl.sends(upserts(5, 5), token="t2")
    jsonl.clock.move(timedelta(days=1))
    await jsonl.sends(upserts(6, 6), token="t3")
    assert jsonl.names() == [f"{DAY}/000000000001-000000000005.jsonl", "2026-11-19/000000000006-000000000006.jsonl"]
    assert positions(jsonl) == [1, 2, 3, 5, 6]


async def test_a_file_ends_at_its_size_between_two_positions(jsonl: Bench) -> None:
    jsonl.options = {"max_bytes": 4_000}
    await jsonl.sends(upserts(1, 20))
    sizes = [(jsonl.folder / name).stat().st_size for name in jsonl.names()]
    assert len(sizes) > 3
    assert max(sizes) < 6_000
    assert positions(jsonl) == list(range(1, 21))


async def test_large_files_are_not_copied_for_a_few_lines(jsonl: Bench) -> None:
    await jsonl.sends([upsert(1, document(1, text="x" * 2_000_000))], upserts(2, 2))
    assert len(jsonl.names()) == 2


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
async def test_batches_from_the_archive_share_a_position_and_no_file(tmp_path: Path, kind: str) -> None:
    bench = Bench(tmp_path, kind, {"max_bytes": 1_024})
    for number in (1, 2):
        bench.batch_number = number
        await bench.sends([replace(upsert(9, document(20 * number + at)), is_from_archive=True) for at in range(20)])
    await bench.sends(upserts(9, 9), upserts(10, 11), token="t2")
    told = bench.lines() if kind == "jsonl" else rows(bench)
    assert len({line["id"] for line in told}) == len(told) == 43
    names = [name for name in bench.names() if "archive" in name]
    stems = [f"{DAY}/000000000009-archive-{number:016}.{kind}" for number in (1, 2)]
    assert [name.removeprefix("documents/") for name in names] == stems


@pytest.mark.parametrize(("compression", "suffix"), [("gzip", ".jsonl.gz"), ("zstd", ".jsonl.zst")])
async def test_packed_files_grow_too(jsonl: Bench, compression: str, suffix: str) -> None:
    jsonl.options = {"compression": compression}
    await jsonl.sends(upserts(1, 2), upserts(3, 4))
    assert jsonl.names() == [f"{DAY}/000000000001-000000000004{suffix}"]
    assert positions(jsonl) == [1, 2, 3, 4]


async def test_a_half_written_file_of_an_earlier_holder_is_never_whole(jsonl: Bench) -> None:
    part = jsonl.folder / "000000000001-000000000009.jsonl.gone.part"
    part.write_bytes(b'{"position": 1, "op": "ups')
    await jsonl.sends(upserts(1, 2))
    assert positions(jsonl) == [1, 2]
    assert not part.exists()


async def test_a_file_that_was_replaced_by_a_longer_one_goes(jsonl: Bench) -> None:
    await jsonl.sends(upserts(1, 4))
    left = jsonl.folder / DAY / "000000000001-000000000002.jsonl"
    left.write_bytes(b"")
    await jsonl.sends(upserts(5, 5), token="t2")
    assert jsonl.names() == [f"{DAY}/000000000001-000000000005.jsonl"]


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "feed"])
async def test_nothing_is_put_in_its_place_after_the_lease(tmp_path: Path, kind: str) -> None:
    bench = Bench(tmp_path, kind)
    sink, fence = bench.sink(), bench.fence()
    await sink.prepare(fence)
    before = bench.names()
    bench.clock.move(timedelta(seconds=61))
    with pytest.raises(LeaseEnded):
        await sink.send(upserts(1, 2), fence)
    assert bench.names() == before


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "feed"])
async def test_a_full_disk_is_told_with_what_to_do(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path, kind)
    sink, fence = bench.sink(), bench.fence()
    await sink.prepare(fence)
    before = bench.names()

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(SinkDown, match="is full") as told:
            await sink.send(upserts(1, 2), fence)
    assert "Make room" in told.value.fix
    assert bench.names() == before
    await sink.send(upserts(1, 2), fence)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "feed"])
async def test_a_folder_that_cannot_be_is_told(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    bench = Bench(tmp_path, kind, {"folder": str(tmp_path / "file" / "below")})
    with pytest.raises(SinkDown, match="cannot be written: Not a directory"):
        await bench.sink().prepare(bench.fence())


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "feed"])
async def test_a_test_writes_and_leaves_nothing(tmp_path: Path, kind: str) -> None:
    bench, test = Bench(tmp_path, kind), kind_named(kind).test
    assert test
    assert "can be written" in await test(bench.sink(), bench.fence())
    assert bench.names() == []


def test_a_folder_is_in_the_data_folder_unless_it_is_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "jsonl", {"folder": ""})
    assert bench.sink().folder == tmp_path / "sinks" / "out"  # type: ignore[attr-defined]


async def test_whatever_titles_hold_each_line_is_one_change(jsonl: Bench) -> None:
    await jsonl.sends([upsert(at, document(at, title=title)) for at, title in enumerate(HOSTILE, 1)])
    assert positions(jsonl) == list(range(1, len(HOSTILE) + 1))


async def test_documents_and_vacancies_are_tables_of_their_own_and_removals_are_rows(parquet: Bench) -> None:
    await parquet.sends([upsert(1, document(1)), upsert(2, job(1)), removal(3, key(9))], upserts(4, 4))
    assert parquet.names("documents") == [f"{DAY}/000000000001-000000000004.parquet"]
    assert parquet.names("jobs") == [f"{DAY}/000000000002-000000000002.parquet"]
    found = [(row["position"], row["op"], row["title"]) for row in rows(parquet)]
    assert found == [(1, "upsert", "Tides 1"), (3, "remove", None), (4, "upsert", "Tides 4")]
    (vacancy,) = rows(parquet, "jobs")
    assert (vacancy["deadline"].isoformat(), vacancy["sdgs"], vacancy["compensation_min_usd"]) == (DAY, [3], 1200.5)


async def test_parquet_takes_hostile_titles(parquet: Bench) -> None:
    await parquet.sends([upsert(at, document(at, title=title)) for at, title in enumerate(HOSTILE, 1)])
    assert [row["position"] for row in rows(parquet)] == list(range(1, len(HOSTILE) + 1))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_killed_at_any_step_nothing_is_missing_and_nothing_is_half_written(open_folder: Path, kind: str) -> None:
    steps = killed(open_folder, kind)
    assert steps > 8
    for step in range(steps + 1):
        bench = Bench(open_folder / f"{step:03}", kind)
        assert not [name for name in bench.names() if name.endswith(".part")]
        last: dict[str, tuple[int, str]] = {}
        told = bench.lines() if kind == "jsonl" else rows(bench)
        for line in told:
            last[line["id"]] = max(last.get(line["id"], (0, "")), (line["position"], line["op"]))
        assert {line["position"] for line in told} == set(range(1, 9))
        assert last[key(1).id] == (7, "remove")
        assert last[key(2).id] == (8, "upsert")


def killed(folder: Path, kind: str) -> int:
    command = (sys.executable, "-m", "tests.integration.deliver.killed", str(folder), kind)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


async def test_the_archive_is_in_the_files_by_the_loop_that_delivers(database: Database, jsonl: Bench) -> None:
    shelf = Shelf(database)
    view = await viewed(database, languages=("en",))
    async with database.transaction() as connection:
        sink_id = await add_sink_row(connection, "out", "jsonl", {"folder": str(jsonl.folder)}, view.id)
    await shelf.keep("https://a.example/1", LONG)
    await shelf.keep("https://a.example/2", OTHER)
    await shelf.keep("https://a.example/3", f"drei {OTHER}", language="de")
    await log_written(database)
    await jsonl.worker(database).run(sink_id)
    await shelf.tombstone("https://a.example/1")
    await log_written(database)
    await jsonl.worker(database).run(sink_id)
    told = [(line["op"], line.get("record", {}).get("url")) for line in jsonl.lines()]
    assert told == [("upsert", "https://a.example/1"), ("upsert", "https://a.example/2"), ("remove", None)]
    assert positions(jsonl) == sorted(positions(jsonl))
    report = await sink_named(database, "out")
    assert (report.behind, report.last_error) == (0, None)
    assert jsonl.lines()[0]["record"]["source_id"] == str(SOURCE)


async def test_a_backfill_writes_all_there_is(database: Database, parquet: Bench) -> None:
    shelf = Shelf(database)
    for number in range(5):
        await shelf.keep(f"https://a.example/{number}", f"{number} {OTHER}")
    await log_written(database)
    async with database.transaction() as connection:
        sink_id = await add_sink_row(connection, "out", "parquet", {"folder": str(parquet.folder)}, None)
        await ask_backfill(connection, sink_id, "new")
    await parquet.worker(database).run(sink_id)
    assert sorted(row["url"] for row in rows(parquet)) == [f"https://a.example/{number}" for number in range(5)]
