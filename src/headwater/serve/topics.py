"""What a stream tells: each topic reads the database once for all who listen, and says what is new."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from headwater.deliver.log import log_state, read_log
from headwater.frontier.reads import count_statuses
from headwater.reports.discovery import RunFollower, follow_runs, summary
from headwater.reports.frontier import hosts_now, oldest_due_at
from headwater.reports.problems import HINTED_SOURCES, find_problems
from headwater.serve.log_watch import LogWatch
from headwater.services import Services, data_folder

# Of what happened since the last message, so many are told; `left_out` counts the others.
MOST_TOLD = 100
LOOK_AT_LOG_SECONDS = 5.0
RUNS_LATE_BY = timedelta(minutes=1)


class Topic(StrEnum):
    STATS = "stats"
    FRONTIER = "frontier"
    CHANGES = "changes"
    RUNS = "runs"
    PROBLEMS = "problems"


@dataclass(frozen=True, slots=True)
class TopicReader:
    """`read` gives None where there is nothing to tell. `is_news`: each message tells something else than the one
    before, and is kept for those who come back; otherwise the last one says all.
    """

    read: Callable[[], Awaitable[Mapping[str, Any] | None]]
    every_seconds: float
    is_news: bool = False


def topic_reader(services: Services, watch: LogWatch, topic: Topic) -> TopicReader:
    """From now on."""
    match topic:
        case Topic.STATS:
            return TopicReader(StatsTopic(services).read, 5.0)
        case Topic.FRONTIER:
            return TopicReader(FrontierTopic(services).read, 2.0)
        case Topic.CHANGES:
            return TopicReader(ChangesTopic(services, watch).read, 1.0, is_news=True)
        case Topic.RUNS:
            return TopicReader(RunsTopic(services).read, 2.0, is_news=True)
        case Topic.PROBLEMS:
            return TopicReader(ProblemsTopic(services).read, 15.0)


@dataclass(frozen=True, slots=True)
class StatsTopic:
    """Sources, channels, their runs and hosts in figures, which are counted anew each time."""

    services: Services

    async def read(self) -> Mapping[str, Any]:
        found = asdict(await summary(self.services.database))
        hosts = await hosts_now(self.services.database)
        # The moment of the look would make every message differ from the last.
        told = {name: _plain(value) for name, value in found.items() if name != "now"}
        return told | {"hosts": {name: getattr(hosts, name) for name in ("open", "waiting", "busy", "doubted")}}


@dataclass(frozen=True, slots=True)
class FrontierTopic:
    services: Services

    async def read(self) -> Mapping[str, Any]:
        database = self.services.database
        return {"by_status": await count_statuses(database), "oldest_due_at": await oldest_due_at(database)}


@dataclass(slots=True)
class ChangesTopic:
    """`after` is the position of the message before: who has another one has missed some, and asks /api/v1/changes."""

    services: Services
    watch: LogWatch
    position: int | None = None

    async def read(self) -> Mapping[str, Any] | None:
        database = self.services.database
        if self.position is None:
            self.position = (await log_state(database)).position
        await self.watch.beyond(self.position, LOOK_AT_LOG_SECONDS)
        log = await log_state(database)
        if log.position == self.position:
            return None
        after, self.position = self.position, log.position
        start = max(after, log.position - MOST_TOLD)
        changes = [
            {
                "position": one.position,
                "at": one.at,
                "op": one.op,
                "kind": one.key.kind,
                "id": one.key.id,
                "version": one.version,
            }
            for one in await read_log(database, start, log.position, MOST_TOLD)
        ]
        return {"after": after, "position": log.position, "changes": changes, "left_out": start - after}


@dataclass(slots=True)
class RunsTopic:
    """Runs that ended; of very many at once the latest."""

    services: Services
    follower: RunFollower | None = None

    async def read(self) -> Mapping[str, Any] | None:
        if self.follower is None:
            self.follower = await follow_runs(self.services.database, RUNS_LATE_BY)
        found = await self.follower.news()
        told = [asdict(one) for one in found[-MOST_TOLD:]]
        return {"runs": told, "left_out": len(found) - len(told)} if found else None


@dataclass(frozen=True, slots=True)
class ProblemsTopic:
    """As `headwater problems` lists them, the worst first."""

    services: Services

    async def read(self) -> Mapping[str, Any]:
        services = self.services
        folder = data_folder(services.settings)
        found = await find_problems(services.database, services.settings, folder, services.clock, HINTED_SOURCES)
        return {
            "count": len(found.found),
            "is_cut": found.is_cut or len(found.found) > MOST_TOLD,
            "problems": [asdict(one) for one in found.found[:MOST_TOLD]],
        }


def _plain(value: object) -> object:
    """Lengths of time as seconds."""
    return value.total_seconds() if isinstance(value, timedelta) else value
