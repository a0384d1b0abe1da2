"""Tasks that die of what nobody expected: the others go on, the log says so, and each is started again."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Lines, Workbench, hosts, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.cli.up import Pulse, show_figures
from headwater.clock import SystemClock
from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.log import make_logger
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.supervisor import Supervisor

pytestmark = pytest.mark.long

SITES = hosts(4)
PAGES = pages_of(SITES, count=2)


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    async with workbench(database, SITES) as ready:
        yield ready
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []


async def test_a_chore_that_dies_ends_no_other_and_is_started_again(bench: Workbench, database_url: str) -> None:
    """Without its one row the clock's mark is None, which nobody expects."""
    noted = "select count(*) from clock_mark where seen_at > '2020-01-01'"
    async with bench.everything(database_url) as running:
        await bench.database.execute("delete from clock_mark")
        await running.says("task_died")
        [died, *_] = running.log.events("task_died")
        assert died["task"] in ("follow_clock", "rescue")  # both look at the clock
        assert "TypeError" in died["exception"]
        await bench.queue(*PAGES)
        await bench.until_settled()
        await until(lambda: are_folded(bench.database))
        await bench.database.execute("insert into clock_mark (seen_at) values ('2001-01-01')")
        await until(lambda: bench.database.fetchval(noted))
    assert sorted(bench.asked()) == sorted(PAGES)


async def are_folded(database: Database) -> bool:
    """Another chore of the same role has worked since."""
    return bool(await database.fetchval("select exists (select 1 from counters where status = 'fetched')"))


async def test_a_worker_that_dies_gives_back_what_it_held_and_is_started_again(
    bench: Workbench, database_url: str
) -> None:
    """A claim whose last row is missing is what no code of ours answers."""
    definition = await bench.database.fetchval("select pg_get_functiondef('claim_entries'::regproc)")
    broken = definition.replace("return query select null::uuid", "return; return query select null::uuid")
    assert broken != definition
    await bench.queue(*PAGES)
    async with bench.everything(database_url) as running:
        await bench.until_settled()
        await bench.database.execute(broken)
        await running.says("task_died")
        assert {died["task"] for died in running.log.events("task_died")} == {"fetch"}
        await bench.database.execute(definition)
        await bench.queue("http://host0.test/another")
        await bench.until_settled()
    assert sorted(bench.asked()) == sorted([*PAGES, "http://host0.test/another"])


class Quick(SystemClock):
    """A minute between two lines of figures is too long for a test."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.05))


@dataclass(slots=True)
class Faint(Pulse):
    is_broken: bool = False

    def line(self, waiting: int) -> str:
        if self.is_broken:
            raise ValueError("of what nobody expected")
        return Pulse.line(self, waiting)


async def test_running_figures_go_on_after_a_restart_of_the_database_and_after_a_death(
    open_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = EmbeddedServer(open_folder / "pg", settings={"fsync": "off", "shared_buffers": "32MB"})
    dsn, log, pulse = await server.start(), Lines(), Faint()
    try:
        async with await Database.connect(dsn, size=1) as database:
            await migrate(database)
        async with open_services(load(Given(flags={"database.url": dsn}))) as services:
            quick = replace(services, clock=Quick(), log=make_logger("info", "json", stream=log))
            async with Supervisor(quick.clock, quick.log) as tasks:
                tasks.keep("show_figures", lambda: show_figures(quick, pulse, tasks))
                await shown(capsys, waiting=0)
                await server.stop()
                await server.start()
                async with workbench(services.database, {}) as bench:
                    await bench.queue("http://a.test/1", "http://a.test/2")
                await shown(capsys, waiting=2)
                pulse.is_broken = True
                async with asyncio.timeout(300):
                    while not tasks.health["show_figures"].deaths:
                        await asyncio.sleep(0.01)
                pulse.is_broken = False
                capsys.readouterr()
                await shown(capsys, waiting=2)
    finally:
        await server.stop()
    assert {died["task"] for died in log.events("task_died")} == {"show_figures"}


async def shown(capsys: pytest.CaptureFixture[str], waiting: int) -> None:
    """Figures whose last column says so."""
    async with asyncio.timeout(300):
        while not re.search(rf"(\s+0){{6}}\s+{waiting}\s*$", capsys.readouterr().err, re.MULTILINE):
            await asyncio.sleep(0.05)
