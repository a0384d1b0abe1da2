"""Politeness across processes, judged by the servers that were asked: five hundred hosts, four processes."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path as File
from typing import Any

import orjson
import pytest
from tests.integration.fetch.conftest import Path, opened_path

from headwater.politeness.hosts import HostPolicy, set_policy
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.pace import SlowStart
from headwater.simweb.questions import by_host, highest_concurrency, smallest_gaps
from headwater.simweb.visits import Visit

ROOT = File(__file__).parents[3]
PROCESSES = 4
HOSTS = [f"h{number}.test" for number in range(500)]
WIDE = HOSTS[:25]  # two requests at once, by policy
NARROW = frozenset(HOSTS) - frozenset(WIDE)
DELAY_MS = 300
SMALLEST_GAP_S = DELAY_MS / 1000 - 0.005
# A kernel dates what arrives to a tick, of 10 ms at the most; only beside others does a request have less to spare.
SMALLEST_GAP_SEEN_S = SMALLEST_GAP_S - 2 * 0.010
ENOUGH = 2_500
# Only so that a hang ends.
LONGEST_RUN_S = 300
PAGES = ("/one", "/two", "/three", "/moved", "/members/secret")
RULES = Page(b"User-agent: *\nDisallow: /members/\n", "text/plain")
HTML = Page(b"<html><title>Page</title><p>Words.</html>")
FEED = Page(b"<rss version='2.0'><channel><title>News</title></channel></rss>", "application/rss+xml")
MOVED = Page(b"", status=302, headers=(("Location", "/arrived"),))


class Publisher:
    """The same small site on every host: rules, pages, a feed, a page that moved."""

    def page(self, request: Request, now: datetime) -> Page | None:
        match request.path:
            case "/robots.txt":
                return RULES
            case "/feed" | "/feed2":
                return FEED
            case "/moved":
                return MOVED
            case _:
                return HTML


@asynccontextmanager
async def process(task: dict[str, Any]) -> AsyncIterator[asyncio.subprocess.Process]:
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-m", "tests.integration.fetch.crowd")
    started = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, cwd=ROOT)
    try:
        assert started.stdin is not None
        started.stdin.write(orjson.dumps(task) + b"\n")
        yield started
    finally:
        if started.returncode is None:
            started.kill()
            await started.wait()


async def run_together(tasks: Sequence[dict[str, Any]], path: Path) -> Counter[str]:
    """All begin at one moment, and end when enough was asked; what they say they did, added up."""
    async with process(tasks[0]) as a, process(tasks[1]) as b, process(tasks[2]) as c, process(tasks[3]) as d:
        lease_worker = (a, b, c, d)
        for one in lease_worker:
            assert one.stdout is not None
            assert await one.stdout.readline() == b'"ready"\n'
        for one in lease_worker:
            assert one.stdin is not None
            one.stdin.write(b"go\n")
        async with asyncio.timeout(LONGEST_RUN_S):
            await path.sim.visits.until(tell_enough)
        told = await asyncio.gather(*(one.communicate(b"") for one in lease_worker))
    return sum((Counter(orjson.loads(said)) for said, _ in told), Counter())


def tell_enough(visits: Sequence[Visit]) -> bool:
    """Many requests, every host that is asked one by one among them, and two at once where two are allowed."""
    return len(visits) >= ENOUGH and {visit.host for visit in visits} >= NARROW and most_at_wide(visits) >= 2


def most_at_wide(visits: Sequence[Visit]) -> int:
    return max((highest_concurrency(group) for host, group in by_host(visits).items() if host in WIDE), default=0)


def rude(visits: Sequence[Visit]) -> list[tuple[str, float]]:
    limits = dict.fromkeys(HOSTS, SMALLEST_GAP_S) | dict.fromkeys(WIDE, SMALLEST_GAP_SEEN_S)
    return [(host, gap) for host, gap in smallest_gaps(visits).items() if gap < limits[host]]


def crowded(visits: Sequence[Visit]) -> list[tuple[str, int]]:
    most = {host: highest_concurrency(group) for host, group in by_host(visits).items()}
    return [(host, open_at_once) for host, open_at_once in most.items() if open_at_once > (2 if host in WIDE else 1)]


@pytest.mark.long
async def test_four_processes_are_polite_to_five_hundred_hosts(database_url: str) -> None:
    flags = {"politeness.delay": f"{DELAY_MS}ms"}
    site = Publisher()
    async with opened_path(database_url, dict.fromkeys(HOSTS, site), flags) as path:  # type: ignore[arg-type]
        for host in WIDE:
            policy = HostPolicy(max_concurrency=2, min_request_interval_ms=DELAY_MS)
            await set_policy(path.database, host, policy, path.services.settings.politeness.delay)
            # Slower than the delay, or a second request would never meet the first.
            path.sim.script(host, SlowStart(2000))
        await path.queue(*(f"http://{host}{page}" for page in PAGES for host in HOSTS))
        port = path.sim._server.sockets[0].getsockname()[1] if path.sim._server else 0
        shared = {
            "database.url": database_url,
            "network.allow": f"127.0.0.1:{port}",
            "log.level": "error",
            "fetch.concurrency": "20",
            "database.pool_size": "20",
            **flags,
        }
        feeds = [f"http://{host}/feed{again}" for again in ("", "2") for host in HOSTS[::2]]
        tasks = [
            {"owner": f"p{number}", "port": port, "flags": shared, "feeds": feeds[number::PROCESSES]}
            for number in range(PROCESSES)
        ]
        counts = await run_together(tasks, path)
        visits = path.visits()
        assert rude(visits) == []
        assert crowded(visits) == []
        assert [visit for visit in visits if visit.path.startswith("/members")] == []
        assert counts["page Moved"] > 0
        assert counts["poll Answered"] > 0
