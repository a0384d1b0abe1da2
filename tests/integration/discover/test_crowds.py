"""Thousands of channels on one host: it is asked at its pace, others notice nothing, each has its share of the turns,
and people are told what is lost.

The time of the schedule is simulated, and a poll lasts as long as the host's delay: what a slot would make it wait.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from statistics import fmean
from uuid import UUID

import asyncpg
import pytest
from benchmarks.scale_measuring import Cost, cost_of
from tests.integration.discover.conftest import STARTED, Desk, rss, stories
from tests.integration.discover.test_turns import fill

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.cadence.channel import ChannelFacts, PollBounds
from headwater.discover.cadence.planning import next_poll
from headwater.politeness.crowds import forget_crowds, judge_crowds
from headwater.reports.crowds import crowded_hosts, problems_of_crowds

queries = load_queries("headwater.discover")

SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
POLL = timedelta(milliseconds=1_030)  # the delay of the host, and its slack
TURN = POLL + SECOND
OTHERS = 60
BOUNDS = PollBounds(shortest=SECOND)
CROWD = "crowd-0.example"
OFTEN, SELDOM = HOUR, 8 * HOUR
END = """
    update channels c
    set token = null, leased_by = null, lease_until = null, last_polled_at = $1::timestamptz, waits_since = null,
        next_poll_at = e.next_poll_at, next_reason = 'by its rhythm'
    from unnest($2::uuid[], $3::timestamptz[]) as e (id, next_poll_at) where c.id = e.id
"""
LEASED = """
    select c.id, c.host, c.poll_interval, coalesce(c.waits_since, c.next_poll_at) as due_at,
           coalesce(k.crowding, 1) as crowding
    from channels c left join crowded_hosts k on k.bucket = c.bucket and k.host = c.host where c.id = any ($1::uuid[])
"""
WAITING = "select count(*) from channels where host = $1 and waits_since is not null and token is null"
# Most publish now and then, one in ten by the hour.
INTERVALS = """
    update channels set poll_interval = case when host not like 'crowd-%' then interval '1 hour'
                                             when hashtext(url) % 10 = 0 then $1::interval else $2 end
"""
SPREAD = "update channels set next_poll_at = $1::timestamptz + random() * poll_interval where host not like 'crowd-%'"


@dataclass
class Turn:
    """A poll of the crowded host's: when, by which channel, and whether that is one that publishes often."""

    at: datetime
    channel: UUID
    interval: timedelta


@dataclass
class Day:
    """`lateness` of the others when they were leased; `turns` at the crowded host; costs of a claim on the way.

    `left_out` are channels of the crowded host that waited for their turn while it was not asked.
    """

    connection: asyncpg.Connection
    database: Database
    now: datetime
    turns: list[Turn] = field(default_factory=list)
    lateness: list[timedelta] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    claims: int = 0
    left_out: int = 0
    running: list[tuple[datetime, UUID, timedelta, float]] = field(default_factory=list)
    random: Random = field(default_factory=lambda: Random(18))

    @property
    def arguments(self) -> tuple[object, ...]:
        return ("tester", 10, MINUTE, self.now, 5, 10, MINUTE, None, 2)

    async def live(self, length: timedelta, looks: int) -> None:
        begins, judged_at = self.now, self.now
        while self.now < begins + length:
            if self.now >= begins + length * len(self.costs) / looks:
                self.costs.append(await cost_of(self.connection, str(queries.claim_channels), self.arguments))
            if self.now >= judged_at + 10 * MINUTE:
                await judge_crowds(self.database)
                judged_at = self.now
            await self._end([one for one in self.running if one[0] <= self.now])
            wait = await self._claim()
            if self.turns and self.now - self.turns[-1].at >= 2 * TURN:
                self.left_out = max(self.left_out, await self.connection.fetchval(WAITING, CROWD))
            self.now += max(wait, SECOND / 20)

    async def _end(self, over: Sequence[tuple[datetime, UUID, timedelta, float]]) -> None:
        if over:
            plans = [
                next_poll("fixed", ChannelFacts(interval, crowding=crowding, bounds=BOUNDS), self.now, self.random).at
                for _, _, interval, crowding in over
            ]
            await self.connection.execute(END, self.now, [one[1] for one in over], plans)
            self.running = [one for one in self.running if one not in over]

    async def _claim(self) -> timedelta:
        """All that there is; answers with how long nothing will be due."""
        while True:
            *rows, last = await self.connection.fetch(str(queries.claim_channels), *self.arguments)
            self.claims += 1
            if rows:
                await self._begin([row["id"] for row in rows])
            elif last["wait"] is None or last["wait"] > timedelta():
                return last["wait"] or MINUTE

    async def _begin(self, ids: Sequence[UUID]) -> None:
        for row in await self.connection.fetch(LEASED, ids):
            self.running.append((self.now + POLL, row["id"], row["poll_interval"], row["crowding"]))
            if row["host"] == CROWD:
                self.turns.append(Turn(self.now, row["id"], row["poll_interval"]))
            else:
                self.lateness.append(self.now - row["due_at"])

    def gaps(self, interval: timedelta, since: datetime) -> list[timedelta]:
        """Between the polls of every channel of this interval, from a time on."""
        polls = defaultdict(list)
        for turn in self.turns:
            if turn.interval == interval and turn.at >= since:
                polls[turn.channel].append(turn.at)
        return [after - before for at in polls.values() for before, after in pairwise(at)]


