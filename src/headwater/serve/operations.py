"""Long work behind a request: it is answered at once with an operation, which tells how far it is and how it ended."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from fastapi.encoders import jsonable_encoder

from headwater.chance import new_id
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import Busy, HeadwaterError, NotFound
from headwater.log import Logger
from headwater.masking import Mode, fault_in_words
from headwater.reports.paging import ListPage, foreign_cursor, moment_in, page_of
from headwater.serve.problems import ProblemDetails, fault, problem, problem_of

queries = load_queries("headwater.serve")

BEAT_SECONDS = 2.0
SILENT_AFTER = timedelta(minutes=1)
KEPT_FOR = timedelta(days=7)
MOST_AT_ONCE = 8
NEWEST = (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class StoredOperation:
    """`state`: running, done, failed, or interrupted by the end of its process."""

    id: UUID
    kind: str
    state: str
    actor: str
    done: int
    total: int | None
    result: Mapping[str, Any] | None
    problem: Mapping[str, Any] | None
    created_at: datetime
    ended_at: datetime | None


@dataclass(slots=True)
class OperationRunner:
    """Used as a context: what is under way at its end is noted as interrupted."""

    database: Database
    log: Logger
    mode: Mode
    _tasks: dict[UUID, asyncio.Task[None]] = field(default_factory=dict, init=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        under_way = dict(self._tasks)
        for task in under_way.values():
            task.cancel()
        await asyncio.gather(*under_way.values(), return_exceptions=True)
        stopped = problem(503, "The web role was stopped meanwhile.", "Ask for it again.")
        for id_ in under_way:
            await self._end(id_, "interrupted", why=stopped)

    async def begin(
        self, kind: str, actor: str, work: Callable[[Progress], Awaitable[Mapping[str, Any]]], total: int | None = None
    ) -> StoredOperation:
        if len(self._tasks) >= MOST_AT_ONCE:
            raise Busy(
                f"{MOST_AT_ONCE} operations are under way in this process.", fix="Wait until one of them has ended."
            )
        row = await self.database.fetchrow(queries.begin_operation, new_id(), kind, actor, total)
        assert row is not None
        self._tasks[row["id"]] = task = asyncio.create_task(self._work(row["id"], work))
        task.add_done_callback(lambda _: self._tasks.pop(row["id"]))
        return _operation({name: value for name, value in row.items() if name != "beat_at"})

    async def _work(self, id_: UUID, work: Callable[[Progress], Awaitable[Mapping[str, Any]]]) -> None:
        done = 0

        def progress(count: int) -> None:
            nonlocal done
            done = count

        async def beat() -> None:
            while True:
                await SystemClock().sleep(BEAT_SECONDS)
                await self.database.execute(queries.note_progress, id_, done)

        beating = asyncio.create_task(beat())
        try:
            result = await work(progress)
            await self._end(id_, "done", result=result, done=done)
        except HeadwaterError as error:
            await self._end(id_, "failed", why=problem_of(error, self.mode))
        except Exception as error:  # noqa: BLE001 - the operation tells that it failed, the log why
            self.log.error("operation_broke", operation=str(id_), error=fault_in_words(error, self.mode))
            await self._end(id_, "failed", why=fault())
        finally:
            beating.cancel()

    async def _end(
        self,
        id_: UUID,
        state: str,
        *,
        result: Mapping[str, Any] | None = None,
        why: ProblemDetails | None = None,
        done: int | None = None,
    ) -> None:
        told = why.model_dump(exclude_defaults=True) if why else None
        await self.database.execute(queries.end_operation, id_, state, jsonable_encoder(result), told, done)


async def read_operation(database: Database, id_: UUID) -> StoredOperation:
    row = await database.fetchrow(queries.read_operation, id_, SILENT_AFTER)
    if row is None:
        raise NotFound(
            "There is no such operation.", fix="They are kept for a week; GET /api/v1/operations lists them."
        )
    return _operation(row)


async def list_operations(database: Database, limit: int, cursor: str | None) -> ListPage[StoredOperation]:
    rows = await database.fetch(queries.list_operations, SILENT_AFTER, *_place_in(cursor), limit + 1)
    return page_of([_operation(row) for row in rows], limit, lambda one: f"{one.created_at.isoformat()}|{one.id}")


def _place_in(cursor: str | None) -> tuple[datetime, UUID]:
    if cursor is None:
        return NEWEST
    at, _, id_ = cursor.partition("|")
    try:
        return moment_in(at), UUID(id_)
    except ValueError:
        raise foreign_cursor() from None


async def forget_operations(database: Database) -> None:
    await database.execute(queries.forget_operations, KEPT_FOR)


def _operation(row: Mapping[str, Any]) -> StoredOperation:
    return StoredOperation(**dict(row))
