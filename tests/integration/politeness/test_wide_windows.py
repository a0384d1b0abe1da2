"""A wider window is paid for by whoever asks for it: the next slot waits for its end."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.clocks import ManualClock

from headwater.database.pool import Database
from headwater.politeness.hosts import HostPolicy, set_policy
from headwater.politeness.slots import SLACK, Charges, Lag, Regranter, Slot, SlotKeeper, StartWindow, Visit

HOST = "wide.test"
NOW = datetime(2026, 3, 2, tzinfo=UTC)
DELAY = timedelta(seconds=1)
LEASE = timedelta(seconds=60)
BUSY = Lag(0.1)


def page_store(database: Database, lag: Lag) -> SlotKeeper:
    return SlotKeeper(database, ManualClock(NOW), "busy", LEASE, DELAY, Lag(lag.seconds))


async def slot_of(page_store: SlotKeeper) -> Slot:
    slot = await page_store.ask(HOST, "page", NOW)
    assert isinstance(slot, Slot)
    return slot


async def allow(database: Database, at_once: int, delay: timedelta) -> None:
    policy = HostPolicy(max_concurrency=at_once, min_request_interval_ms=round(delay.total_seconds() * 1000))
    await set_policy(database, HOST, policy, DELAY)


@pytest.mark.parametrize("lag", [Lag(), BUSY], ids=["calm", "busy"])
async def test_two_starts_are_never_closer_than_the_delay_wherever_in_their_windows(
    database: Database, lag: Lag
) -> None:
    await allow(database, 2, DELAY)
    first, second = await slot_of(page_store(database, lag)), await slot_of(page_store(database, lag))
    assert first.window.latest - first.window.earliest == pytest.approx(lag.slack.total_seconds())
    assert second.window.earliest - first.window.latest == pytest.approx(DELAY.total_seconds())


async def test_a_further_slot_is_as_wide_and_pushes_the_next_one(database: Database) -> None:
    await allow(database, 2, DELAY)
    held = await page_store(database, BUSY).ask(HOST, "page")
    assert isinstance(held, Slot)
    regranter = Regranter(database, ManualClock(NOW), LEASE, Lag(BUSY.seconds))
    window = await regranter.regrant(held.bucket, held.token, Visit())
    assert isinstance(window, StartWindow)
    assert window.latest - window.earliest == pytest.approx(BUSY.slack.total_seconds())
    row = await database.fetchrow(
        "select h.next_slot_at - s.starts_at as apart from hosts h join slots s using (bucket, host)"
    )
    assert row is not None
    assert row["apart"] == DELAY + BUSY.slack


async def test_alone_on_its_host_a_busy_process_costs_it_nothing(database: Database) -> None:
    await allow(database, 1, DELAY)
    await slot_of(page_store(database, BUSY))
    assert await database.fetchval("select next_slot_at from hosts") == NOW + DELAY + SLACK


async def test_where_there_is_no_delay_a_wide_window_costs_nothing(database: Database) -> None:
    await allow(database, 2, timedelta())
    first, second = await slot_of(page_store(database, BUSY)), await slot_of(page_store(database, BUSY))
    assert second.window == first.window


async def test_the_last_part_of_a_page_that_began_late_pushes_the_next_slot(database: Database) -> None:
    late = timedelta(seconds=0.6)
    await allow(database, 1, DELAY)
    held = await page_store(database, BUSY).ask(HOST, "page")
    assert isinstance(held, Slot)
    # As where the parts before took longer than the delay of each.
    await database.execute("update hosts set next_slot_at = now() - interval '1 minute'")
    charges = Charges(database, ManualClock(NOW), most=1)
    await charges.regrant(held.bucket, held.token, Visit())
    granted_at = await database.fetchval("select last_fetch_at from hosts")
    await charges.note(held.bucket, held.token, Visit(late, timedelta()))
    assert await database.fetchval("select next_slot_at from hosts") == granted_at + late + DELAY + SLACK
