"""Publishers followed over simulated days: everything they publish is found, once, within the budget of requests."""

from datetime import datetime, timedelta
from itertools import islice

import pytest
from tests.endtoend.conftest import DELAY, Days, simulated_days

from headwater.discover.polls.polling import Ran
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.questions import smallest_gaps, unconditional_repeats
from headwater.simweb.world.publishers import Publisher
from headwater.sources.kinds import ChannelKind
from headwater.urls.canonical import canonicalise


def followed(days: Days) -> list[Publisher]:
    return [one for one in days.world.publishers if one.feeds and one.kind == "news"]


def published(days: Days, since: datetime, until: datetime) -> dict[str, Publisher]:
    """What was written in that time, by the key of its address, and by whom."""
    return {
        canonicalise(item.url).key: publisher
        for publisher in followed(days)
        for item in days.world.items(publisher, until)
        if since < item.published <= until
    }


def shown(days: Days, publisher: Publisher) -> set[str]:
    """What stood in its feeds whenever they were asked, by the account of the simulated web."""
    windows = {feed.url: feed.window for feed in publisher.feeds}
    # The world's time stands still during a poll.
    asked = {
        (ran.ending.patch["last_polled_at"], windows[ran.channel.url.url])
        for ran in days.ran
        if ran.ending and ran.channel.url.url in windows
    }
    return {
        canonicalise(item.url).key for at, window in asked for item in islice(days.world.items(publisher, at), window)
    }


def within_reach(days: Days, since: datetime, until: datetime) -> set[str]:
    """Everything published, but for one case: no sitemap lists it, and it came and went between two polls."""
    written = published(days, since, until)
    without_sitemap = {publisher.host: publisher for publisher in written.values() if not publisher.sitemaps}
    seen = {host: shown(days, publisher) for host, publisher in without_sitemap.items()}
    return {key for key, publisher in written.items() if publisher.sitemaps or key in seen[publisher.host]}


async def told_of_gaps(days: Days) -> set[str]:
    """Hosts whose feeds are said to have overflowed."""
    rows = await days.services.database.fetch(
        "select distinct c.host from events e join channels c on c.id = e.channel_id"
        " where e.kind = 'channel_overflowed'"
    )
    return {row["host"] for row in rows}


def ever_there(days: Days) -> set[str]:
    """What stood on the publishers' sites at some time of these days: articles are removed, vacancies filled."""
    now = days.clock.now()
    moments = [now - n * timedelta(hours=12) for n in range((now - WORLD_BEGINS) // timedelta(hours=12) + 2)]
    stood = {url for moment in moments for url in days.world.urls(moment)}
    removed = {url for publisher in days.world.publishers for url in days.world.removed(publisher, now)}
    return {canonicalise(url).key for url in stood | removed}


def is_as_it_should_be(days: Days, ran: Ran) -> bool:
    """A poll went well, or told of a gap, or looked in vain for what the world does not have."""
    if ran.ending is None or ran.ending.status == "ok" or ran.ending.gap:
        return True
    has_sitemap = {one.host: bool(one.sitemaps) for one in days.world.publishers}
    return ran.channel.kind is ChannelKind.SEARCH and not has_sitemap[ran.channel.url.host]


@pytest.mark.parametrize(
    ("publishers", "length"),
    [pytest.param(25, 1, marks=pytest.mark.long), pytest.param(200, 3, marks=pytest.mark.slow)],
    ids=["small", "large"],
)
async def test_everything_published_is_discovered_once_within_the_budget(
    database_url: str, publishers: int, length: int
) -> None:
    async with simulated_days(database_url, publishers, length) as days:
        await days.subscribe()
        end = WORLD_BEGINS + timedelta(days=length)
        await days.pass_until(end)
        await days.look_everywhere()
        # Channels of one host take turns, and what the last look missed is read up.
        await days.pass_until(end + timedelta(minutes=5))
        found = {canonicalise(url).key for url in await days.entries()}
        assert within_reach(days, WORLD_BEGINS, end) - found == set()
        lost = {publisher.host for key, publisher in published(days, WORLD_BEGINS, end).items() if key not in found}
        assert lost <= await told_of_gaps(days)
        assert found <= ever_there(days)

        channels = await days.services.database.fetchval("select count(*) from channels where is_active")
        allowed = channels * length * 24
        assert len(days.ran) <= 1.25 * allowed
        assert len(days.ran) >= 0.5 * allowed
        assert [ran.ending for ran in days.ran if not is_as_it_should_be(days, ran)] == []

        visits = days.web.visits.all()
        assert unconditional_repeats(visits) == []
        seen = days.web.report(agent="headwater")["total"]
        assert seen["disallowed"] == 0
        assert seen["highest_concurrency"] == 1
        assert min(smallest_gaps(visits).values()) >= DELAY.total_seconds()


@pytest.mark.long
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
