"""Raw bodies outside: referred to by the transaction that settles the page, and gone when nothing refers to them."""

import asyncio
import io
import pickle
import re
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from tests.clocks import ManualClock
from tests.integration.archive.shelf import LONG, Shelf, broken, key_of
from tests.integration.archive.stores import KINDS, ids_in, open_store, stores_on
from tests.integration.frontier.stage import AT_ONCE, DELAY, Stage, add_source
from tests.integration.ingest.test_page_store import effects_of
from tests.s3_server import INSTALLATION

from headwater.archive.collecting import GRACE, collect_bodies, grace_of, remove_bodies
from headwater.archive.moving import move_bodies
from headwater.archive.raw import newest_body
from headwater.archive.stores.folder import FolderStore
from headwater.archive.stores.known import NO_STORES, REST, BodyStores, BodyWriter
from headwater.archive.stores.s3 import object_store
from headwater.archive.stores.store import BodyStore
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.days import keep_days
from headwater.database.pool import Database
from headwater.errors import StoreDown
from headwater.figures import BODIES_NOT_PUT, Figures
from headwater.frontier.entry import Lease
from headwater.frontier.verdicts import Fetched, RetryPolicy, settlement_of
from headwater.ingest.page_context import Context
from headwater.ingest.page_store import PageStore
from headwater.ingest.taking_down import take_down_everywhere
from headwater.learning.template_cache import TemplateCache
from headwater.log import make_logger
from headwater.politeness.takedown import parse_takedown
from headwater.run.maintenance import Maintenance
from headwater.settings.groups import ArchiveSettings

STORY, OTHER, LATE = "https://a.example/1", "https://b.example/2", "https://late.a.example/3"
NONE = timedelta()


@dataclass(repr=False)
class Desk:
    stage: Stage
    shelf: Shelf
    store: BodyStore
    clock: ManualClock
    figures: Figures
    writes: io.StringIO

    @property
    def database(self) -> Database:
        return self.stage.database

    @property
    def stores(self) -> BodyStores:
        return stores_on(self.store)

    def page_store(self, store: BodyStore | None = None) -> PageStore:
        log = make_logger("info", "json", stream=self.writes)
        return PageStore(self.database, DELAY, writer=BodyWriter(store or self.store, self.clock, log, self.figures))

    async def lease(self, url: str) -> Lease:
        await self.stage.submit(url)
        return replace(await self.stage.claim_one(), fetch_count=1)

    async def keep(self, lease: Lease, url: str, store: BodyStore | None = None) -> bool:
        settlement = settlement_of(lease, Fetched(), AT_ONCE, RetryPolicy(), random_from(1))
        return await self.page_store(store).keep(lease, Fetched(), settlement, effects_of(url))

    async def fetched(self, url: str, store: BodyStore | None = None) -> UUID:
        lease = await self.lease(url)
        assert await self.keep(lease, url, store)
        return lease.token

    async def body(self, url: str, stores: BodyStores | None = None) -> bytes | None:
        kept = await newest_body(self.database, key_of(url), stores or self.stores)
        return kept.raw.body if kept else None

    async def noted(self) -> set[UUID]:
        return {row["object_id"] for row in await self.database.fetch("select object_id from body_removals")}

    async def rows(self) -> list[tuple[Any, ...]]:
        rows = await self.database.fetch("select stored_in, object_id, length(body) from raw_bodies order by url")
        return [tuple(row) for row in rows]


@pytest.fixture(params=KINDS)
async def desk(request: pytest.FixtureRequest, database: Database, tmp_path: Path) -> AsyncIterator[Desk]:
    """Whatever a test does, what is always true of the archive is true at its end."""
    store = open_store(request.param, tmp_path / "bodies", request)
    shelf = Shelf(database)
    yield Desk(
        Stage(database, await add_source(database)), shelf, store, ManualClock(shelf.now), Figures(), io.StringIO()
    )
    assert await broken(database) == []


async def test_a_row_only_refers_to_a_body_that_lies_outside(desk: Desk) -> None:
    token = await desk.fetched(STORY)
    assert await desk.rows() == [(desk.store.kind, token, 0)]
    assert await ids_in(desk.store) == [token]
    assert await desk.body(STORY) == b"<p>"
    assert await desk.noted() == set()


async def test_without_its_store_a_body_is_not_taken_for_a_page_without_one(desk: Desk) -> None:
    await desk.fetched(STORY)
    with pytest.raises(StoreDown, match="no setting names"):
        await newest_body(desk.database, key_of(STORY), NO_STORES)


