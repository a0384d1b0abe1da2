"""F46: a worker without file descriptors. Our own trouble: it takes on less, and holds it against nobody."""

import pytest
from tests.faults.standing import all_fetched, flags_for, queue, role, small_web, until

from headwater.database.pool import Database
from headwater.simweb.mischief.pace import SlowStart

pytestmark = pytest.mark.long

DESCRIPTORS = 64
HOSTS = [f"h{number}.test" for number in range(80)]


async def test_a_worker_without_descriptors_takes_on_less_and_blames_nobody(
    database: Database, database_url: str
) -> None:
    async with small_web(HOSTS) as (web, port):
        # Slow enough for all of them to be under way at once.
        web.script("*", SlowStart(500))
        await queue(database, [f"http://{host}/one" for host in HOSTS])
        task = {
            "flags": flags_for(database_url, port, fetch__concurrency="100"),
            "port": port,
            "owner": "short",
            "descriptors": DESCRIPTORS,
        }
        async with role(task) as worker:
            said = await worker.until_logged("ran_out_of_resources")
            assert said["at_once"] < 100
            assert "ulimit" in said["fix"]
            await until(lambda: all_fetched(database, len(HOSTS)))
            assert await worker.end() == 0
            assert worker.logged("work_broke") == []
    assert await database.fetchval("select count(*) from url_frontier where retry_count + crash_count > 0") == 0
    assert await database.fetchval("select count(*) from hosts where bad_in_a_row > 0 or penalty_ms > 0") == 0
    assert await database.fetchval("select count(*) from host_closures") == 0
    assert await database.fetchval("select count(*) from robots where access = 'unreachable'") == 0