async def crowded_day(
    desk: Desk,
    channels: int,
    length: timedelta,
    looks: int = 6,
    intervals: tuple[timedelta, timedelta] = (OFTEN, SELDOM),
) -> Day:
    database = desk.path.database
    await fill(database, "crowd-", channels, 1, timedelta(0), is_known=True)
    await fill(database, "calm-", OTHERS, OTHERS, timedelta(0), is_known=True)
    await database.execute(INTERVALS, *intervals)
    await database.execute(SPREAD, STARTED + MINUTE)
    await database.execute("vacuum analyze channels")
    connection = await asyncpg.connect(desk.path.services.dsn)
    try:
        day = Day(connection, database, STARTED + MINUTE)
        await day.live(length, looks)
    finally:
        await connection.close()
    return day


def mean(spans: Sequence[timedelta]) -> timedelta:
    return timedelta(seconds=fmean(span.total_seconds() for span in spans))


def share(day: Day) -> timedelta:
    """Between two turns of the host, in the mean."""
    return (day.turns[-1].at - day.turns[0].at) / (len(day.turns) - 1)


def assert_polite_and_fair(day: Day) -> None:
    between = [after.at - before.at for before, after in pairwise(day.turns)]
    assert min(between) >= POLL, "never two at once, and never before the delay is over"
    assert day.left_out == 0, "and no turn is left out while somebody waits for it"
    assert max(day.lateness) < SECOND / 2, "of other hosts"


def assert_flat(day: Day) -> None:
    """What a claim costs; the first one gives thousands of channels their turns. Nobody vacuums in a simulated day."""
    _, *costs = day.costs
    assert max(cost.blocks for cost in costs) < 2_500


async def test_a_crowded_host_is_asked_at_its_pace_and_others_notice_nothing(desk: Desk) -> None:
    day = await crowded_day(desk, 300, 4 * MINUTE)
    assert_polite_and_fair(day)
    assert share(day) < 1.02 * TURN
    assert_flat(day)


async def test_nobody_is_put_aside_for_ever(desk: Desk) -> None:
    """Thirty channels that are due again long before the others have had their turns: the oldest is next."""
    day = await crowded_day(desk, 30, 5 * MINUTE, intervals=(4 * SECOND, 4 * SECOND))
    gaps, polls = day.gaps(4 * SECOND, STARTED), Counter(turn.channel for turn in day.turns)
    assert len(polls) == 30
    assert max(polls.values()) - min(polls.values()) <= 1
    assert 0.7 * 30 * TURN < min(gaps) <= max(gaps) < 1.2 * 30 * TURN


async def test_who_a_person_asks_for_has_the_next_turn(desk: Desk) -> None:
    await fill(desk.path.database, "crowd-", 50, 1, HOUR, is_known=True)
    asked = "update channels set trigger = 'manual', next_poll_at = $1 where url like '%/50' returning id"
    wanted = await desk.path.database.fetchval(asked, STARTED)
    ids = await desk.path.database.fetch(str(queries.claim_channels), "a", 10, MINUTE, STARTED, 5, 10, MINUTE, None, 2)
    assert [row["id"] for row in ids if row["id"]] == [wanted]


