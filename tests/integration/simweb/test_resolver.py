from __future__ import annotations

import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import aiohttp
import pytest
from tests.clocks import ManualClock

from headwater.simweb.resolver import Answers, NoAnswer, NoSuchName, ServerFailure, SimResolver

if TYPE_CHECKING:
    from tests.integration.simweb.conftest import Farm


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def resolver(clock: ManualClock) -> SimResolver:
    return SimResolver(8080, clock=clock)


async def found(resolver: SimResolver, host: str) -> list[tuple[str, int]]:
    return [(each["host"], each["port"]) for each in await resolver.resolve(host, 80)]


async def test_a_client_reaches_any_simulated_host_by_its_plain_url(farm: Farm) -> None:
    async with farm.session() as session:
        for host in ("a.test", "b.test"):
            async with session.get(f"http://{host}/robots.txt") as response:
                assert await response.read() == farm.site.pages["/robots.txt"].body
    assert [visit.host for visit in farm.web.visits.all()] == ["a.test", "b.test"]


async def test_no_other_name_exists(farm: Farm) -> None:
    async with farm.session() as session:
        with pytest.raises(aiohttp.ClientConnectorDNSError):
            await session.get("http://example.org/")


async def test_every_failure_of_dns_can_be_had(resolver: SimResolver, clock: ManualClock) -> None:
    for mischief, code in (
        (NoSuchName(), socket.EAI_NONAME),
        (ServerFailure(), socket.EAI_AGAIN),
        (NoAnswer(seconds=30), socket.EAI_AGAIN),
    ):
        resolver.script("a.test", mischief)
        with pytest.raises(socket.gaierror) as failure:
            await found(resolver, "a.test")
        assert failure.value.errno == code
    assert clock.monotonic() == 30
    resolver.script("a.test", None)
    assert await found(resolver, "a.test") == [("127.0.0.1", 8080)]


async def test_a_rebinding_name_answers_differently_the_second_time(resolver: SimResolver) -> None:
    resolver.script("a.test", Answers((("93.184.216.34",), ("10.0.0.1",))))
    answers = [await found(resolver, "a.test") for _ in range(3)]
    assert answers == [[("93.184.216.34", 80)], [("10.0.0.1", 80)], [("10.0.0.1", 80)]]
    assert resolver.asked["a.test"] == 3


async def test_several_addresses_of_both_families(resolver: SimResolver) -> None:
    resolver.script("a.test", Answers((("93.184.216.34", "::1"),)))
    families = [each["family"] for each in await resolver.resolve("a.test", 80)]
    assert families == [socket.AF_INET, socket.AF_INET6]


async def test_hosts_may_be_placed_at_addresses_of_their_own(clock: ManualClock) -> None:
    placed = SimResolver(80, clock=clock, addresses={"a.test": "93.184.216.34"})
    assert await found(placed, "A.test.") == [("93.184.216.34", 80)]
    assert await found(placed, "b.test") == [("127.0.0.1", 80)]


async def test_names_that_do_not_end_in_test_exist_once_they_are_named(clock: ManualClock) -> None:
    resolver = SimResolver(8080, clock=clock, names=("alice.github.io",))
    assert await found(resolver, "alice.github.io") == [("127.0.0.1", 8080)]
    with pytest.raises(socket.gaierror):
        await resolver.resolve("bob.github.io")
