"""Facets that PostgreSQL counts."""

import pytest
from tests.integration.archive.shelf import LONG, SOURCE, Shelf, page
from tests.integration.search.facets import EVERY, OTHER, keep_pages, told
from tests.integration.search.test_search import HOSTILE, MANY, counted

from headwater.archive.documents import keep_document
from headwater.database.pool import Database
from headwater.errors import UsageError
from headwater.search.facets import MOST_VALUES, Facet, facets_of_newest, facets_of_search, facets_wanted
from headwater.search.question import Filters
from headwater.search.search import Bounds
from headwater.search.views import View, add_view, within


@pytest.fixture
async def shelf(database: Database) -> Shelf:
    return Shelf(database)


async def test_every_value_is_counted_and_the_most_frequent_is_first(shelf: Shelf) -> None:
    await keep_pages(shelf)
    found = await facets_of_search(shelf.database, "budget", Filters(), EVERY)
    assert told(found) == {
        "source": {"The Gazette": 3, "Die Zeitung": 1, "…": 1},
        "host": {"a.example": 3, "b.example": 2},
        "language": {"en": 3, "de": 1},
        "page_type": {"article": 4, "live": 1},
        "author": {"Ann Smith": 2, "Bo Ek": 1},
        "month": {"2026-06": 1, "2026-05": 2, "2025-12": 2},
        "day": {"2026-06-01": 1, "2026-05-31": 1, "2026-05-06": 1, "2025-12-24": 2},
    }
    assert (found.counted, found.is_complete, found.engine) == (5, True, "PostgreSQL")
    assert [one.facet for one in found.counts] == list(EVERY)
    assert {value.value for value in found.counts[0].values} == {str(SOURCE), str(OTHER)}


async def test_without_words_the_newest_are_counted(shelf: Shelf) -> None:
    await keep_pages(shelf)
    found = await facets_of_newest(shelf.database, Filters(), (Facet.HOST,))
    assert told(found) == {"host": {"a.example": 3, "b.example": 2, "c.example": 1}}
    assert (found.counted, found.is_complete) == (6, True)
    within_source = await facets_of_newest(shelf.database, Filters(source_id=SOURCE, page_type="live"), (Facet.HOST,))
    assert told(within_source) == {"host": {"a.example": 1}}
    nobody = await facets_of_newest(shelf.database, Filters(language="xx"), (Facet.HOST,))
    assert (told(nobody), nobody.counted, nobody.is_complete) == ({"host": {}}, 0, True)


async def test_an_author_who_is_named_twice_is_counted_once(shelf: Shelf) -> None:
    await shelf.keep("https://a.example/", "budget", authors=("Ann", "Bo", "Ann", ""))
    found = await facets_of_search(shelf.database, "budget", Filters(), (Facet.AUTHOR,))
    assert told(found) == {"author": {"Ann": 1, "Bo": 1}}


async def test_of_many_values_ten_are_told_and_the_others_summed_up(shelf: Shelf) -> None:
    for n in range(MOST_VALUES + 3):
        await shelf.keep(f"https://h{n:02}.example/", "budget")
    await shelf.keep("https://h12.example/again", "budget")
    (hosts,) = (await facets_of_search(shelf.database, "budget", Filters(), (Facet.HOST,))).counts
    assert [value.value for value in hosts.values] == ["h12.example", *(f"h{n:02}.example" for n in range(9))]
    assert hosts.others == 3


async def test_of_too_many_matches_the_newest_are_counted_and_the_answer_says_so(shelf: Shelf) -> None:
    for n in range(4):
        await shelf.keep(f"https://h{n}.example/", "budget")
    found = await facets_of_search(shelf.database, "budget", Filters(), (Facet.HOST,), Bounds(most_ranked=2))
    assert told(found) == {"host": {"h2.example": 1, "h3.example": 1}}
    assert (found.counted, found.is_complete) == (2, False)