async def test_rows_of_before_and_after_are_read_side_by_side(desk: Desk) -> None:
    lease = await desk.lease(STORY)
    settlement = settlement_of(lease, Fetched(), AT_ONCE, RetryPolicy(), random_from(1))
    assert await PageStore(desk.database, DELAY).keep(lease, Fetched(), settlement, effects_of(STORY))
    await desk.fetched(OTHER)
    assert [await desk.body(url) for url in (STORY, OTHER)] == [b"<p>", b"<p>"]


async def test_a_lost_lease_leaves_nothing_outside(desk: Desk) -> None:
    lease = await desk.lease(STORY)
    await desk.database.execute("update slots set expires_at = now() - interval '1 second'")
    assert not await desk.keep(lease, STORY)
    assert await desk.noted() == {lease.token}
    assert await remove_bodies(desk.database, desk.stores) == 1
    assert (await ids_in(desk.store), await desk.noted(), await desk.rows()) == ([], set(), [])


async def test_what_a_first_try_referred_to_unheard_stays(desk: Desk) -> None:
    """The answer of a commit that was lost: the second try finds its lease gone."""
    lease = await desk.lease(STORY)
    assert await desk.keep(lease, STORY)
    assert not await desk.keep(lease, STORY)
    assert await desk.noted() == set()
    assert await desk.body(STORY) == b"<p>"


async def test_a_takedown_reaches_what_is_stored_and_what_is_on_its_way(desk: Desk) -> None:
    stored, under_way = await desk.fetched(STORY), await desk.lease(LATE)
    kept = await desk.fetched(OTHER)
    await take_down_everywhere(desk.database, parse_takedown("a.example"), "asked for")
    assert await desk.keep(under_way, LATE)
    assert await desk.noted() == {stored, under_way.token}
    assert await remove_bodies(desk.database, desk.stores) == 2
    assert await ids_in(desk.store) == [kept]
    assert await desk.body(STORY) is None
    assert await remove_bodies(desk.database, desk.stores) == 0


async def test_what_is_past_its_days_goes_from_the_store_with_its_day(desk: Desk) -> None:
    await desk.database.execute("select ensure_days('raw_bodies', (now() at time zone 'utc')::date - 40, 1)")
    old, older, young = [await desk.fetched(url) for url in (STORY, "https://c.example/3", OTHER)]
    aged = "update raw_bodies set at = now() - $2 * interval '1 day' where object_id = $1"
    await desk.database.execute(aged, old, 40)
    # One of a day that has no partition.
    await desk.database.execute(aged, older, 50)
    # Into another day a row is moved by deleting it here and writing it there.
    assert await remove_bodies(desk.database, desk.stores) == 0
    assert await ids_in(desk.store) == sorted([old, older, young])
    await keep_days(desk.database, "raw_bodies", 30)
    assert await desk.noted() == {old, older}
    await remove_bodies(desk.database, desk.stores)
    assert await ids_in(desk.store) == [young]
    assert [await desk.body(url) for url in (STORY, OTHER)] == [None, b"<p>"]


async def test_a_row_that_gets_its_day_later_keeps_its_body(desk: Desk) -> None:
    token = await desk.fetched(STORY)
    # Of a day that nobody had made.
    await desk.database.execute("update raw_bodies set at = now() + interval '25 days'")
    await remove_bodies(desk.database, desk.stores)
    assert await desk.database.fetchval("select count(*) from raw_bodies_default") == 1
    await desk.database.execute("select ensure_days('raw_bodies', (now() at time zone 'utc')::date, 30, 300)")
    assert await desk.database.fetchval("select count(*) from raw_bodies_default") == 0
    assert await remove_bodies(desk.database, desk.stores) == 0
    assert (await ids_in(desk.store), await desk.body(STORY)) == ([token], b"<p>")


async def test_what_was_put_and_never_referred_to_is_collected_once_it_is_old(desk: Desk) -> None:
    kept, lost = await desk.fetched(STORY), [uuid4() for _ in range(3)]
    for one in lost:
        await desk.store.put(one, b"of a worker that died")
    assert await collect_bodies(desk.database, desk.stores) == 0
    assert await desk.noted() == set()
    done = await asyncio.gather(*(collect_bodies(desk.database, desk.stores, NONE) for _ in range(3)))
    assert sum(done) == 3
    assert await desk.noted() == set(lost)
    await asyncio.gather(*(remove_bodies(desk.database, desk.stores) for _ in range(3)))
    assert (await ids_in(desk.store), await desk.noted()) == ([kept], set())


