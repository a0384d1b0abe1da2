from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from tests.integration.archive.shelf import LONG, OTHER, SOURCE, Shelf, broken, key_of, page

from headwater.archive.documents import keep_document
from headwater.archive.job import Teller
from headwater.archive.jobs import delete_jobs, expire_jobs, keep_jobs
from headwater.database.pool import Database
from headwater.errors import QueryFailed, UsageError
from headwater.record_kind import RecordKind
from headwater.search.listing import newest
from headwater.search.question import LONGEST_QUESTION, Filters
from headwater.search.rules import RULES_OF_LANGUAGE
from headwater.search.search import Bounds, Hit, search
from headwater.search.views import View, add_view, within
from headwater.urls.domains import NO_VOICE
from headwater.vacancy import NewJob

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"
FILLING = " ".join(f"filling{n}" for n in range(60))


@pytest.fixture
async def shelf(database: Database) -> AsyncIterator[Shelf]:
    on_shelf = Shelf(database)
    yield on_shelf
    assert await broken(database) == []


async def urls(shelf: Shelf, query: str, filters: Filters | None = None, **fields: Any) -> list[str]:
    return [hit.url for hit in (await search(shelf.database, query, filters, **fields)).hits]


async def test_every_text_is_searched_by_the_rules_of_its_own_language(shelf: Shelf) -> None:
    await shelf.keep(A, "The cats were running home", language="en")
    await shelf.keep(B, "Die Häuser standen leer", language="de")
    await shelf.keep(C, "Kissat running", language="xx")
    assert await urls(shelf, "cat run") == [A]
    assert await urls(shelf, "Haus") == [B]
    assert await urls(shelf, "Kissa") == []
    assert set(await urls(shelf, "running")) == {A, C}


async def test_rules_of_languages_are_those_of_postgresql(database: Database) -> None:
    rows = await database.fetch("SELECT language, config::text AS rules FROM search_languages")
    assert {row["language"]: row["rules"] for row in rows} == RULES_OF_LANGUAGE


async def test_a_word_left_out_is_left_out_in_every_language(shelf: Shelf) -> None:
    await shelf.keep(A, "budget for cats", language="en")
    await shelf.keep(B, "budget for roads", language="en")
    assert await urls(shelf, "budget -cats") == [B]


async def test_a_named_language_is_searched_alone(shelf: Shelf) -> None:
    await shelf.keep(A, "budget", language="en")
    await shelf.keep(B, "budget", language="de")
    await shelf.keep(C, "budget", language="")
    assert await urls(shelf, "budget", Filters(language="de")) == [B]
    assert await urls(shelf, "budget", Filters(language="xx")) == []


async def test_a_title_counts_for_more_than_a_summary_and_that_for_more_than_the_text(shelf: Shelf) -> None:
    await shelf.keep(A, f"budget {FILLING}", title="Other")
    await shelf.keep(B, f"nothing {FILLING}", title="Budget")
    await shelf.keep(C, f"nothing else {FILLING}", title="Other", summary="The budget")
    assert await urls(shelf, "budget") == [B, C, A]


async def test_phrases_alternatives_keywords_and_authors_are_found(shelf: Shelf) -> None:
    await shelf.keep(A, "new york is large")
    await shelf.keep(B, "york has a new bridge", keywords=("bridges",), author="Ann Smith")
    assert await urls(shelf, '"new york"') == [A]
    assert set(await urls(shelf, "large or bridge")) == {A, B}
    assert await urls(shelf, "smith bridge") == [B]


async def test_documents_of_one_author_are_found_by_the_whole_name(shelf: Shelf) -> None:
    await shelf.keep(A, "the bridge of york", author="Ann Smith, Bo Ek", authors=("Ann Smith", "Bo Ek"))
    await shelf.keep(B, "another bridge", author="Ann Smithson", authors=("Ann Smithson",))
    for question in ("bridge", ""):
        for author, expected in (("Bo Ek", {A}), ("Ann Smith", {A}), ("Ann", set()), (None, {A, B})):
            filters = Filters(author=author)
            look = search(shelf.database, question, filters) if question else newest(shelf.database, filters)
            assert {hit.url for hit in (await look).hits} == expected


async def test_copies_are_found_only_when_asked_for(shelf: Shelf) -> None:
    await shelf.keep(A, FILLING)
    await shelf.keep(B, FILLING)
    assert await urls(shelf, "filling7") == [A]
    found = (await search(shelf.database, "filling7", Filters(duplicates=True))).hits
    assert {hit.url: hit.is_duplicate for hit in found} == {A: False, B: True}