async def test_a_view_is_counted_among_the_newest_matches_and_the_answer_says_so(shelf: Shelf) -> None:
    view = await add_view(shelf.database, View(name="trains", query="train"))
    await shelf.keep("https://a.example/", f"budget train {LONG}")
    await shelf.keep("https://b.example/", "budget ferry")
    wanted = await within(shelf.database, Filters(), view)
    whole = await facets_of_search(shelf.database, "budget", wanted, (Facet.HOST,))
    assert (told(whole), whole.is_complete) == ({"host": {"a.example": 1}}, True)
    cut = await facets_of_search(shelf.database, "budget", wanted, (Facet.HOST,), Bounds(most_looked_at=1))
    assert (told(cut), cut.is_complete) == ({"host": {}}, False)
    listed = await facets_of_newest(shelf.database, wanted, (Facet.HOST,))
    assert told(listed) == {"host": {"a.example": 1}}


async def test_the_deleted_and_copies_are_not_counted(shelf: Shelf) -> None:
    for n in range(3):
        await shelf.keep(f"https://h{n}.example/", LONG)
    await shelf.keep("https://gone.example/", "word7 alone")
    await shelf.tombstone("https://gone.example/")
    assert told(await facets_of_search(shelf.database, "word7", Filters(), (Facet.HOST,))) == {
        "host": {"h0.example": 1}
    }
    every = await facets_of_search(shelf.database, "word7", Filters(duplicates=True), (Facet.HOST,))
    assert every.counted == 3


@pytest.mark.parametrize("word", ["sources", "title", "", " ", "source;drop", "a" * 5_000, "\0"])
def test_an_unknown_facet_is_refused_with_those_there_are(word: str) -> None:
    if not word.strip():
        assert facets_wanted([word, ",", f"{word},"]) == ()
        return
    with pytest.raises(UsageError) as refused:
        facets_wanted(["source", word])
    assert refused.value.fix == "One of: source, host, language, page_type, author, month, day."
    assert len(refused.value.what) < 100


def test_a_facet_that_is_named_again_is_asked_for_once() -> None:
    assert facets_wanted(["source, LANGUAGE", "source"] * 50) == (Facet.SOURCE, Facet.LANGUAGE)
    assert facets_wanted([]) == ()


async def test_nothing_typed_is_an_error_in_itself(shelf: Shelf, subtests: pytest.Subtests) -> None:
    for question in HOSTILE:
        with subtests.test(question=question[:40]):
            assert (await facets_of_search(shelf.database, question, Filters(), EVERY)).counted == 0


async def test_a_question_that_asks_for_nothing_has_its_facets_without_values(shelf: Shelf) -> None:
    found = await facets_of_search(shelf.database, "the", Filters(language="en"), (Facet.MONTH, Facet.HOST))
    assert (told(found), found.counted, found.is_complete) == ({"month": {}, "host": {}}, 0, True)


@pytest.mark.long
async def test_of_a_common_word_no_more_than_the_newest_thousand_are_read(shelf: Shelf) -> None:
    async with shelf.database.transaction() as connection:
        for n in range(300):
            await keep_document(connection, page(f"https://h{n}.example/", f"word{n}", title="common"), shelf.now)
    await shelf.database.execute(MANY)
    await shelf.database.execute("ANALYZE documents")
    scans = "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname = 'documents_search'"
    read = "SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'documents'"
    seq = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'documents'"
    before, touched, whole = [await counted(shelf.database, query) for query in (scans, read, seq)]
    found = await facets_of_search(shelf.database, "common", Filters(), EVERY)
    assert (found.counted, found.is_complete) == (1_000, False)
    assert await counted(shelf.database, read) - touched < 3_000, "a thousand newest of 21,300"
    assert (await counted(shelf.database, scans), await counted(shelf.database, seq)) == (before, whole)
    rare = await facets_of_search(shelf.database, "word77", Filters(), EVERY)
    assert (rare.counted, await counted(shelf.database, scans)) == (1, before + 1)
    touched = await counted(shelf.database, read)
    newest = await facets_of_newest(shelf.database, Filters(), EVERY)
    assert (newest.counted, newest.is_complete) == (1_000, False)
    few = await facets_of_newest(shelf.database, Filters(host="nobody.example"), EVERY)
    assert (few.counted, few.is_complete) == (0, False)
    assert await counted(shelf.database, read) - touched < 10_000, "the newest thousand, and five thousand for the few"
    await shelf.database.execute("DELETE FROM documents")
