"""Pushes between a hub and a database that is slow, or away."""

import asyncio
import zlib
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from tests.clocks import ManualClock

from headwater.discover.push.inbox import MOST_HELD_BYTES, MOST_TRIES, PushInbox, queries
from headwater.errors import DatabaseDown
from headwater.log import make_logger

CHANNEL = UUID(int=1)


class SlowDatabase:
    """Writes when it is told to, or fails so often first."""

    def __init__(self, failures: int = 0) -> None:
        self.written: list[tuple[Any, ...]] = []
        self.tries = 0
        self.gate = asyncio.Event()
        self._failures = failures

    async def execute(self, query: str, *values: Any) -> str:
        if query == queries.wake_readers:
            return ""
        await self.gate.wait()
        self.tries += 1
        if self.tries <= self._failures:
            raise DatabaseDown("away")
        self.written.append(values)
        return ""


def inbox_on(database: SlowDatabase) -> PushInbox:
    clock = ManualClock(datetime(2026, 11, 18, tzinfo=UTC))
    return PushInbox(database, clock, make_logger("error", "json"))  # type: ignore[arg-type]


async def test_a_push_is_taken_while_the_database_writes_nothing() -> None:
    database = SlowDatabase()
    inbox = inbox_on(database)
    writing = asyncio.create_task(inbox.keep_writing())
    assert inbox.put(CHANNEL, "text/xml", b"<rss/>")
    assert inbox.put(CHANNEL, "text/xml", None)
    await asyncio.sleep(0)
    assert database.written == []
    database.gate.set()
    while len(database.written) < 2:
        await asyncio.sleep(0.001)
    writing.cancel()
    first, second = database.written
    assert (first[0], zlib.decompress(first[2])) == (CHANNEL, b"<rss/>")
    assert second[2] is None


async def test_what_there_is_no_room_for_is_not_taken() -> None:
    inbox = inbox_on(SlowDatabase())
    large = b"x" * (MOST_HELD_BYTES // 4)
    assert [inbox.put(CHANNEL, "text/xml", large) for _ in range(5)] == [True, True, True, True, False]


async def test_a_push_outlives_a_database_that_is_away_for_a_while_and_no_longer() -> None:
    database = SlowDatabase(failures=MOST_TRIES - 1)
    database.gate.set()
    inbox = inbox_on(database)
    inbox.put(CHANNEL, "text/xml", b"<rss/>")
    await inbox.write()
    assert len(database.written) == 1
    database = SlowDatabase(failures=MOST_TRIES)
    database.gate.set()
    inbox = inbox_on(database)
    inbox.put(CHANNEL, "text/xml", b"<rss/>")
    inbox.put(CHANNEL, "text/xml", b"<feed/>")
    await inbox.write()
    [kept] = database.written
    assert zlib.decompress(kept[2]) == b"<feed/>"
