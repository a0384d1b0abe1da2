"""`headwater.open`: the archive from a program that knows nothing of event loops."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest
from tests.integration.archive.shelf import LONG, OTHER, page

import headwater
from headwater.archive.documents import NewDocument, keep_document, tombstone
from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.database.pool import Database
from headwater.errors import MigrationFailed, QueryFailed
from headwater.frontier.host_rules import RuleChange, set_rules
from headwater.urls.domains import NO_VOICE
from headwater.urls.rules import NO_RULES, use_rules
from headwater.vacancy import NewJob

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"
TIDES = f"New tide tables were printed for the harbour this week. {LONG}"


@pytest.fixture
def archive(database_url: str) -> Iterator[headwater.Archive]:
    with headwater.open(settings={"database.url": database_url}) as opened:
        yield opened


async def keep(database: Database, *documents: NewDocument) -> None:
    for one in documents:
        async with database.transaction() as connection:
            await keep_document(connection, one, await connection.fetchval("select clock_timestamp()"))


async def test_documents_are_found_listed_and_read(database: Database, archive: headwater.Archive) -> None:
    await keep(database, page(A, TIDES, title="Tides"), page(B, OTHER, title="Other"))
    [hit] = archive.search("tide tables")
    assert (hit.url, hit.title, "**tide**" in hit.snippet.lower()) == (A, "Tides", True)
    assert [one.url for one in archive.documents()] == [B, A]
    found = archive.document(hit.id)
    assert found is not None
    assert (found.url, found.text, found.version) == (A, TIDES, 1)
    assert archive.document("HTTP://A.Example:80/1/?utm_source=x") == found


async def test_what_was_withdrawn_is_not_given_out_again(database: Database, archive: headwater.Archive) -> None:
    document = page(A, TIDES)
    await keep(database, document)
    async with database.transaction() as connection:
        await tombstone(connection, *document.key, "gone", await connection.fetchval("select clock_timestamp()"))
    assert archive.document(A) is None
    assert archive.versions(A) == []
    assert list(archive.documents()) == []


async def test_a_document_has_its_versions(database: Database, archive: headwater.Archive) -> None:
    await keep(database, page(A, TIDES), page(A, f"Corrected: {TIDES}"))
    assert [(one.version, one.text[:9]) for one in archive.versions(A)] == [(2, "Corrected"), (1, "New tide ")]


async def test_lists_go_on_behind_their_first_page(database: Database, archive: headwater.Archive) -> None:
    await keep(database, *(page(f"https://a.example/{number}", f"{number} {LONG}") for number in range(103)))
    urls = [one.url for one in archive.documents(duplicates=True)]
    assert len(urls) == len(set(urls)) == 103


async def test_a_host_with_rules_is_found_by_them_and_the_process_keeps_its_own(
    database: Database, archive: headwater.Archive
) -> None:
    before = headwater.canonicalise("https://a.example/1?view=print").key
    await set_rules(database, "a.example", RuleChange(strip_params=["view"]))
    await keep(database, page(A, TIDES))
    use_rules(NO_RULES)
    assert archive.document("https://a.example/1?view=print") is not None
    assert headwater.canonicalise("https://a.example/1?view=print").key == before


def test_the_database_itself_refuses_writes(archive: headwater.Archive) -> None:
    with pytest.raises(QueryFailed, match="read-only"):
        archive._ask(lambda database: database.execute("delete from documents"))


async def test_a_program_with_an_event_loop_asks_by_a_thread(database: Database, archive: headwater.Archive) -> None:
    await keep(database, page(A, TIDES))
    found = await asyncio.gather(*(asyncio.to_thread(archive.document, A) for _ in range(8)))
    assert {one.url for one in found if one} == {A}


def test_wrong_questions_are_sentences(archive: headwater.Archive) -> None:
    with pytest.raises(headwater.UsageError, match="neither a URL nor the id"):
        archive.document("tides")
    with pytest.raises(headwater.UrlRejected):
        archive.document("ftp://a.example/")
    with pytest.raises(headwater.UsageError, match="nothing to search"):
        archive.search(" ")
    with pytest.raises(headwater.UsageError, match="time zone"):
        archive.documents(since=datetime(2026, 5, 1))  # noqa: DTZ001
    with pytest.raises(headwater.NotFound, match="No source"):
        next(archive.documents(source=f"unknown {uuid4()}"))


@pytest.mark.parametrize(
    "ask",
    [
        lambda archive: archive.document(None),
        lambda archive: archive.versions(7),
        lambda archive: archive.search(None),
        lambda archive: archive.documents(since="7d"),
        lambda archive: archive.documents(source=None),
        lambda archive: archive.vacancies(country=5),
    ],
)
def test_a_value_of_another_type_is_a_sentence(
    archive: headwater.Archive, ask: Callable[[headwater.Archive], object]
) -> None:
    with pytest.raises(headwater.UsageError, match=r"is not text but|is no moment"):
        ask(archive)


def test_a_closed_archive_says_so(archive: headwater.Archive) -> None:
    archive.close()
    archive.close()
    with pytest.raises(headwater.UsageError, match="closed"):
        archive.document(A)


def test_a_database_that_is_not_ours_or_away_is_a_sentence(empty_database_url: str) -> None:
    with pytest.raises(MigrationFailed, match="nothing of Headwater"):
        headwater.open(settings={"database.url": empty_database_url})
    with pytest.raises(headwater.DatabaseDown):
        headwater.open(settings={"database.url": "postgresql://nobody@127.0.0.1:1/none"})


def test_a_reader_makes_no_database(open_folder: Path) -> None:
    with pytest.raises(headwater.NotFound, match="no archive"):
        headwater.open(settings={"service.data_dir": str(open_folder)})
    assert list(open_folder.iterdir()) == []


@pytest.mark.long
def test_settings_are_found_in_a_file_and_the_program_ends_without_a_close(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "headwater.toml"
    file.write_text(f'[database]\nurl = "{database_url}"\n')
    code = f"import headwater; print(list(headwater.open({str(file)!r}).documents()))"
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def vacancy(title: str, country: str) -> NewJob:
    return NewJob(
        canonical_hash=sha256(title.encode()).digest(),
        title=title,
        org_name="Port",
        apply_url=f"https://j.example/{country}",
        language="en",
        country_iso=country,
    )


async def test_vacancies_are_listed_searched_and_narrowed(database: Database, archive: headwater.Archive) -> None:
    teller = Teller(uuid4(), "https://j.example/", NO_VOICE)
    async with database.transaction() as connection:
        now = await connection.fetchval("select clock_timestamp()")
        await keep_jobs(connection, teller, [vacancy("Harbour pilot", "KE"), vacancy("Cook", "DE")], now)
    assert {(one.title, one.country_code) for one in archive.vacancies()} == {("Harbour pilot", "KE"), ("Cook", "DE")}
    assert [one.title for one in archive.vacancies("pilot")] == ["Harbour pilot"]
    assert [one.title for one in archive.vacancies(country="Germany")] == ["Cook"]
    with pytest.raises(headwater.UsageError, match="no country"):
        next(archive.vacancies(country="Nowhere"))
