"""Whether somebody polls what is due: what a person is told who asks for a poll."""

from dataclasses import dataclass

from headwater.database.pool import Database
from headwater.frontier.pause import CrawlPause, read_pause
from headwater.reports.operations import live_processes


@dataclass(frozen=True, slots=True)
class PollersNow:
    """`count` processes take on polls, wherever they run; none of them does while everything is paused."""

    count: int
    pause: CrawlPause | None


async def pollers_now(database: Database) -> PollersNow:
    able = [one for one in await live_processes(database) if "poll" in one.does and one.drain_asked_at is None]
    return PollersNow(len(able), await read_pause(database))
