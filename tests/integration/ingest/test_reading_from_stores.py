"""Replay, templates, exports and sinks read a body from wherever it is, and tell the same."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from tests.integration.archive.stores import KINDS, open_store, stores_on
from tests.integration.ingest.press import Press
from tests.integration.ingest.test_replay import SHORTER, select
from warcio.archiveiterator import ArchiveIterator

from headwater.actions.exports import WantedExport, export_records
from headwater.archive.moving import move_bodies
from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.clock import SystemClock
from headwater.deliver.exports.request import ExportFormat
from headwater.deliver.records import RecordKey, load_html
from headwater.errors import StoreDown
from headwater.ingest.replay import Replayed, ReplayOutcome
from headwater.record_kind import RecordKind
from headwater.reports.documents import body_of

if TYPE_CHECKING:
    from headwater.services import Services

PAGES = 6


async def warc_of(press: Press, stores: BodyStores, place: Path) -> list[tuple[str, str, str, bytes]]:
    """All that it says, but for the names that each record gets anew."""
    services = SimpleNamespace(database=press.database, clock=SystemClock(), stores=stores)
    wanted = WantedExport(RecordKind.DOCUMENT, ExportFormat("warc"), place=place)
    done = await export_records(cast("Services", services), wanted)
    assert (done.records, done.without_body) == (PAGES, 0)
    with place.open("rb") as file:
        return [
            (
                record.rec_type,
                record.rec_headers.get_header("WARC-Target-URI") or "",
                record.rec_headers.get_header("WARC-Payload-Digest") or "",
                record.content_stream().read(),
            )
            for record in ArchiveIterator(file)
            if record.rec_type != "warcinfo"
        ]


async def replayed(press: Press, stores: BodyStores) -> list[Replayed]:
    reading = replace(press, stores=stores)
    return [one async for one in reading.replay.over(press.source, stores=False)]


async def pages_of(press: Press, stores: BodyStores) -> dict[RecordKey, str]:
    rows = await press.database.fetch("select bucket, url_hash from documents")
    keys = [RecordKey(RecordKind.DOCUMENT, row["bucket"], row["url_hash"]) for row in rows]
    return await load_html(press.database, keys, stores)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_reads_bodies_says_the_same_wherever_they_lie(
    press: Press, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    urls = await press.print(PAGES)
    await select(press, body=SHORTER)
    store = open_store(kind, tmp_path / "bodies", request)
    before = (
        await replayed(press, NO_STORES),
        await warc_of(press, NO_STORES, tmp_path / "inside.warc.gz"),
        await pages_of(press, NO_STORES),
        [(await body_of(press.database, url)).raw for url in urls],
    )
    assert {one.outcome for one in before[0]} == {ReplayOutcome.CHANGED}
    assert len(before[2]) == PAGES
    stores = stores_on(store)
    assert (await move_bodies(press.database, stores)).bodies == PAGES
    assert await press.database.fetchval("select bool_and(body = '') from raw_bodies")
    after = (
        await replayed(press, stores),
        await warc_of(press, stores, tmp_path / "outside.warc.gz"),
        await pages_of(press, stores),
        [(await body_of(press.database, url, stores)).raw for url in urls],
    )
    assert after == before
    with pytest.raises(StoreDown, match="no setting names"):
        await replayed(press, NO_STORES)
