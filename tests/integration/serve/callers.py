"""Callers of the API: a real server on a port of its own, asked as programs ask."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from urllib.parse import quote

import orjson
from aiohttp import ClientSession, TCPConnector

from headwater.serve.server import address_of, listening, serve
from headwater.services import Services, open_services
from headwater.settings import Given, load


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass(frozen=True, slots=True)
class ApiCaller:
    """Paths without a slash at their beginning are those below /api/v1."""

    session: ClientSession
    address: str
    services: Services
    headers: Mapping[str, str] = field(default_factory=dict)
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        url = f"{self.address}{path if path.startswith('/') else f'/api/v1/{path}'}"
        sent = {name.replace("_", "-"): value for name, value in headers.items()} | dict(self.headers)
        said = body if isinstance(body, bytes | None) else orjson.dumps(body)
        if said is not None:
            sent.setdefault("content-type", "application/json")
        # Its library wants large bodies as files.
        data = None if said is None else BytesIO(said)
        async with self.session.request(method, url, data=data, headers=sent, allow_redirects=False) as answer:
            return Reply(answer.status, answer.headers, await answer.read())

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.ask("GET", path, **headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> Reply:
        return await self.ask("POST", path, body, **headers)

    async def patch(self, path: str, body: Any = None, **headers: str) -> Reply:
        return await self.ask("PATCH", path, body, **headers)

    async def put(self, path: str, body: Any = None, **headers: str) -> Reply:
        return await self.ask("PUT", path, body, **headers)

    async def delete(self, path: str, **headers: str) -> Reply:
        return await self.ask("DELETE", path, **headers)


async def command_says(database_url: str, *words: str) -> bytes:
    """The same asked on the command line, in a process of its own: this one has its event loop."""
    given = ("--set", f"database.url={database_url}")
    command = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "headwater", *given, *words, stdout=PIPE, stderr=DEVNULL
    )
    said, _ = await command.communicate()
    return said


async def command(database_url: str, *words: str) -> Any:
    """The same question asked on the command line, and its JSON."""
    return orjson.loads(await command_says(database_url, *words, "--json"))


async def ended(api: ApiCaller, begun: Reply) -> Any:
    """The operation that a request began, when it is over."""
    assert begun.status == 202, begun.body
    while (told := (await api.get(begun.headers["location"])).json)["state"] == "running":
        await asyncio.sleep(0.01)
    return told


async def every_item(api: ApiCaller, path: str, name: str) -> list[Any]:
    """Of all pages of a list."""
    found: list[Any] = []
    cursor = ""
    while cursor is not None:
        page = (await api.get(f"{path}{f'&cursor={quote(cursor)}' if cursor else ''}")).json
        found += page[name]
        cursor = page["cursor"]
    return found


@asynccontextmanager
async def api_on(database_url: str, settings: Mapping[str, str] | None = None) -> AsyncIterator[ApiCaller]:
    flags = {"database.url": database_url, "log.level": "error", "web.port": "0", **(settings or {})}
    stop = asyncio.Event()
    async with open_services(load(Given(flags=flags))) as services:
        with listening(services.settings.web) as bound:
            serving = asyncio.create_task(serve(services, bound, stop))
            async with ClientSession(connector=TCPConnector(limit=0)) as session:
                yield ApiCaller(session, address_of(bound), services, stop=stop)
            stop.set()
            await serving