async def test_the_deleted_are_not_found_until_they_are_back(shelf: Shelf) -> None:
    await shelf.keep(A, "budget")
    await shelf.tombstone(A)
    assert await urls(shelf, "budget") == []
    await shelf.keep(A, "budget")
    assert await urls(shelf, "budget") == [A]


async def test_what_a_page_no_longer_says_is_not_found(shelf: Shelf) -> None:
    await shelf.keep(A, "budget")
    await shelf.keep(A, "weather")
    assert await urls(shelf, "budget") == []
    assert await urls(shelf, "weather") == [A]


async def test_filters_keep_to_source_and_days(shelf: Shelf) -> None:
    other = uuid4()
    day = timedelta(days=1)
    published = shelf.now - 10 * day
    await shelf.keep(A, "budget", published_at=published)
    await shelf.keep(B, "budget", source_id=other)
    assert await urls(shelf, "budget", Filters(source_id=other)) == [B]
    assert await urls(shelf, "budget", Filters(since=shelf.now - day)) == [B]
    assert await urls(shelf, "budget", Filters(until=shelf.now - day)) == [A]
    assert await urls(shelf, "budget", Filters(until=published)) == []


async def test_a_snippet_shows_the_words_where_they_stand(shelf: Shelf) -> None:
    await shelf.keep(A, f"{FILLING} then the budgets were cut {FILLING}")
    (hit,) = (await search(shelf.database, "budget")).hits
    assert "the **budgets** were cut" in hit.snippet
    assert len(hit.snippet) < 800


@pytest.mark.parametrize(
    "text",
    [
        "budget = x > 1 && y < 2 || z -> 3",
        "budget <script>alert(1)</script> & more",
        'budget(List<Map<String, Integer>> a, "&amp;") => a[0]',
        "#include <budget> // cat < in > out 2>&1",
        "budget = 2 ** n ** 3 <!-- no comment -->",
    ],
)
async def test_a_snippet_shows_the_characters_of_the_text(shelf: Shelf, text: str) -> None:
    text = f"Before {text} after"
    await shelf.keep(A, text)
    (hit,) = (await search(shelf.database, "budget")).hits
    assert "".join(hit.pieces) == text
    assert any("budget" in piece for piece in hit.pieces[1::2])
    assert hit.snippet == text.replace(hit.pieces[1], f"**{hit.pieces[1]}**")


async def test_pages_follow_each_other_without_a_gap_or_a_repetition(shelf: Shelf) -> None:
    for n in range(23):
        await shelf.keep(f"https://h{n}.example/", f"budget {'word ' * (n % 5)}")
    found: list[Hit] = []
    cursor = None
    while True:
        answer = await search(shelf.database, "budget", limit=5, cursor=cursor)
        found += answer.hits
        cursor = answer.cursor
        if cursor is None:
            break
    assert len({hit.hash for hit in found}) == len(found) == 23
    assert [hit.rank for hit in found] == sorted((hit.rank for hit in found), reverse=True)


async def test_of_too_many_matches_the_newest_are_ranked_and_the_answer_says_so(shelf: Shelf) -> None:
    for url in (A, B, C):
        await shelf.keep(url, "budget")
    assert (await search(shelf.database, "budget")).is_complete
    answer = await search(shelf.database, "budget", bounds=Bounds(most_ranked=2))
    assert {hit.url for hit in answer.hits} == {B, C}
    assert not answer.is_complete


