"""Small things that commands said and that were not so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import PLACE, Desk, Served, served

from headwater.simweb.message import Page


@pytest.fixture
def site() -> Iterator[Served]:
    with served() as serving:
        yield serving


@pytest.fixture
def desk(database_url: str, open_folder: Path, site: Served) -> Desk:
    site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /private\n", "text/plain")
    site.pages["/"] = Page(b"<title>A</title><p>Hello</p>")
    return Desk(database_url, open_folder, site.settings)


def test_a_fetch_of_what_was_taken_down_is_refused_and_no_wait(desk: Desk, site: Served) -> None:
    assert desk.says("fetch", f"{site.url}/").code == 0
    desk.says("takedown", "add", PLACE)
    said = desk.says("fetch", f"{site.url}/")
    assert (said.code, said.out) == (6, "outcome taken down\n")


def test_a_source_on_a_taken_down_host_is_told_so_when_it_is_added(desk: Desk, site: Served) -> None:
    desk.says("fetch", f"{site.url}/")
    desk.says("takedown", "add", PLACE)
    said = desk.says("sources", "add", f"{site.url}/")
    assert "takedown list" in said.out + said.err
    assert (said.code, desk.value("select count(*) from sources")) == (6, 0)
    unseen = desk.says("sources", "add", f"{site.url}/", "--no-discover")
    assert unseen.code == 6
    assert "is on the takedown list, so that nothing of it is asked for" in unseen.err
    listed = desk.file("list.txt", f"{site.url}/\nhttps://b.example/\n")
    imported = desk.says("sources", "import", listed, "--json")
    assert imported.code == 3
    assert "takedown list" in str(imported.json["invalid"])
    assert desk.value("select count(*) from sources") == 1


def test_robots_of_one_host_say_nothing_of_another(desk: Desk, site: Served) -> None:
    desk.says("fetch", f"{site.url}/")
    assert desk.says("hosts", "robots", PLACE, "--check", f"{site.url}/private").code == 6
    said = desk.says("hosts", "robots", PLACE, "--check", "https://b.example/private")
    assert said.code == 2
    assert f"b.example is another host than {PLACE}" in said.err
    assert "headwater hosts robots b.example --check https://b.example/private" in said.err


def test_the_audit_counts_requests_and_not_the_gaps_between_them(desk: Desk, site: Served) -> None:
    for _ in range(3):
        desk.says("fetch", f"{site.url}/")
    [host] = desk.says("audit", "politeness", "--json").json["hosts"]
    assert host["requests"] == len(site.asked()) == 4


def test_the_audit_looks_back_an_hour_and_says_so(desk: Desk, site: Served) -> None:
    for _ in range(2):
        desk.says("fetch", f"{site.url}/")
    desk.execute("update fetch_log set at = at - interval '2 hours', started_at = started_at - interval '2 hours'")
    said = desk.says("audit", "politeness")
    assert "in the last 1 h. Further back: headwater audit politeness --hours 24" in said.out
    assert desk.says("audit", "politeness", "--json").json["hosts"] == []
    [host] = desk.says("audit", "politeness", "--hours", "24", "--json").json["hosts"]
    assert host["requests"] == 3


def test_one_of_a_thing_is_not_told_as_many(desk: Desk) -> None:
    desk.says("frontier", "add", "https://b.example/one", "https://b.example/two")
    desk.execute("update url_frontier set priority = 9 where url like '%one'")
    assert "1 better or older entry of this host comes first" in desk.says("explain", "https://b.example/two").out
    assert "1 URL ended" in desk.says("takedown", "add", "https://b.example/one").out


def test_a_takedown_is_told_as_it_was_written(desk: Desk) -> None:
    written = "http://127.0.0.11:8877/careers/1"
    assert desk.says("takedown", "add", written).out.startswith(f"{written} (listed as ")
    assert desk.says("takedown", "rm", written).out.startswith(f"{written} (listed as ")
    assert desk.says("takedown", "add", "a.example").out.startswith("a.example is taken down")


def test_the_list_of_blocked_sources_says_why(desk: Desk) -> None:
    desk.says(
        "sources",
        "import",
        desk.file("l.csv", "url,status,disable_reason\nhttps://a.example/,blocked,the owner asked\n"),
    )
    said = desk.says("sources", "list", "--status", "blocked").out
    assert said.splitlines()[0].rstrip().endswith("why")
    assert "the owner asked" in said


def test_a_secret_that_is_bound_to_no_origin_is_warned_of(desk: Desk) -> None:
    file = Path(desk.file("secrets", "KEY=abcdef\nOTHER@https://api.example=abcdef\n"))
    file.chmod(0o600)
    said = desk.says("config", "check", "--set", f"poll.secrets_file={file}").out
    assert "! The secret KEY is bound to no origin" in said
    assert "OTHER" not in said
    assert "abcdef" not in said


def test_a_user_without_rights_is_told_whose_they_are_beside_all_other_checks(desk: Desk) -> None:
    guest = f"guest_{desk.value('select oid from pg_database where datname = current_database()')}"
    desk.execute(f"create role {guest}")
    try:
        mark = "&" if "?" in desk.database_url else "?"
        address = f"{desk.database_url}{mark}options=-c%20role%3D{guest}"
        said = desk.says("--set", f"database.url={address}", "doctor")
    finally:
        desk.execute(f"drop role {guest}")
    assert said.code == 1
    assert "permission denied for table" in said.out
    assert "headwater db migrate` was run" in said.out
    assert "Data directory" in said.out