@pytest.mark.slow
async def test_14_000_channels_of_one_host_cost_their_share_for_a_day(desk: Desk) -> None:
    """All are due at once when it begins, and for hours after that only what publishes often: what is told is true."""
    day = await crowded_day(desk, 14_000, DAY, looks=48)
    assert_polite_and_fair(day)
    assert_flat(day)
    [told] = await crowded_hosts(day.database)
    assert len({turn.channel for turn in day.turns}) == told.channels == 14_000, "every one had its turn"
    assert told.possible_per_hour == pytest.approx(HOUR / TURN, rel=0.02)
    assert told.lost_share == pytest.approx(1 - HOUR / TURN / told.deserved_per_hour, abs=0.02)
    # Once the turns of the beginning are over, who deserves eight times as many polls has them.
    begun = STARTED + 14_000 * TURN
    often, last = day.gaps(OFTEN, begun), {turn.channel: turn.at for turn in day.turns}
    # A little later than told: as all began at once, the others come back at once and stand before them.
    assert told.lengthened * OFTEN < mean(often) < 1.35 * told.lengthened * OFTEN
    assert max(often) < 2 * told.lengthened * OFTEN
    assert max(day.gaps(SELDOM, STARTED)) < 1.3 * told.lengthened * SELDOM
    assert day.now - min(last.values()) < 1.3 * told.lengthened * SELDOM
    assert day.claims < 3 * len(day.turns)


async def test_claims_find_the_host_and_people_are_told_what_is_lost(desk: Desk) -> None:
    database = desk.path.database
    await crowded_day(desk, 3_600, 6 * SECOND)
    await database.execute("update channels set poll_interval = '30 minutes' where host = $1", CROWD)
    assert await crowded_hosts(database) == (), "nothing is said before it was looked at"
    await forget_crowds(database)
    assert await database.fetchval("select count(*) from crowded_hosts") == 0, "a simulated day is long ago"
    await database.execute(
        "insert into crowded_hosts (bucket, host, seen_at) select bucket, host, $2 from channels"
        " where host in ($1, 'calm-1.example') group by 1, 2",
        *(CROWD, STARTED),
    )
    await judge_crowds(database)
    [found] = await crowded_hosts(database)
    assert (found.host, found.channels, round(found.deserved_per_hour)) == (CROWD, 3_600, 7_200)
    assert round(found.possible_per_hour) == round(3_600 / 2.03)
    assert found.lost_share == pytest.approx(0.754, abs=0.001)
    assert found.lengthened == pytest.approx(7_200 * 2.03 / 3_600, abs=0.01)
    assert found.possible_every == pytest.approx(3_600 * 2.03 * SECOND, abs=SECOND)
    [problem] = problems_of_crowds([found])
    assert problem.what.startswith("crowd-0.example cannot be polled as often as its 3,600 channels deserve")
    assert await crowded_hosts(database, ["calm-1.example"]) == ()
    await forget_crowds(database)
    left = await database.fetch("select host from crowded_hosts")
    assert [row["host"] for row in left] == [CROWD], "whose intervals are lengthened"


async def test_no_claim_waits_while_channels_are_counted(desk: Desk) -> None:
    database, judging = desk.path.database, load_queries("headwater.politeness")
    note = "insert into crowded_hosts (bucket, host, seen_at) values (1, 'a.example', now())"
    await database.execute(note)
    free = "select host from crowded_hosts for update nowait"
    async with database.transaction() as counting:
        await counting.fetch(judging.weigh_crowds, 100)
        assert len(await database.fetch(free)) == 1
    async with database.transaction() as claiming:
        await claiming.fetch(free)
        await judge_crowds(database)
        assert await database.fetchval("select judged_at from crowded_hosts") is None, "it is judged the next time"
    await judge_crowds(database)
    assert await database.fetchval("select judged_at from crowded_hosts") is not None


async def test_the_next_poll_is_as_much_later_as_the_host_is_crowded(desk: Desk) -> None:
    """And the interval that it deserves is kept, or each judgement would lengthen it more."""
    desk.site.pages["/feed"] = rss(*stories(5))
    source = await desk.follow(feeds=("http://a.test/feed",))
    await desk.path.database.execute(
        "insert into crowded_hosts (bucket, host, seen_at, judged_at, crowding)"
        " select bucket, host, now(), now(), 3 from channels"
    )
    await desk.poll()
    channel = await desk.channel(source)
    assert channel.poll_interval is not None
    assert channel.last_polled_at is not None
    assert channel.next_poll_at - channel.last_polled_at == pytest.approx(3 * channel.poll_interval, abs=SECOND)
    assert channel.next_reason.startswith(
        "its host has room for 33 % of the polls that its channels deserve: not after"
    )
