"""A whole site that turns us away for a while, and rules that change while its pages are queued."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Articles, Workbench, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.replies import Status, Throttle

pytestmark = pytest.mark.long

DAY = timedelta(hours=24)
# What a site may answer, and how long it is left alone then; None: it is only asked more and more slowly.
TURNED_AWAY = {
    "seconds.test": (Throttle(3600), timedelta(hours=1)),
    "date.test": (Throttle(3600, told_as="date"), timedelta(hours=1)),
    "for-ever.test": (Throttle(told_as="words", words=str(10**12)), DAY),
    "negative.test": (Throttle(told_as="words", words="-5"), None),
    "garbage.test": (Throttle(told_as="words", words="soon"), None),
    "silent.test": (Throttle(told_as="nothing"), None),
}
QUIET = "quiet.test"
EXPIRED = "update robots set expires_at = now() - interval '1 second'"
TOLD_TO_WAIT = "select count(distinct host) = 2 from fetch_log where verdict = 'host_says_wait'"
CLOSED_FOR = "select closed_until - now() from hosts where host = $1"
PENALTY = "select penalty_ms from hosts where host = $1"
# By the first answer of that kind; every further one doubles it.
SLOWED = timedelta(seconds=1)


@dataclass
class Site(Articles):
    """As long as it is open it has no robots.txt."""

    is_closed: bool = False

    def page(self, request: Request, now: datetime) -> Page | None:
        if self.is_closed and request.path == "/robots.txt":
            return Page(b"User-agent: *\nDisallow: /\n", "text/plain")
        return super().page(request, now)


@pytest.fixture
def sites() -> Mapping[str, Site]:
    return {name: Site() for name in (*TURNED_AWAY, QUIET)}


@pytest.fixture
async def bench(database: Database, sites: Mapping[str, Site]) -> AsyncIterator[Workbench]:
    async with workbench(database, sites) as ready:
        yield ready
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []


async def test_a_site_that_turns_everybody_away_is_left_alone_as_long_as_it_says_also_after_a_restart(
    bench: Workbench, database_url: str
) -> None:
    for name, (answer, _) in TURNED_AWAY.items():
        bench.sim.script(name, answer, "/page")
    await bench.queue(*pages_of(TURNED_AWAY, count=3))

    async def all_have_answered() -> bool:
        asked = {visit.host for visit in bench.pages()}
        return asked >= TURNED_AWAY.keys() and not await bench.database.fetchval("select count(*) from slots")

    async with bench.worker(database_url):
        await until(all_have_answered)
    # The next process knows it, too, and goes on with the others.
    async with bench.worker(database_url):
        await bench.queue(*pages_of([QUIET], count=3))
        await until(lambda: has_fetched(bench.database, 3))
    for name, (_, wait) in TURNED_AWAY.items():
        visits = [visit for visit in bench.pages() if visit.host == name]
        if wait is None:
            assert invariants.hosts_asked_too_soon(visits, SLOWED) == []
            assert await bench.database.fetchval(PENALTY, name) >= SLOWED / timedelta(milliseconds=1)
        else:
            assert len(visits) == 1, name
            assert wait - timedelta(minutes=5) < await bench.database.fetchval(CLOSED_FOR, name) <= wait, name
    assert await bench.database.fetchval("select count(*) from url_frontier where status = 'dead'") == 0


async def has_fetched(database: Database, count: int) -> bool:
    return bool(await database.fetchval("select count(*) = $1 from url_frontier where status = 'fetched'", count))


async def test_pages_that_were_queued_before_the_rules_changed_are_judged_by_what_holds_when_they_are_due(
    bench: Workbench, sites: Mapping[str, Site], database_url: str
) -> None:
    """First there is no robots.txt, then it says 503, and then it forbids everything."""
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
        await until(lambda: bench.database.fetchval(TOLD_TO_WAIT))
    assert bench.asked() == []
    assert {visit.path for visit in bench.sim.visits.all()} == {"/robots.txt"}
    for name in (QUIET, "date.test"):
        sites[name].is_closed = True
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
    assert {tuple(row) for row in ended} == {(url, "dead", "robots_blocked") for url in (later, *known, *unknown)}
