"""Hosts that are dead, and hosts without end: what they cost is bounded, and everybody else is served."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import pytest
from tests.faults import invariants
from tests.faults.world import BESIDE_PAGES, DELAY, Articles, article, hosts, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.simweb.message import Page, Request
from headwater.simweb.resolver import Answers, ServerFailure
from headwater.sources.source import Profile, SourceKind
from headwater.urls.fingerprint import bucket_of

pytestmark = pytest.mark.long

# An address of this machine where nobody listens.
NOBODY = "127.0.0.9"
DEAD = [f"dead{number}.test" for number in range(40)]
# Their robots.txt was read while they lived: without it nothing else is asked for.
ONCE_ALIVE = DEAD[::2]
PAGES_OF_A_DEAD_HOST = 8
BREAKER_AFTER = 5
KNOWN_ROBOTS = """
    insert into robots (bucket, host, scheme, port, access, fetched_at, expires_at)
    values ($1, $2, 'http', 80, 'allow_all', now(), now() + interval '1 day')"""
LEFT = "select count(*) from url_frontier where status <> 'fetched' and host like 'host%'"


async def test_dead_hosts_are_asked_a_few_times_and_the_others_are_served(
    database: Database, database_url: str
) -> None:
    sites = hosts(5)
    async with workbench(database, sites) as bench:
        for number, name in enumerate(DEAD):
            # Half of each kind has no address, half of each has one that refuses.
            bench.resolver.script(name, ServerFailure() if number % 4 < 2 else Answers(((NOBODY,),)))
        for name in ONCE_ALIVE:
            await database.execute(KNOWN_ROBOTS, bucket_of(name), name)
        await bench.queue(*pages_of(DEAD, PAGES_OF_A_DEAD_HOST), *pages_of(sites, 4))

        async def dead_hosts_rest() -> bool:
            resting = "select count(*) from hosts where host like 'dead%' and closed_until > now() + interval '20 s'"
            return bool(await database.fetchval(resting) == len(DEAD))

        async def others_are_served() -> bool:
            return not await database.fetchval(LEFT)

        allowed = f"127.0.0.1:{bench.port},{NOBODY}:80"
        flags = {"network__allow": allowed, "fetch__retries_in_place": "0"}
        async with bench.worker(database_url, **flags):
            await until(others_are_served)
            await until(dead_hosts_rest)
            all_asked = {name: bench.resolver.asked[name] for name in DEAD}
            await bench.queue(*(f"http://{name}/later{number}" for name in sites for number in range(4)))
            await until(others_are_served)
        # Once for a robots.txt that cannot be had; else until the breaker opens, while one more may be under way.
        asked = dict(all_asked)
        once_alive = {asked.pop(name) for name in ONCE_ALIVE}
        assert once_alive <= {BREAKER_AFTER, BREAKER_AFTER + 1}
        assert set(asked.values()) == {1}
        assert {name: bench.resolver.asked[name] for name in DEAD} == all_asked
        closures = await database.fetch("select reason, count(*) from host_closures group by 1 order by 1")
        assert [tuple(row) for row in closures] == [("breaker", 20), ("robots_unreachable", 20)]
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(bench.sim.visits.all(), DELAY) == []


class EndlessNames(Mapping[str, Articles]):
    """Every name below wild.test leads somewhere, and each page there to five names that nobody has seen before."""

    def __init__(self, others: Mapping[str, Articles]) -> None:
        self._others = others

    def __getitem__(self, name: str) -> Articles:
        if name in self._others:
            return self._others[name]
        if name == "wild.test" or name.endswith(".wild.test"):
            return Wild()
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._others)

    def __len__(self) -> int:
        return len(self._others)


class Wild(Articles):
    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/robots.txt":
            return None
        label = request.host.removesuffix("wild.test").removesuffix(".").replace(".", "")
        links = [f"http://{label}{number}.wild.test/" for number in range(5)]
        return Page(article(request.host, links))


async def test_a_crawl_through_endless_names_ends_with_its_budget(database: Database, database_url: str) -> None:
    """116. The budget of pages is what holds; each name has its own robots.txt and its own pace."""
    budget, others = 12, hosts(2)
    async with workbench(database, EndlessNames(others)) as bench:
        async with database.transaction() as connection:
            profile = Profile(
                "http://wild.test/",
                kind=SourceKind.DOCS,
                allowed_domains=("wild.test",),
                max_depth=-1,
                max_pages=budget,
            )
            crawl = await take_up(connection, WantedSource(profile), "tester", DELAY)
        await bench.queue("http://wild.test/", source=crawl)
        await bench.queue(*pages_of(others, 3))
        async with bench.worker(database_url, fetch__concurrency="1"):
            await bench.until_settled()
        wild = [visit for visit in bench.sim.visits.all() if visit.host.endswith("wild.test")]
        assert sum(visit.path not in BESIDE_PAGES for visit in wild) == budget
        assert len(wild) <= 3 * budget
        assert await database.fetchval("select count(*) from hosts where host like '%wild.test'") == budget
        assert await database.fetchval(LEFT) == 0
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(bench.sim.visits.all(), DELAY) == []
