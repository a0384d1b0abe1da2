"""Whether somebody polls what is due: what a person is told who asks for a poll."""

from dataclasses import dataclass

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.frontier.pause import CrawlPause
from headwater.reports.operations import SILENT

queries = load_queries("headwater.reports")


@dataclass(frozen=True, slots=True)
class PollersNow:
    """`count` processes take on polls, wherever they run; none of them does while everything is paused."""

    count: int
    pause: CrawlPause | None

    def in_words(self, *, are_many: bool = False) -> str:
        """Empty where nobody polls."""
        if self.pause:
            said = self.pause.with_fix
            return f"{said[0].upper()}{said[1:]}"
        polled = "them" if are_many else "it"
        if self.count == 1:
            return f"The running poller polls {polled}."
        return f"{self.count:,} running pollers poll {polled}." if self.count else ""


async def pollers_now(database: Database) -> PollersNow:
    row = await database.fetchrow(queries.pollers_now, SILENT)
    assert row is not None
    return PollersNow(row["count"], CrawlPause(row["since"], row["set_by"], row["reason"]) if row["since"] else None)
