"""Politeness switched off: for hosts in networks of our own, and for nobody else."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from tests.integration.fetch.conftest import Path, SmallSite, opened_path, robots

from headwater.fetch.outcomes import Answered
from headwater.politeness.hosts import (
    HostPolicy,
    Pace,
    follow_address,
    pace_of,
    read_host,
    set_policy,
)
from headwater.simweb.message import Page
from headwater.web import open_web

HOST = "a.test"
DELAY = timedelta(milliseconds=700)
DEFAULT = Pace(DELAY, "default")
NONE = Pace(timedelta(), "politeness.enabled = false")


@pytest.fixture
async def path(database_url: str, sites: dict[str, SmallSite]) -> AsyncIterator[Path]:
    delay = f"{round(DELAY.total_seconds() * 1000)}ms"
    async with opened_path(database_url, sites, {"politeness.delay": delay, "politeness.enabled": "false"}) as opened:
        yield opened


async def pace_at(path: Path, host: str = HOST) -> Pace:
    return pace_of(await read_host(path.database, host))


def gaps(path: Path) -> list[float]:
    arrived = [visit.arrived for visit in path.visits()]
    return [later - sooner for sooner, later in pairwise(arrived)]


async def test_a_host_inside_the_allow_list_is_asked_without_the_default_delay(path: Path) -> None:
    for page in ("/one", "/two", "/three"):
        assert isinstance(await path.fetch(f"http://{HOST}{page}"), Answered)
    assert await pace_at(path) == NONE
    # The first slot was given before anybody knew where the host is.
    assert max(gaps(path)[1:]) < DELAY.total_seconds()


async def test_a_host_that_moves_out_of_the_allow_list_gets_its_delay_back(path: Path) -> None:
    await path.fetch(f"http://{HOST}/one")
    await follow_address(path.database, DELAY, HOST, is_inside=False)
    assert await pace_at(path) == DEFAULT
    await path.fetch(f"http://{HOST}/two")
    assert gaps(path)[-1] >= DELAY.total_seconds() - 0.005


async def test_a_public_host_keeps_its_delay(path: Path) -> None:
    await path.queue("http://public.test/")
    await follow_address(path.database, DELAY, "public.test", is_inside=False)
    assert await pace_at(path, "public.test") == DEFAULT


async def test_what_robots_asks_holds_all_the_same(path: Path, sites: dict[str, SmallSite]) -> None:
    sites[HOST].pages["/robots.txt"] = robots("User-agent: *\nCrawl-delay: 0.3\n")
    await path.fetch(f"http://{HOST}/one")
    await path.fetch(f"http://{HOST}/two")
    assert await pace_at(path) == Pace(timedelta(seconds=0.3), "Crawl-delay of robots.txt")
    assert gaps(path)[-1] >= 0.295


async def test_what_a_person_set_holds_all_the_same(path: Path) -> None:
    await set_policy(path.database, HOST, HostPolicy(min_request_interval_ms=400), DELAY)
    await path.fetch(f"http://{HOST}/one")
    assert await pace_at(path) == Pace(timedelta(seconds=0.4), "host policy")


async def test_switched_on_again_the_delay_holds_for_everybody(path: Path) -> None:
    await path.fetch(f"http://{HOST}/one")
    politeness = path.services.settings.politeness.model_copy(update={"enabled": True})
    settings = path.services.settings.model_copy(update={"politeness": politeness})
    async with open_web(replace(path.services, settings=settings), "another", path.resolver):
        assert await pace_at(path) == DEFAULT


async def test_behind_a_proxy_nobody_is_inside(database_url: str, sites: dict[str, SmallSite]) -> None:
    """The proxy stands inside the allow list, as proxies do."""
    seen: list[tuple[str, bool]] = []

    async def note(host: str, *, is_inside: bool) -> None:
        seen.append((host, is_inside))

    sites["b.test"].pages["/"] = Page(b"<p>Through the proxy</p>")
    async with opened_path(database_url, sites) as path:
        path.web.transport.dialled = note
        path.web.transport.proxy = "http://b.test/"
        await path.fetch(f"http://{HOST}/one")
    assert seen
    assert not any(is_inside for _, is_inside in seen)