async def test_the_search_goes_on_where_it_stopped_and_begins_anew_at_the_end(desk: Desk) -> None:
    lost = sorted(uuid4() for _ in range(5))
    for one in lost:
        await desk.store.put(one, b"x")
    place = "select after, ended_at is not null from body_sweeps"
    await desk.database.execute("insert into body_sweeps (stored_in, after) values ($1, $2)", desk.store.kind, lost[2])
    assert await collect_bodies(desk.database, desk.stores, NONE, pages=1) == 2
    row = await desk.database.fetchrow(place)
    assert row is not None
    assert tuple(row) == (lost[4], False)
    assert await collect_bodies(desk.database, desk.stores, NONE, pages=1) == 0
    row = await desk.database.fetchrow(place)
    assert row is not None
    assert tuple(row) == (None, True)
    assert await collect_bodies(desk.database, desk.stores, NONE) == 3


def test_nobody_collects_within_a_lease() -> None:
    assert grace_of(timedelta(seconds=60)) == GRACE
    assert grace_of(timedelta(hours=6)) == timedelta(hours=60)


SAID_AWAY = "Not a directory|error sending request"


def away_of(store: BodyStore) -> BodyStore:
    """The same, at a place that does not answer."""
    if isinstance(store, FolderStore):
        (file := store.folder.parent / "file").write_text("in the way")
        return replace(store, folder=file / "bodies")
    said = {"s3_endpoint": "http://127.0.0.1:1", "s3_bucket": "bodies", "s3_key_id": "k", "s3_secret": "s"}
    return object_store(ArchiveSettings.model_validate(said), INSTALLATION)


async def test_while_its_store_is_away_a_body_is_kept_in_the_database(desk: Desk) -> None:
    page_store = desk.page_store(away_of(desk.store))
    assert page_store.writer is not None

    async def fetched(url: str) -> None:
        lease = await desk.lease(url)
        settlement = settlement_of(lease, Fetched(), AT_ONCE, RetryPolicy(), random_from(1))
        assert await page_store.keep(lease, Fetched(), settlement, effects_of(url))

    await fetched(STORY)
    page_store.writer.store = desk.store
    # It is left alone for a while: nobody waits for it page by page.
    await fetched(OTHER)
    assert [row[0] for row in await desk.rows()] == [None, None]
    assert desk.figures.counts[BODIES_NOT_PUT] == 2
    assert re.search(SAID_AWAY, desk.figures.said[BODIES_NOT_PUT])
    assert desk.writes.getvalue().count("raw_body_not_put") == 1
    desk.clock.move(REST)
    await fetched("https://c.example/3")
    assert [row[0] for row in await desk.rows()] == [None, None, desk.store.kind]
    assert [await desk.body(url) for url in (STORY, OTHER, "https://c.example/3")] == [b"<p>"] * 3


async def test_a_deletion_is_tried_until_the_store_is_back(desk: Desk) -> None:
    token = await desk.fetched(STORY)
    await take_down_everywhere(desk.database, parse_takedown("a.example"), "asked for")
    away = away_of(desk.store)
    for _ in range(2):
        with pytest.raises(StoreDown):
            await remove_bodies(desk.database, stores_on(away))
    assert await desk.noted() == {token}
    await remove_bodies(desk.database, desk.stores)
    assert (await ids_in(desk.store), await desk.noted()) == ([], set())


async def test_a_store_that_is_away_makes_no_page_look_known(desk: Desk) -> None:
    await desk.fetched(STORY)
    cache = TemplateCache(SystemClock(), random_from(1))
    lease = await desk.lease(OTHER)
    lease = replace(lease, bucket=key_of(STORY).bucket, url_hash=key_of(STORY).url_hash)

    async def was_sent(stores: BodyStores, body: bytes) -> bool:
        return await Context(desk.database, SystemClock(), cache, stores).was_sent(lease, body)

    assert await was_sent(desk.stores, b"<p>")
    assert not await was_sent(desk.stores, b"<q>")
    assert not await was_sent(stores_on(away_of(desk.store)), b"<p>")
    assert not await was_sent(NO_STORES, b"<p>")
    # What was cut off there is no fault of the page.
    await desk.store.put(await desk.database.fetchval("select object_id from raw_bodies"), b"\x28\xb5")
    assert not await was_sent(desk.stores, b"<p>")


