"""Readers of the stream of events."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import ClientResponse
from tests.integration.serve.callers import ApiCaller


@dataclass(frozen=True, slots=True)
class Event:
    topic: str
    id: str
    data: Any


@dataclass(frozen=True, slots=True)
class StreamReader:
    answer: ClientResponse

    async def next(self, topic: str = "") -> Event:
        """The next event, or the next of a topic."""
        while True:
            fields: dict[str, str] = {}
            while line := (await self.answer.content.readline()).decode().rstrip("\n"):
                name, _, value = line.partition(": ")
                fields[name] = value
            if "event" in fields and topic in ("", fields["event"]):
                return Event(fields["event"], fields["id"], orjson.loads(fields["data"]))
            assert not self.answer.content.at_eof(), "the stream ended"

    async def rest(self) -> bytes:
        return await self.answer.content.read()


@asynccontextmanager
async def listening_to(api: ApiCaller, topics: str, **headers: str) -> AsyncIterator[StreamReader]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with api.session.get(f"{api.address}/api/v1/stream?topics={topics}", headers=sent) as answer:
        assert answer.status == 200, await answer.read()
        yield StreamReader(answer)
