"""Searches that a real OpenSearch answers, beside those of PostgreSQL on the same archive."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from tests.integration.archive.shelf import SOURCE
from tests.integration.search.engines import Both, both_engines, urls_of
from tests.integration.search.test_search import FILLING, HOSTILE, JOINED, job

from headwater.database.pool import Database
from headwater.record_kind import RecordKind
from headwater.rights.record import PageUse, Rights
from headwater.search.question import Filters
from headwater.search.search import Bounds
from headwater.search.views import View, add_view, within

# One worker starts each server, and once.
pytestmark = [
    pytest.mark.opensearch,
    pytest.mark.xdist_group("search_servers"),
    pytest.mark.parametrize("search_server_url", ["opensearch"], indirect=True),
]

OTHER_SOURCE = uuid4()
# By the name of the page.
PAGES: dict[str, dict[str, Any]] = {
    "cats": {"text": "The cats were running home from the market", "language": "en", "authors": ("Ann Smith",)},
    "york": {"text": "New York is a large town, and well-known for it", "language": "en"},
    "bridge": {"text": "York has a new bridge", "language": "en", "keywords": ("bridges",), "author": "Ann Smith"},
    "budget": {"text": "Nothing here", "title": "The budget of the town", "language": "en", "quality": 80},
    "summary": {"text": "Nothing there", "summary": "A budget, in short", "language": "en", "quality": 20},
    "lowly": {
        "text": f"{FILLING} at last a budget",
        "language": "en",
        "rights": Rights(refused=frozenset({PageUse.TRAIN})),
    },
    "haus": {"text": "Die Häuser standen leer am Markt", "language": "de", "source_id": OTHER_SOURCE},
    "maison": {"text": "Les maisons étaient vides, l'hiver venu", "language": "fr"},
    "dom": {"text": "Дома стояли пустыми, writers said", "language": "ru"},
    "kissa": {"text": "Kissat running the budget", "language": "xx"},
    "none": {"text": "A page of no language: running 3.14 times, see example.org/path or foo@bar.org", "language": ""},
    "dash": {"text": "snake_case and driver/cook, O'Reilly; rock'n'roll: a:b", "language": "en"},
}
QUESTIONS = [
    *("cat run", "running", "market", "Markt", "Haus", "maison vide", "hiver", "дом", "writer", "Kissa", "kissat"),
    *('"new york"', '"york new"', "new york", "york -bridge", "-york budget", "bridge or budget", "bridges smith"),
    *('"the budget of the town"', '"budget town"', '"budget of the town"', "the", "the budget", "the or york", "-the"),
    *("well-known", '"a well-known"', '"and well-known for it"', "known", "example.org", "foo@bar.org", "3.14"),
    *("example.org/path", "snake_case", "case", "O'Reilly", "reilly", "rock'n'roll", "a:b", "nothing here or there"),
    *(
        "budget -nothing",
        "-budget",
        "unheard",
        "large or (bridge)",
        '"large town" or "new bridge"',
        "budget or york -new",
    ),
]


@pytest.fixture
async def both(database: Database, search_server_url: str) -> AsyncIterator[Both]:
    async with both_engines(database, search_server_url) as engines:
        yield engines


@pytest.fixture
async def filled(both: Both) -> Both:
    for name, fields in PAGES.items():
        await both.shelf.keep(f"https://a.example/{name}", **{"title": "A page", **fields})
    await both.fill()
    return both


async def test_both_engines_find_the_same(filled: Both, subtests: pytest.Subtests) -> None:
    found_any = 0
    for question in QUESTIONS:
        with subtests.test(question=question):
            ours, theirs = await filled.answers(question)
            assert set(urls_of(theirs.hits)) == set(urls_of(ours.hits))
            assert (ours.engine, theirs.engine) == ("PostgreSQL", "OpenSearch")
            assert theirs.is_complete
            found_any += bool(theirs.hits)
    assert found_any > len(QUESTIONS) * 0.8, "a table of questions without answers proves nothing"


async def test_both_engines_keep_to_the_same_filters(filled: Both, subtests: pytest.Subtests) -> None:
    shelf = filled.shelf
    row = await shelf.row("https://a.example/budget")
    view = await add_view(shelf.database, View(name="towns", query="the town or market", languages=("en", "de")))
    good = await add_view(shelf.database, View(name="good", min_quality=50))
    table = [
        Filters(language="en"),
        Filters(language="xx"),
        Filters(language=""),
        Filters(source_id=OTHER_SOURCE),
        Filters(source_id=uuid4()),
        Filters(since=row["first_seen_at"]),
        Filters(until=row["first_seen_at"]),
        Filters(until=row["first_seen_at"] + timedelta(microseconds=1)),
        Filters(author="Ann Smith"),
        Filters(author="Ann"),
        Filters(rights=("train=refused",)),
        Filters(rights=("train=unknown", "tdm=unknown")),
        await within(shelf.database, Filters(), view),
        await within(shelf.database, Filters(), good),
        await within(shelf.database, Filters(language="en", rights=("train=unknown",)), view),
    ]
    for filters in table:
        for question in ("budget or york or house or running or Markt or haus", "the", "-unheard", "running"):
            with subtests.test(filters=filters, question=question):
                ours, theirs = await filled.answers(question, filters)
                assert set(urls_of(theirs.hits)) == set(urls_of(ours.hits))


async def test_a_title_counts_for_more_than_a_summary_and_that_for_more_than_the_text(filled: Both) -> None:
    ours, theirs = await filled.answers("budget", Filters(language="en"))
    assert (
        urls_of(theirs.hits) == urls_of(ours.hits) == [f"https://a.example/{n}" for n in ("budget", "summary", "lowly")]
    )


async def test_words_near_each_other_count_for_more_and_of_equals_the_newest_is_first(both: Both) -> None:
    for name, text in (
        ("near", "a ferry harbour"),
        ("far", f"ferry {FILLING} harbour"),
        ("new", f"ferry {FILLING} harbour s"),
    ):
        await both.shelf.keep(f"https://a.example/{name}", text)
    await both.fill()
    _, theirs = await both.answers("ferry harbour")
    assert [url.rpartition("/")[2] for url in urls_of(theirs.hits)] == ["near", "new", "far"]


async def test_pieces_of_the_text_are_shown_with_what_matched(filled: Both) -> None:
    ours, theirs = await filled.answers("cat run")
    assert theirs.hits[0].snippet == "The **cats** were **running** home from the market"
    assert ours.hits[0].snippet in theirs.hits[0].snippet
    _, theirs = await filled.answers("budget", Filters(language="en"))
    assert [hit.snippet for hit in theirs.hits[:2]] == ["Nothing here", "Nothing there"]
    assert "at last a **budget**" in theirs.hits[2].snippet
    assert len(theirs.hits[2].snippet) < 800


@pytest.mark.parametrize("text", ["budget = x > 1 && y < 2", "budget <script>alert(1)</script> & more"])
async def test_a_piece_shows_the_characters_of_the_text(both: Both, text: str, search_server_url: str) -> None:
    await both.shelf.keep("https://a.example/code", text)
    await both.fill()
    _, theirs = await both.answers("budget")
    assert theirs.hits[0].snippet == text.replace("budget", "**budget**")


async def test_pages_follow_each_other_without_a_gap_or_a_repetition(both: Both) -> None:
    for n in range(23):
        await both.shelf.keep(f"https://h{n}.example/", f"budget {'word ' * (n % 5)}", title=f"T{'budget' * (n % 2)}")
    await both.fill()
    pages = await both.all_pages("budget", Filters(), 5)
    assert [len(page) for page in pages] == [5, 5, 5, 5, 3]
    found = [hit for page in pages for hit in page]
    assert len({hit.hash for hit in found}) == 23
    assert [hit.rank for hit in found] == sorted((hit.rank for hit in found), reverse=True)


async def test_what_comes_while_a_person_turns_pages_repeats_nothing(both: Both) -> None:
    for n in range(9):
        await both.shelf.keep(f"https://h{n}.example/", f"budget {n}")
    await both.fill()
    engine = await both.opensearch()
    first = await engine.search("budget", Filters(), limit=4)
    for n in range(9, 40):
        await both.shelf.keep(f"https://h{n}.example/", f"budget {n}")
    await both.fill()
    second = await engine.search("budget", Filters(), limit=20, cursor=first.cursor)
    assert urls_of(first.hits + second.hits) == [f"https://h{n}.example/" for n in range(8, -1, -1)]


async def test_the_deleted_are_not_found_although_the_server_holds_them(filled: Both) -> None:
    gone = "https://a.example/budget"
    before = (await filled.answers("budget"))[1]
    assert gone in urls_of(before.hits)
    await filled.shelf.tombstone(gone)
    after = (await filled.answers("budget"))[1]
    assert set(urls_of(before.hits)) - set(urls_of(after.hits)) == {gone}


async def test_what_a_text_said_before_it_changed_is_not_shown(filled: Both) -> None:
    await filled.shelf.keep("https://a.example/cats", "The cats were at home", language="en")
    _, theirs = await filled.answers("cats run")
    assert [hit.snippet for hit in theirs.hits] == ["The cats were at home"]


async def test_duplicates_are_found_by_their_original_when_asked_for(both: Both) -> None:
    await both.shelf.keep("https://a.example/", FILLING)
    await both.shelf.keep("https://b.example/", FILLING, source_id=OTHER_SOURCE)
    await both.fill()
    for filters in (Filters(), Filters(duplicates=True), Filters(duplicates=True, source_id=OTHER_SOURCE)):
        ours, theirs = await both.answers("filling7", filters)
        assert {hit.url: hit.is_duplicate for hit in theirs.hits} == {hit.url: hit.is_duplicate for hit in ours.hits}
        assert filters.source_id is None or urls_of(theirs.hits) == ["https://b.example/"]


async def test_of_too_many_matches_the_newest_are_ranked_and_the_answer_says_so(both: Both) -> None:
    for n in range(3):
        await both.shelf.keep(f"https://h{n}.example/", f"budget {n}")
    await both.fill()
    engine = await both.opensearch(Bounds(most_ranked=2))
    answer = await engine.search("budget", Filters(), limit=20)
    assert set(urls_of(answer.hits)) == {"https://h1.example/", "https://h2.example/"}
    assert not answer.is_complete


async def test_vacancies_are_found_by_both_alike(both: Both, subtests: pytest.Subtests) -> None:
    said = "Chargé/e du terrain/siège, https://o.example/postes"
    await both.keep_jobs(
        job("Night nurse", description_snippet="Care for people"),
        job("Driver", org_name="Nurse Aid", mission_tags=("health", "climate_change")),
        job("one", title="Coordinateur/trice de projet", description_snippet=said, language="fr"),
        job("two", title="Driver/cook"),
    )
    await both.fill()
    for question in ["nurses", "health", "caring", "climate", "driver", "driver/cook", "cook", "-driver", *JOINED]:
        with subtests.test(question=question):
            ours, theirs = await both.answers(question, Filters(RecordKind.JOB))
            assert set(urls_of(theirs.hits)) == set(urls_of(ours.hits)) != set()
    _, theirs = await both.answers("caring", Filters(RecordKind.JOB))
    assert [hit.snippet for hit in theirs.hits] == ["**Care** for people"]


async def test_nothing_typed_is_an_error_in_itself(filled: Both, subtests: pytest.Subtests) -> None:
    engine = await filled.opensearch()
    for question in HOSTILE:
        with subtests.test(question=question[:40]):
            await engine.search(question, Filters(), limit=5)


assert SOURCE != OTHER_SOURCE
