"""Figures over time for charts: of the whole installation by minutes or hours, and of sources by the hour."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import UsageError
from headwater.reports.rolling import MINUTES_KEPT

queries = load_queries("headwater.reports")

MOST_POINTS = 300
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
STEPS = (
    *(MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE),
    *(HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY),
)
EPOCH = datetime.fromtimestamp(0, UTC)
# How much there is, not how much happened: between two notes it is as it was.
LEVELS = frozenset({"frontier"})
HOURS_A_DAY, DAYS_A_WEEK = 24, 7


@dataclass(frozen=True, slots=True)
class Series:
    """`points` by label; each is of the step that begins then, and 0 where nothing happened."""

    figure: str
    start: datetime
    step: timedelta
    points: Mapping[str, Sequence[int]]

    @property
    def sums(self) -> tuple[int, ...]:
        """All labels together."""
        return tuple(map(sum, zip(*self.points.values(), strict=True)))


async def series_of(
    database: Database, figure: str, start: datetime, until: datetime, step: timedelta | None = None
) -> Series:
    """At most 300 points. `start` is rounded down to a whole step; without a step the finest that fits is taken."""
    now: datetime = await database.fetchval(queries.server_time)
    step = step or step_for(start, until, now)
    begins = EPOCH + (start - EPOCH) // step * step
    count = -((begins - until) // step)
    require_fit(step, count)
    if is_by_minutes(step) and not has_minutes(begins, now):
        raise UsageError(f"Minutes are known for {MINUTES_KEPT / HOUR:.0f} hours.", fix="Take a step of whole hours.")
    query = queries.series_by_minutes if is_by_minutes(step) else queries.series_by_hours
    rows = await database.fetch(query, figure, begins, until, step, figure in LEVELS)
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for row in rows:
        found[row["label"]][(row["at"] - begins) // step] = row["count"]
    filled = {label: _filled(found[label], count, is_level=figure in LEVELS) for label in sorted(found)}
    return Series(figure, begins, step, filled)


def step_for(start: datetime, until: datetime, now: datetime) -> timedelta:
    """The finest with which the points fit, of what is still known by the minute or only by the hour."""
    fitting = [one for one in STEPS if (until - start) / one < MOST_POINTS]
    known = [one for one in fitting if not is_by_minutes(one) or has_minutes(start, now)]
    return known[0] if known else STEPS[-1]


def is_by_minutes(step: timedelta) -> bool:
    return bool(step % HOUR)


def has_minutes(start: datetime, now: datetime) -> bool:
    """With a little grace: who asks for all of them asked a moment ago."""
    return start > now - MINUTES_KEPT - HOUR / 2


def require_fit(step: timedelta, count: int) -> None:
    if step < MINUTE or step % MINUTE:
        raise UsageError(f"A step of {step} is none of whole minutes.", fix="Take 1 minute or a multiple of it.")
    if not 0 < count <= MOST_POINTS:
        raise UsageError(f"{count} points were asked for.", fix=f"Take a step that makes 1 to {MOST_POINTS} of them.")


def _filled(points: Mapping[int, int], count: int, *, is_level: bool) -> tuple[int, ...]:
    if not is_level:
        return tuple(points.get(place, 0) for place in range(count))
    filled: list[int] = []
    for place in range(count):
        filled.append(points.get(place, filled[-1] if filled else 0))
    return tuple(filled)


@dataclass(frozen=True, slots=True)
class SourceHours:
    """New items, polls and errors of each hour since `start`, which is midnight in UTC, up to the present one."""

    start: datetime
    items: tuple[int, ...]
    polls: tuple[int, ...]
    errors: tuple[int, ...]

    def week(self) -> tuple[tuple[int, ...], ...]:
        """New items by the day of the week, Monday first, and the hour of the day."""
        sums = [[0] * HOURS_A_DAY for _ in range(DAYS_A_WEEK)]
        for place, items in enumerate(self.items):
            at = self.start + place * HOUR
            sums[at.weekday()][at.hour] += items
        return tuple(map(tuple, sums))


async def hours_of_sources(database: Database, sources: Sequence[UUID], days: int) -> dict[UUID, SourceHours]:
    """Of today and the days before it, so many in all; up to the present moment."""
    mark = await database.fetchrow(queries.rolled_until)
    assert mark is not None
    now: datetime = mark["now"]
    start = now.replace(hour=0, minute=0, second=0, microsecond=0) - (days - 1) * DAY
    counted = {one: _Hours(start, (now - start) // HOUR + 1) for one in sources}
    for row in await database.fetch(queries.days_of_sources, list(sources), start.date()):
        begins = datetime.combine(row["day"], datetime.min.time(), UTC)
        for place in range(HOURS_A_DAY):
            counted[row["source_id"]].set(
                begins + place * HOUR, row["items"][place], row["polls"][place], row["errors"][place]
            )
    since = max(start, mark["sources_rolled_until"])
    for row in await database.fetch(queries.runs_since_rolled, list(sources), since):
        counted[row["source_id"]].set(row["hour"], row["items"], row["polls"], row["errors"])
    return {one: hours.told() for one, hours in counted.items()}


class _Hours:
    def __init__(self, start: datetime, count: int) -> None:
        self._start = start
        self._rows = [(0, 0, 0)] * count

    def set(self, hour: datetime, items: int, polls: int, errors: int) -> None:
        """An hour that is not asked for is left out."""
        place = (hour - self._start) // HOUR
        if 0 <= place < len(self._rows):
            self._rows[place] = (items, polls, errors)

    def told(self) -> SourceHours:
        items, polls, errors = zip(*self._rows, strict=True)
        return SourceHours(self._start, items, polls, errors)
