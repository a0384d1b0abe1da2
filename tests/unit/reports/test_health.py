"""The state of the whole installation, from what is wrong with its parts."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.test_operations import NOW, UP, operations, process, waiting_since

from headwater.reports.health import PART_OF_PROBLEM, PARTS, HealthState, health_from, without_database
from headwater.reports.operations import Operations, TaskTrouble, problems_in

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
ROOM = 10**12
DEAD_POLLER = process("poll", is_alive=False)


def states(now: Operations, room: int | None = ROOM) -> dict[str, str]:
    return {one.name: str(one.state) for one in health_from(now, room, {}).troubles}


def test_where_nothing_is_wrong_every_part_says_so() -> None:
    health = health_from(operations(UP), ROOM, {})
    assert health.state is HealthState.OK
    assert [(one.name, one.state, one.fix) for one in health.parts] == [(name, "ok", "") for name in PARTS]
    assert all(one.why.endswith(".") for one in health.parts)


def test_every_problem_of_the_machinery_has_a_part() -> None:
    """Of a worst moment, so that each of them is there."""
    late = operations(process("poll", is_alive=False), work=waiting_since(HOUR), work_lost=1, days_ahead={"runs": 1})
    more: dict[str, Any] = {"tasks": (TaskTrouble("rescue", 9, 9, "so"),), "connection_waits": 99}
    worst = replace(late, connection_waiting=HOUR, **more)
    kinds = {one.kind for one in problems_in(worst)}
    assert len(kinds) >= 6
    assert kinds <= set(PART_OF_PROBLEM)
    assert set(PART_OF_PROBLEM.values()) <= set(PARTS)


@pytest.mark.parametrize(
    ("alive", "whole"), [((), "down"), ((process("maintain"),), "degraded")], ids=["nobody", "others"]
)
def test_a_missing_role_is_the_end_of_all_only_where_nobody_lives(alive: tuple[Any, ...], whole: str) -> None:
    now = operations(*alive, DEAD_POLLER, work=replace(waiting_since(HOUR), host_open=None, maintained_at=NOW))
    health = health_from(now, ROOM, {})
    assert states(now) == {"polling": "down"}
    assert health.state == whole
    [part] = health.troubles
    assert (part.since, "nobody polls" in part.why) == (NOW - HOUR, True)
    assert part.fix.startswith("Start a poller: ")


def test_a_full_disk_is_down_and_one_with_little_room_degraded() -> None:
    assert states(operations(UP), room=1) == {"disk": "down"}
    assert health_from(operations(UP), 1, {}).state is HealthState.DOWN
    assert states(operations(UP), room=10**9) == {"disk": "degraded"}
    assert states(operations(UP), room=None) == {}


def test_a_full_disk_of_another_machine_is_known_by_what_processes_say() -> None:
    said = {"promote": "The disk of the database db:5432 is full: could not extend file"}
    assert states(operations(replace(UP, failing=said)), room=None) == {"disk": "down"}


def test_since_when_comes_from_the_mark_where_nothing_else_knows_it() -> None:
    now = operations(replace(UP, failing={"network": "all fail"}))
    [part] = health_from(now, ROOM, {"network": NOW - MINUTE}).troubles
    assert (part.name, part.state, part.since) == ("network", "down", NOW - MINUTE)
    assert health_from(now, ROOM, {}).state is HealthState.DEGRADED, "it comes back by itself"


def test_the_shape_for_programs_is_the_documented_one() -> None:
    told = health_from(operations(UP, work_lost=1), ROOM, {"work": NOW}).as_dict()
    assert list(told) == ["state", "looked_at", "parts"]
    assert (told["state"], told["looked_at"]) == ("degraded", "2026-03-04T12:00:00Z")
    assert {tuple(part) for part in told["parts"]} == {("name", "state", "why", "since", "fix")}
    work = next(part for part in told["parts"] if part["name"] == "work")
    assert (work["state"], work["since"]) == ("degraded", "2026-03-04T12:00:00Z")


def test_without_a_database_nothing_else_is_said() -> None:
    health = without_database("It is away.", "Start it.")
    assert (health.state, health.is_database_away) == (HealthState.DOWN, True)
    assert [part["name"] for part in health.as_dict()["parts"]] == ["database"]
