"""Searches given to a real OpenSearch, and taken back, by commands."""

import asyncio
from pathlib import Path

import pytest
from tests.integration.archive.shelf import Shelf
from tests.integration.cli.delivery_desk import DeliveryDesk
from tests.integration.cli.desk import assert_a_sentence
from tests.integration.search.engines import Both, ask

from headwater.database.pool import Database

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"
NOBODY_THERE = "http://127.0.0.1:9"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> DeliveryDesk:
    desk = DeliveryDesk(database_url, open_folder)
    desk.source()
    desk.keep(A, "Harbours", "tide tables of the harbours")
    desk.keep(B, "Trains", "tables of trains")
    return desk


def fill(desk: DeliveryDesk, url: str) -> None:
    desk.on_database(lambda database: Both(Shelf(database), url).fill("words"))


@pytest.mark.opensearch
@pytest.mark.xdist_group("search_servers")
@pytest.mark.parametrize("search_server_url", ["opensearch"], indirect=True)
def test_searches_are_given_to_a_sink_and_taken_back(desk: DeliveryDesk, search_server_url: str) -> None:
    added = desk.says("sinks", "add", "words", "--type", "elasticsearch", f"url={search_server_url}", "layout=search")
    assert added.code == 0, added.err
    early = desk.says("db", "search-engine", "opensearch")
    assert early.code == 7
    assert "is being filled" in early.err

    fill(desk, search_server_url)
    desk.execute("DELETE FROM delivered WHERE hash = (SELECT url_hash FROM documents WHERE url = $1)", A)
    wrong = desk.says("db", "search-engine", "opensearch")
    assert wrong.code == 6
    assert "sinks verify words --mend" in wrong.err
    assert "found by PostgreSQL" in desk.says("docs", "search", "tide").err
    assert desk.says("sinks", "verify", "words", "--mend").code == 1
    fill(desk, search_server_url)

    given = desk.says("db", "search-engine", "opensearch")
    assert given.code == 0, given.err
    assert "The sink holds 2 records" in given.err
    assert desk.value("SELECT count(*) FROM documents WHERE search IS NOT NULL") == 0
    assert "found by OpenSearch" in desk.says("docs", "search", "tide").err
    # What is stored from now on is found as soon as the sink has it.
    desk.keep(C, "Ferries", "tide tables of the ferries")
    fill(desk, search_server_url)
    found = desk.says("docs", "search", "tides", "--json").json
    assert ({one["url"] for one in found["documents"]}, found["engine"]) == ({A, C}, "OpenSearch")
    assert "**tide** tables" in found["documents"][0]["snippet"]

    told = desk.says("db", "search-engine")
    assert "Searches are answered by OpenSearch, from the sink 'words'" in told.out
    assert "switched off" in told.out
    assert "OpenSearch 2" in told.out
    assert desk.says("db", "search-engine", "--json").json["columns"] == "away"
    assert "Searches are answered by OpenSearch, OpenSearch 2" in desk.says("doctor").out

    back = desk.says("db", "search-engine", "postgresql")
    assert back.code == 0, back.err
    assert "PostgreSQL answers searches." in back.err
    assert "found by PostgreSQL" in desk.says("docs", "search", "ferry").err
    assert desk.says("docs", "search", "tides", "--json").json["documents"][0]["url"] in {A, C}
    asyncio.run(ask(search_server_url, "DELETE", "/headwater_search_*"))
    asyncio.run(ask(search_server_url, "DELETE", "/_index_template/headwater_search_*"))


def test_without_a_sink_that_could_answer_it_is_said_what_to_do(desk: DeliveryDesk) -> None:
    calm = desk.says("db", "search-engine")
    assert "Searches are answered by PostgreSQL." in calm.out
    assert "kept" in calm.out
    desk.settings["search.engine"] = "opensearch"
    for words, code in ((("db", "search-engine", "opensearch"), 2), (("docs", "search", "tide"), 5)):
        said = desk.says(*words)
        assert said.code == code
        assert "no sink has that layout" in said.err
        assert_a_sentence(said)
    doctor = desk.says("doctor")
    assert "✗ OpenSearch is to answer searches" in doctor.out
    assert "layout=search" in doctor.out
    # Without words the archive itself answers.
    assert desk.says("docs", "list").code == 0


@pytest.mark.parametrize(
    ("options", "name", "said"),
    [
        ({"layout": "documents"}, "index", "its type or its layout is another"),
        ({"layout": "search"}, "other", "'other', which `search.sink` names, does not exist"),
    ],
)
def test_a_sink_that_cannot_answer_is_named(desk: DeliveryDesk, options: dict[str, str], name: str, said: str) -> None:
    add_sink(desk, "index", options)
    desk.settings |= {"search.engine": "opensearch", "search.sink": name}
    found = desk.says("docs", "search", "tide")
    assert (found.code, said in found.err) == (5, True), found.err
    assert_a_sentence(found)


def test_of_several_sinks_one_has_to_be_named(desk: DeliveryDesk) -> None:
    for name in ("one", "two"):
        add_sink(desk, name, {"layout": "search", "index_prefix": name})
    desk.settings["search.engine"] = "opensearch"
    assert "Several sinks could answer searches: one, two." in desk.says("docs", "search", "tide").err
    desk.settings["search.sink"] = "two"
    assert desk.says("docs", "search", "tide").code == 5


def test_a_sink_of_a_view_answers_no_search(desk: DeliveryDesk) -> None:
    desk.says("views", "add", "boats", "--query", "boats")
    add_sink(desk, "some", {"layout": "search"})
    desk.execute("UPDATE sinks SET view_id = (SELECT id FROM views)")
    desk.settings["search.engine"] = "opensearch"
    assert "holds the documents of a view only" in desk.says("docs", "search", "tide").err


def test_a_server_that_is_away_is_told_with_what_to_do(desk: DeliveryDesk) -> None:
    add_sink(desk, "words", {"layout": "search"})
    desk.settings["search.engine"] = "opensearch"
    said = desk.says("docs", "search", "tide")
    assert said.code == 5
    assert "from the sink 'words', and cannot: http://127.0.0.1:9 cannot be reached" in said.err
    assert "headwater db search-engine postgresql" in said.err
    doctor = desk.says("doctor")
    assert "✗ http://127.0.0.1:9 cannot be reached" in doctor.out


def test_a_switch_that_was_begun_is_told(desk: DeliveryDesk) -> None:
    desk.execute("UPDATE search_column SET state = 'filling', kind = 'document', done = 1200")
    for words in (("db", "search-engine"), ("doctor",)):
        said = desk.says(*words)
        assert "PostgreSQL's search columns are filling: 1,200 rows were looked at" in said.out
        assert "headwater db search-engine postgresql" in said.out
    # Who searches meanwhile is told why there is no answer.
    assert desk.says("docs", "search", "tide").code == 5
    assert desk.says("db", "search-engine", "postgresql").code == 0
    assert "found by PostgreSQL" in desk.says("docs", "search", "tide").err


def add_sink(desk: DeliveryDesk, name: str, options: dict[str, str]) -> None:
    async def add(database: Database) -> None:
        both = Both(Shelf(database), NOBODY_THERE)
        await both.add_sink(name, **options)

    desk.on_database(add)
