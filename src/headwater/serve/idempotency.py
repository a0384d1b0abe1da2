"""`Idempotency-Key`: a request that is sent again, since its answer was lost, is answered and not done again."""

import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from fastapi.encoders import jsonable_encoder
from starlette.requests import Request
from starlette.responses import Response

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import Busy, UsageError

queries = load_queries("headwater.serve")

HEADER = "idempotency-key"
KEY = re.compile(r"[\x21-\x7e]{1,200}")
KEPT_FOR = timedelta(days=1)
# A request that is under way for longer than this was left by a process that died.
LONGEST_REQUEST = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class AnswerStore:
    database: Database

    async def begin(self, caller: str, key: str, request: bytes) -> KeptAnswer | None:
        """None: the request is ours to carry out. Raises Busy while another process does."""
        if await self.database.fetchval(queries.begin_answer, caller, key, request, LONGEST_REQUEST):
            return None
        row = await self.database.fetchrow(queries.kept_answer, caller, key)
        if row is None or (row["request"] == request and row["status"] is None):
            raise Busy("The same request is under way.", fix="Ask again in some seconds.")
        if row["request"] != request:
            raise UsageError("This Idempotency-Key belongs to another request.", fix="Give each request its own key.")
        return KeptAnswer(row["status"], row["body"])

    async def keep(self, caller: str, key: str, answer: KeptAnswer) -> None:
        await self.database.execute(queries.keep_answer, caller, key, answer.status, answer.body)

    async def drop(self, caller: str, key: str) -> None:
        await self.database.execute(queries.drop_answer, caller, key)


@dataclass(frozen=True, slots=True)
class Once:
    """For one request: carry it out, or give the answer that it had."""

    store: AnswerStore
    request: Request

    async def answer(self, caller: str, work: Callable[[], Awaitable[object]], status: int = 200) -> Response:
        key = self.request.headers.get(HEADER)
        if key is None:
            return _response(KeptAnswer(status, _json(await work())), is_again=False)
        if not KEY.fullmatch(key):
            raise UsageError("This Idempotency-Key cannot be kept.", fix="Give 1 to 200 visible ASCII signs.")
        known = await self.store.begin(caller, key, await self._fingerprint())
        if known is not None:
            return _response(known, is_again=True)
        try:
            answer = KeptAnswer(status, _json(await work()))
        except BaseException:
            # Nothing was done, or what was done may be done again: the key stays free.
            await self.store.drop(caller, key)
            raise
        await self.store.keep(caller, key, answer)
        return _response(answer, is_again=False)

    async def _fingerprint(self) -> bytes:
        head = f"{self.request.method} {self.request.url.path}?{self.request.url.query}\n".encode()
        return hashlib.sha256(head + await self.request.body()).digest()


async def forget_answers(database: Database) -> None:
    await database.execute(queries.forget_answers, KEPT_FOR)


def _json(value: object) -> bytes:
    import orjson

    return orjson.dumps(jsonable_encoder(value))


def _response(answer: KeptAnswer, *, is_again: bool) -> Response:
    headers = {"idempotency-replayed": "true"} if is_again else {}
    return Response(answer.body, answer.status, headers, "application/json")
