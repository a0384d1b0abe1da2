"""A worker as it is started, with a store of raw bodies in its settings."""

from pathlib import Path

from tests.integration.archive.shelf import key_of
from tests.integration.discover.conftest import opened_desk, rss
from tests.integration.fetch.conftest import SmallSite

from headwater.archive.raw import newest_body
from headwater.clock import SystemClock
from headwater.frontier.wake import CHANNEL
from headwater.ingest.journey import Finished
from headwater.run.extraction_pools import page_pool
from headwater.run.fetching import start_reading_pages, worker_of
from headwater.run.heartbeat import heartbeat_of
from headwater.run.maintenance import maintenance_of
from headwater.simweb.message import Page
from headwater.supervisor import Supervisor

TOLD = "".join(f"<p>On day {n} the council said that the bridge would be closed.</p>" for n in range(12))
STORY = f"<html><title>The bridge</title><article><h1>The bridge</h1>{TOLD}</article></html>".encode()


async def test_a_worker_puts_bodies_where_its_settings_say(database_url: str, tmp_path: Path) -> None:
    site, flags = (
        SmallSite({"/story": Page(STORY)}),
        {"archive.raw_store": "folder", "archive.raw_folder": str(tmp_path)},
    )
    async with opened_desk(database_url, {"a.test": site}, flags) as desk:
        desk.site.pages["/feed"] = rss(("/story", "The bridge", desk.now[0]))
        await desk.follow(feeds=("http://a.test/feed",))
        await desk.poll()
        services, web, finished = desk.path.services, desk.path.web, list[Finished]()
        async with (
            page_pool(services) as pool,
            services.listeners.on(CHANNEL) as listener,
            heartbeat_of(services, "worker") as heart,
            Supervisor(SystemClock(), services.log) as tasks,
        ):
            page_reader = start_reading_pages(tasks, services, web.identity.product_token, pool)
            source = worker_of(services, web, page_reader, listener, heart, finished.append).work_source
            while not finished:
                for lease in (await source.claim(1))[0]:
                    await source.work(lease)
        row = await services.database.fetchrow("select stored_in, object_id, body from raw_bodies")
        assert row is not None
        assert (row["stored_in"], row["object_id"], row["body"]) == ("folder", finished[0].lease.token, b"")
        assert [one.stem for one in tmp_path.rglob("*.body")] == [row["object_id"].hex]
        kept = await newest_body(services.database, key_of("http://a.test/story"), services.stores)
        assert kept is not None
        assert kept.raw.body == STORY
        assert await page_reader.context.was_sent(finished[0].lease, STORY)
        assert maintenance_of(services).stores is services.stores
