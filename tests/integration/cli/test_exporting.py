"""`docs export` and `jobs export` as a person meets them."""

import builtins
import json
import re
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.integration.actions.test_exports import many
from tests.integration.archive.shelf import LONG, OTHER, Shelf, page
from tests.integration.cli.conftest import Person, Starts
from tests.integration.cli.desk import Desk, assert_a_sentence

from headwater.archive.documents import NewDocument, keep_document
from headwater.blocks.block import pack_blocks
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.extraction.article import Article
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page as WebPage
from headwater.simweb.message import Request
from headwater.simweb.world.docsites import Chapter, DocsSite
from headwater.simweb.world.world import World

A, B = "https://a.example/1", "https://b.example/2"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def kept(desk: Desk, *documents: NewDocument) -> None:
    async def keep(database: Database) -> None:
        for one in documents:
            async with database.transaction() as connection:
                await keep_document(connection, one, await connection.fetchval("select clock_timestamp()"))

    desk.on_database(keep)


def test_documents_go_into_a_pipe_a_file_and_a_folder(desk: Desk) -> None:
    kept(desk, page(A, LONG, title="=cmd"), page(B, OTHER))
    piped = desk.says("docs", "export")
    assert sorted(json.loads(line)["url"] for line in piped.out.splitlines()) == [A, B]
    assert piped.err == ""
    place = desk.home / "all.csv"
    said = desk.says("docs", "export", "--format", "csv", "-o", str(place))
    assert (said.code, said.out) == (0, "")
    assert said.err.startswith("Wrote 2 documents (")
    assert "'=cmd" in place.read_text("utf-8")
    told = desk.says("docs", "export", "--format", "markdown", "-o", str(desk.home / "pages"), "--json").json
    assert {name: told[name] for name in ("format", "records", "resumed_after", "without_body")} == {
        "format": "markdown",
        "records": 2,
        "resumed_after": 0,
        "without_body": 0,
    }
    assert desk.says("docs", "export", "-o", "-").out == piped.out


def test_a_simulated_manual_comes_back_exactly_from_its_pages(desk: Desk) -> None:
    now = datetime.now(UTC)
    world = World(7, 30, start=now)
    site = next(site for host in world.sites if isinstance(site := world.sites[host], DocsSite))
    chapters = list(site.versions[0].walk())[:12]
    kept(desk, *(read_manual(site, chapter, now) for chapter in chapters))
    assert desk.says("docs", "export", "--format", "markdown", "-o", str(desk.home / "pages")).code == 0
    pages = [place.read_text("utf-8").partition("\n---\n")[2] for place in (desk.home / "pages").rglob("*.md")]
    assert len(pages) == len(chapters)
    for chapter in chapters:
        [text] = [one for one in pages if one.startswith(f"\n# {chapter.title}\n") and site.manual(chapter).note in one]
        manual = site.manual(chapter)
        assert re.findall(r"^(##+) (.*)$", text, re.MULTILINE) == [("#" * n, said) for n, said in manual.headings]
        codes = re.findall(r"^```(\w*)\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE)
        assert codes[1:] == [tuple(code) for code in manual.codes]
        rows = [line for line in text.splitlines() if line.startswith("|")]
        read = [tuple(unescape(cell).replace("\\|", "|") for cell in row[2:-2].split(" | ")) for row in rows]
        assert (tuple(read[:1] + read[2:]),) == manual.tables


def read_manual(site: DocsSite, chapter: Chapter, now: datetime) -> NewDocument:
    answer = site.page(Request("GET", "docs.example", chapter.path, "", {}), now)
    assert answer is not None
    url = f"https://docs.example{chapter.path}"
    found = extract(WebPage(url=url, body=answer.body), now)
    assert isinstance(found, Article)
    packed = pack_blocks(found.blocks, found.text)
    return page(url, found.text, title=found.title, blocks=packed, content_hash=bytes.fromhex(found.content_hash))


def test_an_export_of_nothing_says_so_and_how_to_see_what_there_is(desk: Desk) -> None:
    said = desk.says("docs", "export")
    assert (said.code, said.out) == (0, "")
    assert (
        said.err == "The archive holds no document yet: nothing was exported. See what there is: headwater docs list\n"
    )
    said = desk.says("jobs", "export", "--since", "7d", "-o", str(desk.home / "jobs.jsonl"))
    assert (said.code, said.out) == (0, "")
    assert "No open vacancy in the archive fits: nothing was exported." in said.err


def test_a_terminal_is_shown_nothing_that_it_would_obey(desk: Desk) -> None:
    kept(desk, page(A, LONG, title="red \x1b[31m \u202e"))
    said = desk.sees("docs", "export", "--format", "csv")
    assert "\x1b" not in said.out
    assert "\u202e" not in said.out


def test_devices_are_written_to(desk: Desk) -> None:
    kept(desk, page(A, LONG))
    assert desk.says("docs", "export", "-o", "/dev/null").code == 0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("docs", "--format", "xml"), 2, "There is no format 'xml'."),
        (("docs", "--format", "markdown"), 2, "The format markdown cannot be written into a pipe."),
        (("docs", "--format", "parquet", "-o", "-"), 2, "The format parquet cannot be written into a pipe."),
        (("jobs", "--format", "warc"), 2, "WARC holds pages as they were sent"),
        (("docs", "--json"), 2, "The records themselves go into the pipe"),
        (("docs", "--view", "none"), 4, "There is no view 'none'."),
        (("docs", "--source", "nobody"), 4, "No source is called 'nobody'."),
        (("docs", "--since", "yesterday"), 2, "'yesterday' is no time."),
        (("docs", "-o", "/nowhere/x.jsonl"), 2, "There is no folder /nowhere."),
    ],
)
def test_an_export_that_cannot_be_is_a_sentence(desk: Desk, words: tuple[str, ...], code: int, told: str) -> None:
    group, *rest = words
    said = desk.says(group, "export", *rest)
    assert said.code == code
    assert told in said.err
    assert_a_sentence(said)


