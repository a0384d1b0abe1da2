"""The archive without words, newest first."""

from typing import Any
from uuid import UUID

import pytest
from tests.integration.archive.shelf import LONG, SOURCE, Shelf

from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.database.pool import Database
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.search.listing import Stretch, newest
from headwater.search.question import Filters
from headwater.search.search import queries, search
from headwater.urls.domains import NO_VOICE
from headwater.vacancy import NewJob

OTHER = UUID(int=7)
TELLER = Teller(OTHER, "https://j.example/", NO_VOICE)


@pytest.fixture
def shelf(database: Database) -> Shelf:
    return Shelf(database)


def address(number: int) -> str:
    return f"https://a.example/{number}"


async def run_state(shelf: Shelf, filters: Filters, **bounds: Any) -> list[list[str]]:
    """Every page until there is no cursor."""
    pages, cursor = [], None
    while True:
        page = await newest(shelf.database, filters, cursor=cursor, **bounds)
        pages.append([hit.url for hit in page.hits])
        if (cursor := page.cursor) is None:
            return pages


async def test_pages_go_from_the_newest_to_the_oldest_and_name_each_document_once(shelf: Shelf) -> None:
    for number in range(5):
        await shelf.keep(address(number), f"text number {number}")
    pages = await run_state(shelf, Filters(), limit=2)
    assert pages == [[address(4), address(3)], [address(2), address(1)], [address(0)]]


async def test_documents_of_one_moment_are_named_once_each(shelf: Shelf) -> None:
    for number in range(7):
        await shelf.keep(address(number), f"text number {number}")
    await shelf.database.execute(f"/* by hand */ update documents set first_seen_at = '{shelf.now.isoformat()}'")
    pages = await run_state(shelf, Filters(), limit=3)
    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted(url for page in pages for url in page) == [address(number) for number in range(7)]


async def test_filters_hold_and_deleted_documents_are_not_listed(shelf: Shelf) -> None:
    await shelf.keep(address(1), "one", language="de", source_id=OTHER)
    await shelf.keep(address(2), LONG, language="en")
    await shelf.keep(address(3), LONG, language="en")
    await shelf.keep(address(4), "four", language="en", published_at=shelf.now.replace(year=2001))
    await shelf.keep(address(5), "five")
    await shelf.tombstone(address(5))
    assert await run_state(shelf, Filters(language="de")) == [[address(1)]]
    assert await run_state(shelf, Filters(source_id=OTHER)) == [[address(1)]]
    assert await run_state(shelf, Filters(source_id=SOURCE, language="de")) == [[]]
    assert await run_state(shelf, Filters(until=shelf.now.replace(year=2010))) == [[address(4)]]
    assert await run_state(shelf, Filters(since=shelf.now.replace(year=2010))) == [[address(2), address(1)]]
    assert (await run_state(shelf, Filters(duplicates=True)))[0][:2] == [address(4), address(3)]


async def test_a_rare_filter_answers_with_how_far_it_has_searched(shelf: Shelf) -> None:
    ann = ("Ann Lee",)
    await shelf.keep(address(0), "the rare one", authors=ann)
    for number in range(1, 8):
        await shelf.keep(address(number), f"text number {number}")
    for number in (8, 9):
        await shelf.keep(address(number), f"text number {number}", authors=ann)
    hers = Filters(author="Ann Lee")
    pages = await run_state(shelf, hers, limit=3, stretch=Stretch(3, 1))
    assert pages == [[address(9), address(8)], [], [], [address(0)]]
    assert await run_state(shelf, hers, limit=3, stretch=Stretch(3, 2)) == [[address(9), address(8)], [address(0)]]
    assert await run_state(shelf, hers, limit=3) == [[address(9), address(8), address(0)]]


async def test_documents_of_a_rare_language_are_found_without_looking_at_others(shelf: Shelf) -> None:
    for number in range(9):
        await shelf.keep(address(number), f"text number {number}", language="de" if number in (0, 8) else "en")
    pages = await run_state(shelf, Filters(language="de"), stretch=Stretch(2, 1, 2))
    assert [url for page in pages for url in page] == [address(8), address(0)]
    assert len(pages) <= 2


