"""One client connection: requests in, answers or misbehaviour out, in the order they were asked."""

import asyncio
import socket
import struct
import sys
from asyncio.trsock import TransportSocket
from collections.abc import Callable
from typing import Protocol, cast

from headwater.simweb.mischief.stage import Close, Reset, Send, Stall, Step, Steps, Wait, status_of
from headwater.simweb.reading import Asked, Malformed, read_request
from headwater.simweb.visits import Visit

# Waiting while an answer is played: enough for any pipelining, too little to fill the machine.
MOST_WAITING_BYTES = 2 * 1024 * 1024
_LINGER_ZERO = struct.pack("ii", 1, 0)
_LAST_DATA_RECEIVED = 52  # bytes into Linux's tcp_info; milliseconds ago, in steps of a kernel tick
_AN_INSTANT = 0.001


class Server(Protocol):
    """What a connection needs of the server it belongs to."""

    def now(self) -> float: ...

    def receive(self, asked: Asked, connection: int, arrived: float) -> tuple[Visit, bytes | Steps]: ...

    def refuse(self, malformed: Malformed) -> bytes: ...

    def finish(self, visit: Visit, *, is_aborted: bool = False) -> None: ...

    async def sleep(self, seconds: float) -> None: ...


class Connection(asyncio.Protocol):
    def __init__(self, number: int, server: Server, forget: Callable[["Connection"], None]) -> None:
        self._number = number
        self._server = server
        self._forget = forget
        self._transport: asyncio.Transport
        self._waiting = b""
        self._arrived = 0.0
        self._visit: Visit | None = None
        self._keeps_alive = True
        self._playing: asyncio.Task[None] | None = None
        self._drained = asyncio.Event()
        self._drained.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # Pause at the first byte left over: then "handed over" means the kernel has it all.
        self._transport.set_write_buffer_limits(high=0)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget(self)
        self._drained.set()
        if self._playing is not None:
            self._playing.cancel()
        if self._visit is not None:
            self._server.finish(self._visit, is_aborted=True)
            self._visit = None

    def data_received(self, data: bytes) -> None:
        if not self._keeps_alive:
            return  # nothing may follow the last request, but it must be read: unread bytes turn a close into a reset
        self._arrived = self._arrival()
        self._waiting = self._waiting + data if self._waiting else data
        if self._visit is None:
            self._answer_waiting()
        elif len(self._waiting) > MOST_WAITING_BYTES:
            self._transport.abort()

    def eof_received(self) -> None:
        """Leaving and having asked everything look the same: what is being sent is flushed, no more is begun."""
        self._keeps_alive = False

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()
        if self._playing is None:
            self._answered()
            self._answer_waiting()

    def stop(self) -> asyncio.Task[None] | None:
        """Drop the client; the returned task, if any, ends by itself."""
        self._transport.abort()
        if self._playing is not None:
            self._playing.cancel()
        return self._playing

    def _arrival(self) -> float:
        """When the kernel had what we read last."""
        raw = self._transport.get_extra_info("socket")
        while True:
            now, unread = self._server.now(), unread_seconds(raw)
            # Two clocks were read one after the other, and the machine may have been elsewhere in between.
            if self._server.now() - now < _AN_INSTANT:
                return now - unread

    def _answer_waiting(self) -> None:
        while self._waiting and self._visit is None and self._keeps_alive:
            asked = read_request(self._waiting)
            if asked is None:
                return
            if isinstance(asked, Malformed):
                self._keeps_alive = False
                self._transport.write(self._server.refuse(asked))
                if self._transport.can_write_eof():  # not under TLS
                    self._transport.write_eof()
                else:
                    self._transport.close()
                return
            self._waiting = self._waiting[asked.size_bytes :]
            self._answer(asked)

    def _answer(self, asked: Asked) -> None:
        visit, reply = self._server.receive(asked, self._number, self._arrived)
        self._visit = visit
        self._keeps_alive = asked.keeps_alive
        if isinstance(reply, bytes):
            self._transport.write(reply)
            if self._drained.is_set():
                self._answered()
        else:
            self._playing = asyncio.get_running_loop().create_task(self._play(reply, visit))
            self._playing.add_done_callback(self._played)

    def _answered(self) -> None:
        """The last byte is with the kernel."""
        if self._visit is not None:
            self._server.finish(self._visit)
            self._visit = None
        if not self._keeps_alive:
            self._transport.close()

    def _played(self, task: asyncio.Task[None]) -> None:
        self._playing = None
        if not task.cancelled():
            task.result()
            self._answered()
            self._answer_waiting()

    async def _play(self, steps: Steps, visit: Visit) -> None:
        for step in steps:
            await self._take(step, visit)
            if self._transport.is_closing():
                return
            # Fast endless answers must leave the other connections their turn.
            await asyncio.sleep(0)

    async def _take(self, step: Step, visit: Visit) -> None:
        match step:
            case Send(data):
                if not visit.status:
                    visit.note_answer(status_of(data), data)
                self._transport.write(data)
                await self._drained.wait()
            case Wait(seconds):
                await self._server.sleep(seconds)
            case Stall():
                await asyncio.get_running_loop().create_future()
            case Close():
                self._keeps_alive = False
                self._answered()
            case Reset():
                raw = self._transport.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
                self._answered()
                self._transport.abort()


def unread_seconds(raw: TransportSocket) -> float:
    """How long the last bytes that came in have been there; none where the system does not say."""
    if sys.platform != "linux":
        return 0.0
    told = raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECEIVED + 4)
    return int.from_bytes(told[_LAST_DATA_RECEIVED:], sys.byteorder) / 1000
