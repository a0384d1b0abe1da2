"""Facets that a real OpenSearch counts, beside those of PostgreSQL on the same archive."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.integration.archive.shelf import SOURCE
from tests.integration.search.engines import Both, both_engines
from tests.integration.search.facets import EVERY, OTHER, at, keep_pages, told
from tests.integration.search.test_search import FILLING

from headwater.database.pool import Database
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.search.engine import PostgreSQLEngine
from headwater.search.facets import MOST_VALUES, Facet, Facets
from headwater.search.question import Filters
from headwater.search.search import Bounds
from headwater.search.views import View, add_view, within

# One worker starts each server, and once.
pytestmark = [
    pytest.mark.opensearch,
    pytest.mark.xdist_group("search_servers"),
    pytest.mark.parametrize("search_server_url", ["opensearch"], indirect=True),
]


@pytest.fixture
async def both(database: Database, search_server_url: str) -> AsyncIterator[Both]:
    async with both_engines(database, search_server_url) as engines:
        yield engines


async def facets(both: Both, question: str, filters: Filters, bounds: Bounds | None = None) -> tuple[Facets, Facets]:
    """PostgreSQL's, and OpenSearch's."""
    ours = await PostgreSQLEngine(both.database).facets(question, filters, EVERY)
    theirs = await (await both.opensearch(bounds or Bounds())).facets(question, filters, EVERY)
    assert (ours.engine, theirs.engine) == ("PostgreSQL", "OpenSearch")
    return ours, theirs


async def test_both_engines_count_the_same(both: Both, subtests: pytest.Subtests) -> None:
    await keep_pages(both.shelf)
    await both.fill()
    add = both.database
    views = [
        await add_view(add, View(name="words", query="one or two or vier", languages=("en", "de"))),
        await add_view(add, View(name="german", tags=("german",))),
        await add_view(add, View(name="gazette", source_ids=(SOURCE,))),
        await add_view(add, View(name="nowhere", countries=("DE",))),
        await add_view(add, View(name="vacancies", kinds=(RecordKind.JOB,))),
        await add_view(add, View(name="documents", kinds=(RecordKind.DOCUMENT,))),
    ]
    table = [
        Filters(),
        Filters(language="en"),
        Filters(language="xx"),
        Filters(source_id=OTHER),
        Filters(host="a.example"),
        Filters(host="a.example", page_type="live"),
        Filters(page_type="article"),
        Filters(author="Ann Smith"),
        Filters(rights=("train=unknown",)),
        Filters(rights=("train=refused",)),
        Filters(duplicates=True),
        Filters(since=at("2026-05-01"), until=at("2026-06-01")),
        Filters(since=at("2026-05-31T23:59:59.999999"), until=at("2026-06-01")),
        Filters(since=at("2026-06-01"), until=at("2026-06-01") + timedelta(microseconds=1)),
        *[await within(add, Filters(), view) for view in views],
        await within(add, Filters(source_id=OTHER), views[1]),
        await within(add, Filters(source_id=SOURCE), views[1]),
    ]
    counted_any = 0
    for filters in table:
        for question in ("budget", "budget -one", "the", "two or nothing"):
            with subtests.test(filters=filters, question=question):
                ours, theirs = await facets(both, question, filters)
                assert replace(theirs, engine=ours.engine) == ours
                counted_any += bool(ours.counted)
    assert counted_any > len(table), "a table without answers proves nothing"


async def test_each_value_as_a_filter_finds_as_many_as_were_counted(both: Both) -> None:
    await keep_pages(both.shelf)
    await both.fill()
    for engine in (PostgreSQLEngine(both.database), await both.opensearch()):
        found = await engine.facets("budget", Filters(), (Facet.HOST, Facet.PAGE_TYPE, Facet.LANGUAGE, Facet.AUTHOR))
        for counts in found.counts:
            for value in counts.values:
                filters = Filters(**{str(counts.facet): value.value})  # type: ignore[arg-type]
                hits = (await engine.search("budget", filters, limit=50)).hits
                assert len(hits) == value.count, (counts.facet, value)


async def test_opensearch_counts_more_than_are_ranked_and_postgresql_says_that_it_did_not(both: Both) -> None:
    for n in range(MOST_VALUES + 3):
        await both.shelf.keep(f"https://h{n:02}.example/", f"budget {n}")
    await both.fill()
    theirs = await (await both.opensearch(Bounds(most_ranked=2))).facets("budget", Filters(), (Facet.HOST,))
    assert (theirs.counted, theirs.is_complete, theirs.counts[0].others) == (13, True, 3)
    assert [value.value for value in theirs.counts[0].values] == [f"h{n:02}.example" for n in range(MOST_VALUES)]
    assert theirs.counts[0].is_exact


async def test_copies_are_counted_by_the_archive_when_asked_for(both: Both) -> None:
    await both.shelf.keep("https://a.example/", FILLING)
    await both.shelf.keep("https://b.example/", FILLING)
    await both.fill()
    ours, theirs = await facets(both, "filling7", Filters(duplicates=True))
    assert told(theirs) == told(ours)
    assert theirs.counted == 2


async def test_where_nothing_was_sent_yet_nothing_is_counted(both: Both) -> None:
    _, theirs = await facets(both, "budget", Filters())
    assert (theirs.counted, theirs.is_complete) == (0, True)
    assert told(theirs) == {str(one): {} for one in EVERY}


async def test_vacancies_have_no_facets(both: Both) -> None:
    for engine in (PostgreSQLEngine(both.database), await both.opensearch()):
        with pytest.raises(UsageError, match="Vacancies have no facets"):
            await engine.facets("nurse", Filters(RecordKind.JOB), EVERY)
