"""`healthcheck` tells each fault while it lasts, and its exit is that of a container's check."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk
from tests.integration.cli.test_operations import runs
from tests.integration.database.test_days import forget_days

from headwater.database.pool import Database
from headwater.reports.health import health_of, note_health

LATELY = "date_bin('10 minutes', now(), 'epoch')"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def told(desk: Desk) -> tuple[int, str, dict[str, str]]:
    """The exit, the state, and what is not well."""
    said = desk.says("healthcheck", "--json")
    parts = {one["name"]: one["state"] for one in said.json["parts"] if one["state"] != "ok"}
    return said.code, said.json["state"], parts


def test_an_installation_where_nothing_is_wrong_is_ok(desk: Desk) -> None:
    assert told(desk) == (0, "ok", {})
    said = desk.says("healthcheck")
    assert (said.code, said.out.strip()) == (0, "✓ ok")


def test_a_maintainer_that_died_is_told_until_another_runs(desk: Desk) -> None:
    runs(desk, "poll", "fetch", "deliver")
    runs(desk, "maintain", seen=timedelta(minutes=3))
    desk.execute("update statistics_mark set folded_until = now() - interval '4 minutes'")
    assert told(desk) == (0, "degraded", {"maintaining": "down"})
    said = desk.says("healthcheck").out
    assert "✗ maintaining: Nobody maintains this database." in said
    assert "Since 2" in said
    runs(desk, "maintain")
    assert told(desk) == (0, "ok", {})


def test_what_to_do_is_a_sentence_in_a_pipe_too(desk: Desk) -> None:
    said = desk.says("--set", "database.url=postgresql://127.0.0.1:1/none", "healthcheck")
    assert said.code == 5
    assert "    See that PostgreSQL is running and reachable." in said.out


def test_work_that_waits_while_nobody_lives_is_down(desk: Desk) -> None:
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    desk.polled_in(-timedelta(minutes=20))
    assert told(desk)[:2] == (1, "down")
    runs(desk, "fetch", "maintain", "deliver")
    assert told(desk) == (0, "degraded", {"polling": "down"})
    runs(desk, "poll")
    assert told(desk) == (0, "ok", {})


def test_a_sink_that_is_down_or_has_parked_records_is_told_by_its_name(desk: Desk) -> None:
    desk.execute("insert into sinks (name, type, position, failures, last_error) values ('store', 'files', 0, 3, 'no')")
    assert told(desk) == (0, "degraded", {"sink store": "down"})
    desk.execute("update sinks set failures = 0")
    desk.execute(
        "insert into delivery_failures (sink_id, kind, bucket, hash, position, version, attempts, error, failed_at,"
        " is_from_archive) select id, 'document', 1, '\\x01', 1, 1, 8, 'too long', now(), false from sinks"
    )
    assert told(desk) == (0, "degraded", {"sink store": "degraded"})
    desk.execute("delete from delivery_failures")
    assert told(desk) == (0, "ok", {})


def test_a_network_that_is_away_and_tasks_that_fail_are_told(desk: Desk) -> None:
    runs(desk, "poll", "fetch", "maintain", "deliver")
    desk.execute("""update role_processes set failing = '{"network": "all fail"}'""")
    assert told(desk) == (0, "degraded", {"network": "down"})
    desk.execute("update role_processes set failing = '{}'")
    desk.execute(f"insert into role_figures select {LATELY}, 'failed.rescue', gen_random_uuid(), 5, 'refused'")
    # It has succeeded since.
    assert told(desk) == (0, "ok", {})
    desk.execute("""update role_processes set failing = '{"rescue": "refused"}'""")
    assert told(desk) == (0, "degraded", {"tasks": "degraded"})
    desk.execute("delete from role_figures")
    assert told(desk) == (0, "ok", {})


async def test_partitions_that_run_out_are_told(database: Database) -> None:
    await forget_days(database, "runs")
    found = {one.name: one for one in (await health_of(database)).troubles}
    assert set(found) == {"partitions"}
    assert "headwater run maintain --once" in found["partitions"].fix


async def test_since_when_is_kept_in_mind_until_it_is_over(database: Database) -> None:
    await database.execute(
        f"insert into role_figures select {LATELY}, 'work_lost', gen_random_uuid(), 1, 'the disk was full'"
    )
    assert [one.since for one in (await health_of(database)).troubles] == [None]
    await note_health(database)
    [first] = (await health_of(database)).troubles
    await note_health(database)
    [later] = (await health_of(database)).troubles
    assert first.since == later.since is not None
    await database.execute("delete from role_figures")
    await note_health(database)
    assert await database.fetchval("select count(*) from health_marks") == 0


def test_a_database_that_does_not_answer_ends_with_its_own_code(open_folder: Path) -> None:
    desk = Desk("postgresql://nobody@127.0.0.1:9/none", open_folder)
    said = desk.says("healthcheck", "--json")
    assert (said.code, said.json["state"]) == (5, "down")
    assert [part["name"] for part in said.json["parts"]] == ["database"]


async def test_a_schema_of_another_version_is_down(database: Database) -> None:
    await database.execute("drop table health_marks")
    found = await health_of(database)
    assert (found.state, found.is_database_away) == ("down", False)
    assert found.parts[0].fix == "Run: headwater db migrate"


def test_the_figures_are_printed_as_prometheus_reads_them(desk: Desk) -> None:
    said = desk.says("metrics")
    assert said.code == 0
    assert 'headwater_roles{role="poll"} 0.0\n' in said.out
    assert said.out.startswith("# HELP headwater_build_info ")
