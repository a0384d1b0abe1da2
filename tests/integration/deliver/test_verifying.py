"""Sink and archive compared: each way to differ is found, and mending touches the records that differ alone."""

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.integration.archive.shelf import LONG, OTHER, Shelf, key_of
from tests.integration.deliver.memory_sink import Delivering, MemoryOptions, MemorySink

from headwater.database.pool import Database
from headwater.deliver import store, verifying
from headwater.deliver.records import RecordKey
from headwater.deliver.verifying import SinkDifference, Verification, Verifier, key_ranges
from headwater.record_kind import RecordKind

A, B, C = "https://a.example/1", "https://b.example/1", "https://c.example/1"


async def verified(
    delivering: Delivering,
    name: str = "store",
    *,
    mends: bool = False,
    is_asked: bool = True,
    removes_unknown: bool = False,
) -> Verification:
    sink = await store.sink_named(delivering.database, name)
    made = MemorySink(delivering.servers[name], MemoryOptions.model_validate(sink.options))
    asked = made if is_asked else None
    verifier = Verifier(delivering.database, sink, frozenset(RecordKind), name == "stream", made.place_of, asked)
    return await verifier.verify(mends=mends, removes_unknown=removes_unknown)


@pytest.fixture
async def filled(shelf: Shelf, delivering: Delivering) -> Delivering:
    await delivering.source()
    await delivering.add(by_source=True)
    for url, title in ((A, "One"), (B, "Two"), (C, "Three")):
        await shelf.keep(url, f"{title} {LONG}", title=title)
    await delivering.deliver()
    return delivering


async def test_equal_sink_and_archive_are_green(filled: Delivering) -> None:
    found = await verified(filled)
    assert (found.expected, found.held, found.named) == (3, 3, [])


async def test_each_way_to_differ_is_found_and_mended(shelf: Shelf, filled: Delivering) -> None:
    held = filled.servers["store"].held
    one, two, three = ((("The Gazette", key_of(url)[1].hex())) for url in (A, B, C))
    del held[one]
    held[two] = (0, replace(held[two][1], version=7))
    held["Elsewhere", three[1]] = held[three]
    stray = replace(held[three][1], key=RecordKey(RecordKind.DOCUMENT, 7, bytes([7]) * 32))
    held["The Gazette", stray.id] = (0, stray)
    found = await verified(filled)
    assert found.differences == {
        SinkDifference.MISSING: 1,
        SinkDifference.OUTDATED: 1,
        SinkDifference.MISPLACED: 1,
        SinkDifference.UNKNOWN: 1,
    }
    assert {(finding.key.id, finding.place) for finding in found.named if finding.place} == {
        (three[1], "Elsewhere"),
        (stray.id, "The Gazette"),
    }
    sends = len(filled.servers["store"].sends)
    assert (await verified(filled, mends=True)).mended == 3
    server = await filled.deliver()
    # It may be another installation's, and is removed only if that is asked for.
    assert (await verified(filled)).differences == {SinkDifference.UNKNOWN: 1}
    assert (await verified(filled, mends=True, removes_unknown=True)).mended == 1
    await filled.deliver()
    assert not (await verified(filled)).is_red
    assert server.places == {"One": "The Gazette", "Two": "The Gazette", "Three": "The Gazette"}
    touched = {delivery.key.id for batch in server.sends[sends:] for delivery in batch}
    assert touched == {one[1], two[1], three[1], stray.id}
    assert await shelf.database.fetchval("SELECT count(*) FROM delivery_failures") == 0


async def test_what_is_there_and_not_noted_is_noted_again(filled: Delivering) -> None:
    """As after a copy of the database that is older than the sink: nobody would remove it later."""
    await filled.database.execute("DELETE FROM delivered WHERE hash = $1", key_of(A)[1])
    assert (await verified(filled, mends=True)).differences == {SinkDifference.UNNOTED: 1}
    await filled.deliver()
    assert not (await verified(filled)).is_red
    assert await filled.database.fetchval("SELECT count(*) FROM delivered") == 3


async def test_a_change_that_is_on_its_way_is_no_difference(shelf: Shelf, filled: Delivering) -> None:
    await shelf.keep(A, f"changed {LONG}", title="One")
    await shelf.tombstone(B)
    found = await verified(filled)
    assert (found.is_red, found.on_their_way) == (False, 2)
    await filled.deliver()
    assert (await verified(filled)).on_their_way == 0


async def test_a_withdrawn_record_that_the_sink_kept_is_too_much(shelf: Shelf, filled: Delivering) -> None:
    kept = dict(filled.servers["store"].held)
    await shelf.tombstone(A)
    await filled.deliver()
    filled.servers["store"].held = kept
    assert (await verified(filled, mends=True)).differences == {SinkDifference.EXTRA: 1}
    assert set((await filled.deliver()).versions) == {"Two", "Three"}


async def test_without_asking_what_was_delivered_is_compared(shelf: Shelf, filled: Delivering) -> None:
    filled.servers["store"].held.clear()
    assert not (await verified(filled, is_asked=False)).is_red
    await filled.database.execute("DELETE FROM delivered WHERE hash = $1", key_of(A)[1])
    await filled.database.execute("UPDATE delivered SET version = 0 WHERE hash = $1", key_of(B)[1])
    found = await verified(filled, is_asked=False, mends=True)
    assert found.differences == {SinkDifference.MISSING: 1, SinkDifference.OUTDATED: 1}
    assert set((await filled.deliver()).versions) == {"One", "Two"}


async def test_ranges_hold_so_many_records_and_cover_all_ids(
    database: Database, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "KEYS_IN_RANGE", 3)
    for number in range(60):
        await shelf.keep(f"https://site.example/{number}", f"{number} {OTHER}")
    ranges = [one async for one in key_ranges(database, RecordKind.DOCUMENT)]
    assert ranges[0][0] == bytes(32)
    assert ranges[-1][1] == b"\xff" * 32
    numbers = [(int.from_bytes(first), int.from_bytes(last)) for first, last in ranges]
    assert all(before[1] + 1 == after[0] for before, after in pairwise(numbers))
    hashes = [row["url_hash"] for row in await database.fetch("SELECT url_hash FROM documents")]
    counts = [sum(first <= one <= last for one in hashes) for first, last in ranges]
    assert sum(counts) == 60
    assert max(counts) <= 3
    assert len([one async for one in key_ranges(database, RecordKind.JOB)]) == 16
