"""A window is counted from the question, and not from the wait for a connection to ask it on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from datetime import timedelta
from typing import TypeVar

import pytest
from tests.integration.frontier.stage import LEASE, NEVER_BEGAN, Stage, add_source

from headwater.database.pool import Database
from headwater.politeness.hosts import HostPolicy, set_policy
from headwater.politeness.slots import SLACK, Regranter, StartWindow

HOST = "shared.test"
LONG = SLACK * 10
Answer = TypeVar("Answer")


@pytest.fixture
async def stage(database_url: str) -> AsyncIterator[Stage]:
    """With one connection for all, and a host where a request that starts late would meet another."""
    async with await Database.connect(database_url, size=1) as database:
        stage = Stage(database, await add_source(database))
        await stage.submit(f"http://{HOST}/")
        await set_policy(database, HOST, HostPolicy(max_concurrency=2, min_request_interval_ms=0), timedelta())
        yield stage


async def after_a_long_wait(stage: Stage, question: Awaitable[Answer]) -> Answer:
    """The answer to a question that could not be asked for a while."""
    async with stage.database.borrowed():
        asking = asyncio.ensure_future(question)
        await asyncio.sleep(0)
        stage.clock.move(LONG)
    return await asking


async def test_a_claim_waits_for_its_connection_without_losing_its_window(stage: Stage) -> None:
    (lease,) = (await after_a_long_wait(stage, stage.claimer().claim(1))).leases
    assert lease.window.allows(stage.clock.monotonic())


async def test_a_reservation_waits_for_its_connection_without_losing_its_window(stage: Stage) -> None:
    slot = await after_a_long_wait(stage, stage.reserve(HOST))
    assert slot.window.allows(stage.clock.monotonic())


async def test_a_further_slot_waits_for_its_connection_without_losing_its_window(stage: Stage) -> None:
    slot = await stage.reserve(HOST)
    regranter = Regranter(stage.database, stage.clock, LEASE)
    window = await after_a_long_wait(stage, regranter.regrant(slot.bucket, slot.token, NEVER_BEGAN))
    assert isinstance(window, StartWindow)
    assert window.allows(stage.clock.monotonic())


async def test_whoever_shares_a_host_that_lost_its_room_is_not_alone_there(stage: Stage) -> None:
    (another,), one = await stage.claim(), await stage.reserve(HOST)
    await set_policy(stage.database, HOST, HostPolicy(max_concurrency=1, min_request_interval_ms=0), timedelta())
    regranter = Regranter(stage.database, stage.clock, LEASE)
    beside = await regranter.regrant(one.bucket, one.token, NEVER_BEGAN)
    assert isinstance(beside, StartWindow)
    assert not beside.allows(stage.clock.monotonic() + LONG.total_seconds()), "another may start any moment"
    await stage.settle(another)
    alone = await regranter.regrant(one.bucket, one.token, NEVER_BEGAN)
    assert isinstance(alone, StartWindow)
    assert alone.allows(stage.clock.monotonic() + LONG.total_seconds())
