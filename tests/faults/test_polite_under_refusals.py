"""A whole site that turns us away for a while, and rules that change while its pages are queued."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Articles, Workbench, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.simweb.message import Page
from headwater.simweb.mischief.replies import Status, Throttle

pytestmark = pytest.mark.long

DAY = timedelta(hours=24)
# What a site may answer, and how long it is left alone then; None: as long as our own backoff says.
TURNED_AWAY = {
    "seconds.test": (Throttle(3600), timedelta(hours=1)),
    "date.test": (Throttle(3600, told_as="date"), timedelta(hours=1)),
    "for-ever.test": (Throttle(told_as="words", words=str(10**12)), DAY),
    "negative.test": (Throttle(told_as="words", words="-5"), None),
    "garbage.test": (Throttle(told_as="words", words="soon"), None),
    "silent.test": (Throttle(told_as="nothing"), None),
}
QUIET = "quiet.test"
SITES = {name: Articles() for name in (*TURNED_AWAY, QUIET)}
EXPIRED = "update robots set expires_at = now() - interval '1 second'"
WAITING = "select count(*) from url_frontier where status in ('pending', 'failed', 'fetching')"


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    async with workbench(database, SITES) as ready:
        yield ready
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []


async def test_a_site_that_turns_everybody_away_is_left_alone_as_long_as_it_says_also_after_a_restart(
    bench: Workbench, database_url: str
) -> None:
    for name, (answer, _) in TURNED_AWAY.items():
        bench.sim.script(name, answer)
    await bench.queue(*pages_of(TURNED_AWAY, count=3))

    async def all_have_answered() -> bool:
        return not await bench.database.fetchval("select count(*) from slots") and all(
            any(visit.host == name for visit in bench.sim.visits.all()) for name in TURNED_AWAY
        )

    async with bench.worker(database_url):
        await until(all_have_answered)
    asked = len(bench.sim.visits.all())
    # The next process knows it, too, and goes on with the others.
    async with bench.worker(database_url):
        await bench.queue(*pages_of([QUIET], count=3))
        await until(lambda: has_fetched(bench.database, 3))
    assert len([visit for visit in bench.sim.visits.all() if visit.host != QUIET]) == asked
    assert bench.asked() == pages_of([QUIET], count=3)
    for name, (_, wait) in TURNED_AWAY.items():
        closed = await bench.database.fetchval("select closed_until - now() from hosts where host = $1", name)
        least, most = (timedelta(seconds=10), DAY) if wait is None else (wait - timedelta(minutes=5), wait)
        assert least < closed <= most, name
    assert await bench.database.fetchval("select count(*) from url_frontier where status = 'dead'") == 0


async def has_fetched(database: Database, count: int) -> bool:
    return bool(await database.fetchval("select count(*) = $1 from url_frontier where status = 'fetched'", count))


async def test_pages_that_were_queued_before_the_rules_changed_are_judged_by_what_holds_when_they_are_due(
    bench: Workbench, database_url: str
) -> None:
    """First robots.txt fails: the copy we have decides, and without one nothing is asked for. Then it forbids."""
    SITES[QUIET].pages.clear()
    await bench.queue(f"http://{QUIET}/first")
    async with bench.worker(database_url):
        await bench.until_settled()
    known, unknown = pages_of([QUIET], count=2), pages_of(["date.test"], count=2)
    for name in (QUIET, "date.test"):
        bench.sim.script(name, Status(503), "/robots.txt")
    await bench.database.execute(EXPIRED)
    bench.sim.visits.forget()
    await bench.queue(*known, *unknown)
    async with bench.worker(database_url):
        await until(lambda: has_fetched(bench.database, 3))
        await until(lambda: bench.database.fetchval("select count(*) = 2 from robots where failing_since is not null"))
    assert bench.asked() == known
    for name in (QUIET, "date.test"):
        SITES[name].pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /\n", "text/plain")
    bench.sim.scripts.remove()
    bench.sim.visits.forget()
    later = f"http://{QUIET}/later"
    await bench.queue(later)
    await bench.database.execute(EXPIRED)
    await bench.database.execute("delete from host_closures")
    await bench.database.execute("update hosts set closed_until = '-infinity'")
    await bench.database.execute("update url_frontier set next_fetch_at = now() where status in ('pending', 'failed')")
    for name in (QUIET, "date.test"):
        await bench.make_due(name)
    async with bench.worker(database_url):
        await bench.until_settled()
    assert bench.asked() == []
    ended = await bench.database.fetch("select url, status, reason from url_frontier where status <> 'fetched'")
    assert {tuple(row) for row in ended} == {(url, "dead", "robots_blocked") for url in (later, *unknown)}