@pytest.mark.parametrize(("form", "module"), [("parquet", "pyarrow"), ("warc", "warcio")])
def test_what_is_not_installed_is_named(desk: Desk, form: str, module: str) -> None:
    with patch.object(builtins, "__import__", without(module, builtins.__import__)):
        said = desk.says("docs", "export", "--format", form, "-o", str(desk.home / "out"))
    assert said.code == 2
    assert f"{module} is not installed" in said.err
    assert f"pip install 'headwater[{form}]'" in said.err
    assert not (desk.home / "out.part").exists()


def without(module: str, before: Callable[..., Any]) -> Callable[..., Any]:
    def imported(name: str, *values: Any, **named: Any) -> Any:
        if name.partition(".")[0] == module:
            raise ImportError(name)
        return before(name, *values, **named)

    return imported


def test_an_output_that_exists_is_replaced_only_by_force(desk: Desk) -> None:
    kept(desk, page(A, LONG))
    place = Path(desk.file("out.jsonl", "mine"))
    said = desk.says("docs", "export", "-o", str(place))
    assert (said.code, place.read_text()) == (2, "mine")
    assert "--force" in said.err
    assert desk.says("docs", "export", "-o", str(place), "--force").code == 0
    assert A in place.read_text()


@pytest.mark.long
async def test_killed_in_the_middle_the_same_command_goes_on(
    person: Person, starts: Starts, database_url: str, database: Database, open_folder: Path
) -> None:
    await many(Shelf(database), 10_000)
    person.environment["HEADWATER_DATABASE__URL"] = database_url
    whole, place = open_folder / "whole.jsonl", open_folder / "out.jsonl"
    assert person.says("docs", "export", "-o", str(whole)).code == 0
    process = starts("docs", "export", "-o", str(place))
    await until(lambda: size_of(open_folder / "out.jsonl.part" / "data") > 4_000_000)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not place.exists()
    said = person.says("docs", "export", "-o", str(place))
    assert "Going on after " in said.err
    assert place.read_bytes() == whole.read_bytes()


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await SystemClock().sleep(0.005)


def size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
