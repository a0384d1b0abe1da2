"""The queue, hosts, takedowns and one fetch, as a person uses them."""

from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def test_a_url_is_added_explained_and_forgotten(desk: Desk) -> None:
    added = desk.says("frontier", "add", "https://a.example/one", "mailto:x@a.example")
    assert added.code == 3, added.err
    assert "queued     https://a.example/one" in added.out
    assert "(unsupported scheme)" in added.out
    explained = desk.says("explain", "http://A.example/one/", "--json")
    assert explained.json["status"] == "pending"
    assert explained.json["why"].startswith("ready")
    assert desk.says("frontier", "stats", "--json").json["by_status"]["pending"] == 1
    assert desk.says("frontier", "rm", "https://a.example/one").code == 0
    assert desk.says("explain", "https://a.example/one").code == 4


def test_urls_are_counted_by_source_a_page_at_a_time(desk: Desk) -> None:
    desk.says("frontier", "add", "https://a.example/one", "https://a.example/two")
    whole = desk.says("frontier", "stats", "--recount", "--json").json
    assert whole["by_status"]["pending"] == 2
    assert [one["pending"] for one in whole["by_source"].values()] == [2]
    assert whole["cursor"] is None
    [source] = whole["by_source"]
    behind = desk.says("frontier", "stats", "--cursor", source, "--json").json
    assert (behind["by_status"]["pending"], behind["by_source"]) == (2, {})
    assert desk.says("frontier", "stats", "--cursor", "nonsense").code == 2


def test_all_urls_of_a_status_are_queued_again(desk: Desk) -> None:
    desk.says("frontier", "add", *(f"https://a.example/{n}" for n in range(3)), "https://b.example/1")
    desk.execute("update url_frontier set status = 'dead', reason = 'max_retries'")
    assert desk.says("frontier", "retry", "--status", "dead", "--host", "a.example").out == "3 URLs queued again.\n"
    assert desk.says("frontier", "retry", "--status", "dead", "--reason", "gone").out == "0 URLs queued again.\n"
    assert desk.says("frontier", "retry", "--status", "dead").out == "1 URL queued again.\n"
    for refused in ([], ["https://b.example/1", "--status", "dead"], ["--status", "pending"], ["--status", "fetched"]):
        assert desk.says("frontier", "retry", *refused).code == 2


def test_all_urls_that_match_are_counted_before_they_are_killed_or_forgotten(desk: Desk) -> None:
    desk.says("frontier", "add", *(f"https://a.example/{n}" for n in range(3)), "https://b.example/1")
    of_a = ("--status", "pending", "--host", "a.example")
    refused = desk.says("frontier", "kill", *of_a)
    assert refused.code == 2
    assert "Kill 3 URLs, all that match?" in refused.err
    assert "Add --yes" in refused.err
    assert desk.says("frontier", "stats", "--json").json["by_status"]["pending"] == 4
    assert desk.says("frontier", "kill", *of_a, "--yes").out == "3 URLs killed.\n"
    killed = ("--status", "dead", "--reason", "killed")
    assert "Forget 3 URLs, all that match?" in desk.says("frontier", "rm", *killed).err
    assert desk.says("frontier", "rm", *killed, "--yes").out == "3 URLs forgotten.\n"
    assert desk.says("frontier", "rm", "--status", "pending", "--yes").code == 2, "that would be the whole queue"


def test_a_takedown_ends_what_waits_and_keeps_new_urls_out(desk: Desk) -> None:
    desk.says("frontier", "add", "https://www.a.example/one")
    taken = desk.says("takedown", "add", "a.example", "--reason", "asked by its owner")
    assert taken.out == "a.example is taken down; 1 URL ended, 0 documents and 0 vacancies withdrawn.\n"
    assert "(takedown)" in desk.says("frontier", "add", "https://a.example/two").out
    [listed] = desk.says("takedown", "list", "--json").json["takedowns"]
    assert listed["reason"] == "asked by its owner"
    assert listed["swept_at"] is not None
    assert "applied" in desk.says("takedown", "list").out
    why = desk.says("explain", "https://www.a.example/one", "--json").json["why"]
    assert why.startswith("taken down with a.example since ")
    assert why.endswith("asked by its owner")
    assert "taken down with a.example" in desk.says("explain", "https://a.example/two").out
    refused = desk.says("frontier", "retry", "https://www.a.example/one")
    assert (refused.code, "is taken down" in refused.err) == (6, True)
    assert desk.says("takedown", "rm", "a.example").code == 0
    assert desk.says("takedown", "rm", "a.example").code == 4


def test_a_policy_is_set_shown_and_refused_where_impossible(desk: Desk) -> None:
    desk.says("frontier", "add", "https://a.example/one")
    told = desk.says("hosts", "policy", "set", "a.example", "--min-request-interval-ms", "5000")
    assert "a.example: one request every 5 s, decided by host policy" in told.out
    refused = desk.says("hosts", "policy", "set", "a.example", "--max-concurrency", "0")
    assert refused.code == 2
    assert "max_concurrency = 0 is not possible." in refused.err


def test_the_address_guard_holds_for_a_persons_own_fetch(desk: Desk) -> None:
    fetched = desk.says("fetch", "http://127.0.0.1/", "--json")
    assert fetched.code == 6, fetched.err
    assert fetched.json["problem"] == "blocked_address"
    assert desk.says("hosts", "robots", "127.0.0.1").code == 4
    assert desk.says("fetch", "ftp://a.example/").code == 2


def test_the_counters_are_audited(desk: Desk) -> None:
    desk.says("frontier", "add", "https://a.example/one")
    assert desk.says("run", "maintain", "--once").code == 0
    assert desk.says("audit", "conservation", "--json").json["equal"] is True
    assert desk.says("audit", "politeness", "--json").json == {"hours": 1, "hosts": [], "addresses": [], "broken": 0}


def test_a_wrong_filter_names_the_right_ones(desk: Desk) -> None:
    told = desk.says("frontier", "list", "--status", "sleeping")
    assert told.code == 2
    assert "One of: pending, fetching, fetched, failed, dead." in told.err


def test_counters_that_are_wrong_for_two_sources_differ_though_their_sums_are_equal(desk: Desk) -> None:
    one, two = desk.followed("https://a.example/"), desk.followed("https://b.example/")
    for number, source in enumerate((one, two)):
        desk.says("frontier", "add", f"https://c{number}.example/page", "--source", str(source))
    equal = desk.says("audit", "conservation", "--json")
    assert (equal.code, equal.json["equal"], equal.json["counted"]["pending"]) == (0, True, 2)
    desk.execute(
        "insert into counter_deltas (source_id, status, entries)"
        " select id, 'pending', case host when 'a.example' then 1 else -1 end from sources where host is not null"
    )
    told = desk.says("audit", "conservation")
    assert (told.code, told.out.splitlines()[-1]) == (1, "✗ They differ, for 2 sources at least.")
