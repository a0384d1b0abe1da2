"""`status`, `doctor` and `problems` on the machinery: which roles run, what was lost, how many days are left."""

import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.cli.conftest import LIMIT_SECONDS, Starts
from tests.integration.cli.desk import Desk
from tests.integration.database.test_days import forget_days

BEAT = (
    "insert into role_processes (id, owner, role, does, host, pid, version, beat_at, counts, failing)"
    " values (gen_random_uuid(), $1, 'up', $2, 'harbour', 42, '1.0', now() - $3::interval, '{}', '{}')"
)

FIGURE = "insert into role_figures select date_bin('10 minutes', now(), 'epoch'), $1, gen_random_uuid(), $2, $3"
COUNTED = (
    ("work_lost", 2, "the disk was full"),
    ("leases_lost", 1, ""),
    ("settled", 40, ""),
    ("settling_ms", 800, ""),
    ("settled_within_30_ms", 40, ""),
    ("failed.promote", 2, "PostgreSQL refused a statement: so"),
    ("died.rescue", 4, "TypeError: of what nobody expected"),
    ("connection_waits", 3, ""),
    ("connection_waiting_ms", 4000, ""),
)


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def until(found: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not found():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def runs(desk: Desk, *does: str, seen: timedelta = timedelta()) -> None:
    desk.execute(BEAT, f"owner {does}", list(does), seen)


def line(desk: Desk, beginning: str, *words: str) -> str:
    found = [one for one in desk.says("status", *words).out.splitlines() if one.startswith(beginning)]
    return found[0] if found else ""


def test_where_nothing_runs_it_is_said_how_to_start_and_nothing_is_wrong(desk: Desk) -> None:
    assert line(desk, "Roles") == "Roles     nothing runs; start with: headwater up"
    assert desk.says("problems").code == 0
    doctor = desk.says("doctor")
    assert (doctor.code, "✓ Nothing runs; start with: headwater up" in doctor.out) == (0, True)
    assert "✓ Partitions for 14 days after today" in doctor.out


@pytest.mark.long
def test_a_maintainer_that_was_killed_is_missed(desk: Desk, starts: Starts) -> None:
    role = starts("run", "maintain", HEADWATER_DATABASE__URL=desk.database_url)
    until(lambda: desk.value("select count(*) from role_processes") == 1)
    assert "maintain 1 · web 0 · in 1 process" in line(desk, "Roles")
    os.kill(role.pid, signal.SIGKILL)
    role.wait(LIMIT_SECONDS)
    # As if three minutes had passed since.
    desk.execute("update role_processes set beat_at = now() - interval '3 minutes'")
    desk.execute("update statistics_mark set folded_until = now() - interval '4 minutes'")
    missing = f"Nobody maintains this database. It was last seen 3 min ago: process {role.pid} on "
    assert line(desk, "Missing").startswith(f"Missing   {missing}")
    assert line(desk, "Missing").endswith("Start it: headwater run maintain")
    [problem] = desk.says("problems", "--json").json["problems"]
    assert (problem["kind"], problem["grade"]) == ("not_maintained", "error")
    doctor = desk.says("doctor")
    assert (doctor.code, f"✗ {missing}" in doctor.out) == (1, True)


@pytest.mark.long
def test_a_maintainer_that_ends_in_order_is_not_missed(desk: Desk, starts: Starts) -> None:
    role = starts("run", "maintain", HEADWATER_DATABASE__URL=desk.database_url)
    until(lambda: desk.value("select count(*) from role_processes") == 1)
    role.send_signal(signal.SIGTERM)
    role.communicate(timeout=LIMIT_SECONDS)
    assert desk.value("select count(*) from role_processes") == 0
    assert desk.says("problems").code == 0


@pytest.mark.long
def test_every_process_of_several_is_seen_and_the_death_of_one_is_told(desk: Desk, starts: Starts) -> None:
    role = starts("run", "fetch", "--processes", "2", HEADWATER_DATABASE__URL=desk.database_url)
    until(lambda: desk.value("select count(*) from role_processes where 'fetch' = any (does)") == 2)
    assert "fetch 2" in line(desk, "Roles")
    worker = desk.value("select pid from role_processes where role = 'fetch'")
    os.kill(worker, signal.SIGKILL)
    until(lambda: desk.value("select count(*) from role_processes where 'fetch' = any (does)") == 3)
    desk.execute("delete from role_processes where pid = $1", worker)
    role.send_signal(signal.SIGTERM)
    role.communicate(timeout=LIMIT_SECONDS)
    assert desk.value("select count(*) from role_processes") == 0
    [died] = desk.says("status", "--json").json["operations"]["tasks"]
    assert (died["task"], died["deaths"], died["said"]) == ("worker", 1, "its process was ended by SIGKILL")


@pytest.mark.long
def test_channels_that_are_due_after_their_poller_died_are_told_at_once(desk: Desk) -> None:
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    desk.polled_in(-timedelta(minutes=2))
    assert line(desk, "Missing") == ""
    runs(desk, "poll", seen=timedelta(minutes=2))
    assert "nobody polls" in line(desk, "Missing")
    runs(desk, "poll", "fetch", "maintain")
    assert line(desk, "Missing") == ""
    assert "poll 1 · fetch 1 · deliver " in line(desk, "Roles")
    assert " · maintain 1 · web 0 · in 1 process" in line(desk, "Roles")


def test_what_fails_at_present_is_told_once_for_all_processes(desk: Desk) -> None:
    runs(desk, "poll")
    runs(desk, "fetch")
    desk.execute("""update role_processes set failing = '{"network": "This machine has none."}'""")
    told = desk.says("status").out
    assert told.count("Failing   network: This machine has none.\n") == 1
    assert "network_down" in {one["kind"] for one in desk.says("problems", "--json").json["problems"]}


@pytest.mark.long
def test_everything_is_shown_when_it_is_asked_for_and_fits_a_terminal(desk: Desk) -> None:
    runs(desk, "poll", "fetch", "maintain")
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    desk.polled_in(-timedelta(seconds=50))
    for figure, count, said in COUNTED:
        desk.execute(FIGURE, figure, count, said)
    desk.execute(
        "insert into request_minutes select date_trunc('minute', now()), 'page', c, n, 0, 0"
        " from (values ('2xx', 1200), ('5xx', 3), ('no_answer', 7), ('robots_blocked', 2)) as v (c, n)"
    )
    told = desk.says("status", "--operations").out
    for words in (
        "up: process 42 on harbour, 1.0, for ",
        "oldest due channel: 5",
        "1,200 2xx · 0 3xx · 0 4xx · 3 5xx · 7 no answer · 2 refused by robots.txt",
        "40 in the last hour, half of them within 30 ms, 95 % within 30 ms",
        "2 pieces of work and 1 lease in the last hour, at last: the disk was full",
        "rescue: 0 failures and 4 deaths in the last hour, at last: TypeError: of what nobody expected",
        "promote: 2 failures and 0 deaths",
        "for a connection to the database, 3 times in the last hour, 4s in all",
        "partitions for 14 days after today",
    ):
        assert words in told
    assert max(map(len, desk.sees("status", "--operations").out.splitlines())) <= 80
    assert "Settling" not in desk.says("status").out
    found = desk.says("status", "--json").json["operations"]
    assert found["requests"]["2xx"] == 1200
    assert found["settles"] == {"count": 40, "mean_ms": 20.0, "p50_ms": 30, "p95_ms": 30, "slower": 0}
    assert (found["work_lost"], found["leases_lost"], found["days_ahead"]["runs"]) == (2, 1, 14)
    assert 49 <= found["oldest_due_channel_seconds"] <= 60
    assert [one["kind"] for one in desk.says("problems", "--json").json["problems"]] == ["task_fails", "work_lost"]


def test_few_days_of_partitions_are_told(desk: Desk) -> None:
    """By the one that makes none itself."""
    desk.on_database(lambda database: forget_days(database, "raw_bodies", fewest=2))
    doctor = desk.says("doctor")
    assert "! raw_bodies has partitions for 1 more day" in doctor.out
    assert "headwater run maintain --once" in doctor.out
    assert doctor.code == 0
