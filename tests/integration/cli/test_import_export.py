"""Lists of sources brought in and taken away: doing it twice changes nothing, and nothing is lost on the way."""

import asyncio
import csv
import json
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
from tests.administrator import database_named
from tests.integration.cli.conftest import LIMIT_SECONDS, Starts
from tests.integration.cli.desk import Desk, assert_a_sentence

from headwater.simweb.world.world import World
from headwater.sources.store import EDITABLE

# Five batches: enough to be killed in the middle of.
MANY = 1_000


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


@pytest.fixture
def other_desk(desk: Desk, server_url: str, template: str) -> Iterator[Desk]:
    """The same person on a second database."""
    # Named after the first: tests beside each other share the server.
    name = f"{urlsplit(desk.database_url).path.strip('/')}_second"
    administer(server_url, f'create database "{name}" template "{template}"')
    yield Desk(database_named(server_url, name), desk.home)
    administer(server_url, f'drop database "{name}" with (force)')


def administer(server_url: str, statement: str) -> None:
    async def work() -> None:
        connection = await asyncpg.connect(database_named(server_url, "postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(work())


def imported(desk: Desk, file: str, *words: str) -> dict[str, Any]:
    told: dict[str, Any] = desk.says("sources", "import", file, "--json", *words).json
    return told


def amounts(told: dict[str, Any]) -> tuple[int, int, int, int]:
    return told["added"], told["feeds_added"], told["known"], len(told["invalid"])


def sources_in(desk: Desk) -> int:
    return int(desk.value("select count(*) from sources"))


def feeds_in(desk: Desk) -> int:
    return int(desk.value("select count(*) from channels where kind = 'feed'"))


@pytest.mark.long
def test_the_simulated_publishers_come_in_once(desk: Desk) -> None:
    world = World(7, 60, start=datetime(2026, 3, 2, tzinfo=UTC))
    file = desk.file("world.opml", world.opml())
    outlines = world.opml().count("xmlUrl=")
    first = imported(desk, file)
    assert first["added"] + first["feeds_added"] == outlines - len(first["invalid"]) - first["duplicates"]
    assert (sources_in(desk), feeds_in(desk)) == (first["added"], first["added"] + first["feeds_added"])
    again = imported(desk, file)
    assert amounts(again)[:2] == (0, 0)
    assert again["known"] == outlines - len(first["invalid"]) - first["duplicates"]
    assert sources_in(desk) == first["added"]


def test_a_dry_run_says_what_would_happen_and_then_it_does(desk: Desk) -> None:
    file = desk.file("list.csv", "Org;Website\nAlpha;https://a.example/\nBeta;https://b.example/\n")
    tried = desk.says("sources", "import", file, "--map", "name=Org,url=Website", "--dry-run")
    assert (tried.code, sources_in(desk)) == (0, 0)
    assert tried.err == f"Read 2 rows from {file} (csv, utf-8, semicolon)\n"
    assert tried.out.splitlines() == [
        "  would add 2 sources · already known 0 · invalid 0",
        "Nothing was changed. Run it again without --dry-run to add 2 sources.",
    ]
    done = desk.says("sources", "import", file, "--map", "name=Org,url=Website")
    assert (done.code, done.out) == (0, "  added 2 sources · already known 0 · invalid 0\n")
    assert "headwater up" in done.err
    assert [one["name"] for one in desk.says("sources", "list", "--json").json["sources"]] == ["Alpha", "Beta"]
    assert amounts(imported(desk, file, "--map", "name=Org,url=Website", "--dry-run")) == (0, 0, 2, 0)


def test_every_row_that_cannot_be_followed_is_told_and_kept_beside_the_file(desk: Desk) -> None:
    rows = ["name,url", "Alpha,https://a.example/", "Beta,htp://b.example", "Gamma,", '"=1+1","ftp://\x1b[31m/"']
    file = desk.file("list.csv", "\n".join(rows))
    said = desk.says("sources", "import", file)
    assert said.code == 3
    assert said.out.splitlines()[0] == "  added 1 source · already known 0 · invalid 3"
    why = 'url "htp://b.example": unsupported scheme (did you mean http://?)'
    assert f"  line 3     Beta,htp://b.example  {why}" in said.out
    assert "  line 4     Gamma,  empty URL" in said.out
    assert "\x1b" not in said.out
    kept = rejected_beside(desk)
    assert [(row["rejected_line"], row["name"], row["url"]) for row in kept] == [
        ("3", "Beta", "htp://b.example"),
        ("4", "Gamma", ""),
        ("5", "'=1+1", "ftp://[31m/"),
    ]
    assert kept[0]["rejected_because"] == why
    assert imported(desk, file)["rejected_file"] == str(desk.home / "list.rejected.csv")


def rejected_beside(desk: Desk) -> list[dict[str, str]]:
    with (desk.home / "list.rejected.csv").open(newline="") as rejected:
        return list(csv.DictReader(rejected))


def test_a_row_refused_by_the_import_itself_is_kept_whole_too(desk: Desk) -> None:
    rows = ["url,source_type,parser_hint,name", 'https://a.example/,api,"{""a"": 1}",Alpha']
    assert desk.says("sources", "import", desk.file("list.csv", "\n".join(rows))).code == 3
    [kept] = rejected_beside(desk)
    assert (kept["rejected_line"], kept["rejected_because"]) == ("2", "The API mapping has no key a.")
    assert (kept["url"], kept["parser_hint"], kept["name"]) == ("https://a.example/", '{"a": 1}', "Alpha")


def test_rejected_rows_are_mended_and_imported_again(desk: Desk) -> None:
    desk.says("sources", "import", desk.file("list.csv", "name,url\nBeta,htp://b.example/\nGamma,\n"))
    kept = desk.home / "list.rejected.csv"
    kept.write_text(kept.read_text().replace("htp://", "http://", 1))
    told = imported(desk, str(kept))
    assert (told["added"], len(told["invalid"]), told["unused_columns"]) == (1, 1, [])
    assert told["rejected_file"] == str(kept)
    assert len(rejected_beside(desk)) == 1


def test_rejected_lines_that_cannot_be_written_are_a_warning(desk: Desk) -> None:
    file = desk.file("list.txt", "https://a.example/\nbad line\n")
    (desk.home / "list.rejected.txt").mkdir()
    said = desk.says("sources", "import", file)
    assert said.code == 3
    assert said.out.splitlines()[0] == "  added 1 source · already known 0 · invalid 1"
    assert "The rejected lines could not be written to" in said.err
    assert "Rejected lines are in" not in said.out
    again = desk.says("sources", "import", file, "--json")
    assert (again.code, again.json["known"], again.json["rejected_file"]) == (3, 1, None)


def test_a_quote_left_open_is_told_and_the_rest_comes_in(desk: Desk) -> None:
    rows = ["url,name", 'http://a.example/,"Foo', "http://b.example/,B", "http://c.example/,C"]
    said = desk.says("sources", "import", desk.file("list.csv", "\n".join(rows)))
    assert (said.code, said.out.splitlines()[0]) == (3, "  added 2 sources · already known 0 · invalid 1")


def test_columns_that_bring_nothing_are_said(desk: Desk) -> None:
    file = desk.file("list.csv", "url,poll_every,colour\x1b,name,title\nhttps://a.example/,45m,red,A,B\n")
    said = desk.says("sources", "import", file)
    assert said.code == 0
    told = f"Read 1 row from {file} (csv, utf-8, comma) · columns not used: colour · columns doubled: title"
    assert said.err.splitlines()[0] == told
    again = imported(desk, file)
    assert (again["unused_columns"], again["doubled_columns"]) == (["colour"], ["title"])
    assert desk.says("sources", "show", "A", "--json").json["poll_every_seconds"] == 2_700


def test_a_feed_in_two_folders_is_a_duplicate_and_no_fault(desk: Desk) -> None:
    feed = '<outline text="{}"><outline text="A" xmlUrl="https://a.example/feed"/></outline>'
    file = desk.file("list.opml", f"<opml><body>{feed.format('Ships')}{feed.format('North')}</body></opml>")
    said = desk.says("sources", "import", file)
    assert (said.code, said.out) == (0, "  added 1 source · already known 0 · duplicates 1 · invalid 0\n")
    assert said.err.startswith("Read 2 rows")
    assert desk.says("sources", "show", "A", "--json").json["tags"] == ["Ships", "North"]
    assert imported(desk, file)["duplicates"] == 1


def test_a_list_of_our_own_urls_brings_nothing_new(desk: Desk) -> None:
    feeds = [word for n in range(3) for word in ("--feed", f"https://a.example/{n}.xml")]
    desk.followed("https://a.example/", *feeds)
    file = desk.file("own.txt", desk.says("sources", "export", "--format", "urls").out)
    assert desk.says("sources", "import", file).out == "  added 0 sources · already known 1 · invalid 0\n"


def test_many_bad_lines_are_told_in_few(desk: Desk) -> None:
    said = desk.says("sources", "import", desk.file("bad.txt", "\n".join(f"nonsense{n}" for n in range(20))))
    assert said.code == 3
    assert "  … 12 more" in said.out
    assert said.out.count("nonsense") == 8


def test_a_url_list_and_json_lines_come_in(desk: Desk) -> None:
    urls = desk.file("list.txt", "# mine\nhttps://a.example/ tech, news\nhttps://b.example/\n")
    assert amounts(imported(desk, urls)) == (2, 0, 0, 0)
    lines = [
        {"url": "https://c.example/", "feed_url": "https://c.example/feed", "interval": "30m", "priority": 8},
        {"url": "https://d.example/jobs", "kind": "jobs", "org_type": "un", "status": "paused"},
    ]
    file = desk.file("list.jsonl", "\n".join(map(json.dumps, lines)))
    assert amounts(imported(desk, file)) == (2, 0, 0, 0)
    told = {one["url"]: one for one in desk.says("sources", "list", "--json").json["sources"]}
    assert told["https://a.example/"]["tags"] == ["tech", "news"]
    fed = told["https://c.example/"]
    assert (fed["feed_url"], fed["poll_every_seconds"], fed["priority"]) == ("https://c.example/feed", 1800, 8)
    resting = told["https://d.example/jobs"]
    assert (resting["kind"], resting["status"], resting["org_type"]) == ("jobs", "paused", "un")


NOT_ENABLED = {
    "csv": "url,enabled,disable_reason\nhttps://a.example/,false,the publisher asked us to stop\nhttps://b.example/,no,\n",
    "jsonl": (
        '{"url": "https://a.example/", "enabled": false, "disable_reason": "the publisher asked us to stop"}\n'
        '{"url": "https://b.example/", "enabled": false}\n'
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("form", NOT_ENABLED)
def test_what_is_not_enabled_comes_in_paused_with_its_reason_and_goes_on_so(
    desk: Desk, other_desk: Desk, form: str
) -> None:
    said = desk.says("sources", "import", desk.file(f"list.{form}", NOT_ENABLED[form]))
    assert (said.code, said.out) == (0, "  added 2 sources · already known 0 · invalid 0\n")
    assert said.err.splitlines()[-1] == "2 sources came paused: `headwater sources resume` starts one."
    imported(other_desk, desk.file(f"again.{form}", desk.says("sources", "export", "--format", form).out))
    for one in (desk, other_desk):
        told = {each["url"]: each for each in one.says("sources", "list", "--json").json["sources"]}
        assert {each["status"] for each in told.values()} == {"paused"}
        assert told["https://a.example/"]["status_reason"] == "the publisher asked us to stop"
        assert told["https://b.example/"]["status_reason"] == "imported as disabled"
        assert one.value("select count(*) from channels where is_active") == 0


def test_an_import_neither_pauses_nor_resumes_nor_polls_more_of_what_there_is(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Active", "--feed", "https://a.example/one.xml")
    desk.followed("https://b.example/", "--name", "Resting")
    desk.says("sources", "pause", "Resting")
    feeds = "https://a.example/,https://a.example/{}.xml,false\n"
    table = f"url,feed_url,enabled\n{feeds.format('one')}{feeds.format('two')}https://b.example/,,true\n"
    file = desk.file("list.csv", table)
    for _ in range(2):
        assert amounts(imported(desk, file)) == (0, 0, 3, 0)
    told = {each["name"]: each["status"] for each in desk.says("sources", "list", "--json").json["sources"]}
    assert (told, feeds_in(desk)) == ({"Active": "active", "Resting": "paused"}, 1)


def test_further_feeds_of_a_known_site_join_it(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/one.xml")
    table = "url,feed_url\n" + "".join(f"https://a.example/,https://a.example/{n}.xml\n" for n in ("one", "two", "six"))
    assert amounts(imported(desk, desk.file("list.csv", table))) == (0, 2, 1, 0)
    assert len(desk.says("sources", "show", "Alpha", "--json").json["channels"]) == 3


def test_a_row_that_cannot_be_followed_does_not_spoil_the_next_of_its_site(desk: Desk) -> None:
    lines = [
        {"url": "https://a.example/", "source_type": "api", "parser_hint": '{"a": 1}'},
        {"url": "https://a.example/", "feed_url": "https://a.example/feed"},
    ]
    told = imported(desk, desk.file("list.jsonl", "\n".join(map(json.dumps, lines))))
    assert amounts(told) == (1, 0, 0, 1)
    assert told["invalid"][0]["reason"] == "The API mapping has no key a."


def test_a_row_with_a_hint_that_is_no_selector_is_refused(desk: Desk) -> None:
    told = imported(
        desk, desk.file("list.csv", "url,parser_hint\nhttps://a.example/,div[[\nhttps://b.example/,li.job\n")
    )
    assert amounts(told) == (1, 0, 0, 1)
    assert "'div[[' is not a CSS selector" in told["invalid"][0]["reason"]


@pytest.mark.parametrize(
    ("content", "words", "told"),
    [
        ("https://a.example/", ("--format", "xlsx"), "One of: opml, csv, urls, jsonl."),
        ("name,url\nA,https://a.example/", ("--map", "nonsense"), "Write it as url=Website,name=Org."),
        ("name,url\nA,https://a.example/", ("--map", "colour=name"), 'There is no field "colour".'),
        ("name,url\nA,https://a.example/", ("--map", "url=Website"), 'There is no column "Website".'),
        ("https://a.example/", ("--map", "url=x", "--format", "urls"), "Only CSV and JSON Lines"),
        ("", (), "The file is empty."),
        ('[{"url": "https://a.example/"}]', (), "one JSON array"),
        ("PK\x03\x04", (), "zip archive"),
    ],
)
def test_a_file_that_is_no_list_is_refused_with_a_sentence(
    desk: Desk, content: str, words: tuple[str, ...], told: str
) -> None:
    said = desk.says("sources", "import", desk.file("list", content), *words)
    assert said.code == 2
    assert told in said.err
    assert_a_sentence(said)
    assert sources_in(desk) == 0


def test_a_file_that_is_not_there_is_named(desk: Desk) -> None:
    said = desk.says("sources", "import", "nowhere.opml")
    assert said.code == 2
    assert "nowhere.opml cannot be read: No such file or directory." in said.err
    assert desk.says("sources", "import").code == 2


def many_sources() -> str:
    return "url,name,feed_url\n" + "".join(
        f"https://s{n}.example/,Source {n},https://s{n}.example/feed.xml\n" for n in range(MANY)
    )


@pytest.mark.long
def test_a_thousand_rows_come_in_at_once(desk: Desk) -> None:
    file = desk.file("many.csv", many_sources())
    assert amounts(imported(desk, file)) == (MANY, 0, 0, 0)
    assert amounts(imported(desk, file)) == (0, 0, MANY, 0)
    assert (sources_in(desk), feeds_in(desk)) == (MANY, MANY)
    exported = desk.says("sources", "export", "--format", "csv").out
    assert exported.count("https://s") == 2 * MANY


@pytest.mark.long
def test_an_import_killed_in_the_middle_is_finished_by_the_next(desk: Desk, starts: Starts) -> None:
    file = desk.file("many.csv", many_sources())
    importing = starts("sources", "import", file, HEADWATER_DATABASE__URL=desk.database_url)

    async def kill_in_the_middle() -> None:
        async with connected(desk) as connection, asyncio.timeout(LIMIT_SECONDS):
            while not await connection.fetchval("select count(*) from sources"):
                await asyncio.sleep(0.005)
        importing.kill()
        importing.wait(LIMIT_SECONDS)

    asyncio.run(kill_in_the_middle())
    there = sources_in(desk)
    assert 0 < there < MANY
    assert amounts(imported(desk, file)) == (MANY - there, 0, there, 0)
    assert (sources_in(desk), feeds_in(desk)) == (MANY, MANY)


@pytest.mark.long
def test_an_interrupted_import_says_how_far_it_came_and_how_to_go_on(desk: Desk, starts: Starts) -> None:
    file = desk.file("many.csv", many_sources())
    importing = starts("sources", "import", file, HEADWATER_DATABASE__URL=desk.database_url)

    async def interrupt_after_the_second_batch() -> None:
        async with connected(desk) as connection, asyncio.timeout(LIMIT_SECONDS):
            while await connection.fetchval("select count(*) from sources") <= 200:
                await asyncio.sleep(0.005)
        importing.send_signal(signal.SIGINT)

    asyncio.run(interrupt_after_the_second_batch())
    _, err = importing.communicate(timeout=LIMIT_SECONDS)
    assert importing.returncode == 130, err
    stopped = re.search(r"\nStopped after (\d+) of 1,000 rows\. What was added stays; the same command", err)
    assert stopped, err
    assert 200 <= int(stopped[1]) <= sources_in(desk) < MANY


@asynccontextmanager
async def connected(desk: Desk) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(desk.database_url)
    yield connection
    await connection.close()


@pytest.mark.long
def test_two_imports_of_one_file_at_the_same_time_add_each_row_once(desk: Desk, starts: Starts) -> None:
    file = desk.file("many.csv", "".join(many_sources().splitlines(keepends=True)[:801]))
    both = [
        starts("sources", "import", file, "--json", HEADWATER_DATABASE__URL=desk.database_url),
        starts("sources", "import", file, "--json", HEADWATER_DATABASE__URL=desk.database_url),
    ]
    told = [json.loads(one.communicate(timeout=LIMIT_SECONDS)[0]) for one in both]
    assert sum(one["added"] for one in told) == sources_in(desk) == feeds_in(desk) == 800
    assert [one["invalid"] for one in told] == [[], []]


def world_of_kinds(desk: Desk) -> None:
    feeds = ("--feed", "https://a.example/1.xml", "--feed", "https://a.example/2.xml")
    desk.followed(
        "https://a.example/", "--name", "Two feeds, “quoted” & <tagged>", "--tag", "x", "--tag", "y z", *feeds
    )
    desk.followed("https://b.example/", "--name", "新聞 – поиск")
    desk.followed("https://c.example/", "--mode", "both", "--feed", "https://c.example/feed", "--interval", "90m")
    desk.followed("https://d.example/jobs", "--kind", "jobs", "--org-type", "un", "--frequency-days", "3")
    desk.followed("https://e.example/", "--kind", "docs", "--max-depth", "-1", "--priority", "9")
    desk.followed("https://f.example/v1", "--api", "--parser-hint", '{"data_path": "items", "map": {"url": "link"}}')
    desk.followed("https://g.example/", "--sitemap", "https://g.example/sitemap.xml", "--timezone", "Europe/Paris")
    desk.followed("https://h.example/", "--time-window", "22:00-05:00", "--feed", "https://h.example/feed")
    desk.says("sources", "pause", "h.example")
    desk.followed("https://i.example/", "--name", "Blocked")
    desk.says("sources", "block", "Blocked")
    desk.followed("https://gone.example/", "--name", "Gone")
    desk.says("sources", "rm", "Gone", "--yes")


NOT_COMPARED = {"id", "created_at", "updated_at", "channels", "health"}
NOT_COMPARED |= {"next_run_at", "next_reason"}


def everything(desk: Desk) -> dict[str, Any]:
    return {
        one["url"]: {name: value for name, value in one.items() if name not in NOT_COMPARED}
        | {"polls": sorted((channel["kind"], channel["url"]) for channel in one["channels"])}
        for one in desk.says("sources", "list", "--json").json["sources"]
    }


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_what_is_exported_comes_back_the_same_elsewhere(desk: Desk, other_desk: Desk, form: str) -> None:
    world_of_kinds(desk)
    file = str(desk.home / f"all.{form}")
    said = desk.says("sources", "export", "--format", form, "-o", file)
    assert (said.code, said.out) == (0, "")
    assert said.err == f"Wrote 9 sources to {file}\n"
    assert amounts(imported(other_desk, file)) == (9, 1, 0, 0)
    assert everything(other_desk) == everything(desk)
    # Whatever was blocked must not begin to be polled elsewhere.
    assert other_desk.value("select count(*) from channels where is_active and host = 'i.example'") == 0


EVERYTHING_SAID = {
    "name": "All of it",
    "kind": "docs",
    "priority": "9",
    "tags": "a,b",
    "org_type": "ngo",
    "timezone": "Asia/Tokyo",
    "country": "JP",
    "ingestion_mode": "both",
    "policy": "tiers",
    "poll_every": "45m",
    "crawl_frequency_days": "2.5",
    "time_window": "06:00-22:00",
    "max_depth": "4",
    "max_pages": "70",
    "allowed_domains": "b.example,c.example",
    "include_paths": "/news,/a b",
    "exclude_paths": "/news/old|older",
    "allow_external": "yes",
    "start_urls": "https://a.example/one,https://a.example/two",
    "article_patterns": r"/\d{4}/[^/]+,/story|/item",
    "selectors": '{"list": {"container": "ul > li, ol", "exclude_from_list": [".ad"]}}',
    "parser_hint": "div.job, li",
    "rate_limit_ms": "2500",
    "revisit_every": "36h",
    "skips_tdmrep": "yes",
    "speaks_for": "b.example,c.example",
}


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_everything_that_may_be_said_of_a_source_is_exported(desk: Desk, other_desk: Desk, form: str) -> None:
    sitemaps = [word for n in range(3) for word in ("--sitemap", f"https://a.example/{n}.xml")]
    desk.followed("https://a.example/", "--feed", "https://a.example/feed", *sitemaps)
    edited = desk.says("sources", "edit", "a.example", *(f"{name}={value}" for name, value in EVERYTHING_SAID.items()))
    assert edited.out.splitlines()[0] == f"Changed: {', '.join(EVERYTHING_SAID)}"
    assert tuple(EVERYTHING_SAID) == EDITABLE
    file = desk.file(f"all.{form}", desk.says("sources", "export", "--format", form).out)
    assert amounts(imported(other_desk, file, "--trusted")) == (1, 0, 0, 0)
    [before], [after] = everything(desk).values(), everything(other_desk).values()
    # Which of several sitemaps is named first is chance; that all of them are polled is not.
    assert {name for name in before if before[name] != after.get(name)} <= {"sitemap_url"}


def test_opml_carries_names_addresses_and_tags(desk: Desk, other_desk: Desk) -> None:
    world_of_kinds(desk)
    file = desk.file("all.opml", desk.says("sources", "export").out)
    assert imported(other_desk, file)["invalid"] == []
    kept = ("name", "tags", "feed_url")
    before, after = everything(desk), everything(other_desk)
    assert {url: [one.get(name) for name in kept] for url, one in after.items()} == {
        url: [one.get(name) for name in kept] for url, one in before.items()
    }


@pytest.mark.long
def test_an_export_may_be_a_part(desk: Desk) -> None:
    world_of_kinds(desk)
    assert desk.says("sources", "export", "--format", "urls", "--kind", "docs").out == "https://e.example/\n"
    assert desk.says("sources", "export", "--format", "urls", "--tag", "x").out == "https://a.example/ x, y z\n"
    assert desk.says("sources", "export", "--format", "csv", "--tag", "none").out.count("\n") == 1


@pytest.mark.parametrize("words", [("--format", "xlsx"), ("--kind", "films"), ("-o", "/nowhere/at/all.opml")])
def test_an_export_that_cannot_be_written_is_refused(desk: Desk, words: tuple[str, ...]) -> None:
    said = desk.says("sources", "export", *words)
    assert said.code == 2
    assert_a_sentence(said)


FOREIGN_FEED = "name,url,feed_url\nPaper,https://paper.example/,https://feeds.other.example/paper.xml\n"


def test_a_list_does_not_say_for_whom_its_feeds_may_speak(desk: Desk) -> None:
    said = desk.says("sources", "import", desk.file("list.csv", FOREIGN_FEED))
    assert "1 source would speak for sites other than those of their feeds" in said.err
    assert "--trusted" in said.err
    shown = desk.says("sources", "show", "paper.example").out
    assert "https://feeds.other.example/paper.xml lies elsewhere" in shown
    assert "speaks_for=paper.example" in shown
    assert desk.says("sources", "edit", "paper.example", "speaks_for=paper.example").code == 0
    shown = desk.says("sources", "show", "paper.example").out
    assert "lies elsewhere" not in shown
    assert "speaks for paper.example" in shown


def test_a_list_of_one_s_own_says_for_whom_its_feeds_may_speak(desk: Desk) -> None:
    said = desk.says("sources", "import", "--trusted", desk.file("list.csv", FOREIGN_FEED))
    assert "would speak" not in said.err
    assert "lies elsewhere" not in desk.says("sources", "show", "paper.example").out