HOSTILE = [
    "",
    "!!!:*&",
    "a & | !",
    "'",
    '"',
    '""',
    "\0",
    "a\0b",
    "\ud800",
    "-",
    "- -",
    ":*",
    "the",
    "or",
    "\\",
    "%",
    "$1",
]
HOSTILE += ["(" * LONGEST_QUESTION, "a " * (LONGEST_QUESTION // 2), "-a " * 160, '"' * 99, "𐌰" * LONGEST_QUESTION]
HOSTILE += ["a_" * 250, "%s %L", "language english"]


async def test_nothing_typed_is_an_error_in_itself(shelf: Shelf, subtests: pytest.Subtests) -> None:
    await shelf.keep(A, "budget")
    for query, kind in product(HOSTILE, RecordKind):
        with subtests.test(query=query, kind=kind):
            await search(shelf.database, query, Filters(kind))


async def test_a_question_of_a_megabyte_is_refused(shelf: Shelf) -> None:
    with pytest.raises(UsageError, match="characters"):
        await search(shelf.database, "a" * 1_000_000)


@pytest.mark.parametrize("fields", [{"limit": 0}, {"limit": 101}, {"cursor": "zz"}, {"cursor": "00"}])
async def test_an_impossible_page_is_refused(shelf: Shelf, fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        await search(shelf.database, "budget", **fields)


async def test_a_search_that_takes_too_long_says_what_to_do(shelf: Shelf) -> None:
    async with shelf.database.transaction() as connection:
        await keep_document(connection, page(A, "budget"), shelf.now)
    # Whatever makes it slow, the limit is PostgreSQL's own.
    await shelf.database.execute("""
        CREATE OR REPLACE FUNCTION config_mark(p_config regconfig) RETURNS text LANGUAGE plpgsql STABLE AS
        $$ BEGIN PERFORM pg_sleep(60); RETURN ''; END $$""")
    with pytest.raises(UsageError, match="too long"):
        await search(shelf.database, "budget", bounds=Bounds(patience_seconds=0.05))


async def test_a_broken_database_is_not_the_askers_mistake(shelf: Shelf) -> None:
    await shelf.database.execute("ALTER TABLE documents RENAME COLUMN title TO heading")
    with pytest.raises(QueryFailed):
        await search(shelf.database, "budget")
    await shelf.database.execute("ALTER TABLE documents RENAME COLUMN heading TO title")


def job(name: str, **fields: Any) -> NewJob:
    ours = {"canonical_hash": key_of(f"https://j.example/{name}").url_hash, "title": name, "org_name": "Org"}
    return NewJob(**ours | {"apply_url": f"https://j.example/{name}", "language": "en"} | fields)


async def test_open_vacancies_are_found_by_title_organisation_and_tags(shelf: Shelf) -> None:
    await shelf.keep(A, "nurses wanted")
    async with shelf.database.transaction() as connection:
        over = job("Old nurse", deadline=shelf.now.date())
        jobs = [
            job("Night nurse", description_snippet="Care for people"),
            job("Driver", org_name="Nurse Aid", mission_tags=("health",)),
            job("Taken nurse"),
            over,
        ]
        await keep_jobs(connection, Teller(SOURCE, "https://j.example/", NO_VOICE), jobs, shelf.now)
        await delete_jobs(connection, [jobs[2].key], "ann", "spam", shelf.now)
        await expire_jobs(connection, shelf.now + timedelta(days=3))
    wanted = Filters(RecordKind.JOB)
    assert await urls(shelf, "nurses", wanted) == ["https://j.example/Night nurse", "https://j.example/Driver"]
    assert await urls(shelf, "health", wanted) == ["https://j.example/Driver"]
    (hit,) = (await search(shelf.database, "caring", wanted)).hits
    assert (hit.kind, hit.snippet) == (RecordKind.JOB, "**Care** for people")


JOINED = [
    *("coordinateur", "trice", "Coordinateur/trice", '"coordinateur/trice de projet"', "terrain", "chargé"),
    *("coordinateur -driver/cook", "https://o.example/postes", "o.example", '"projet', "x or projet/s or terrain"),
]


async def test_words_joined_by_a_slash_are_found_each_and_together(shelf: Shelf, subtests: pytest.Subtests) -> None:
    said = "Chargé/e du terrain/siège, https://o.example/postes"
    wanted = job("one", title="Coordinateur/trice de projet", description_snippet=said, language="fr")
    jobs = [wanted, job("two", title="Driver/cook")]
    async with shelf.database.transaction() as connection:
        await keep_jobs(connection, Teller(SOURCE, "https://j.example/", NO_VOICE), jobs, shelf.now)
    for question in JOINED:
        with subtests.test(question=question):
            assert await urls(shelf, question, Filters(RecordKind.JOB)) == ["https://j.example/one"]


# The same again and again: what a search must not read one by one.
MANY = """
    INSERT INTO documents (bucket, url_hash, source_id, url, canonical_url, title, text, summary, author, language,
                           section, keywords, images, word_count, page_type, quality_parts, content_hash, produced_by,
                           metadata, version, crawled_at, first_seen_at, changed_at, search)
    SELECT d.bucket, sha256(d.url_hash || int8send(n)), d.source_id, d.url, d.canonical_url, d.title, d.text, '', '',
           d.language, '', '{}', '{}', 1, '', '{}', d.content_hash, '', '{}', 1, d.crawled_at, d.first_seen_at,
           d.changed_at, search_vector('en', 'common', '', '', 'other')
    FROM documents d CROSS JOIN generate_series(1, 70) AS n"""


@pytest.mark.long
async def test_a_rare_word_goes_by_the_index_of_words_and_a_common_one_by_time(shelf: Shelf) -> None:
    """Of a word in every document the newest are ranked: to find them among all matches would read them all."""
    async with shelf.database.transaction() as connection:
        for n in range(300):
            await keep_document(connection, page(f"https://h{n}.example/", f"word{n}", title="common"), shelf.now)
    await shelf.database.execute(MANY)
    await shelf.database.execute("ANALYZE documents")
    scans = "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname = 'documents_search'"
    seq = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'documents'"
    before = await counted(shelf.database, scans), await counted(shelf.database, seq)
    for _ in range(7):
        # More often than the server makes a plan for each question by itself.
        assert len(await urls(shelf, "word77")) == 1
    assert (await counted(shelf.database, scans), await counted(shelf.database, seq)) == (before[0] + 7, before[1])
    read = "SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'documents'"
    touched = await counted(shelf.database, read)
    assert len(await urls(shelf, "common")) == 20
    assert await counted(shelf.database, read) - touched < 3_000, "a thousand newest of 21,300"
    assert (await counted(shelf.database, scans), await counted(shelf.database, seq)) == (before[0] + 7, before[1])
    await shelf.database.execute("DELETE FROM documents")


async def counted(database: Database, query: str) -> int:
    async with database.transaction() as connection:
        await connection.execute("SELECT pg_stat_force_next_flush()")
    count: int = await database.fetchval(query)
    return count


async def test_a_view_is_looked_for_among_the_newest_matches_and_the_answer_says_so(shelf: Shelf) -> None:
    view = await add_view(shelf.database, View(name="trains", query="train"))
    await shelf.keep(A, f"budget train {LONG}")
    await shelf.keep(B, f"budget ferry {OTHER}")
    wanted = await within(shelf.database, Filters(), view)
    whole = await search(shelf.database, "budget", wanted)
    assert ([hit.url for hit in whole.hits], whole.is_complete) == ([A], True)
    cut = await search(shelf.database, "budget", wanted, bounds=Bounds(most_looked_at=1))
    assert (cut.hits, cut.is_complete) == ([], False)
    none = await search(shelf.database, "harvest", wanted, bounds=Bounds(most_looked_at=1))
    assert (none.hits, none.is_complete) == ([], True)


CHINESE = "国家统计局周四公布，明年的国家预算将增加。AI预算另行公布，共5亿元。"
JAPANESE = "来年度の予算案が、カタログとともに公表された。猫も喜んだ。"
KOREAN = "내년 예산을 정부가 발표했다."
THAI = "รัฐบาลประกาศงบประมาณปีหน้า"


@pytest.mark.parametrize(
    ("text", "language", "found", "missed"),
    [
        (
            CHINESE,
            "zh",
            ("预算", "国家预算", '"明年的国家预算"', "预", "AI预算", "预算 统计局", "x or 预算"),
            ("国预", "算预算"),
        ),
        (JAPANESE, "ja", ("予算", "予算案", "カタログ", "猫", '"予算案が" 公表'), ("算予", "カログ")),
        (KOREAN, "ko", ("예산", "정부", '"예산을 정부가"'), ("산예",)),
        (THAI, "th", ("งบประมาณ", "รัฐบาล"), ("งมาณ",)),
        (f"A report in English on 预算. {FILLING}", "en", ("预算", "report", "reports 预算"), ("-预算 report",)),
    ],
)
async def test_words_of_scripts_without_spaces_are_found_within_their_clauses(
    shelf: Shelf, text: str, language: str, found: tuple[str, ...], missed: tuple[str, ...]
) -> None:
    await shelf.keep(A, text, language=language)
    await shelf.keep(B, "Something else, 其他", language="en")
    assert {question for question in (*found, *missed) if A in await urls(shelf, question)} == set(found)


async def test_a_piece_of_a_text_without_spaces_reads_as_it_was_written(shelf: Shelf) -> None:
    await shelf.keep(A, CHINESE, language="zh")
    [hit] = (await search(shelf.database, "国家预算")).hits
    assert "".join(hit.pieces) in CHINESE
    assert "明年的**国家预算**将增加" in hit.snippet
    [hit] = (await search(shelf.database, "预算")).hits
    assert "国家**预算**将" in hit.snippet
    assert "AI**预算**另行" in hit.snippet


async def test_words_that_were_written_by_other_rules_are_written_anew(shelf: Shelf) -> None:
    await shelf.keep(A, CHINESE, language="zh")
    await shelf.database.execute("UPDATE documents SET search = to_tsvector('simple', text)")
    assert await urls(shelf, "预算") == []
    words = "document_words(language, title, summary, keywords, author, text)"
    await shelf.database.execute(
        f"UPDATE documents SET search = {words} WHERE search IS NOT NULL AND language IN ('zh', 'ja', 'ko', 'th')"
    )
    assert await urls(shelf, "预算") == [A]


async def test_the_longest_text_without_spaces_is_stored(shelf: Shelf) -> None:
    letters = "".join(chr(0x20000 + number * 7919 % 40_000) for number in range(100_000))
    await shelf.keep(A, letters, language="zh", title=letters[:2_000], summary=letters[:5_000])
    assert await urls(shelf, letters[40_000:40_005]) == [A]
