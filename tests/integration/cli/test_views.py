"""`headwater views`, and searches within a view: what is in it is decided as for a sink."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.integration.archive.shelf import LONG, OTHER, SOURCE
from tests.integration.cli.delivery_desk import DeliveryDesk
from tests.integration.cli.desk import assert_a_sentence
from tests.integration.cli.file_sink import installed_kinds

from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.database.pool import Database
from headwater.urls.domains import NO_VOICE
from headwater.vacancy import NewJob

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"


@pytest.fixture
def desk(database_url: str, open_folder: Path, tmp_path: Path) -> Iterator[DeliveryDesk]:
    with installed_kinds(tmp_path / "site", filed="tests.integration.cli.file_sink:FILED"):
        desk = DeliveryDesk(database_url, open_folder)
        desk.source(tags=["press"], country="PT")
        yield desk


def titles(desk: DeliveryDesk, *words: str) -> list[str]:
    found = desk.says(*words, "--json").json
    return sorted(one["title"] for one in found.get("documents") or found.get("jobs") or found.get("records") or [])


def test_without_views_the_list_says_how_to_add_one(desk: DeliveryDesk) -> None:
    said = desk.says("views", "list")
    assert (said.code, said.out) == (0, "")
    assert "headwater views add boats" in said.err


def test_a_view_is_added_shown_and_listed(desk: DeliveryDesk) -> None:
    source = desk.followed("https://harbour.example/", "--name", "Harbour News")
    said = desk.says(
        *("views", "add", "boats", "--query", "ferry", "--kind", "document", "--source", "harbour.example"),
        *("--tag", "press", "--language", "EN", "--country", "Portugal", "--min-quality", "40"),
    )
    assert said.code == 0, said.err
    told = desk.says("views", "show", "boats", "--json").json
    assert (told["source_ids"], told["sources"], told["languages"], told["countries"]) == (
        [source],
        ["Harbour News"],
        ["en"],
        ["PT"],
    )
    shown = desk.says("views", "show", "boats").out
    assert "  words:        ferry\n" in shown
    assert "  quality:      40 at least\n" in shown
    assert "delivered by: no sink" in shown
    assert "words: ferry; kinds: document" in desk.says("views", "list").out


@pytest.mark.parametrize(
    "words",
    [
        ("add", "Boats"),
        ("add", "boats", "--kind", "page"),
        ("add", "boats", "--language", "english"),
        ("add", "boats", "--country", "Atlantis"),
        ("add", "boats", "--min-quality", "101"),
        ("edit", "boats"),
    ],
)
def test_what_is_no_filter_is_refused(desk: DeliveryDesk, words: tuple[str, ...]) -> None:
    said = desk.says("views", *words)
    assert said.code == 2
    assert_a_sentence(said)


def test_names_are_taken_once_and_unknown_ones_are_not_found(desk: DeliveryDesk) -> None:
    desk.says("views", "add", "boats")
    assert "Change it: headwater views edit boats" in desk.says("views", "add", "boats").err
    for words in (("show", "x"), ("rm", "x"), ("preview", "x"), ("edit", "x", "--query", "a")):
        assert desk.says("views", *words).code == 4
    assert desk.says("docs", "list", "--view", "x").code == 4


def test_an_edited_view_moves_records_in_and_out_of_its_sinks(desk: DeliveryDesk) -> None:
    desk.says("views", "add", "boats", "--query", "ferry")
    desk.add("index", "filed", "--view", "boats")
    desk.keep(A, "Ferry", f"ferry {LONG}")
    desk.keep(B, "Train", f"train {OTHER}")
    desk.deliver()
    assert desk.titles() == {"Ferry": 1}
    said = desk.says("views", "edit", "boats", "--query", "train")
    assert "again: index" in said.err
    assert desk.says("sinks", "show", "index").out.startswith("index: filling")
    desk.deliver()
    assert desk.titles() == {"Train": 1}
    assert desk.says("views", "edit", "boats", "--query", "train").err == ""
    assert desk.value("SELECT count(*) FROM backfills") == 0
    refused = desk.says("views", "rm", "boats")
    assert (refused.code, "The view 'boats' is delivered by index." in refused.err) == (2, True)
    desk.says("sinks", "rm", "index", "--yes")
    assert desk.says("views", "rm", "boats").out == "The view boats is removed.\n"


def test_an_empty_value_takes_a_filter_back(desk: DeliveryDesk) -> None:
    desk.says("views", "add", "boats", "--query", "ferry", "--tag", "press", "--min-quality", "40")
    desk.says("views", "edit", "boats", "--query", "", "--tag", "", "--min-quality", "0")
    assert desk.says("views", "show", "boats").out.startswith("boats: everything\n")


@pytest.mark.long
def test_searches_within_a_view_find_what_a_sink_of_it_gets(desk: DeliveryDesk) -> None:
    """Through both ways of asking: with words and without."""
    desk.says("views", "add", "boats", "--query", "ferry -strike", "--country", "PT", "--min-quality", "50")
    desk.add("index", "filed", "--view", "boats")
    desk.keep(A, "Good", f"ferry harbour {LONG}", quality=80)
    desk.keep(B, "Poor", f"ferry harbour {OTHER}", quality=20)
    desk.keep(C, "Strike", f"ferry harbour strike {LONG} {OTHER}", quality=80)
    desk.deliver()
    assert list(desk.titles()) == ["Good"]
    assert titles(desk, "docs", "list", "--view", "boats") == ["Good"]
    assert titles(desk, "docs", "search", "harbour", "--view", "boats") == ["Good"]
    assert titles(desk, "docs", "search", "--view", "boats") == ["Good"]
    assert len(titles(desk, "docs", "search", "harbour")) == 3
    previewed = desk.says("views", "preview", "boats")
    assert "Good" in previewed.out
    assert "1 document of all 3 that were looked at." in previewed.err
    desk.execute("UPDATE sources SET country = 'ES'")
    assert titles(desk, "docs", "list", "--view", "boats") == []
    assert titles(desk, "docs", "search", "harbour", "--view", "boats") == []


def test_vacancies_of_a_view_are_listed_and_searched(desk: DeliveryDesk) -> None:
    desk.on_database(keep_vacancies)
    desk.says("views", "add", "kenyan", "--kind", "job", "--country", "Kenya", "--query", "nurse or driver")
    assert titles(desk, "jobs", "list", "--view", "kenyan") == ["Nurse"]
    assert titles(desk, "jobs", "search", "clinic", "--view", "kenyan") == ["Nurse"]
    assert titles(desk, "docs", "list", "--view", "kenyan") == []
    assert titles(desk, "views", "preview", "kenyan") == ["Nurse"]


async def keep_vacancies(database: Database) -> None:
    places = {"Nurse": ("KE", "in a clinic"), "Driver": ("UG", "of a clinic"), "Cook": ("KE", "for a clinic")}
    jobs = [
        NewJob(
            canonical_hash=bytes([number]) * 32,
            title=title,
            org_name="Red Cross",
            apply_url=f"https://j.example/{title}",
            country_iso=country,
            description_snippet=snippet,
        )
        for number, (title, (country, snippet)) in enumerate(places.items())
    ]
    async with database.transaction() as connection:
        await keep_jobs(connection, Teller(SOURCE, "https://gazette.example/", NO_VOICE), jobs, datetime.now(UTC))
