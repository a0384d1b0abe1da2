"""Our own network goes away and comes back: it is charged to no entry, no channel and no host."""

from collections.abc import Iterable

import pytest
from tests.faults import invariants
from tests.faults.test_dead_hosts import NOBODY
from tests.faults.world import DELAY, Articles, Workbench, feed, hosts, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.simweb.resolver import Answers, ServerFailure
from headwater.urls.fingerprint import bucket_of

pytestmark = pytest.mark.long

COUNT = 40
CHARGED = {
    "entries": "select count(*) from url_frontier where retry_count + crash_count > 0 or status in ('dead', 'failed')",
    "channels": "select count(*) from channels where consecutive_errors > 0 or error_class is not null",
    "runs": "select count(*) from runs where status = 'fail'",
    "hosts": "select count(*) from hosts where bad_in_a_row > 0 or penalty_ms > 0",
    "closures": "select count(*) from host_closures",
    "robots": "select count(*) from robots where access = 'unreachable'",
}
LEFT = "select count(*) from url_frontier where status <> 'fetched'"
TOLD = "select exists (select 1 from role_processes where failing ? 'network')"
UNPOLLED = "select count(*) from channels where kind = 'feed' and last_ok_at is null"


async def known_before(database: Database, sites: Iterable[str]) -> None:
    """As if they had been asked in an earlier life of the process, so long ago that robots.txt is asked for again."""
    row = """insert into robots (bucket, host, scheme, port, access, http_status, fetched_at, expires_at)
             values ($1, $2, 'http', 80, 'allow_all', 404, now(), now())"""
    for name in sites:
        await database.execute(row, bucket_of(name), name)


async def charged(database: Database) -> dict[str, int]:
    counts = {name: await database.fetchval(sql) for name, sql in CHARGED.items()}
    return {name: count for name, count in counts.items() if count}


async def follow_all(bench: Workbench, sites: dict[str, Articles]) -> None:
    for name, site in sites.items():
        site.pages["/feed"] = feed(f"http://{name}/news")
        await bench.follow(f"http://{name}/", f"http://{name}/feed")


async def test_an_outage_met_at_the_start_is_charged_to_nobody(database: Database, database_url: str) -> None:
    sites = hosts(COUNT)
    async with workbench(database, sites) as bench:
        await bench.queue(*pages_of(sites, 1))
        async with bench.worker(database_url):
            await bench.until_settled()
        bench.sim.visits.forget()
        await follow_all(bench, sites)
        await bench.queue(*pages_of(sites, 3))
        for number, name in enumerate(sites):
            bench.resolver.script(name, ServerFailure() if number % 2 else Answers(((NOBODY,),)))
        allowed = {"network__allow": f"127.0.0.1:{bench.port},{NOBODY}:80"}
        async with bench.worker(database_url, **allowed) as worker, bench.poller(database_url, **allowed) as poller:
            await worker.says("network_down")
            await poller.says("network_down")
            assert bench.sim.visits.all() == []
            assert await charged(database) == {}
            for name in sites:
                bench.resolver.script(name, None)
            await worker.says("network_back")
            await poller.says("network_back")

            async def all_is_done() -> bool:
                return not await database.fetchval(LEFT) and not await database.fetchval(UNPOLLED)

            await until(all_is_done)
        assert await charged(database) == {}
        for role in (worker, poller):
            assert len(role.log.events("network_down")) == len(role.log.events("network_back")) == 1
            assert role.log.events("page_failed") == role.log.events("poll_failed") == []
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(bench.sim.visits.all(), DELAY) == []


async def test_an_outage_in_the_middle_is_waited_for_by_all_roles(database: Database, database_url: str) -> None:
    sites = hosts(COUNT)
    async with workbench(database, sites) as bench:
        await follow_all(bench, sites)
        await bench.queue(*pages_of(sites, 1))
        async with bench.everything(database_url) as running:

            async def all_is_done() -> bool:
                return not await database.fetchval(LEFT) and not await database.fetchval(UNPOLLED)

            await until(all_is_done)
            await bench.sim.stop()
            await bench.queue(*(f"http://{name}/later{number}" for name in sites for number in range(4)))
            await running.says("network_down")
            waiting = await database.fetchval(LEFT)
            assert await charged(database) == {}
            # A probe or two find it as it is, and the next beat tells it.
            await until(lambda: database.fetchval(TOLD))
            assert await database.fetchval(LEFT) == waiting > 0
            assert await charged(database) == {}
            assert await bench.sim.start(port=bench.port) == bench.port
            await until(all_is_done)
        assert await charged(database) == {}
        assert len(running.log.events("network_down")) == len(running.log.events("network_back")) == 1
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(bench.sim.visits.all(), DELAY) == []


async def test_a_fleet_of_which_two_in_five_are_dead_is_charged_as_ever(database: Database, database_url: str) -> None:
    sites = hosts(COUNT)
    dead = list(sites)[::5] + list(sites)[1::5]
    async with workbench(database, sites) as bench:
        await known_before(database, sites)
        await bench.queue(*pages_of(sites, 3))
        for name in dead:
            bench.resolver.script(name, ServerFailure())
        async with bench.worker(database_url, fetch__retries_in_place="0") as worker:
            closed = "select count(*) from hosts where host = any($1) and closed_until > now()"

            async def the_dead_rest() -> bool:
                return bool(await database.fetchval(closed, dead) == len(dead))

            async def others_are_served() -> bool:
                return not await database.fetchval(f"{LEFT} and not host = any($1)", dead)

            await until(the_dead_rest)
            await until(others_are_served)
        assert worker.log.events("network_down") == []
        assert (await charged(database))["robots"] == len(dead)


async def test_many_names_of_one_domain_are_one_witness(database: Database, database_url: str) -> None:
    names = [f"shop{number}.gone.test" for number in range(COUNT)]
    async with workbench(database, hosts(1)) as bench:
        await known_before(database, names)
        await bench.queue(*pages_of(names))
        for name in names:
            bench.resolver.script(name, ServerFailure())
        async with bench.worker(database_url, fetch__retries_in_place="0") as worker:

            async def all_rest() -> bool:
                return bool(
                    await database.fetchval("select count(*) from robots where access = 'unreachable'") == COUNT
                )

            await until(all_rest)
        assert worker.log.events("network_down") == []
