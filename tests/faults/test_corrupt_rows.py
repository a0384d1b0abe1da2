"""Rows that no code of ours writes: each costs itself, with a reason to read, and everything around it goes on."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Articles, Workbench, feed, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.urls.fingerprint import bucket_of

FEED = feed("http://host0.test/told")
SITES = {f"host{number}.test": Articles(pages={"/feed.xml": FEED}) for number in range(8)}
SOUND = "http://host7.test/sound"

# What is done to entries, which die of it. The address of another host would be asked for past that host's slots.
ENTRIES = (
    "url = 'not an address'",
    "url = 'http://host7.test/stolen'",
    "url = 'http://127.0.0.1:22/'",
    "resume_url = 'http://[::1'",
)
# What is done to a channel, and whether it still lists what it told of: memory that cannot be read is no memory.
FORGOTTEN = (
    """progress = '"nonsense"'""",
    """progress = '[1, 2]'""",
    """progress = '{"todo": [{"url": 1}]}'""",
    """progress = '{"todo": "nonsense"}'""",
    """rhythm = '[]', publisher_hints = '"nonsense"', answers = 'null'""",
    """publisher_hints = '7', answers = '{"http://host0.test/feed.xml": 5}'""",
)
SET_ASIDE = (
    "url = 'not an address'",
    "error_class = 'nonsense', consecutive_errors = 1",
)

TEMPLATE = """insert into templates (bucket, host, section, version, template, pages, agreement,
                                     learned_at, used_at)
              values ($1, $2, '', 1, $3::text::jsonb, 4, 1, now(), now())"""

ROBOTS = """insert into robots (bucket, host, scheme, port, access, body, fetched_at, expires_at)
            values ($1, $2, 'http', 80, 'rules', $3, now(), now() + interval '1 day')"""


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    async with workbench(database, SITES) as ready:
        yield ready
        assert await invariants.uncounted_entries(database) == []
        assert await invariants.entries_in_no_state(database) == []
        assert await invariants.busy_hosts_without_requests(database) == []
        assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []


async def test_a_corrupt_entry_is_dead_with_a_reason_and_the_others_are_fetched(
    bench: Workbench, database_url: str
) -> None:
    pages = [f"http://host{number}.test/page" for number in range(len(ENTRIES))]
    await bench.queue(*pages, SOUND)
    for number, damage in enumerate(ENTRIES):
        await bench.database.execute(f"update url_frontier set {damage} where host = $1", f"host{number}.test")
    await bench.database.execute(r"update url_frontier set etag = E'a\r\nX: b', fetch_count = 1 where url = $1", SOUND)
    async with bench.worker(database_url):
        await bench.until_settled()
    found = await bench.database.fetch("select host, status, reason, last_error from url_frontier order by host")
    for row in found[:-1]:
        assert (row["status"], row["reason"]) == ("dead", "poison"), row["host"]
        assert "its row holds an address that cannot be asked for" in row["last_error"]
    assert found[-1]["status"] == "fetched"
    assert set(bench.asked()) == {SOUND}


@pytest.mark.long
async def test_a_channel_that_cannot_be_read_is_set_aside_and_the_others_are_polled(
    bench: Workbench, database_url: str
) -> None:
    damages = [*FORGOTTEN, *SET_ASIDE]
    for number, damage in enumerate(damages):
        await follow(bench, number)
        await bench.database.execute(f"update channels set {damage} where host = $1", f"host{number}.test")
    await bench.database.execute("""update cadence set state = '["nonsense"]'""")

    async def all_dealt_with() -> bool:
        waits = "select count(*) from channels where is_enabled and kind <> 'search' and last_polled_at is null"
        return not await bench.database.fetchval(waits)

    async with bench.everything(database_url) as running:
        await until(all_dealt_with)
        await bench.until_settled()
    rows = await bench.database.fetch(
        "select host, last_ok_at is not null as is_polled, disabled_reason, token from channels "
        "where kind <> 'search' order by host"
    )
    assert [row["is_polled"] for row in rows] == [True] * len(FORGOTTEN) + [False] * len(SET_ASIDE)
    assert all("cannot be read" in row["disabled_reason"] for row in rows[len(FORGOTTEN) :])
    assert {row["token"] for row in rows} == {None}
    assert await bench.database.fetchval("select count(*) from events where kind = 'channel_disabled'") == 2
    assert running.log.events("work_broke") == []


@pytest.mark.long
async def test_a_source_that_cannot_be_read_is_blocked_and_its_pages_wait(bench: Workbench, database_url: str) -> None:
    """A page that its poller never saw comes first to whoever reads pages."""
    listed, unlisted = await follow(bench, 0), await follow(bench, 1)
    await bench.database.execute(
        "update channels set next_poll_at = now() + interval '1 day' where host = 'host1.test'"
    )
    await bench.database.execute("update sources set timezone = 'Mars/Phobos' where id = any ($1)", [listed, unlisted])
    await bench.queue("http://host1.test/page", "http://host1.test/other", source=unlisted)
    await bench.queue(SOUND)

    async def both_blocked() -> bool:
        blocked = "select count(*) from sources where status = 'blocked' and status_reason like '%Mars/Phobos%'"
        return bool(await bench.database.fetchval(blocked) == 2)

    async with bench.everything(database_url):
        await until(both_blocked)
        await bench.database.execute("update url_frontier set next_fetch_at = now() where status = 'failed'")
        await until_fetched(bench, SOUND)
    waiting = await bench.database.fetch("select status, retry_count from url_frontier where host = 'host1.test'")
    assert all(row["status"] in ("pending", "failed") and row["retry_count"] <= 1 for row in waiting)


@pytest.mark.long
async def test_what_was_learned_of_a_host_and_cannot_be_read_is_left_out(bench: Workbench, database_url: str) -> None:
    await bench.queue(*(f"http://host{number}.test/page" for number in range(8)))
    for number, body in enumerate((None, b"", b"\xff\xfe\x00Disallow: /", b"<html>Disallow: /</html>"), start=4):
        await bench.database.execute(ROBOTS, bucket_of(f"host{number}.test"), f"host{number}.test", body)
    for number, stored in enumerate(('"nonsense"', "[]", '{"form": 1}', '{"form": 3, "variants": 5}')):
        await bench.database.execute(TEMPLATE, bucket_of(f"host{number}.test"), f"host{number}.test", stored)
    await bench.database.execute("update sources set selectors = '[1]'")
    async with bench.worker(database_url, extract__templates="true"):
        await bench.until_settled()
    assert set(await bench.rows("status, retry_count")) == {("fetched", 0)}


async def follow(bench: Workbench, number: int) -> UUID:
    home = f"http://host{number}.test/"
    return await bench.follow(home, f"{home}feed.xml")


async def until_fetched(bench: Workbench, url: str) -> None:
    async def is_fetched() -> bool:
        return bool(await bench.database.fetchval("select status = 'fetched' from url_frontier where url = $1", url))

    await until(is_fetched)
