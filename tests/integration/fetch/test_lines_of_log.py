"""One line per run with its duration, one per page, refusals of robots.txt as warnings, waits for debugging."""

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.integration.discover.conftest import rss, stories
from tests.integration.fetch.conftest import QUICK, Path, SmallSite, Unread, opened_path, robots

from headwater.clock import SystemClock
from headwater.database.listen import Listener
from headwater.discover.adding import WantedSource, take_up
from headwater.frontier.claim import Claimer, Shares
from headwater.frontier.wake import CHANNEL, Sleeper
from headwater.ingest.journey import Fetching
from headwater.log import make_logger
from headwater.run.polling import channel_reader, polling_of
from headwater.simweb.message import Page
from headwater.simweb.mischief.replies import Status
from headwater.sources.source import Profile
from headwater.sources.store import NOTICE

MINUTE = timedelta(seconds=60)


class Log:
    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.logger = make_logger("debug", "json", stream=self.stream)

    def lines(self, *events: str) -> list[dict[str, Any]]:
        on_finished = [json.loads(line) for line in self.stream.getvalue().splitlines()]
        return [line for line in on_finished if line["event"] in events]


@pytest.fixture
def log() -> Log:
    return Log()


@asynccontextmanager
async def fetching_on(path: Path, log: Log) -> AsyncIterator[Fetching]:
    async with Listener(path.services.dsn, [CHANNEL], path.services.random) as listener:
        yield Fetching(
            database=path.database,
            claimer=Claimer(path.database, SystemClock(), "w", MINUTE),
            sleeper=Sleeper(path.database, listener, "w", MINUTE),
            journey=replace(path.journey(), page_reader=Unread(), log=log.logger),
            shares=Shares(10),
            on_finished=lambda _told: None,
        )


async def fetch(path: Path, log: Log, url: str) -> None:
    await path.queue(url)
    async with fetching_on(path, log) as fetching:
        [lease], _ = await fetching.claim(1)
        await fetching.work(lease)


async def test_a_page_is_one_line(path: Path, log: Log) -> None:
    await fetch(path, log, "http://a.test/one")
    [line] = log.lines("page_fetched", "page_failed", "robots_disallow", "page_waits")
    assert (line["event"], line["level"]) == ("page_fetched", "info")
    assert (line["source"], line["host"], line["url"]) == (str(path.source), "a.test", "http://a.test/one")
    assert (line["verdict"], line["status"]) == ("Fetched", 200)
    assert line["duration_ms"] >= 0


async def test_a_page_that_is_not_there_says_why(path: Path, log: Log) -> None:
    await fetch(path, log, "http://a.test/nowhere")
    [line] = log.lines("page_failed")
    assert (line["level"], line["reason"], line["why"], line["status"]) == ("info", "not_found", "HTTP 404", 404)


async def test_a_refusal_by_robots_is_a_warning(path: Path, sites: dict[str, SmallSite], log: Log) -> None:
    sites["a.test"].pages["/robots.txt"] = robots("User-agent: *\nDisallow: /one\n")
    await fetch(path, log, "http://a.test/one")
    [line] = log.lines("robots_disallow")
    assert (line["level"], line["url"]) == ("warning", "http://a.test/one")
    assert "Disallow: /one" in line["why"]


async def test_a_wait_is_only_for_debugging(path: Path, log: Log) -> None:
    path.sim.script("a.test", Status(429), "/one")
    await fetch(path, log, "http://a.test/one")
    [line] = log.lines("page_waits")
    assert line["level"] == "debug"


async def polled(path: Path, log: Log, *, feed: str) -> UUID:
    async with path.database.transaction() as connection:
        wanted = WantedSource(Profile("http://a.test/", name="A"), feeds=(feed,), is_searched=False)
        source = await take_up(connection, wanted, "a person", QUICK)
    services = replace(path.services, log=log.logger)
    async with (
        channel_reader(services) as reader,
        Listener(services.dsn, [NOTICE], services.random) as listener,
    ):
        polling = polling_of(services, path.web, reader, listener, "p", lambda _ran: None)
        leases, _ = await polling.claim(5)
        for lease in leases:
            await polling.work(lease)
    return source


async def test_a_run_is_one_line_with_its_duration(database_url: str, log: Log) -> None:
    site = SmallSite({"/feed": rss(*stories(3)), "/": Page(b"<p>")})
    async with opened_path(database_url, {"a.test": site}) as path:
        source = await polled(path, log, feed="http://a.test/feed")
        [line] = log.lines("polled", "poll_failed")
        assert (line["level"], line["source"], line["host"]) == ("info", str(source), "a.test")
        assert (line["found"], line["inserted"], line["updated"], line["skipped"]) == (3, 3, 0, 0)
        assert line["next_poll_at"] > line["at"][:10]
        stored = await path.database.fetchval("select duration_ms from runs")
        assert 0 < line["duration_ms"] < 60_000
        assert abs(line["duration_ms"] - stored) < 5_000


async def test_a_channel_that_robots_forbids_is_a_warning(database_url: str, log: Log) -> None:
    site = SmallSite({"/feed": rss(*stories(3)), "/robots.txt": robots("User-agent: *\nDisallow: /feed\n")})
    async with opened_path(database_url, {"a.test": site}) as path:
        await polled(path, log, feed="http://a.test/feed")
        [line] = log.lines("polled", "poll_failed")
        assert line["level"] == "warning"
        assert "robots" in line["message"]
