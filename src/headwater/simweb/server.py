"""The simulated web's server: every simulated host behind one loopback port, by http, or by https with a certificate.

A bare asyncio protocol, because it shares the machine with what is measured. A request is read, noted in
the visit log, looked up in the script of misbehaviour, answered by its site, and dressed in correct HTTP.
"""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import replace
from errno import EADDRINUSE
from functools import partial
from typing import Any

from headwater.chance import Random
from headwater.clock import Clock
from headwater.errors import Busy
from headwater.simweb.connection import Connection
from headwater.simweb.control import CONTROL_HOST, Control
from headwater.simweb.dressing import Answer, Wardrobe, date_line
from headwater.simweb.message import Page, Request, Site
from headwater.simweb.mischief.replies import message_page
from headwater.simweb.mischief.stage import Mischief, Scene, Steps, capped
from headwater.simweb.reading import Asked, Malformed
from headwater.simweb.script import Rule, Script
from headwater.simweb.visits import Visit, VisitLog

MOST_BYTES_PER_ANSWER = 256 * 1024 * 1024
LOOPBACK_NAMES = frozenset(("127.0.0.1", "localhost", "[::1]"))
_NOT_HERE = message_page(404, "This site has no such page.")


class SimWeb:
    """`clock` is the simulated time of contents and Date; `real` times the visits and the slowness."""

    def __init__(self, sites: Mapping[str, Site], *, clock: Clock, real: Clock, random: Random) -> None:
        self.sites = sites
        self.visits = VisitLog()
        self.scripts = Script()
        self._clock = clock
        self._real = real
        self._random = random
        self._wardrobe = Wardrobe()
        self._control = Control(sites, self.visits, self.scripts, clock)
        self._unlogged = VisitLog(most=1)
        self._connections: set[Connection] = set()
        self._accepted = 0
        self._server: asyncio.Server | None = None
        self._beside: list[asyncio.Server] = []  # the same port of further addresses
        self._date = (0, b"")
        self._ssl: ssl.SSLContext | None = None

    async def start(
        self, host: str | Sequence[str] = "127.0.0.1", port: int = 0, context: ssl.SSLContext | None = None
    ) -> int:
        """Listen on one address or several, by https with a `context`; returns the port, the same for all of them."""
        self._ssl = context
        first, *others = (host,) if isinstance(host, str) else host
        self._server = await self._listen(first, port)
        bound = int(self._server.sockets[0].getsockname()[1])
        self._beside = [await self._listen(one, bound) for one in others]
        return bound

    async def _listen(self, host: str, port: int) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        try:
            return await loop.create_server(self._connected, host, port, backlog=4096, ssl=self._ssl)
        except OSError as error:
            if error.errno != EADDRINUSE:
                raise
            raise Busy(
                f"Port {port} of {host} is in use.", fix="Stop what listens there, or choose another port."
            ) from error

    async def stop(self) -> None:
        """Stop listening and drop every client, in mid-answer or not."""
        if self._server is not None:
            for server in (self._server, *self._beside):
                server.close()
            playing = [connection.stop() for connection in tuple(self._connections)]
            await asyncio.gather(*(task for task in playing if task is not None), return_exceptions=True)
            for server in (self._server, *self._beside):
                await server.wait_closed()
            # Before Python 3.12 wait_closed does not wait: give the dropped connections their last turn.
            await asyncio.sleep(0)

    def script(self, host: str, mischief: Mischief, path_prefix: str = "/", times: int | None = None) -> None:
        """Misbehave on `host` ("*": everywhere) below `path_prefix`, for the next `times` requests or for ever."""
        self.scripts.add(Rule(host.lower(), path_prefix, mischief, times))

    def report(self, agent: str = "*") -> dict[str, Any]:
        """Was the visitor with this product token polite? Per host and in all."""
        return self._control.report(agent=agent)

    def reset(self) -> None:
        """Behave, and forget every visit."""
        self.scripts.remove()
        self.visits.forget()

    def _connected(self) -> Connection:
        self._accepted += 1
        connection = Connection(self._accepted, self, self._connections.discard)
        self._connections.add(connection)
        return connection

    # What a Connection asks of us.

    def now(self) -> float:
        return self._real.monotonic()

    def receive(self, asked: Asked, connection: int, arrived: float) -> tuple[Visit, bytes | Steps]:
        request = seen_from_inside(asked.request)
        started = self._real.monotonic()
        if request.host == CONTROL_HOST:
            visit = self._unlogged.begin(request, connection, arrived, started)
            return visit, self._answer(asked, request, self._control.page(request), visit)
        visit = self.visits.begin(request, connection, arrived, started)
        scripted = self.scripts.take(request) if self.scripts else None
        if scripted is not None:
            return visit, self._misbehave(request, *scripted)
        return visit, self._answer(asked, request, self._page(request), visit)

    def finish(self, visit: Visit, *, is_aborted: bool = False) -> None:
        self.visits.finish(visit, self._real.monotonic(), is_aborted=is_aborted)

    async def sleep(self, seconds: float) -> None:
        await self._real.sleep(seconds)

    def refuse(self, malformed: Malformed) -> bytes:
        page = message_page(malformed.status, malformed.why)
        request = Request("GET", "", "/", "", {})
        return self._wardrobe.answer(page, request).wire(self._date_line(), closing=True)

    def _answer(self, asked: Asked, request: Request, page: Page, visit: Visit) -> bytes:
        answer = self._wardrobe.answer(page, request)
        visit.note_answer(answer.status, answer.head)
        return answer.wire(self._date_line(), closing=not asked.keeps_alive)

    def _page(self, request: Request) -> Page:
        site = self.sites.get(request.host)
        if site is None:
            return message_page(404, "The simulated web has no such host.")
        return site.page(request, self._clock.now()) or _NOT_HERE

    def _misbehave(self, request: Request, mischief: Mischief, nth: int) -> Steps:
        scene = Scene(
            request,
            self._page(request),
            nth,
            self._clock.now(),
            self._random.random,
            dress=partial(self._dress_for, request),
            at=lambda path: self._page(replace(request, path=path)),
        )
        return capped(mischief.play(scene), MOST_BYTES_PER_ANSWER)

    def _dress_for(self, request: Request, page: Page) -> Answer:
        return self._wardrobe.answer(page, request)

    def _date_line(self) -> bytes:
        now = self._clock.now()
        second = int(now.timestamp())
        if self._date[0] != second:
            self._date = (second, date_line(now))
        return self._date[1]


def seen_from_inside(request: Request) -> Request:
    """By its bare address the server is a directory: `/@host/path` is that site's path, the rest is control's."""
    if request.host not in LOOPBACK_NAMES:
        return request
    if not request.path.startswith("/@"):
        return replace(request, host=CONTROL_HOST)
    host, _, path = request.path[2:].partition("/")
    return replace(request, host=host.lower(), path="/" + path)
