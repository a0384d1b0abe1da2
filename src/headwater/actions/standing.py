"""How things stand: the whole in figures, and all that is wrong."""

from dataclasses import dataclass

from headwater.frontier.entry import EntryStatus
from headwater.frontier.reads import count_statuses
from headwater.reports.crowds import CrowdedHost, crowded_hosts
from headwater.reports.discovery import DiscoverySummary, summary
from headwater.reports.freshness import SinkDelay, polls_avoided, polls_per_item, sink_delays
from headwater.reports.frontier import HostsNow, Suspects, TemplatesNow, hosts_now, suspects_now, templates_now
from headwater.reports.operations import Operations, operations_now
from headwater.reports.problems import HINTED_SOURCES, MOST_SOURCES, Problems, find_problems, find_problems_of
from headwater.services import Services, data_folder
from headwater.sources.finding import find_source


@dataclass(frozen=True, slots=True)
class StandingNow:
    """`learns`: templates are learned and used by processes with these settings."""

    summary: DiscoverySummary
    counts: dict[EntryStatus, int]
    hosts: HostsNow
    templates: TemplatesNow
    learns: bool
    suspects: Suspects
    operations: Operations
    sink_delays: tuple[SinkDelay, ...]
    crowds: tuple[CrowdedHost, ...]
    polls_avoided: dict[str, int]  # in the last 24 hours, by `rhythm` and by `push`

    @property
    def polls_per_item(self) -> float | None:
        """Of the last 24 hours."""
        return polls_per_item(self.summary.runs, self.summary.found)


async def look_now(services: Services) -> StandingNow:
    database = services.database
    return StandingNow(
        await summary(database),
        await count_statuses(database),
        await hosts_now(database),
        await templates_now(database),
        services.settings.extract.templates,
        await suspects_now(database),
        await operations_now(database),
        await sink_delays(database),
        await crowded_hosts(database),
        await polls_avoided(database),
    )


async def all_problems(services: Services, *, is_hint: bool = False) -> Problems:
    """For a hint at them fewer sources are judged."""
    settings, most = services.settings, HINTED_SOURCES if is_hint else MOST_SOURCES
    return await find_problems(services.database, settings, data_folder(settings), services.clock, most)


async def problems_of(services: Services, named: str) -> Problems:
    """Of one source, its channels and their hosts."""
    return await find_problems_of(services.database, await find_source(services.database, named))
