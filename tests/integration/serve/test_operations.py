"""Long work behind a request, and requests that are sent again."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.integration.serve.callers import ApiCaller

from headwater.chance import new_id
from headwater.database.pool import Database
from headwater.errors import Busy, UsageError
from headwater.log import Logger, make_logger
from headwater.serve.idempotency import AnswerStore, KeptAnswer
from headwater.serve.operations import OperationRunner, Progress


@pytest.fixture
def log() -> Logger:
    return make_logger("error", "json")


async def state_of(api: ApiCaller, id_: UUID) -> Any:
    return (await api.get(f"operations/{id_}")).json


async def until_ended(api: ApiCaller, id_: UUID) -> Any:
    while (told := await state_of(api, id_))["state"] == "running":
        await asyncio.sleep(0.01)
    return told


async def test_work_tells_how_far_it_is_and_what_came_of_it(api: ApiCaller, database: Database, log: Logger) -> None:
    go_on = asyncio.Event()

    async def work(progress: Progress) -> Mapping[str, Any]:
        progress(3)
        await go_on.wait()
        return {"added": 3}

    async with OperationRunner(database, log, "prod") as operations:
        begun = await operations.begin("sources.import", "ann", work, total=3)
        assert (await state_of(api, begun.id))["state"] == "running"
        go_on.set()
        told = await until_ended(api, begun.id)
    assert (told["state"], told["result"], told["done"], told["total"]) == ("done", {"added": 3}, 3, 3)
    assert [one["id"] for one in (await api.get("operations")).json["operations"]] == [str(begun.id)]


async def test_work_that_fails_tells_why(api: ApiCaller, database: Database, log: Logger) -> None:
    async def refuse(_: Progress) -> Mapping[str, Any]:
        raise UsageError("It cannot be.", fix="Do another thing.")

    async def break_off(_: Progress) -> Mapping[str, Any]:
        raise ZeroDivisionError("a secret")

    async with OperationRunner(database, log, "prod") as operations:
        refused = await until_ended(api, (await operations.begin("x", "ann", refuse)).id)
        broken = await until_ended(api, (await operations.begin("x", "ann", break_off)).id)
    assert (refused["state"], refused["problem"]["detail"], refused["problem"]["fix"]) == (
        "failed",
        "It cannot be.",
        "Do another thing.",
    )
    assert broken["state"] == "failed"
    assert "secret" not in str(broken)


async def test_work_of_a_stopped_process_is_interrupted(api: ApiCaller, database: Database, log: Logger) -> None:
    async def for_ever(_: Progress) -> Mapping[str, Any]:
        await asyncio.Event().wait()
        return {}

    async with OperationRunner(database, log, "prod") as operations:
        begun = await operations.begin("x", "ann", for_ever)
    assert (await state_of(api, begun.id))["state"] == "interrupted"


async def test_work_of_a_killed_process_is_interrupted(api: ApiCaller, database: Database) -> None:
    id_ = new_id()
    await database.execute(
        "insert into operations (id, kind, actor, beat_at) values ($1, 'x', 'ann', now() - $2::interval)",
        id_,
        timedelta(minutes=2),
    )
    assert (await state_of(api, id_))["state"] == "interrupted"


async def test_pages_of_operations_meet_each_once(api: ApiCaller, database: Database) -> None:
    await database.execute(
        "insert into operations (id, kind, actor) select gen_random_uuid(), 'x', 'ann' from generate_series(1, 5)"
    )
    seen, cursor = [], ""
    while cursor is not None:
        page = (await api.get(f"operations?limit=2{f'&cursor={cursor}' if cursor else ''}")).json
        seen += [one["id"] for one in page["operations"]]
        cursor = page["cursor"] and page["cursor"].replace("+", "%2B")
    assert len(seen) == len(set(seen)) == 5
    assert (await api.get("operations?cursor=nonsense")).status == 422


async def test_a_key_keeps_the_answer_to_its_request(database: Database) -> None:
    store = AnswerStore(database)
    assert await store.begin("ann", "k", b"request") is None
    with pytest.raises(Busy):
        await store.begin("ann", "k", b"request")
    await store.keep("ann", "k", KeptAnswer(202, b"{}"))
    assert await store.begin("ann", "k", b"request") == KeptAnswer(202, b"{}")
    with pytest.raises(UsageError, match="another request"):
        await store.begin("ann", "k", b"other")
    assert await store.begin("ben", "k", b"other") is None


async def test_a_key_whose_process_died_can_be_taken_again(database: Database) -> None:
    store = AnswerStore(database)
    await store.begin("ann", "k", b"request")
    await database.execute("update kept_answers set began_at = now() - interval '10 minutes'")
    assert await store.begin("ann", "k", b"request") is None
