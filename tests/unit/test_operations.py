"""What calls for a person, judged from what is known of roles and of work that waits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from headwater.cli.status.operations import losses, running, task_lines
from headwater.figures import Figures
from headwater.reports.doctor import checks_of
from headwater.reports.operations import (
    Operations,
    RoleProcess,
    Settles,
    TaskTrouble,
    WaitingWork,
    problems_in,
    settles_of,
    troubles_of,
    version_order,
)
from headwater.sources.health import Severity

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
DAYS = {"runs": 15, "fetch_log": 15}


def process(*does: str, is_alive: bool = True) -> RoleProcess:
    beat = NOW if is_alive else NOW - 3 * MINUTE
    return RoleProcess(UUID(int=1), "owner", does[0], does, "harbour", 42, "1.0", NOW - HOUR, beat, {}, {}, is_alive)


def operations(*processes: RoleProcess, work: WaitingWork | None = None, **more: Any) -> Operations:
    settles = Settles(0, None, None, None, 0)
    given = {"days_ahead": DAYS, **more}
    return Operations(NOW, processes, work or WaitingWork(maintained_at=NOW), {}, settles, **given)


def kinds(now: Operations) -> list[str]:
    return [one.kind for one in problems_in(now)]


def waiting_since(wait: timedelta) -> WaitingWork:
    moment = NOW - wait
    return WaitingWork(poll_due=moment, poll_every=HOUR, host_open=moment, overdue=3, maintained_at=moment)


UP = process("poll", "fetch", "maintain")
DEAD = process("poll", "fetch", "maintain", is_alive=False)


def test_where_nothing_runs_and_nothing_waits_nothing_is_wrong() -> None:
    fresh = operations()
    assert kinds(fresh) == []
    assert [(one.level, one.says) for one in checks_of(fresh)] == [
        ("ok", "Nothing runs; start with: headwater up"),
        ("ok", "Partitions for 15 days after today"),
    ]


def test_an_operator_who_runs_nothing_is_not_told_to_maintain() -> None:
    assert kinds(operations(work=replace(waiting_since(9 * HOUR), poll_due=None, host_open=None))) == []


def test_a_role_that_was_just_started_is_not_yet_missed() -> None:
    assert kinds(operations(process("poll"), work=waiting_since(10 * MINUTE))) == []


def test_roles_that_are_missing_are_told_with_the_command_that_starts_them() -> None:
    now = operations(process("poll"), work=waiting_since(20 * MINUTE))
    told = {one.kind: one.fix for one in problems_in(now)}
    assert set(told) == {"stuck", "not_maintained"}
    assert "headwater run fetch" in told["stuck"]
    assert "headwater run maintain" in told["not_maintained"]


def test_one_that_died_is_missed_at_once_and_it_is_said_when_it_was_seen() -> None:
    now = operations(DEAD, work=waiting_since(2 * MINUTE))
    assert kinds(now) == ["not_polled", "stuck", "not_maintained"]
    assert all("It was last seen 3 min ago: process 42 on harbour." in one.what for one in problems_in(now))
    assert kinds(operations(DEAD, UP, work=waiting_since(2 * MINUTE))) == []


def test_a_fetcher_that_fetches_nothing_is_told() -> None:
    [one] = problems_in(operations(UP, work=WaitingWork(host_open=NOW - HOUR, maintained_at=NOW)))
    assert (one.kind, "although a fetcher runs" in one.what) == ("stuck", True)
    assert kinds(operations(UP, work=WaitingWork(host_open=NOW - HOUR, is_fetching=True, maintained_at=NOW))) == []


@pytest.mark.parametrize(
    ("wait", "every", "expected"), [(20, 60, []), (61, 60, ["polls_late"]), (20, 15, ["polls_late"])]
)
def test_a_channel_that_waits_for_longer_than_its_interval_is_told(wait: int, every: int, expected: list[str]) -> None:
    work = WaitingWork(poll_due=NOW - wait * MINUTE, poll_every=every * MINUTE, maintained_at=NOW)
    assert kinds(operations(UP, work=work)) == expected


def test_a_network_that_is_away_is_told_while_it_is() -> None:
    alone = replace(UP, failing={"network": "This machine's network is down."})
    assert kinds(operations(alone)) == ["network_down"]
    assert kinds(operations(replace(alone, is_alive=False))) == []


def test_a_task_that_fails_again_and_again_is_told_with_what_it_said() -> None:
    often, once = TaskTrouble("promote", 2, 1, "KeyError: 'x'"), TaskTrouble("rescue", 1, 0, "away")
    [told] = problems_in(operations(UP, tasks=(often, once)))
    assert told.what == "promote failed 3 times in the last hour, at last: KeyError: 'x'"


def test_a_task_that_failed_and_succeeded_since_is_told_no_more() -> None:
    failed = (TaskTrouble("apply_rules", 4, 0, "the database is away"),)
    assert kinds(operations(replace(UP, failing={"apply_rules": "away"}), tasks=failed)) == ["task_fails"]
    assert kinds(operations(UP, tasks=failed)) == []
    assert kinds(operations(replace(UP, failing={"apply_rules": "away"}, is_alive=False), tasks=failed)) == []
    assert ", and none now, at last: the database is away" in task_lines(operations(UP, tasks=failed))[0]
    assert "none now" not in task_lines(operations(UP, tasks=(TaskTrouble("promote", 0, 4, "so"),)))[0]


def test_every_role_is_counted() -> None:
    now = operations(UP, process("web"))
    assert running(now).startswith("poll 1 · fetch 1 · deliver 0 · maintain 1 · web 1 · in 2 processes")
    assert "maintain 1, web 1" in next(iter(checks_of(now))).says


def test_leases_that_were_taken_back_are_told_and_are_no_problem() -> None:
    now = operations(UP, leases_rescued=3)
    assert losses(now).endswith(" · 3 leases of pages ran out and were taken back: a process was killed or stood still")
    assert kinds(now) == []
    assert "taken back" not in losses(operations(UP))


def test_lost_work_waits_for_connections_and_few_days_are_told() -> None:
    assert kinds(operations(UP, leases_lost=1)) == ["work_lost"]
    assert kinds(operations(UP, connection_waits=50, connection_waiting=2 * MINUTE)) == ["connection_waits"]
    assert kinds(operations(UP, connection_waits=5, connection_waiting=timedelta(seconds=2))) == []
    [few] = problems_in(operations(UP, days_ahead={"runs": 1, "fetch_log": 15}))
    assert few.what == "runs has partitions for 1 more day."


def test_times_to_settle_are_told_by_the_class_they_are_in() -> None:
    figures = Figures()
    for seconds in (0.005, 0.02, 0.02, 0.2, 60):
        figures.note_settled(seconds)
    found = settles_of(figures.counts)
    assert (found.count, found.p50_ms, found.p95_ms, found.slower) == (5, 30, None, 1)


def test_tasks_are_told_those_that_die_first() -> None:
    counts = {"failed.a": 9, "died.b": 1, "failed.b": 1, "settled": 3}
    assert [(one.task, one.failures, one.deaths, one.said) for one in troubles_of(counts, {"died.b": "so"})] == [
        ("b", 1, 1, "so"),
        ("a", 9, 0, ""),
    ]


def test_a_drained_process_does_nothing_of_its_roles_but_maintains() -> None:
    drained = replace(UP, drain_asked_at=NOW - MINUTE, drain_asked_by="ann")
    now = operations(drained, work=waiting_since(HOUR))
    assert [bool(now.doing(duty)) for duty in ("poll", "fetch", "maintain")] == [False, False, True]
    assert kinds(now) == ["not_polled", "stuck"]
    forgotten = operations(replace(drained, drain_asked_at=NOW - HOUR))
    (problem,) = problems_in(forgotten)
    assert (problem.kind, problem.fix) == (
        "drained",
        f"End it, or let it work: headwater workers resume {drained.id}",
    )


def test_a_process_is_drained_when_it_has_heard_so_and_has_nothing_in_hand() -> None:
    asked = replace(UP, drain_asked_at=NOW)
    assert [
        one.state
        for one in (UP, asked, replace(asked, is_draining=True, under_way=2), replace(asked, is_draining=True), DEAD)
    ] == ["alive", "draining", "draining", "drained", "silent"]


def test_several_versions_are_a_warning_that_names_the_older() -> None:
    older = replace(UP, version="0.9.0", role="fetch", pid=7)
    newer = replace(UP, version="0.10.0", started_at=NOW - MINUTE)
    (problem,) = problems_in(operations(newer, older))
    assert (problem.kind, problem.grade, problem.since) == ("versions", Severity.WARNING, NOW - MINUTE)
    assert problem.what == (
        "Several versions run: 0.9.0 as fetch (process 7 on harbour); 0.10.0 as poll (process 42 on harbour)."
    )
    assert problem.fix == "Stop what is older and start it with 0.10.0: headwater workers list"
    assert kinds(operations(newer, replace(newer, pid=8))) == []
    assert kinds(operations(newer, replace(older, is_alive=False))) == []


def test_versions_are_ordered_by_their_numbers() -> None:
    ordered = ["nonsense", "0.2.0.dev1", "0.2.0", "0.10", "1.0"]
    assert sorted({*ordered}, key=version_order) == ordered
