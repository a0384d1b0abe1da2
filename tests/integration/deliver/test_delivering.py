"""One sink and the archive: whatever happens, the sink ends up with what it should hold."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from random import Random
from uuid import UUID

import orjson
import pytest
from tests.integration.archive.shelf import LONG, OTHER, SOURCE, Shelf
from tests.integration.deliver.memory_sink import Delivering, Server, removals, titles

from headwater.archive.job import Teller
from headwater.archive.jobs import delete_jobs, keep_jobs
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver import store
from headwater.deliver.log import move_changes
from headwater.deliver.sink import VERSIONS_PER_BATCH, Fence, RecordRefused, SinkDown
from headwater.deliver.store import CHECK_EVERY
from headwater.record_kind import RecordKind
from headwater.run.delivering import LOOK_EVERY
from headwater.search.views import View, add_view, change_view
from headwater.sources.store import edit_source
from headwater.urls.domains import Voice
from headwater.urls.fingerprint import DocumentKey
from headwater.vacancy import NewJob

queries = load_queries("headwater.deliver")

A, B, C = "https://a.example/1", "https://b.example/1", "https://c.example/1"


async def fill(shelf: Shelf, count: int, start: int = 0) -> list[str]:
    urls = [f"https://site{number % 7}.example/{number}" for number in range(start, start + count)]
    for number, url in enumerate(urls, start):
        await shelf.keep(url, f"story {number} " * 30, title=f"Story {number}")
    return urls


async def test_a_document_is_delivered_changed_and_removed(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await delivering.add()
    await shelf.keep(A, LONG, title="First")
    assert (await delivering.deliver()).versions == {"First": 1}
    [(_, record)] = delivering.servers["store"].held.values()
    assert orjson.loads(orjson.dumps(record.fields))["source_id"] == str(SOURCE)
    await shelf.keep(A, OTHER, title="Second")
    assert (await delivering.deliver()).versions == {"Second": 2}
    await shelf.tombstone(A)
    server = await delivering.deliver()
    assert server.versions == {}
    assert len(removals(server.sends[-1])) == 1
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.behind, sink.sent, sink.is_worked, sink.parked) == (0, 3, False, 0)


async def test_a_record_that_the_sink_never_had_is_not_removed_from_it(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.add()
    await shelf.keep(A)
    await shelf.tombstone(A)
    assert (await delivering.deliver()).sends == []


async def test_a_duplicate_leaves_and_its_successor_comes(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await delivering.add()
    await shelf.keep(A, LONG, title="Original")
    await shelf.keep(B, LONG, title="Copy")
    assert (await delivering.deliver()).versions == {"Original": 1}
    await shelf.tombstone(A)
    assert list((await delivering.deliver()).versions) == ["Copy"]


async def test_the_sink_gets_the_record_as_it_is_now(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await delivering.add()
    await shelf.keep(A, LONG, title="Old")
    await move_changes(shelf.database)
    await shelf.keep(A, OTHER, title="New")
    sink = await store.sink_named(shelf.database, "store")
    await delivering.worker().run(sink.id)
    assert delivering.servers["store"].versions == {"New": 2}
    await delivering.deliver()
    assert delivering.servers["store"].versions == {"New": 2}


async def test_only_what_is_in_the_view_is_delivered_and_leaves_with_it(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source(tags=["harbour"], country="PT")
    view = await add_view(
        shelf.database, View(name="boats", query="ferry -strike", tags=("harbour",), countries=("PT",))
    )
    await delivering.add(view_id=view.id)
    await shelf.keep(A, f"ferry {LONG}", title="Ferry")
    await shelf.keep(B, f"ferry strike {OTHER}", title="Strike")
    assert list((await delivering.deliver()).versions) == ["Ferry"]
    await shelf.keep(A, f"strike ferry {LONG} again", title="Ferry")
    assert (await delivering.deliver()).versions == {}


async def test_a_renamed_source_moves_its_records_to_their_new_place(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source("Old name")
    await delivering.add(by_source=True)
    await shelf.keep(A, LONG, title="One")
    await shelf.keep(B, OTHER, title="Two")
    assert (await delivering.deliver()).places == {"One": "Old name", "Two": "Old name"}
    async with shelf.database.transaction() as connection:
        await edit_source(connection, SOURCE, {"name": "New name"}, "tester")
    server = await delivering.deliver()
    assert server.places == {"One": "New name", "Two": "New name"}
    assert {place for place, _ in server.held} == {"New name"}


async def test_a_sink_that_is_down_stands_where_it_stood(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await delivering.add()
    server = delivering.servers["store"]
    server.down = SinkDown("The server does not answer.")
    await shelf.keep(A, title="One")
    await delivering.deliver()
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.behind, sink.failures, sink.last_error) == (1, 1, "The server does not answer.")
    await delivering.deliver()
    assert (await store.sink_named(shelf.database, "store")).failures == 2
    server.down = None
    assert (await delivering.deliver()).versions == {"One": 1}
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.behind, sink.failures, sink.last_error) == (0, 0, None)


async def test_a_sink_that_goes_down_in_a_batch_goes_on_behind_what_it_took(
    shelf: Shelf, delivering: Delivering
) -> None:
    await delivering.source()
    await delivering.add("stream")
    await fill(shelf, 5)
    server = delivering.servers["stream"]
    server.down, server.takes_before_down = SinkDown("It broke off."), 2
    await delivering.deliver("stream")
    assert (await store.sink_named(shelf.database, "stream")).position == 2
    server.down = None
    await delivering.deliver("stream")
    assert titles(server.sends[1]) == ["Story 2", "Story 3", "Story 4"]


async def test_a_backfill_goes_on_behind_what_the_sink_took_of_a_batch(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await fill(shelf, 9)
    sink_id = await delivering.add("stream")
    await move_changes(shelf.database)
    await shelf.database.execute("UPDATE sinks SET position = (SELECT position FROM change_counter)")
    await store.ask_backfill(shelf.database, sink_id, "it is new")
    server = delivering.servers["stream"]
    server.down, server.takes_before_down = SinkDown("It broke off."), 2
    for _ in range(3):
        await delivering.deliver("stream")
    assert [len(send) for send in server.sends] == [9, 7, 5]
    # It makes progress each time, so its waits do not grow.
    assert (await store.sink_named(shelf.database, "stream")).failures == 1
    server.down = None
    await delivering.deliver("stream")
    assert len(server.held) == 9
    assert all(one.is_from_archive for send in server.sends for one in send)


async def test_a_sink_that_wants_nothing_more_is_disabled(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await delivering.add()
    delivering.servers["store"].down = SinkDown("410: gone.", is_for_good=True)
    await shelf.keep(A)
    await delivering.deliver()
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.state, sink.state_reason) == ("disabled", "410: gone.")


async def test_a_refused_record_waits_alone_and_is_parked_after_its_last_try(
    shelf: Shelf, delivering: Delivering
) -> None:
    await delivering.source()
    await delivering.add()
    server = delivering.servers["store"]
    server.refuses = lambda one: RecordRefused("mapper_parsing_exception") if "One" in titles([one]) else None
    await shelf.keep(A, LONG, title="One")
    await shelf.keep(B, OTHER, title="Two")
    await delivering.deliver()
    sink = await store.sink_named(shelf.database, "store")
    assert (server.versions, sink.behind, sink.retrying, sink.parked) == ({"Two": 1}, 0, 1, 0)
    for _ in range(store.MOST_ATTEMPTS):
        await shelf.database.execute("UPDATE delivery_failures SET next_try_at = now() WHERE next_try_at IS NOT NULL")
        await delivering.deliver()
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.retrying, sink.parked) == (0, 1)
    server.refuses = lambda _: None
    await shelf.database.execute("UPDATE delivery_failures SET next_try_at = now(), attempts = 0")
    assert set((await delivering.deliver()).versions) == {"One", "Two"}
    assert (await store.sink_named(shelf.database, "store")).parked == 0


async def test_a_retry_that_is_older_than_the_record_is_dropped(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await delivering.add()
    server = delivering.servers["store"]
    server.refuses = lambda one: RecordRefused("no") if one.version == 1 else None
    await shelf.keep(A, LONG, title="One")
    await delivering.deliver()
    await shelf.keep(A, OTHER, title="One")
    await delivering.deliver()
    assert server.versions == {"One": 2}
    assert (await store.sink_named(shelf.database, "store")).retrying == 0


async def test_a_backfill_fills_a_new_sink_while_records_change(shelf: Shelf, delivering: Delivering) -> None:
    """Live changes come between the batches of the walk, and none of them is overtaken by it."""
    await delivering.source()
    urls = await fill(shelf, 60)
    delivering.batch = 7
    sink_id = await delivering.add()
    await move_changes(shelf.database)
    await store.ask_backfill(shelf.database, sink_id, "it is new")
    random, changed = Random(3), [0]

    async def change_some(_: object) -> None:
        for _ in range(3):
            changed[0] += 1
            url = random.choice(urls)
            if random.random() < 0.2:
                await shelf.tombstone(url)
            else:
                await shelf.keep(url, f"edit {changed[0]} of it " * 30, title=f"Edit {changed[0]}")
        await move_changes(shelf.database)

    delivering.servers["store"].after = lambda batch: change_some(batch) if changed[0] < 60 else asyncio.sleep(0)
    server = await delivering.deliver()
    await assert_holds_the_archive(shelf.database, server)
    assert changed[0] >= 60
    assert (await store.sink_named(shelf.database, "store")).backfill_reason is None


async def test_a_sink_behind_the_log_is_filled_from_the_archive(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await delivering.add()
    urls = await fill(shelf, 4)
    await delivering.deliver()
    await shelf.tombstone(urls[0])
    await shelf.keep(urls[1], OTHER, title="Changed")
    await move_changes(shelf.database)
    await shelf.database.execute("DELETE FROM changes")
    await shelf.database.execute("UPDATE change_counter SET oldest_position = position + 1")
    server = await delivering.deliver()
    await assert_holds_the_archive(shelf.database, server)


@pytest.mark.long
async def test_two_processes_on_one_sink_lose_nothing_and_take_nothing_back(
    shelf: Shelf, delivering: Delivering
) -> None:
    """Leases so short that they are taken over all the time; the one that lost its lease notices when it settles."""
    await delivering.source()
    urls = await fill(shelf, 30)
    delivering.batch = 5
    sink_id = await delivering.add()
    await store.ask_backfill(shelf.database, sink_id, "it is new")
    random = Random(5)

    async def dawdle(_: object) -> None:
        await asyncio.sleep(random.random() * 0.06)

    server = delivering.servers["store"]
    server.before = dawdle

    async def work(owner: str) -> None:
        worker = delivering.worker(owner, lease=timedelta(milliseconds=40))
        for _ in range(25):
            await move_changes(shelf.database)
            await shelf.database.execute("UPDATE sinks SET retry_at = '-infinity'")
            await worker.run(sink_id)

    async def change() -> None:
        for number in range(40):
            await shelf.keep(random.choice(urls), f"edit {number} of it " * 30, title=f"Edit {number}")

    await asyncio.gather(work("one"), work("two"), change())
    server.before = None
    await shelf.database.execute("UPDATE sinks SET leased_until = '-infinity'")
    await delivering.deliver()
    await assert_holds_the_archive(shelf.database, server)


async def test_a_record_whose_acknowledgement_was_lost_is_removed_when_it_is_deleted(
    shelf: Shelf, delivering: Delivering
) -> None:
    await delivering.source()
    await delivering.add()
    server = delivering.servers["store"]

    async def lose_answer(_: object) -> None:
        raise SinkDown("The answer was lost.")

    server.after = lose_answer
    await shelf.keep(A, title="One")
    assert (await delivering.deliver()).versions == {"One": 1}
    server.after = None
    await shelf.tombstone(A)
    assert (await delivering.deliver()).versions == {}
    assert await shelf.database.fetchval("SELECT count(*) FROM delivered") == 0


async def test_a_stale_token_changes_nothing(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    sink_id = await delivering.add()
    await shelf.keep(A)

    async def take_over(_: object) -> None:
        await shelf.database.execute("UPDATE sinks SET leased_until = '-infinity'")
        assert await store.lease_sink(shelf.database, sink_id, "other", timedelta(seconds=60))

    delivering.servers["store"].after = take_over
    await delivering.deliver()
    # That it may be there is known, and nothing else.
    assert await shelf.database.fetchval("SELECT max(version) FROM delivered") == 0
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.behind, sink.owner, sink.sent) == (1, "other", 0)


async def test_an_equal_version_is_sent_again_and_a_foreign_update_hides_nothing(
    shelf: Shelf, delivering: Delivering
) -> None:
    await delivering.source()
    await delivering.add()
    await shelf.keep(A, LONG, title="One")
    server = await delivering.deliver()
    [(key, (version, record))] = server.held.items()
    # Another program writes into the document: the server counts one on.
    server.held[key] = (version + 5, record)
    await shelf.keep(A, OTHER, title="Two")
    assert (await delivering.deliver()).versions == {"Two": 2}


async def test_vacancies_are_delivered_until_they_are_over(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source(kind="jobs")
    await delivering.add()
    await keep_vacancy(shelf.database, "Cook")
    assert (await delivering.deliver()).versions == {"Cook": 1}
    [record] = [record for _, record in delivering.servers["store"].held.values()]
    assert (record.key.kind, record.fields["org_name"], record.fields["status"]) == (
        RecordKind.JOB,
        "Harbour",
        "active",
    )
    async with shelf.database.transaction() as connection:
        await delete_jobs(connection, [DocumentKey(record.key.bucket, record.key.hash)], "a person", "over", shelf.now)
    assert (await delivering.deliver()).versions == {}


async def keep_vacancy(database: Database, title: str) -> None:
    job = NewJob(
        canonical_hash=title.encode().ljust(32, b"."),
        title=title,
        org_name="Harbour",
        apply_url=f"https://h.example/{title}",
    )
    async with database.transaction() as connection:
        now = await connection.fetchval("SELECT now()")
        teller = Teller(SOURCE, "https://h.example/jobs", Voice("h.example"))
        await keep_jobs(connection, teller, [job], now)


async def assert_holds_the_archive(database: Database, server: Server) -> None:
    rows = await database.fetch(
        "SELECT url_hash, version FROM documents WHERE deleted_at IS NULL AND duplicate_of IS NULL"
    )
    assert {record.id: record.version for _, record in server.held.values()} == {
        row["url_hash"].hex(): row["version"] for row in rows
    }


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_the_sink_does_it_holds_the_archive_in_the_end(
    seed: int, shelf: Shelf, delivering: Delivering
) -> None:
    """Refusals, breakdowns in the middle, lost acknowledgements, while documents come, change and go."""
    random = Random(seed)
    await delivering.source()
    delivering.batch = 4
    await delivering.add()
    server = delivering.servers["store"]
    urls = [f"https://site{number % 5}.example/{number}" for number in range(12)]

    async def lose_answers(batch: object) -> None:
        if random.random() < 0.3:
            raise SinkDown("The answer was lost.")

    server.after = lose_answers
    server.refuses = lambda one: RecordRefused("not now") if random.random() < 0.15 else None
    for step in range(60):
        url = random.choice(urls)
        if random.random() < 0.25:
            await shelf.tombstone(url)
        else:
            text = LONG if random.random() < 0.2 else f"text {step} of it " * 30
            await shelf.keep(url, text, title=f"Step {step}")
        if random.random() < 0.5:
            server.down = SinkDown("down") if random.random() < 0.3 else None
            server.takes_before_down = random.randrange(4)
            await delivering.deliver()
    server.down, server.after, server.refuses = None, None, lambda _: None
    await shelf.database.execute("UPDATE delivery_failures SET next_try_at = now()")
    await delivering.deliver()
    await assert_holds_the_archive(shelf.database, server)
    held = await shelf.database.fetch("SELECT hash, version FROM delivered")
    assert {row["hash"].hex(): row["version"] for row in held} == {
        record.id: record.version for _, record in server.held.values()
    }


async def test_a_sink_knows_whether_its_last_holder_ended_in_order(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    sink_id = await delivering.add()
    seen: list[bool] = []

    async def note(fence: Fence) -> None:
        seen.append(fence.is_handed_over)

    delivering.servers["store"].prepared = note
    await delivering.deliver()
    await store.lease_sink(shelf.database, sink_id, "dead", timedelta(seconds=60))
    await shelf.database.execute("UPDATE sinks SET leased_until = '-infinity'")
    await delivering.deliver()
    await delivering.deliver()
    assert seen == [True, False, True]


async def test_a_moved_record_is_not_lost_when_the_sink_goes_down_between_its_two_places(
    shelf: Shelf, delivering: Delivering
) -> None:
    await delivering.source("Old name")
    await delivering.add(by_source=True)
    await fill(shelf, 4)
    server = await delivering.deliver()
    async with shelf.database.transaction() as connection:
        await edit_source(connection, SOURCE, {"name": "New name"}, "tester")
    server.down, server.takes_before_down = SinkDown("It broke off."), 2
    await delivering.deliver()
    server.down = None
    await delivering.deliver()
    assert set(server.places.values()) == {"New name"}
    assert len(server.held) == 4


async def test_a_record_that_cannot_leave_its_former_place_waits_alone(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source("Old name")
    await delivering.add(by_source=True)
    await fill(shelf, 3)
    server = await delivering.deliver()
    stuck = next(id_ for _, id_ in server.held)
    server.refuses = lambda one: RecordRefused("blocked") if one.key.id == stuck and one.place == "Old name" else None
    async with shelf.database.transaction() as connection:
        await edit_source(connection, SOURCE, {"name": "New name"}, "tester")
    await delivering.deliver()
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.retrying, sink.backfill_reason, len(server.sends)) == (1, None, 3)
    server.refuses = lambda _: None
    await shelf.database.execute("UPDATE delivery_failures SET next_try_at = now()")
    await delivering.deliver()
    assert set(server.places.values()) == {"New name"}
    assert len(server.held) == 3


async def test_a_view_that_is_edited_while_its_sink_is_filled_holds_for_the_rest(
    shelf: Shelf, delivering: Delivering
) -> None:
    await delivering.source()
    view = await add_view(shelf.database, View(name="fruit", query="apple"))
    for number in range(6):
        await shelf.keep(f"https://a.example/{number}", f"apple {number} " * 40, title=f"Apple {number}")
        await shelf.keep(f"https://b.example/{number}", f"pear {number} " * 40, title=f"Pear {number}")
    delivering.batch = 2
    sink_id = await delivering.add(view_id=view.id)
    await store.ask_backfill(shelf.database, sink_id, "it is new")
    edited = [False]

    async def edit(_: object) -> None:
        if not edited[0]:
            edited[0] = True
            async with shelf.database.transaction() as connection:
                await change_view(connection, replace(view, query="pear"))
                await store.ask_backfill(connection, sink_id, "its view was edited")

    delivering.servers["store"].after = edit
    server = await delivering.deliver()
    assert sorted(server.versions) == [f"Pear {number}" for number in range(6)]


async def test_a_rebuild_that_is_asked_for_during_a_walk_walks_everything(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await fill(shelf, 12)
    delivering.batch = 4
    sink_id = await delivering.add()
    await move_changes(shelf.database)
    await shelf.database.execute("UPDATE sinks SET position = (SELECT position FROM change_counter)")
    await store.ask_backfill(shelf.database, sink_id, "it is new")
    server, sends = delivering.servers["store"], [0]

    async def lose_everything(_: object) -> None:
        sends[0] += 1
        if sends[0] == 2:
            server.held.clear()
            await store.ask_backfill(shelf.database, sink_id, "a person asks")

    server.after = lose_everything
    await delivering.deliver()
    assert len(server.held) == 12


async def test_nothing_is_sent_once_a_sink_was_removed(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    sink_id = await delivering.add()
    await shelf.keep(A)
    server = delivering.servers["store"]

    async def remove(_: Fence) -> None:
        await shelf.database.execute("UPDATE sinks SET token = gen_random_uuid() WHERE id = $1", sink_id)

    server.prepared = remove
    await delivering.deliver()
    assert server.sends == []


async def test_a_sink_whose_own_code_breaks_is_put_off_with_its_error(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await delivering.add()
    await shelf.keep(A)

    async def breaks(_: object) -> None:
        raise KeyError("items")

    delivering.servers["store"].before = breaks
    await delivering.deliver()
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.failures, sink.last_error, sink.is_worked) == (1, "It broke with KeyError: 'items'", False)


async def test_a_place_that_is_gone_is_filled_anew_once(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    sink_id = await delivering.add(by_source=True)
    await fill(shelf, 6)
    server = await delivering.deliver()
    server.held.clear()

    async def look(fence: Fence) -> None:
        if not server.held:
            await fence.note_missing("The Gazette")

    server.prepared = look
    sends = len(server.sends)
    await delivering.deliver()
    assert len(server.versions) == 6
    assert len(server.sends) == sends + 1
    # While it is being filled, that it is not there yet is no news: else the walk would begin again and again.
    server.held.clear()
    await store.ask_backfill(shelf.database, sink_id, "a test asks")
    asked = await shelf.database.fetchval("SELECT number FROM backfills")
    lease = await store.lease_sink(shelf.database, sink_id, "tester", timedelta(seconds=60))
    assert lease
    assert not await store.refill_lost(shelf.database, lease.id, "The Gazette")
    assert await shelf.database.fetchval("SELECT number FROM backfills") == asked
    assert not await store.refill_lost(shelf.database, lease.id, "Another Place")


async def test_records_from_a_clock_ahead_of_ours_are_passed(shelf: Shelf, delivering: Delivering) -> None:
    """The sink was filled while the clock was a day ahead, then removed and added again."""
    await delivering.source()
    await delivering.add()
    await shelf.keep(A, LONG, title="First")
    server = await delivering.deliver()
    ahead = 86_400_000_000 * VERSIONS_PER_BATCH
    server.held = {key: (version + ahead, record) for key, (version, record) in server.held.items()}
    await shelf.keep(A, OTHER, title="Second")
    assert (await delivering.deliver()).versions == {"First": 1}
    sink = await store.sink_named(shelf.database, "store")
    assert sink.retrying == 1
    await shelf.database.execute("UPDATE delivery_failures SET next_try_at = now()")
    assert (await delivering.deliver()).versions == {"Second": 2}
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.retrying, sink.parked) == (0, 0)


async def test_a_sink_that_was_away_while_there_was_nothing_to_send_is_up_again(
    shelf: Shelf, delivering: Delivering
) -> None:
    sink_id = await delivering.add()
    server = delivering.servers["store"]

    async def away(_: Fence) -> None:
        raise SinkDown("away")

    server.prepared = away
    assert sink_id in await due_sinks(shelf.database)
    await delivering.deliver()
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.failures, sink.last_error) == (1, "away")
    server.prepared = None
    await shelf.database.execute("UPDATE sinks SET retry_at = '-infinity'")
    assert sink_id in await due_sinks(shelf.database)
    await delivering.deliver()
    sink = await store.sink_named(shelf.database, "store")
    assert (sink.failures, sink.last_error) == (0, None)
    assert sink_id not in await due_sinks(shelf.database)
    await shelf.database.execute("UPDATE sinks SET looked_at = looked_at - $1::interval", CHECK_EVERY)
    assert sink_id in await due_sinks(shelf.database)


async def due_sinks(database: Database) -> list[UUID]:
    found = await database.fetchrow(queries.look_for_work, "tester", LOOK_EVERY, CHECK_EVERY)
    assert found
    return list(found["due"])
