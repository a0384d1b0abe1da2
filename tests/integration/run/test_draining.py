"""A process that a person drains: it hears so by its heartbeat, says so, and works again when it is let."""

import io
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from tests.integration.serve.callers import ApiCaller, api_on, command

from headwater.actions.workers import drain_worker, list_workers, resume_worker
from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Database
from headwater.errors import NotFound, Refused
from headwater.figures import Figures
from headwater.log import make_logger
from headwater.reports.operations import WorkerState
from headwater.run.presence import Presence


@pytest.fixture
async def api(database_url: str, database: Database) -> AsyncIterator[ApiCaller]:
    async with api_on(database_url) as caller:
        yield caller


@pytest.fixture
async def fetcher(database: Database) -> AsyncIterator[Presence]:
    log = make_logger("info", "json", stream=io.StringIO())
    async with Heartbeat(database, "ann", 20) as heart:
        one = Presence(database, heart, Figures(), log, uuid4(), "fetch", ["fetch"])
        await one.beat()
        yield one


async def state_of(api: ApiCaller) -> WorkerState:
    # Beside the process of the web role itself.
    (found,) = [one for one in await list_workers(api.services) if one.role == "fetch"]
    return found.state


async def test_a_process_hears_says_and_ends_what_it_has(api: ApiCaller, fetcher: Presence) -> None:
    fetcher.drain.under_way = 2
    await drain_worker(api.services, str(fetcher.id), "ann")
    assert await state_of(api) == "draining"
    assert not fetcher.drain.is_asked
    await fetcher.beat()
    assert fetcher.drain.is_asked
    assert await state_of(api) == "draining"
    fetcher.drain.under_way = 0
    await fetcher.beat()
    assert await state_of(api) == "drained"
    await resume_worker(api.services, str(fetcher.id)[:8], "ann")
    await fetcher.beat()
    assert not fetcher.drain.is_asked
    assert await state_of(api) == "alive"
    events = await api.services.database.fetch("select kind, actor from events order by id")
    assert [tuple(one) for one in events] == [("worker_drained", "ann"), ("worker_resumed", "ann")]


async def test_only_who_lives_and_takes_on_work_is_drained(api: ApiCaller, fetcher: Presence) -> None:
    with pytest.raises(NotFound):
        await drain_worker(api.services, str(uuid4()), "ann")
    with pytest.raises(NotFound):
        await drain_worker(api.services, "' or 1", "ann")
    await api.services.database.execute("update role_processes set beat_at = now() - interval '2 minutes'")
    with pytest.raises(Refused, match="silent"):
        await drain_worker(api.services, str(fetcher.id), "ann")
    fetcher.does = ["web"]
    await api.services.database.execute("update role_processes set does = '{web}', beat_at = now()")
    with pytest.raises(Refused, match="no leased work"):
        await drain_worker(api.services, str(fetcher.id), "ann")


async def test_the_api_and_the_command_say_the_same(api: ApiCaller, database_url: str, fetcher: Presence) -> None:
    assert (await api.post(f"workers/{fetcher.id}/drain")).json["state"] == "draining"
    listed = (await api.get("workers")).json["workers"]
    assert listed == (await command(database_url, "workers", "list"))["workers"]
    assert (await command(database_url, "workers", "resume", str(fetcher.id)[:8]))["drain_asked_at"] is None
    page = (await api.get("/console/crawl")).body.decode()
    assert "/console/crawl/drain" in page
    assert (await api.post("workers/nobody/drain")).status == 404
