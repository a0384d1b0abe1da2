"""`headwater sources change`: one thing done to many sources."""

from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk, assert_a_sentence


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def followed(desk: Desk) -> None:
    for name in ("ash", "birch", "cedar"):
        desk.followed(f"https://{name}.example/", "--name", name, "--feed", f"https://{name}.example/feed")


def statuses(desk: Desk) -> dict[str, str]:
    told = desk.says("sources", "list", "--json").json["sources"]
    return {one["name"]: one["status"] for one in told}


def test_failing_sources_are_mended_together_and_each_has_its_outcome(desk: Desk) -> None:
    followed(desk)
    desk.execute("update channels set consecutive_errors = 3, error_class = 'network' where host <> 'ash.example'")
    done = desk.says("sources", "change", "clear_errors", "--status", "failing", "--json").json
    assert (done["done"], {one["name"] for one in done["outcomes"]}) == (2, {"birch", "cedar"})
    assert desk.value("select count(*) from channels where consecutive_errors > 0") == 0
    again = desk.says("sources", "change", "pause", "ash", "birch", "nobody.example", "--reason", "moving")
    assert again.code == 3
    assert again.out.startswith("2 sources done, 0 skipped, 1 failed")
    assert "nobody.example" in again.out
    assert statuses(desk) == {"ash": "paused", "birch": "paused", "cedar": "active"}


def test_interval_policy_and_tags_of_many(desk: Desk) -> None:
    followed(desk)
    assert desk.says("sources", "change", "set_interval", "--all", "--interval", "20m").code == 0
    assert desk.says("sources", "change", "set_policy", "ash", "--policy", "tiers").code == 0
    assert desk.says("sources", "change", "tag", "--name", "b", "--add-tags", "sea, land").code == 0
    rows = {one["name"]: one for one in desk.says("sources", "list", "--json").json["sources"]}
    assert {one["poll_every_seconds"] for one in rows.values()} == {1200}
    assert [rows[name]["policy"] for name in ("ash", "birch")] == ["tiers", None]
    assert [rows[name]["tags"] for name in ("ash", "birch")] == [[], ["sea", "land"]]


def test_deleting_many_asks_with_the_count(desk: Desk) -> None:
    followed(desk)
    refused = desk.says("sources", "change", "delete", "--name", "ash")
    assert refused.code == 2
    assert "Delete 1 source?" in refused.err
    assert desk.says("sources", "change", "delete", "--name", "ash", "--yes").code == 0
    assert set(statuses(desk)) == {"birch", "cedar"}


@pytest.mark.parametrize(
    "words",
    [
        ("dance", "--all"),
        ("pause",),
        ("pause", "ash", "--all"),
        ("tag", "--all"),
        ("delete", "--all", "--yes"),
        ("pause", "--status", "ok"),
        ("pause", "--status", "sleeping"),
        ("set_interval", "--all", "--interval", "soon"),
    ],
)
def test_what_cannot_be_is_a_usage_error(desk: Desk, words: tuple[str, ...]) -> None:
    followed(desk)
    said = desk.says("sources", "change", *words)
    assert said.code == 2
    assert_a_sentence(said)
    assert set(statuses(desk).values()) == {"active"}
