"""The server's own record of who asked what and when: the witness for every promise about politeness."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from sys import intern

from headwater.simweb.message import Request


@dataclass(slots=True)
class Visit:
    """One request. Times are monotonic seconds: `arrived` when the kernel had its head, `started` when we came to read
    it, which may be much later on a busy machine, and `ended` when the last byte was handed over or the client lost.
    """

    number: int
    connection: int
    arrived: float
    started: float
    host: str
    method: str
    path: str
    query: str
    user_agent: str
    sender: str
    if_none_match: str
    if_modified_since: str
    accept_encoding: str
    worker: str
    is_authorized: bool
    has_cookie: bool
    ended: float | None = None
    status: int = 0
    got_validators: bool = False
    is_aborted: bool = False

    @property
    def target(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def is_conditional(self) -> bool:
        return bool(self.if_none_match or self.if_modified_since)

    def note_answer(self, status: int, head: bytes) -> None:
        self.status = status
        self.got_validators = status in (200, 304) and (b"\nETag: " in head or b"\nLast-Modified: " in head)


class VisitLog:
    """A ring: the oldest visits fall out above `most`, and `dropped` says how many did."""

    def __init__(self, most: int = 200_000) -> None:
        self._ring: deque[Visit] = deque(maxlen=most)
        self._seen = 0
        self._watchers: list[tuple[Callable[[Sequence[Visit]], bool], asyncio.Event]] = []

    def begin(self, request: Request, connection: int, arrived: float, started: float) -> Visit:
        # Interned where most visits say the same: a quarter less memory for the log.
        get = request.headers.get
        self._seen += 1
        visit = Visit(
            self._seen,
            connection,
            arrived,
            started,
            intern(request.host),
            request.method,
            request.path,
            request.query,
            intern(get("user-agent", "")),
            get("from", ""),
            get("if-none-match", ""),
            get("if-modified-since", ""),
            intern(get("accept-encoding", "")),
            get("x-headwater-worker", ""),
            "authorization" in request.headers,
            "cookie" in request.headers,
        )
        self._ring.append(visit)
        if self._watchers:
            self._tell()
        return visit

    def finish(self, visit: Visit, ended: float, *, is_aborted: bool = False) -> None:
        visit.ended = ended
        visit.is_aborted = is_aborted
        if self._watchers:
            self._tell()

    @property
    def dropped(self) -> int:
        return self._seen - len(self._ring)

    def all(self) -> list[Visit]:
        return list(self._ring)

    def of(self, host: str = "", since: int = 0) -> list[Visit]:
        """Visits numbered above `since`, of one host or of all."""
        return [visit for visit in self._ring if visit.number > since and host in ("", visit.host)]

    def forget(self) -> None:
        self._ring.clear()
        self._seen = 0

    async def until(self, holds: Callable[[Sequence[Visit]], bool]) -> list[Visit]:
        """Wait for something to be true of the visits, instead of sleeping and hoping."""
        if not holds(self._ring):
            seen = asyncio.Event()
            self._watchers.append((holds, seen))
            try:
                await seen.wait()
            finally:
                self._watchers.remove((holds, seen))
        return self.all()

    def _tell(self) -> None:
        for holds, seen in self._watchers:
            if holds(self._ring):
                seen.set()
