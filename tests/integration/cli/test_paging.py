"""Every list that can be longer than its limit says how to go on, and goes on in the same way."""

from pathlib import Path
from typing import Any

import pytest
from tests.integration.cli.desk import Desk

SITE = "https://a.example"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def filled(desk: Desk) -> None:
    """Three of everything that is listed."""
    for name in ("ash", "birch", "cedar"):
        desk.followed(f"https://{name}.example/", "--name", name)
        desk.says("takedown", "add", f"{name}.test")
    desk.says("frontier", "add", "--source", "ash", *(f"https://{name}.example/1" for name in ("x", "y", "z")))
    desk.execute("""
        insert into runs (at, id, source_id, channel_id, kind, trigger, status, requests, found, inserted, updated,
                          skipped, errors, duration_ms, message)
        select now(), gen_random_uuid(), s.id, gen_random_uuid(), 'feed', 'schedule', 'ok', 1, 0, 0, 0, 0, 0, 1, 'fine'
        from sources s where s.url <> '' order by s.name limit 3""")


LISTS = [
    ("sources", "list"),
    ("frontier", "list"),
    ("hosts", "list"),
    ("takedown", "list"),
    ("crawl", "pages", "ash"),
]


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_pages_follow_each_other_and_say_so(desk: Desk, words: tuple[str, ...]) -> None:
    filled(desk)
    everything = rows_of(desk.says(*words, "--json").json)
    seen: list[Any] = []
    cursor: tuple[str, ...] = ()
    while True:
        said = desk.says(*words, "--limit", "1", *cursor)
        page = desk.says(*words, "--limit", "1", *cursor, "--json").json
        assert len(rows_of(page)) == 1
        seen += rows_of(page)
        if page["cursor"] is None:
            assert "More" not in said.err
            break
        assert f"More: add --cursor {page['cursor']}" in said.err
        cursor = ("--cursor", page["cursor"])
    assert seen == everything
    assert len(seen) >= 3


def rows_of(told: dict[str, Any]) -> list[Any]:
    [rows] = [value for name, value in told.items() if isinstance(value, list) and name != "limits_reached"]
    keys = ("id", "url", "host", "domain_or_url")
    return [next(row[key] for key in keys if key in row) for row in rows]


@pytest.mark.long
def test_runs_of_one_moment_are_shown_once_each(desk: Desk) -> None:
    filled(desk)
    seen: list[str] = []
    cursor: tuple[str, ...] = ()
    for _ in range(3):
        said = desk.says("crawl", "logs", "--limit", "1", "--json", *cursor)
        seen.append(said.json["source"])
        cursor = ("--cursor", said.err.split()[-1]) if said.err else ()
    assert (sorted(seen), cursor) == (["ash", "birch", "cedar"], ())


@pytest.mark.parametrize(
    "words", [*LISTS[:2], LISTS[4], ("crawl", "logs"), ("docs", "list"), ("jobs", "list")], ids=" ".join
)
def test_a_cursor_that_no_list_made_is_a_sentence(desk: Desk, words: tuple[str, ...]) -> None:
    desk.followed("https://ash.example/", "--name", "ash")
    said = desk.says(*words, "--cursor", "zz")
    assert (said.code, said.err.startswith("headwater: This cursor was not made by a list")) == (2, True)


@pytest.mark.parametrize("words", [*LISTS, ("docs", "list"), ("jobs", "list"), ("templates", "list")], ids=" ".join)
def test_no_list_takes_a_limit_of_nothing(desk: Desk, words: tuple[str, ...]) -> None:
    assert desk.says(*words, "--limit", "0").code == 2


@pytest.mark.parametrize("name", ["ash", "ASH", "https://ash.example/", "ash.example"])
def test_a_source_is_named_as_a_person_would(desk: Desk, name: str) -> None:
    filled(desk)
    told = desk.says("frontier", "list", "--source", name, "--json")
    assert (told.code, len(told.json["entries"])) == (0, 3)
    assert desk.says("frontier", "add", "--source", name, "https://ash.example/new").code == 0
    assert desk.says("frontier", "list", "--source", "nobody").code == 4