async def test_bodies_move_out_and_back_and_leave_nothing_behind(desk: Desk) -> None:
    pages = [f"https://h{number}.example/" for number in range(20)]
    for url in pages:
        lease = await desk.lease(url)
        settlement = settlement_of(lease, Fetched(), AT_ONCE, RetryPolicy(), random_from(1))
        assert await PageStore(desk.database, DELAY).keep(lease, Fetched(), settlement, effects_of(url))
    moved = await move_bodies(desk.database, desk.stores)
    assert (moved.bodies, moved.missing) == (20, 0)
    assert {(row[0], row[2]) for row in await desk.rows()} == {(desk.store.kind, 0)}
    assert len(await ids_in(desk.store)) == 20
    assert [await desk.body(url) for url in pages] == [b"<p>"] * 20
    assert (await move_bodies(desk.database, desk.stores)).bodies == 0
    lost = (await ids_in(desk.store))[0]
    await desk.store.delete([lost])
    back = await move_bodies(desk.database, replace(desk.stores, chosen=None))
    assert (back.bodies, back.missing) == (19, 1)
    await remove_bodies(desk.database, desk.stores)
    assert await ids_in(desk.store) == []
    assert sum(row[0] is None for row in await desk.rows()) == 19


async def test_a_body_that_is_forgotten_while_it_moves_is_not_left_outside(desk: Desk) -> None:
    await desk.fetched(STORY)
    await move_bodies(desk.database, replace(desk.stores, chosen=None))

    @dataclass
    class Meanwhile:
        store: BodyStore

        def __getattr__(self, name: str) -> Any:
            return getattr(self.store, name)

        async def put(self, body_id: UUID, body: bytes) -> None:
            await self.store.put(body_id, body)
            await take_down_everywhere(desk.database, parse_takedown("a.example"), "asked for")

    moved = await move_bodies(desk.database, stores_on(cast("BodyStore", Meanwhile(desk.store))))
    assert moved.bodies == 0
    await remove_bodies(desk.database, desk.stores)
    assert await ids_in(desk.store) == []


async def test_maintenance_does_all_of_it(desk: Desk) -> None:
    await desk.fetched(STORY)
    await take_down_everywhere(desk.database, parse_takedown("a.example"), "asked for")
    log, out = make_logger("info", "json", stream=desk.writes), {"fetch_log": 30, "runs": 30}
    upkeep = Maintenance(
        *(desk.database, SystemClock(), random_from(1), log, timedelta(seconds=10), out, 60, 30), stores=desk.stores
    )
    await upkeep.once()
    assert await ids_in(desk.store) == []
    assert "raw_bodies_removed" in desk.writes.getvalue()


KILLED = """
import asyncio, os, pickle, signal, sys
from dataclasses import replace
from headwater.archive.stores.folder import FolderStore
from headwater.archive.stores.known import BodyWriter
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.ingest.page_store import PageStore
from headwater.log import make_logger

class Killed(FolderStore):
    async def put(self, body_id, body):
        await super().put(body_id, body)
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    folder, installation, lease, settlement, verdict, effects, delay = pickle.load(sys.stdin.buffer)
    writer = BodyWriter(Killed(folder, installation), SystemClock(), make_logger("error", "json"))
    async with await Database.connect(sys.argv[1], size=1) as database:
        await PageStore(database, delay, writer=writer).keep(lease, verdict, settlement, effects)

asyncio.run(main())
"""


@pytest.mark.long
async def test_a_worker_killed_between_put_and_commit_leaves_what_is_collected(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    store = FolderStore(tmp_path, UUID(int=1))
    stage = Stage(database, await add_source(database))
    await stage.submit(STORY)
    lease = await stage.claim_one()
    settlement = settlement_of(lease, Fetched(), AT_ONCE, RetryPolicy(), random_from(1))
    told = pickle.dumps((tmp_path, UUID(int=1), lease, settlement, Fetched(), effects_of(STORY, text=LONG), DELAY))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, database_url), stdin=asyncio.subprocess.PIPE
    )
    await process.communicate(told)
    assert process.returncode == -signal.SIGKILL
    assert await ids_in(store) == [lease.token]
    assert await database.fetchval("select count(*) from raw_bodies") == 0
    assert await collect_bodies(database, stores_on(store), GRACE) == 0
    assert await collect_bodies(database, stores_on(store), NONE) == 1
    await remove_bodies(database, stores_on(store))
    assert await ids_in(store) == []
