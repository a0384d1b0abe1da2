"""How the whole installation is, part by part, in a shape that programs may rely on.

What is wrong is judged by `operations.problems_in` alone; here it is only sorted by parts, of which each has a state.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import DatabaseDown, QueryFailed
from headwater.phrases import iso_of, size_in_words
from headwater.reports.doctor import FULL_BYTES, LEAST_FREE_BYTES
from headwater.reports.operations import UNDEFINED_TABLE, Operations, operations_now, problems_in
from headwater.reports.sizes import room_of
from headwater.sources.health import HealthProblem, Severity, worst_first

queries = load_queries("headwater.reports")

DATABASE, DISK, SINK = "database", "disk", "sink "
# Work that some process has to do.
DUTIES = ("polling", "fetching", "maintaining", "delivering")
# In the order in which they are told, with a sentence for the time when nothing is wrong.
PARTS = {
    DATABASE: "It answers.",
    DISK: "There is room on the disk of the database.",
    "polling": "No channel waits for a poller.",
    "fetching": "No URL waits for a fetcher.",
    "maintaining": "The database is kept in order.",
    "delivering": "No change waits for a deliverer.",
    "network": "No machine of ours says that its network is down.",
    "partitions": "Days ahead have partitions.",
    "connections": "Work does not wait for connections to the database.",
    "tasks": "No task fails again and again.",
    "work": "No work was lost in the last hour.",
}
# The others belong to one part, which may be called as what they are about.
PARTS_OF_PROBLEM = {
    "paused": ("polling", "fetching"),
}
PART_OF_PROBLEM = {
    "not_polled": "polling",
    "polls_late": "polling",
    "stuck": "fetching",
    "fetches_late": "fetching",
    "not_maintained": "maintaining",
    "not_delivered": "delivering",
    "network_down": "network",
    "partitions": "partitions",
    "connection_waits": "connections",
    "task_fails": "tasks",
    "work_lost": "work",
    "disk": DISK,
}
UNDEFINED_COLUMN = "42703"  # as PostgreSQL calls it
OTHER_SCHEMA = "Its schema is not that of this version."


class HealthState(StrEnum):
    """Declared best first."""

    OK = "ok"
    DEGRADED = "degraded"
    DOWN = "down"

    @property
    def rank(self) -> int:
        return list(HealthState).index(self)


@dataclass(frozen=True, slots=True)
class HealthPart:
    """`since` is when it began not to be well, where that is known."""

    name: str
    state: HealthState
    why: str
    since: datetime | None = None
    fix: str = ""


@dataclass(frozen=True, slots=True)
class InstallationHealth:
    """`down`: nothing can be done, or nobody does it. `degraded`: work goes on, and something calls for a person."""

    state: HealthState
    parts: tuple[HealthPart, ...]
    looked_at: datetime | None = None  # none where the database could not be asked
    is_database_away: bool = False

    @property
    def troubles(self) -> tuple[HealthPart, ...]:
        return tuple(one for one in self.parts if one.state is not HealthState.OK)

    def as_dict(self) -> dict[str, Any]:
        """For programs: no key of it goes, and parts keep their names."""
        return {
            "state": str(self.state),
            "looked_at": _written(self.looked_at),
            "parts": [
                {
                    "name": one.name,
                    "state": str(one.state),
                    "why": one.why,
                    "since": _written(one.since),
                    "fix": one.fix,
                }
                for one in self.parts
            ],
        }


async def health_of(database: Database) -> InstallationHealth:
    """Of everything that works on this database, wherever it runs."""
    try:
        now = await operations_now(database)
        room = await room_of(database)
        marks = {row["part"]: row["since"] for row in await database.fetch(queries.health_marks)}
    except DatabaseDown as error:
        return without_database(error.what, error.fix)
    except QueryFailed as error:
        if error.sqlstate not in {UNDEFINED_TABLE, UNDEFINED_COLUMN}:
            raise
        return replace(without_database(OTHER_SCHEMA, "Run: headwater db migrate"), is_database_away=False)
    return health_from(now, room, marks)


def without_database(why: str, fix: str) -> InstallationHealth:
    """Nothing else is known then."""
    part = HealthPart(DATABASE, HealthState.DOWN, why, None, fix)
    return InstallationHealth(HealthState.DOWN, (part,), is_database_away=True)


def health_from(now: Operations, room: int | None, marks: Mapping[str, datetime]) -> InstallationHealth:
    """Pure. `marks`: since when parts are not well, where nothing else tells."""
    worst = _worst_by_part([*problems_in(now), *problems_of_room(room, now)])
    names = [*PARTS, *(f"{SINK}{one.name}" for one in (now.delivery.sinks if now.delivery else ()))]
    parts = tuple(_part(name, worst.get(name), marks.get(name)) for name in names)
    return InstallationHealth(state_of(parts, is_alive=bool(now.alive)), parts, now.now)


def state_of(parts: Iterable[HealthPart], *, is_alive: bool) -> HealthState:
    """A missing role is a trouble of the whole only where no other lives: a restart here would not bring it back."""
    bad = {one.name: one.state for one in parts if one.state is not HealthState.OK}
    vital = (DATABASE, DISK) if is_alive else (DATABASE, DISK, *DUTIES)
    if any(bad.get(name) is HealthState.DOWN for name in vital):
        return HealthState.DOWN
    return HealthState.DEGRADED if bad else HealthState.OK


def problems_of_room(room: int | None, now: Operations) -> Iterator[HealthProblem]:
    """By the disk itself where it is of this machine, else by what live processes say of it."""
    said = [said for one in now.alive for said in one.failing.values() if said.startswith("The disk of the database")]
    fix = "Make room on the disk where the server has its data. What runs goes on by itself then."
    if said or (room is not None and room < FULL_BYTES):
        what = said[0] if said else "The disk of the database is full."
        yield HealthProblem("disk", Severity.ERROR, what, fix, None, DISK)
    elif room is not None and room < LEAST_FREE_BYTES:
        what = f"The disk of the database has {size_in_words(room)} left."
        yield HealthProblem("disk", Severity.WARNING, what, fix, None, DISK)


async def note_health(database: Database) -> None:
    """Keep in mind since when parts are not well: a chore."""
    health = await health_of(database)
    if health.looked_at:
        await database.execute(queries.note_health, [one.name for one in health.troubles])


def _worst_by_part(problems: Iterable[HealthProblem]) -> dict[str, HealthProblem]:
    worst: dict[str, HealthProblem] = {}
    for one in sorted(problems, key=worst_first):
        for part in PARTS_OF_PROBLEM.get(one.kind, (PART_OF_PROBLEM.get(one.kind, one.about),)):
            worst.setdefault(part, one)
    return worst


def _part(name: str, problem: HealthProblem | None, mark: datetime | None) -> HealthPart:
    if problem is None:
        return HealthPart(name, HealthState.OK, PARTS.get(name, "It takes what it is sent."))
    state = HealthState.DOWN if problem.grade is Severity.ERROR else HealthState.DEGRADED
    return HealthPart(name, state, problem.what, problem.since or mark, problem.fix)


def _written(moment: datetime | None) -> str | None:
    return iso_of(moment) if moment else None