async def test_documents_of_a_view_of_few_sources_are_found_without_looking_at_others(shelf: Shelf) -> None:
    """In the order of all, although they are read source by source."""
    mine = [UUID(int=n) for n in (11, 12, 13)]
    for number in range(12):
        source = mine[number % 3] if number in (0, 1, 2, 9) else OTHER
        await shelf.keep(address(number), f"text number {number}", source_id=source)
    view = await shelf.database.fetchval(
        "INSERT INTO views (name, source_ids) VALUES ('mine', $1) RETURNING id /* by hand */", mine
    )
    found = await run_state(shelf, Filters(view_id=view), limit=3, stretch=Stretch(3, 1))
    assert found == [[address(9), address(2), address(1)], [address(0)]]
    assert (await search(shelf.database, "number", Filters(view_id=view))).is_complete


async def test_a_language_that_no_document_has_is_known_without_looking_at_any(shelf: Shelf) -> None:
    for number in range(3):
        await shelf.keep(address(number), f"text number {number}", language="en")
    page = await newest(shelf.database, Filters(language="xx"), stretch=Stretch(1, 1, 1))
    assert (page.hits, page.cursor) == ([], None)


async def test_vacancies_are_listed_by_what_they_are(shelf: Shelf) -> None:
    async with shelf.database.transaction() as connection:
        for number, country in enumerate(("KE", "UG", "KE")):
            shelf.wait()
            one = NewJob(
                canonical_hash=bytes([number]) * 32,
                title=f"Nurse {number}",
                org_name="Org",
                apply_url=f"https://j.example/{number}",
                language="en",
                country_iso=country,
                mission_tags=("health", "wash"),
            )
            await keep_jobs(connection, TELLER, [one], shelf.now)
    filters = Filters(RecordKind.JOB)
    assert await run_state(shelf, filters, wanted={"country_iso": "KE"}, limit=1) == [
        ["https://j.example/2"],
        ["https://j.example/0"],
    ]
    assert len((await run_state(shelf, filters, wanted={"mission_tags": "wash"}))[0]) == 3
    assert await run_state(shelf, filters, wanted={"country_iso": "KE", "mission_tags": "gender"}) == [[]]
    await shelf.database.execute("/* by hand */ update jobs set status = 'expired' where country_iso = 'UG'")
    assert len((await run_state(shelf, Filters(RecordKind.JOB, source_id=OTHER)))[0]) == 2


@pytest.mark.parametrize("cursor", ["zz", "00" * 37, "7f" * 41, "00"])
async def test_a_cursor_of_something_else_is_a_sentence(shelf: Shelf, cursor: str) -> None:
    with pytest.raises(UsageError, match="cursor was not made by a list"):
        await newest(shelf.database, Filters(), cursor=cursor)


@pytest.mark.parametrize("source", [None, SOURCE])
@pytest.mark.parametrize(("kind", "table"), [("documents", "documents"), ("jobs", "jobs")])
async def test_an_index_gives_the_order(shelf: Shelf, source: UUID | None, kind: str, table: str) -> None:
    """A small table would be read whole whatever there is: the planner is told that this is dear."""
    statement = queries.newest_jobs if kind == "jobs" else queries.newest_documents
    values = dict.fromkeys(statement.parameters) | {
        "sources": [source] if source else None,
        "first_seen_at": shelf.now,
        "bucket": 3,
        "hash": b"x" * 32,
        "duplicates": False,
        "most": 20_000,
        "limit": 20,
    }
    _, *arguments = statement(**values)
    async with shelf.database.transaction() as connection:
        await connection.execute("set local enable_seqscan = off")
        await connection.execute("set local enable_sort = off")
        rows = await connection.fetch(f"explain {statement}", *arguments)
    plan = "\n".join(row[0] for row in rows)
    assert f"using {table}_{'of_source' if source else 'by_time'}" in plan
