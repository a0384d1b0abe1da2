"""Thousands of channels on one host: it is asked at its pace, others notice nothing, and people are told what is lost.

The time of the schedule is simulated, and a poll lasts as long as the host's delay: what a slot would make it wait.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg
import pytest
from benchmarks.scale_measuring import Cost, cost_of
from tests.integration.discover.conftest import STARTED, Desk
from tests.integration.discover.test_turns import fill

from headwater.database.queries import load_queries
from headwater.politeness.crowds import judge_crowds
from headwater.reports.crowds import crowded_hosts, problems_of_crowds

queries = load_queries("headwater.discover")

SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
POLL = timedelta(milliseconds=1_030)  # the delay of the host, and its slack
OTHERS = 60
CROWD = "crowd-0.example"
END = """
    update channels c
    set token = null, leased_by = null, lease_until = null, last_polled_at = $1::timestamptz,
        next_poll_at = $1 + poll_interval, next_reason = 'by its rhythm'
    from unnest($2::uuid[]) as ended (id) where c.id = ended.id
    returning c.host
"""
# Most publish now and then, one in ten by the hour.
INTERVALS = """
    update channels set poll_interval = case when host not like 'crowd-%' or hashtext(url) % 10 = 0
                                             then interval '1 hour' else interval '8 hours' end
"""
SPREAD = "update channels set next_poll_at = $1::timestamptz + random() * poll_interval where host not like 'crowd-%'"


@dataclass
class Day:
    """`lateness` of the others when they were leased; `starts` at the crowded host; costs of a claim on the way."""

    connection: asyncpg.Connection
    now: datetime
    starts: list[datetime] = field(default_factory=list)
    lateness: list[timedelta] = field(default_factory=list)
    polled: dict[UUID, int] = field(default_factory=dict)
    costs: list[Cost] = field(default_factory=list)
    running: list[tuple[datetime, UUID]] = field(default_factory=list)

    @property
    def arguments(self) -> tuple[object, ...]:
        return ("tester", 10, MINUTE, self.now, 5, 10, MINUTE, None, 2)

    async def live(self, length: timedelta, step: timedelta, looks: int) -> None:
        begins = self.now
        while self.now < begins + length:
            if self.now >= begins + length * len(self.costs) / looks:
                self.costs.append(await cost_of(self.connection, str(queries.claim_channels), self.arguments))
            await self._end([one for at, one in self.running if at <= self.now])
            await self._claim()
            self.now += step

    async def _end(self, over: Sequence[UUID]) -> None:
        self.running = [(at, one) for at, one in self.running if one not in over]
        await self.connection.fetch(END, self.now, over)

    async def _claim(self) -> None:
        rows = await self.connection.fetch(str(queries.claim_channels), *self.arguments)
        ids = [row["id"] for row in rows if row["id"]]
        for row in await self.connection.fetch(
            "select id, host, next_poll_at from channels where id = any ($1::uuid[])", ids
        ):
            self.running.append((self.now + POLL, row["id"]))
            if row["host"] == CROWD:
                self.starts.append(self.now)
                self.polled[row["id"]] = self.polled.get(row["id"], 0) + 1
            else:
                self.lateness.append(self.now - row["next_poll_at"])


async def crowded_day(desk: Desk, channels: int, length: timedelta, step: timedelta = SECOND) -> Day:
    database = desk.path.database
    await fill(database, "crowd-", channels, 1, timedelta(0), is_known=True)
    await fill(database, "calm-", OTHERS, OTHERS, timedelta(0), is_known=True)
    await database.execute(INTERVALS)
    await database.execute(SPREAD, STARTED)
    connection = await asyncpg.connect(desk.path.services.dsn)
    try:
        day = Day(connection, STARTED + MINUTE)
        await day.live(length, step, looks=6)
    finally:
        await connection.close()
    return day


def assert_share(day: Day, length: timedelta, step: timedelta, late: timedelta) -> None:
    gaps = [after - before for before, after in zip(day.starts, day.starts[1:], strict=False)]
    assert min(gaps) >= POLL, "never two at once, and never before the delay is over"
    assert len(day.starts) > 0.8 * length / max(POLL + SECOND, 2 * step), "and no turn is left out for long"
    # What was due when the day began had to wait for a claim, like everybody.
    assert max(day.lateness) <= late
    *_, typical, last = sorted(cost.blocks for cost in day.costs[1:])
    assert last < 4 * typical


async def test_a_crowded_host_is_asked_at_its_pace_and_others_notice_nothing(desk: Desk) -> None:
    day = await crowded_day(desk, 300, 4 * MINUTE, 2 * SECOND)
    assert_share(day, 4 * MINUTE, 2 * SECOND, late=MINUTE + 2 * SECOND)


@pytest.mark.slow
async def test_14_000_channels_of_one_host_cost_their_share_for_a_day(desk: Desk) -> None:
    step = 2 * SECOND
    day = await crowded_day(desk, 14_000, DAY, step)
    assert_share(day, DAY, step, late=MINUTE + step)
    assert len(day.polled) == 14_000, "every one had its turn"


async def test_claims_find_the_host_and_people_are_told_what_is_lost(desk: Desk) -> None:
    database = desk.path.database
    await crowded_day(desk, 3_600, 6 * SECOND, 2 * SECOND)
    await database.execute("update channels set poll_interval = '30 minutes' where host = $1", CROWD)
    assert await crowded_hosts(database) == (), "nothing is said before it was looked at"
    await judge_crowds(database)
    assert await database.fetchval("select count(*) from crowded_hosts") == 0, "a simulated day is long ago"
    await database.execute(
        "insert into crowded_hosts (bucket, host, queue, seen_at) select bucket, host, 99, now() from channels"
        " where host in ($1, 'calm-1.example') group by 1, 2",
        CROWD,
    )
    await judge_crowds(database)
    [found] = await crowded_hosts(database)
    assert (found.host, found.channels, round(found.deserved_per_hour)) == (CROWD, 3_600, 7_200)
    assert round(found.possible_per_hour) == round(3_600 / 2.03)
    assert found.lost_share == pytest.approx(0.754, abs=0.001)
    assert found.possible_every == pytest.approx(3_600 * 2.03 * SECOND, abs=SECOND)
    [problem] = problems_of_crowds([found])
    assert problem.what.startswith("crowd-0.example cannot be polled as often as its 3,600 channels deserve")
    assert await crowded_hosts(database, ["calm-1.example"]) == ()
