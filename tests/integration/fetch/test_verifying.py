"""Was that us? Asked after real requests to the simulated web, of the log that they left."""

from datetime import datetime, timedelta

from tests.integration.fetch.conftest import Path

from headwater.fetch.outcomes import Answered
from headwater.reports.verifying import RequestVerification, WasUs, seen_request_from, verify_seen

MINUTES = timedelta(minutes=2)


async def verified(path: Path, place: str, address: str = "", egress: tuple[str, ...] = ()) -> RequestVerification:
    now: datetime = await path.database.fetchval("select clock_timestamp()")
    seen = seen_request_from(place, now.isoformat() if place else "", address, MINUTES)
    return await verify_seen(path.database, seen, egress, ())


async def test_a_page_that_was_fetched_was_fetched_by_us(path: Path) -> None:
    await path.queue("http://a.test/one")
    await path.travel_all()
    assert isinstance(await path.fetch("http://a.test/two"), Answered)
    found = await verified(path, "http://a.test/one")
    assert found.was_us is WasUs.YES
    assert {one.kind for one in found.requests} == {"page", "robots"}
    # It left from this machine for this machine.
    assert {str(one.sent_from) for one in found.requests} == {"127.0.0.1"}
    assert (await verified(path, "http://a.test/robots.txt", "127.0.0.1")).was_us is WasUs.YES
    assert (await verified(path, "http://a.test/three")).was_us is WasUs.LIKELY
    assert (await verified(path, "a.test")).was_us is WasUs.YES
    assert (await verified(path, "b.test")).was_us in (WasUs.NO, WasUs.UNKNOWN)


async def test_an_address_is_known_by_what_left_from_it(path: Path) -> None:
    assert isinstance(await path.fetch("http://a.test/one"), Answered)
    assert (await verified(path, "", "127.0.0.1")).was_us is WasUs.YES
    assert (await verified(path, "", "203.0.113.5")).was_us is WasUs.UNKNOWN
    assert (await verified(path, "", "203.0.113.5", ("203.0.113.0/24",))).was_us is WasUs.YES
    assert (await verified(path, "a.test", "203.0.113.5", ("203.0.113.0/24",))).was_us is WasUs.YES
    assert (await verified(path, "a.test", "192.0.2.5", ("203.0.113.0/24",))).was_us is WasUs.NO
