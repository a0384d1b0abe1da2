"""Hosts that cannot be polled as often as their channels deserve, and what is lost by it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.sources.health import HealthProblem, Severity

queries = load_queries("headwater.reports")

MOST_CROWDED = 100
# Fewer lost polls are soon made up for.
WORTH_TELLING = 0.1
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class CrowdedHost:
    host: str
    channels: int
    deserved_per_hour: float
    possible_per_hour: float
    lengthened: float  # the intervals of its channels, by so much
    judged_at: datetime

    @property
    def lost_share(self) -> float:
        """Of the polls that its channels deserve."""
        return 1 - self.possible_per_hour / self.deserved_per_hour

    @property
    def deserved_every(self) -> timedelta:
        return HOUR * (self.channels / self.deserved_per_hour)

    @property
    def possible_every(self) -> timedelta:
        return HOUR * (self.channels / self.possible_per_hour)

    @property
    def _told_length(self) -> str:
        """Nothing while most of its channels wait for their first polls."""
        return f"; each waits {self.lengthened:.1f} times as long" if self.lengthened > 1 else ""

    @property
    def sentence(self) -> str:
        """Without its full stop."""
        room = f"{self.possible_per_hour:,.0f} of {self.deserved_per_hour:,.0f} polls an hour"
        return (
            f"{self.host} cannot be polled as often as its {self.channels:,} channels deserve: its delay leaves room "
            f"for {room}, {self.lost_share:.0%} are lost{self._told_length}"
        )


async def crowded_hosts(database: Database, hosts: Sequence[str] | None = None) -> tuple[CrowdedHost, ...]:
    """Those that lose most first; of these hosts, or of all."""
    rows = await database.fetch(queries.crowded_hosts, None if hosts is None else list(hosts), MOST_CROWDED)
    return tuple(CrowdedHost(*(row[name] for name in CrowdedHost.__dataclass_fields__)) for row in rows)


def problems_of_crowds(crowds: Sequence[CrowdedHost]) -> list[HealthProblem]:
    """Pure."""
    fix = "Poll fewer of its channels, or less often. If its owner allows a shorter delay: headwater hosts policy"
    return [
        HealthProblem("crowded_host", Severity.WARNING, f"{one.sentence}.", fix, None, f"host {one.host}")
        for one in crowds
        if one.lost_share >= WORTH_TELLING
    ]
