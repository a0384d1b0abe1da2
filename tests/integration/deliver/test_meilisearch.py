"""The sink for Meilisearch, on a strict stand-in: there is no package of the real one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.clocks import ManualClock
from tests.integration.deliver.made import Told, fence, made_key, removal, sink_context, upsert
from tests.integration.deliver.meilisearch_server import Index, MeilisearchServer, meilisearch

from headwater.clock import Clock
from headwater.deliver.kinds import kind_named
from headwater.deliver.sink import (
    Accepted,
    AskableSink,
    Delivery,
    DeliveryOutcome,
    HeldRecord,
    KeyRange,
    LeaseEnded,
    RecordRefused,
    SinkDown,
)
from headwater.deliver.sinks import meilisearch as module
from headwater.deliver.sinks.meilisearch import KIND, MeilisearchOptions, MeilisearchSink, MeilisearchSinks
from headwater.record_kind import RecordKind

EVERYTHING = ("0" * 64, "f" * 64)
JOB = RecordKind.JOB


@pytest.fixture
async def server() -> AsyncIterator[MeilisearchServer]:
    async with meilisearch() as found:
        yield found


@asynccontextmanager
async def made(
    server: MeilisearchServer, clock: Clock | None = None, log: Told | None = None, **options: Any
) -> AsyncIterator[MeilisearchSink]:
    async with sink_context({"env:KEY": "sesame"}, clock, log=log) as context:
        yield MeilisearchSinks()(MeilisearchOptions(url=server.url, **options), context)


@asynccontextmanager
async def prepared(server: MeilisearchServer, **options: Any) -> AsyncIterator[MeilisearchSink]:
    async with made(server, **options) as sink:
        await sink.prepare(fence())
        yield sink


async def send(server: MeilisearchServer, *batch: Delivery, **options: Any) -> list[DeliveryOutcome]:
    async with prepared(server, **options) as sink:
        return list(await sink.send(batch, fence()))


async def down_of(sink: MeilisearchSink, *batch: Delivery) -> SinkDown:
    with pytest.raises(SinkDown) as caught:
        await sink.send(batch, fence())
    return caught.value


def ids(*names: str, kind: RecordKind = RecordKind.DOCUMENT) -> set[str]:
    return {made_key(name, kind).id for name in names}


async def test_documents_and_vacancies_go_to_their_indexes(server: MeilisearchServer) -> None:
    outcomes = await send(server, upsert("a", 1), upsert("driver", 2, JOB), upsert("b", 3))
    assert outcomes == [Accepted()] * 3
    assert server.documents("documents").keys() == ids("a", "b")
    (job,) = server.documents("jobs_index").values()
    assert job["canonical_hash"] == job["id"] == made_key("driver", JOB).id
    assert job["version"] == 1
    assert "raw_metadata" not in job
    assert {index.primary_key for index in server.indexes.values()} == {"id"}


async def test_an_index_is_made_with_its_settings(server: MeilisearchServer) -> None:
    async with prepared(server, jobs_index="vacancies"):
        settings = server.indexes["vacancies"].settings
    assert settings["distinctAttribute"] == "canonical_hash"
    assert settings["sortableAttributes"] == ["fetched_at", "deadline", "last_seen_at"]
    assert {"country_iso", "status", "international_eligible"} <= set(settings["filterableAttributes"])
    assert settings["searchableAttributes"][:3] == ["title", "org_name", "description_snippet"]


async def test_settings_of_others_are_told_once_and_left_alone(server: MeilisearchServer) -> None:
    server.indexes["jobs_index"] = Index("jobs_index")
    log = Told()
    async with sink_context(log=log) as context:
        sinks = MeilisearchSinks()
        for _ in range(2):
            await sinks(MeilisearchOptions(url=server.url), context).prepare(fence())
    (told,) = [fields for event, fields in log.lines if event == "index_settings_differ"]
    assert told["index"] == "jobs_index"
    assert told["missing"]["distinctAttribute"] == "canonical_hash"
    assert "searchableAttributes" not in told["missing"], "everything is searchable there"
    assert server.indexes["jobs_index"].settings["filterableAttributes"] == []


async def test_an_index_with_another_primary_key_is_not_touched(server: MeilisearchServer) -> None:
    server.indexes["documents"] = Index("documents", primary_key="isbn")
    async with made(server) as sink:
        with pytest.raises(SinkDown, match="isbn"):
            await sink.prepare(fence())
    assert not server.documents("documents")


async def test_a_new_version_replaces_and_a_removal_deletes(server: MeilisearchServer) -> None:
    await send(server, upsert("a", 1, summary="old"), upsert("b", 2))
    await send(server, upsert("a", 3, version=2), removal("b", 4, place="documents"))
    (left,) = server.documents("documents").values()
    assert left["version"] == 2
    assert "summary" not in left


async def test_a_removal_from_an_index_that_is_gone_is_done(server: MeilisearchServer) -> None:
    assert await send(server, removal("a", 1, place="former")) == [Accepted()]


async def test_a_record_that_moves_is_deleted_there_and_put_here(server: MeilisearchServer) -> None:
    await send(server, upsert("a", 1), documents_index="former")
    outcomes = await send(server, removal("a", 2, place="former"), upsert("a", 2, place="documents"))
    assert outcomes == [Accepted()] * 2
    assert not server.documents("former")
    assert server.documents("documents").keys() == ids("a")


async def test_only_indexes_that_are_named_are_made(server: MeilisearchServer) -> None:
    await send(server, upsert("driver", 1, JOB), documents_index="")
    assert server.indexes.keys() == {"jobs_index"}
    assert KIND.takes(MeilisearchOptions(url=server.url, documents_index="")) == {JOB}


async def test_one_bad_document_fails_alone(server: MeilisearchServer) -> None:
    server.bad_ids = ids("7", "20")
    outcomes = await send(server, *(upsert(str(number), number) for number in range(32)))
    assert [number for number, one in enumerate(outcomes) if isinstance(one, RecordRefused)] == [7, 20]
    assert len(server.documents("documents")) == 30
    refused = outcomes[7]
    assert isinstance(refused, RecordRefused)
    assert "invalid_document_geo_field" in refused.why
    assert made_key("7").id in refused.why


async def test_a_batch_that_is_too_large_goes_in_halves(server: MeilisearchServer) -> None:
    server.payload_bytes = 200_000
    batch = [upsert(str(number), number, text="x" * 40_000) for number in range(16)]
    batch[5] = upsert("5", 5, text="x" * 300_000)
    outcomes = await send(server, *batch)
    assert [number for number, one in enumerate(outcomes) if isinstance(one, RecordRefused)] == [5]
    assert len(server.documents("documents")) == 15


async def test_a_large_batch_goes_in_pieces(server: MeilisearchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE_BYTES", 100_000)
    await send(server, *(upsert(str(number), number, text="x" * 40_000) for number in range(10)))
    writes = [one for one in server.requests if one.startswith("POST /indexes/documents/documents?")]
    assert len(writes) == 5
    assert len(server.documents("documents")) == 10


async def test_each_write_is_confirmed_before_the_next(server: MeilisearchServer) -> None:
    async with prepared(server) as sink:
        server.hold()
        before = len(server.tasks)
        sending = asyncio.create_task(sink.send([upsert("a", 1), upsert("driver", 2, JOB)], fence()))
        while len(server.tasks) == before or not server.requests[-1].startswith("GET /tasks/"):
            await asyncio.sleep(0.005)
        assert len(server.tasks) == before + 1
        assert not sending.done()
        server.release()
        assert await sending == [Accepted()] * 2


async def test_a_full_task_store_is_down_and_no_record_is_to_blame(server: MeilisearchServer) -> None:
    async with prepared(server) as sink:
        server.is_full = True
        error = await down_of(sink, upsert("a", 1))
    assert "limit of the task database" in error.what
    assert "delete finished tasks" in error.fix
    assert error.outcomes == ()


@pytest.mark.parametrize("code", ["internal", "database_size_limit_reached", "index_primary_key_already_exists"])
async def test_a_task_that_fails_for_the_server_is_down(server: MeilisearchServer, code: str) -> None:
    async with prepared(server) as sink:
        server.task_error = code
        error = await down_of(sink, upsert("a", 1), upsert("b", 2))
    assert code in error.what
    assert len([task for task in server.tasks if task.status == "failed"]) == 1


async def test_what_was_confirmed_before_it_went_down_is_told(
    server: MeilisearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PIECE_BYTES", 1_000)
    async with prepared(server) as sink:
        sending = asyncio.create_task(down_of(sink, *(upsert(str(number), number) for number in range(5))))
        while len(server.indexes["documents"].documents) < 2:
            await asyncio.sleep(0.001)
        server.is_full = True
        error = await sending
    assert 2 <= len(error.outcomes) < 5
    assert len(error.outcomes) <= len(server.documents("documents"))


async def test_unavailable_is_down_for_as_long_as_it_says(server: MeilisearchServer) -> None:
    async with prepared(server) as sink:
        server.failing = 1
        error = await down_of(sink, upsert("a", 1))
        assert error.retry_after == timedelta(seconds=10)
        assert await sink.send([upsert("a", 1)], fence()) == [Accepted()]


@pytest.mark.parametrize(("options", "fix"), [({}, "api_key"), ({"api_key": "env:WRONG"}, "documents.*")])
async def test_without_its_key_it_is_down(server: MeilisearchServer, options: dict[str, str], fix: str) -> None:
    server.api_key = "sesame"
    async with sink_context({"env:WRONG": "hunter2"}) as context:
        sink = MeilisearchSinks()(MeilisearchOptions.model_validate({"url": server.url} | options), context)
        with pytest.raises(SinkDown) as caught:
            await sink.prepare(fence())
    assert fix in caught.value.fix
    assert "hunter2" not in caught.value.what


async def test_its_key_opens_it(server: MeilisearchServer) -> None:
    server.api_key = "sesame"
    assert await send(server, upsert("a", 1), api_key="env:KEY") == [Accepted()]


async def test_a_lost_answer_is_down_and_sending_again_changes_nothing(server: MeilisearchServer) -> None:
    async with prepared(server) as sink:
        server.lost_answers = 1
        assert (await down_of(sink, upsert("a", 1))).outcomes == ()
    assert await send(server, upsert("a", 1)) == [Accepted()]
    assert server.documents("documents").keys() == ids("a")


async def test_a_task_that_takes_too_long_is_down(server: MeilisearchServer) -> None:
    clock = ManualClock(datetime.now(UTC))
    # By a real clock: the manual one would be over before a busy machine has made the indexes.
    async with prepared(server):
        pass
    async with made(server, clock) as sink:
        await sink.prepare(fence(clock))
        server.hold()
        began = clock.monotonic()
        with pytest.raises(SinkDown, match=r"task \d+ is (enqueued|processing)"):
            await sink.send([upsert("a", 1)], fence(clock))
        assert clock.monotonic() - began <= 20
    server.release()


async def test_tasks_of_the_holder_before_are_waited_for(server: MeilisearchServer) -> None:
    async with prepared(server) as sink:
        server.hold()
        server.lost_answers = 1
        await down_of(sink, upsert("a", 1))
    async with made(server) as sink:
        preparing = asyncio.create_task(sink.prepare(fence(is_handed_over=False)))
        asked = len(server.requests)
        while len(server.requests) < asked + 3:
            await asyncio.sleep(0.005)
        assert not preparing.done()
        server.release()
        await preparing
    assert server.tasks[-1].status == "succeeded"


async def test_tasks_that_come_meanwhile_are_not_waited_for(server: MeilisearchServer) -> None:
    async with prepared(server) as sink:
        server.hold()
        earlier = server.add_task("documents")
        preparing = asyncio.create_task(sink.prepare(fence()))
        asked = len(server.requests)
        while len(server.requests) < asked + 2:
            await asyncio.sleep(0.005)
        later = server.add_task("documents")
        earlier.status = "succeeded"
        await preparing
        assert later.status == "enqueued"
    server.release()


async def test_it_does_not_wait_for_ever(server: MeilisearchServer) -> None:
    async with prepared(server) as sink:
        server.hold()
        server.lost_answers = 1
        await down_of(sink, upsert("a", 1))
    clock = ManualClock(datetime.now(UTC))
    async with made(server, clock) as sink:
        with pytest.raises(SinkDown, match="before ours"):
            await sink.prepare(fence(clock, is_handed_over=False))
    server.release()


async def test_a_restart_in_the_middle_loses_nothing(server: MeilisearchServer) -> None:
    async with prepared(server) as sink:
        server.hold()
        sending = asyncio.create_task(down_of(sink, upsert("a", 1)))
        while not server.tasks or server.tasks[-1].type != "documentAdditionOrUpdate":
            await asyncio.sleep(0.005)
        await server.stop()
        await sending
    await server.start()
    server.release()
    assert await send(server, upsert("a", 1), upsert("b", 2)) == [Accepted()] * 2
    assert server.documents("documents").keys() == ids("a", "b")


async def test_nobody_there_is_down() -> None:
    async with made(MeilisearchServer(url="http://127.0.0.1:1")) as sink:
        with pytest.raises(SinkDown, match=r"127\.0\.0\.1:1"):
            await sink.prepare(fence())


async def test_no_write_that_the_lease_would_not_outlast(server: MeilisearchServer) -> None:
    async with prepared(server) as sink:
        with pytest.raises(LeaseEnded):
            await sink.send([upsert("a", 1)], fence(seconds=15))
    assert not server.documents("documents")


async def test_it_says_what_it_holds_by_ranges(server: MeilisearchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 7)
    names = [str(number) for number in range(40)]
    await send(server, *(upsert(name, 1, version=3) for name in names), upsert("driver", 2, JOB))
    wanted = sorted(ids(*names))
    async with prepared(server) as sink:
        assert isinstance(sink, AskableSink)
        whole = await sink.state_of(KeyRange(RecordKind.DOCUMENT, *EVERYTHING))
        assert sorted(one.id for one in whole) == wanted
        assert whole[0] == HeldRecord(whole[0].id, 3, "documents")
        part = await sink.state_of(KeyRange(RecordKind.DOCUMENT, wanted[10], wanted[20]))
        assert sorted(one.id for one in part) == wanted[10:21]


async def test_it_says_so_without_a_filter_too(server: MeilisearchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 7)
    server.indexes["documents"] = Index("documents")
    server.documents("documents")["theirs"] = {"id": "theirs"}
    names = [str(number) for number in range(20)]
    await send(server, *(upsert(name, 1) for name in names))
    wanted = sorted(ids(*names))
    async with prepared(server) as sink:
        part = await sink.state_of(KeyRange(RecordKind.DOCUMENT, wanted[3], wanted[8]))
        assert sorted(one.id for one in part) == wanted[3:9]
        assert len(await sink.state_of(KeyRange(RecordKind.DOCUMENT, *EVERYTHING))) == 20


async def test_it_holds_nothing_where_there_is_no_index(server: MeilisearchServer) -> None:
    async with made(server, documents_index="") as sink:
        assert await sink.state_of(KeyRange(JOB, *EVERYTHING)) == []
        assert await sink.state_of(KeyRange(RecordKind.DOCUMENT, *EVERYTHING)) == []


async def test_a_try_says_what_is_there(server: MeilisearchServer) -> None:
    await send(server, upsert("a", 1), jobs_index="")
    async with made(server) as sink:
        assert KIND.test
        said = await KIND.test(sink, fence())
    assert "documents has 1 documents" in said
    assert "jobs_index is not there yet" in said


async def test_the_stand_in_notes_what_is_not_documented() -> None:
    with pytest.raises(AssertionError, match="no such route"):
        async with meilisearch() as server, made(server) as sink:
            await sink.client.request("GET", "/indexes/documents/rows")


def test_it_is_found_by_its_type() -> None:
    assert kind_named("meilisearch") is KIND
