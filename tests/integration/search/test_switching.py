"""PostgreSQL's search columns switched off and on, on a real database that is written to meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.integration.archive.shelf import Shelf, broken, page
from tests.integration.search.test_search import job

from headwater.archive.documents import keep_document
from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.clock import SystemClock
from headwater.database.migrate import known_migrations
from headwater.database.pool import Database
from headwater.deliver.records import Membership, RecordKey, load_standings
from headwater.deliver.verifying import noted_records
from headwater.errors import Busy, QueryFailed
from headwater.record_kind import RecordKind
from headwater.search.column import ColumnState, queries, search_column
from headwater.search.listing import newest
from headwater.search.question import Filters
from headwater.search.search import search
from headwater.search.switching import switch_to
from headwater.search.views import View, add_view, count_in_view, question_of, within
from headwater.urls.domains import NO_VOICE

CLOCK = SystemClock()
TWO = dict.fromkeys(ColumnState, 2)
COLUMNS = """
    SELECT (SELECT count(*) FROM documents WHERE search IS NOT NULL) AS documents,
           (SELECT count(*) FROM jobs WHERE search_tsv IS NOT NULL) AS jobs"""
WORDS = """
    SELECT url AS name, search::text AS words FROM documents WHERE deleted_at IS NULL
    UNION ALL SELECT title, search_tsv::text FROM jobs ORDER BY 1"""
INDEXES = "SELECT indexdef FROM pg_indexes WHERE indexname IN ('documents_search', 'jobs_search') ORDER BY 1"


@pytest.fixture
async def shelf(database: Database) -> AsyncIterator[Shelf]:
    on_shelf = Shelf(database)
    for n in range(7):
        await on_shelf.keep(
            f"https://h{n}.example/", f"budget number{n} for the ferries", keywords=("sea",), author="Bo Ek"
        )
    await on_shelf.keep("https://gone.example/", "budget of before")
    await on_shelf.tombstone("https://gone.example/")
    await keep_one_job(on_shelf, "Driver/cook")
    yield on_shelf
    assert await broken(database) == []


async def keep_one_job(shelf: Shelf, name: str) -> None:
    wanted = job(name, org_name="Nurse/Aid", description_snippet="Care/cure for people", mission_tags=("health",))
    async with shelf.database.transaction() as connection:
        await keep_jobs(
            connection,
            Teller(page("https://j.example/").source_id, "https://j.example/", NO_VOICE),
            [wanted],
            shelf.now,
        )


async def words(database: Database) -> list[tuple[str, ...]]:
    return [tuple(row) for row in await database.fetch(WORDS)]


async def test_off_and_on_again_leaves_everything_as_it_was(shelf: Shelf) -> None:
    database = shelf.database
    before, indexes = await words(database), await database.fetch(INDEXES)
    assert len(before) == 8
    steps: list[str] = []
    await switch_to(database, CLOCK, ColumnState.AWAY, lambda step, rows: steps.append(step))
    assert (await search_column(database)).state is ColumnState.AWAY
    assert tuple(await database.fetchrow(COLUMNS) or ()) == (0, 0)
    assert await database.fetch(INDEXES) == []
    assert "emptying" in steps

    await switch_to(database, CLOCK, ColumnState.KEPT)
    assert (await search_column(database)).is_kept
    assert await words(database) == before
    assert await database.fetch(INDEXES) == indexes
    assert len((await search(database, "budget ferry")).hits) == 7
    assert len((await search(database, "cook", Filters(RecordKind.JOB))).hits) == 1


async def test_nothing_is_written_into_a_column_that_is_away(shelf: Shelf) -> None:
    await switch_to(shelf.database, CLOCK, ColumnState.AWAY)
    await shelf.keep("https://new.example/", "a new budget")
    await shelf.keep("https://h1.example/", "another text")
    await keep_one_job(shelf, "Pilot")
    assert tuple(await shelf.database.fetchrow(COLUMNS) or ()) == (0, 0)
    await shelf.tombstone("https://h1.example/")
    await switch_to(shelf.database, CLOCK, ColumnState.KEPT)
    assert [hit.url for hit in (await search(shelf.database, "new")).hits] == ["https://new.example/"]
    assert (await search(shelf.database, "another")).hits == []


@pytest.mark.parametrize("goal", [ColumnState.AWAY, ColumnState.KEPT])
async def test_a_switch_that_was_broken_off_goes_on(shelf: Shelf, goal: ColumnState) -> None:
    before = await words(shelf.database)
    if goal is ColumnState.KEPT:
        await switch_to(shelf.database, CLOCK, ColumnState.AWAY)
    looked = []

    def stop_after_two(step: str, rows: int) -> None:
        looked.append(rows)
        if sum(looked) >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await switch_to(shelf.database, CLOCK, goal, stop_after_two, TWO)
    halfway = await search_column(shelf.database)
    assert (halfway.state, halfway.done) == (
        ColumnState.EMPTYING if goal is ColumnState.AWAY else ColumnState.FILLING,
        4,
    )
    later: list[int] = []
    await switch_to(shelf.database, CLOCK, goal, lambda step, rows: later.append(rows))
    assert sum(later) == 9 - 4, "eight documents and a vacancy, each looked at once"
    assert (await search_column(shelf.database)).state is goal
    if goal is ColumnState.KEPT:
        assert await words(shelf.database) == before
    else:
        assert tuple(await shelf.database.fetchrow(COLUMNS) or ()) == (0, 0)


async def test_who_began_to_write_before_is_waited_for(shelf: Shelf) -> None:
    """It asked while the column was away: filled before its commit, its page would be missing for ever."""
    await switch_to(shelf.database, CLOCK, ColumnState.AWAY)
    async with shelf.database.transaction() as connection:
        await keep_document(
            connection, page("https://late.example/", "a late budget"), shelf.now + timedelta(minutes=5)
        )
        switch = asyncio.create_task(switch_to(shelf.database, CLOCK, ColumnState.KEPT))
        done, _ = await asyncio.wait([switch], timeout=0.6)
        assert not done
        # Who begins now writes the words by itself.
        await shelf.keep("https://later.example/", "an early budget")
        row = await shelf.row("https://later.example/")
        assert row["search"] is not None
    await switch
    found = {hit.url for hit in (await search(shelf.database, "budget late or early")).hits}
    assert {"https://late.example/", "https://later.example/"} == found


async def test_who_switches_the_other_way_ends_the_first(shelf: Shelf) -> None:
    turned: list[asyncio.Future[None]] = []

    async def turn() -> None:
        await shelf.database.execute(queries.begin_switch, str(ColumnState.FILLING))

    def told(step: str, rows: int) -> None:
        if rows and not turned:
            turned.append(asyncio.ensure_future(turn()))

    with pytest.raises(Busy, match="filling"):
        await switch_to(shelf.database, CLOCK, ColumnState.AWAY, told, TWO)
    await switch_to(shelf.database, CLOCK, ColumnState.KEPT)
    assert len((await search(shelf.database, "budget")).hits) == 7


async def test_an_index_whose_building_was_broken_off_is_made_anew(shelf: Shelf) -> None:
    await switch_to(shelf.database, CLOCK, ColumnState.AWAY)
    await shelf.database.execute("CREATE INDEX documents_search ON documents USING gin (search)")
    await shelf.database.execute(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'documents_search'::regclass"
    )
    await switch_to(shelf.database, CLOCK, ColumnState.KEPT)
    assert await shelf.database.fetchval(
        "SELECT bool_and(indisvalid) FROM pg_index WHERE indexrelid = 'documents_search'::regclass"
    )
    [first, _] = await shelf.database.fetch(INDEXES)
    assert "gin_pending_list_limit" in first["indexdef"]


async def test_what_a_view_holds_is_the_same_while_the_column_is_away(shelf: Shelf) -> None:
    """Its words are read from each text then."""
    database = shelf.database
    await keep_one_job(shelf, "Pilot")
    view = await add_view(database, View(name="some", query='number3 or "number5 for" or ek -number1 or pilot or cure'))
    none = await add_view(database, View(name="none", query="unheard"))

    async def held(of: View) -> list[object]:
        found: list[object] = []
        for kind in RecordKind:
            reader = Membership(None, of.id, {kind: await question_of(database, of, kind)})
            noted = await noted_records(database, reader, kind, bytes(32), b"\xff" * 32)
            keys = [RecordKey(kind, row.bucket, key) for key, row in sorted(noted.items())]
            standings = await load_standings(database, keys, reader)
            filters = await within(database, Filters(kind), of)
            found += [{key: row.is_wanted for key, row in noted.items()}]
            found += [{key: one.record is not None for key, one in standings.items()}]
            found += [
                await count_in_view(database, of, kind),
                [hit.url for hit in (await newest(database, filters)).hits],
            ]
        return found

    before = [await held(view), await held(none)]
    await switch_to(database, CLOCK, ColumnState.AWAY)
    assert [await held(view), await held(none)] == before
    assert "https://h3.example/" in str(before[0])


async def test_the_schema_of_before_is_not_taken_back_while_the_column_is_away(shelf: Shelf) -> None:
    """Its documents could not be found, and its rules would not hold for them."""
    (down,) = (one for one in known_migrations() if one.name == "search_elsewhere")
    await switch_to(shelf.database, CLOCK, ColumnState.AWAY)
    with pytest.raises(QueryFailed, match="search-engine postgresql"):
        await shelf.database.execute(down.down)
    await switch_to(shelf.database, CLOCK, ColumnState.KEPT)
