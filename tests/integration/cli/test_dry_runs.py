"""A dry run writes nothing: every table has as many rows as before."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from tests.integration.archive.shelf import page as document
from tests.integration.cli.desk import Desk, Served, served

from headwater.archive.documents import keep_document
from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.cli.app import app
from headwater.cli.reference import commands_page, every_command
from headwater.database.pool import Database
from headwater.simweb.message import Page
from headwater.urls.domains import NO_VOICE
from headwater.vacancy import NewJob

FEED = b"""<rss version="2.0"><channel><title>T</title><link>/</link>
<item><title>One</title><link>/one</link></item></channel></rss>"""
# Requests that were really made are on record, or the next one could come too soon.
OF_REQUESTS = {"hosts", "host_policies", "host_statistics", "fetch_log", "robots", "installation"}


@pytest.fixture
def site() -> Iterator[Served]:
    with served() as running:
        running.pages["/"] = Page(b'<link rel="alternate" type="application/rss+xml" href="/feed">', "text/html")
        running.pages["/feed"] = Page(FEED, "application/rss+xml")
        yield running


@pytest.fixture
def desk(database_url: str, open_folder: Path, site: Served) -> Desk:
    return Desk(database_url, open_folder, dict(site.settings))


def rows(desk: Desk) -> dict[str, int]:
    async def count(database: Database) -> dict[str, int]:
        tables = await database.fetch(
            "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')"
            " and not relispartition order by 1"
        )
        return {row[0]: await database.fetchval(f'select count(*) from "{row[0]}"') for row in tables}

    return desk.on_database(count)


def test_these_commands_have_a_dry_run() -> None:
    """A new one has to be tried here, too."""
    names = {name for name, _ in every_command(app, "headwater")}
    sections = commands_page().split("\n## ")
    found = {section.split("\n")[0] for section in sections if "* `--dry-run`" in section}
    told = {
        f"headwater {name}"
        for name in ("sources add", "sources import", "sources rm", "docs reextract", "frontier add")
    }
    assert found & names == told


def test_a_site_that_is_only_looked_at_is_not_followed(desk: Desk, site: Served) -> None:
    before = rows(desk)
    said = desk.says("sources", "add", f"{site.url}/", "--dry-run")
    assert said.code == 0, said.err
    assert "/feed" in said.out + said.err
    after = rows(desk)
    assert {name for name in after if after[name] != before[name]} <= OF_REQUESTS


def test_a_file_that_is_only_read_adds_nothing(desk: Desk) -> None:
    desk.followed("https://known.example/")
    before = rows(desk)
    said = desk.says("sources", "import", desk.file("list.txt", "https://a.example/\nhttps://b.example/"), "--dry-run")
    assert (said.code, "would add 2" in said.out) == (0, True)
    assert rows(desk) == before


def test_lines_that_a_file_would_have_rejected_are_shown_and_not_written(desk: Desk) -> None:
    listed = desk.file("list.txt", "https://a.example/\nnot a url\n")
    files = sorted(desk.home.iterdir())
    said = desk.says("sources", "import", listed, "--dry-run")
    assert (said.code, "not a url" in said.out) == (3, True)
    assert desk.says("sources", "import", listed, "--dry-run", "--json").json["rejected_file"] is None
    assert sorted(desk.home.iterdir()) == files


def test_a_removal_that_is_only_tried_says_which_vacancies_would_expire(desk: Desk) -> None:
    source = UUID(desk.followed("https://a.example/", "--name", "ash", "--kind", "jobs"))

    async def keep(database: Database) -> None:
        teller = Teller(source, "https://a.example/", NO_VOICE)
        jobs = [
            NewJob(canonical_hash=bytes([n]) * 32, title="Nurse", org_name="Ash", apply_url=f"https://a.example/{n}")
            for n in (1, 2)
        ]
        async with database.transaction() as connection:
            await keep_jobs(connection, teller, jobs, await connection.fetchval("select clock_timestamp()"))

    desk.on_database(keep)
    before = rows(desk)
    said = desk.says("sources", "rm", "ash", "--dry-run")
    assert said.out.startswith("Would delete ash (https://a.example/; 2 vacancies would expire)\n"), said.err
    assert "Documents and history would stay. Nothing was changed." in said.out
    assert rows(desk) == before
    assert desk.value("select count(*) from jobs where status = 'active'") == 2
    said = desk.says("sources", "rm", "ash", "--yes")
    assert said.out == "ash: deleted; 2 vacancies expired. Its documents stay.\n"
    assert desk.value("select count(*) from jobs where status = 'active'") == 0


def test_pages_that_are_only_read_again_change_nothing(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--name", "ash")

    async def keep(database: Database) -> None:
        async with database.transaction() as connection:
            one = document("https://a.example/1", source_id=source)
            await keep_document(connection, one, await connection.fetchval("select clock_timestamp()"))

    desk.on_database(keep)
    before = rows(desk)
    assert desk.says("docs", "reextract", "--source", "ash", "--dry-run").code == 0
    assert rows(desk) == before


def test_urls_that_are_only_looked_at_are_not_queued(desk: Desk) -> None:
    desk.says("status")
    before = rows(desk)
    said = desk.says("frontier", "add", "https://a.example/1", "not a url", "--dry-run")
    assert (said.code, "https://a.example/1" in said.out) == (3, True), said.err
    assert rows(desk) == before
