"""A source that is taken down says so wherever its next poll would stand, and cannot be polled by hand."""

from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk

ADDRESS = "https://a.example/"
FEED = "https://a.example/feed.xml"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    desk = Desk(database_url, open_folder)
    desk.followed(ADDRESS, "--name", "Alpha", "--feed", FEED)
    assert desk.says("takedown", "add", "a.example", "--reason", "asked by its owner").code == 0
    return desk


def test_crawl_run_refuses_a_taken_down_source_and_says_how_to_lift_it(desk: Desk) -> None:
    before = desk.value("select next_poll_at from channels")
    said = desk.says("crawl", "run", "Alpha")
    assert said.code != 0
    assert "Alpha is not polled. It is taken down with a.example since" in said.err
    assert "asked by its owner" in said.err
    assert "headwater takedown rm" in said.err
    assert desk.value("select next_poll_at from channels") == before


def test_crawl_run_polls_the_others_and_says_which_it_left_out(desk: Desk) -> None:
    desk.followed("https://b.example/", "--name", "Beta", "--feed", "https://b.example/feed.xml")
    said = desk.says("crawl", "run", "Alpha", "Beta")
    assert said.code == 3
    assert "Beta: 1 channel due now" in said.out
    assert "Alpha is not polled. It is taken down" in said.out


def test_a_taken_down_source_has_no_next_poll(desk: Desk) -> None:
    shown = desk.says("sources", "show", "Alpha")
    row = next(line for line in shown.out.splitlines() if line.startswith("feed"))
    assert row.split(FEED)[1].strip().startswith("taken down  ")
    [row] = [line for line in desk.says("sources", "list").out.splitlines() if "Alpha" in line]
    assert "taken down" in row
    told = desk.says("sources", "show", "Alpha", "--json").json
    assert (told["next_run_at"], told["channels"][0]["next_poll_at"]) == (None, None)


@pytest.mark.long
def test_the_schedule_says_that_a_source_is_taken_down(desk: Desk) -> None:
    desk.followed("https://b.example/", "--name", "Beta", "--feed", "https://b.example/feed.xml")
    beta, alpha = desk.says("status", "--show-schedule", "--json").json["schedule"]
    assert (beta["source"], alpha["source"], alpha["next_fetch"]) == ("Beta", "Alpha", None)
    assert alpha["why"].startswith("It is taken down with a.example since")
    assert "Next fetch: taken down" in desk.says("status", "--show-schedule").out


@pytest.mark.long
def test_only_the_channel_that_is_taken_down_has_no_next_poll(desk: Desk) -> None:
    desk.says("takedown", "rm", "a.example")
    desk.says("takedown", "add", FEED)
    assert "It is taken down" in desk.says("crawl", "run", "Alpha").err
    desk.says("sources", "edit", "Alpha", "ingestion_mode=both")
    assert desk.says("crawl", "run", "Alpha").code == 0
    shown = desk.says("sources", "show", "Alpha").out
    assert shown.count("taken down") >= 1
    assert desk.says("sources", "show", "Alpha", "--json").json["next_run_at"] is not None


def test_lifting_a_takedown_makes_it_due_now(desk: Desk) -> None:
    desk.execute(
        "update channels set next_poll_at = now() + interval '3 days', consecutive_errors = 4, last_error = 'x'"
    )
    said = desk.says("takedown", "rm", "a.example")
    assert "its channels are due now" in said.out
    told = desk.says("sources", "show", "Alpha", "--json").json
    assert (told["next_reason"], told["channels"][0]["consecutive_errors"]) == ("its takedown was lifted", 0)
    assert desk.says("crawl", "run", "Alpha").code == 0


@pytest.mark.long
def test_that_its_pages_ended_is_no_problem_beside_the_takedown(desk: Desk) -> None:
    desk.says("takedown", "rm", "a.example")
    desk.followed("https://a.example/docs/", "--kind", "docs", "--name", "Manual")
    assert desk.says("frontier", "add", "https://a.example/docs/").code == 0
    owner = "source_id = (select id from sources where name = 'Manual')"
    desk.execute(f"update url_frontier set status = 'dead', reason = 'takedown', {owner}")
    desk.execute(f"update discoveries set {owner}")
    desk.says("takedown", "add", "a.example")
    told = desk.says("sources", "show", "Manual", "--json").json
    assert [one["kind"] for one in told["problems"]] == ["takedown"]


def test_a_takedown_of_standard_input_is_refused_with_an_example(desk: Desk) -> None:
    said = desk.says("takedown", "add", "-")
    assert (said.code, "`headwater takedown add` does not read standard input." in said.err) == (2, True)
    assert 'for example: headwater takedown add example.org --reason "asked by its owner"' in said.err


def test_an_unknown_option_leads_to_the_help_of_its_command(desk: Desk) -> None:
    assert "fix: Its arguments and options: headwater takedown add --help" in desk.says("takedown", "add", "--all").err
