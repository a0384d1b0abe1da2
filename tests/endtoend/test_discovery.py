"""Publishers followed over simulated days: everything they publish is found, once, within the budget of requests."""

from datetime import datetime, timedelta

import pytest
from tests.endtoend.conftest import DELAY, Days, simulated_days

from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.questions import smallest_gaps
from headwater.urls.canonical import canonicalise


def published(days: Days, since: datetime, until: datetime) -> dict[str, str]:
    """What stands in the feeds of that time: key and address."""
    return {
        canonicalise(item.url).key: item.url
        for publisher in days.world.publishers
        if publisher.feeds and publisher.kind == "news"
        for item in days.world.items(publisher, until)
        if since < item.published <= until
    }


@pytest.mark.parametrize(
    ("publishers", "length"), [(25, 1), pytest.param(200, 3, marks=pytest.mark.slow)], ids=["small", "large"]
)
async def test_everything_published_is_discovered_once_within_the_budget(
    database_url: str, publishers: int, length: int
) -> None:
    async with simulated_days(database_url, publishers, length) as days:
        await days.subscribe()
        end = WORLD_BEGINS + timedelta(days=length)
        await days.pass_until(end)
        await days.look_everywhere()
        found = {canonicalise(url).key for url in await days.entries()}
        assert set(published(days, WORLD_BEGINS, end)) - found == set()
        assert found <= {canonicalise(url).key for url in days.world.urls(end)}

        channels = await days.services.database.fetchval("select count(*) from channels where is_active")
        allowed = channels * length * 24
        assert len(days.ran) <= 1.25 * allowed
        assert len(days.ran) >= 0.5 * allowed
        assert {ran.ending.status for ran in days.ran if ran.ending} == {"ok"}

        seen = days.web.report(agent="headwater")["total"]
        assert seen["unconditional_repeats"] == 0
        assert seen["disallowed"] == 0
        assert seen["highest_concurrency"] == 1
        assert min(smallest_gaps(days.web.visits.all()).values()) >= DELAY.total_seconds()


async def test_the_price_is_steered_and_shared(database_url: str) -> None:
    async with simulated_days(database_url, 10, 1) as days:
        await days.subscribe()
        before = await days.services.database.fetchval("select state from cadence")
        await days.pass_until(WORLD_BEGINS + timedelta(hours=6))
        after = await days.services.database.fetchval("select state from cadence")
        assert before == {}
        assert after["price"]["hours"] > 0
        assert len(after["common"]) == 168
        leased = await days.services.database.fetchval("select count(*) from channels where token is not null")
        assert leased == 0
