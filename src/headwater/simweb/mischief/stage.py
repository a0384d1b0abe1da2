"""What misbehaviour is made of: steps a server can take, the scene they are decided in, and the way they are sent."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from pydantic import ConfigDict

from headwater.simweb.dressing import Answer, Headers, date_line, head_bytes
from headwater.simweb.message import Page, Request


@dataclass(frozen=True, slots=True)
class Send:
    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class Stall:
    """Say nothing more until the client leaves."""


@dataclass(frozen=True, slots=True)
class Close:
    """End the connection in good order, whether or not the answer is complete."""


@dataclass(frozen=True, slots=True)
class Reset:
    """End it with a TCP reset."""


Step = Send | Wait | Stall | Close | Reset
Steps = Iterator[Step]


@dataclass(frozen=True, slots=True)
class Scene:
    """One request that a script applies to; `page` is what the site would have said."""

    request: Request
    page: Page
    nth: int  # how often this script was played before
    now: datetime
    draw: Callable[[], float]  # between 0 and 1, from the web's own seed
    dress: Callable[[Page], Answer]
    at: Callable[[str], Page]  # what the site would have said to another path

    @property
    def answer(self) -> Answer:
        return self.dress(self.page)

    @property
    def date(self) -> bytes:
        return date_line(self.now)

    def wire(self, page: Page) -> bytes:
        return self.dress(page).wire(self.date)

    def head(self, status: int, headers: Headers) -> bytes:
        return head_bytes(status, headers) + self.date + b"\r\n"


class Mischief:
    """One kind of misbehaviour. Its fields are its JSON form; its class name, in snake case, is its `kind`."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def play(self, scene: Scene) -> Steps:
        raise NotImplementedError


class OtherPage(Mischief):
    """Misbehaviour in the content alone: HTTP around it stays correct."""

    __slots__ = ()

    def page(self, scene: Scene) -> Page:
        raise NotImplementedError

    def play(self, scene: Scene) -> Steps:
        yield Send(scene.wire(self.page(scene)))


def head_of(answer: Answer, date: bytes, *, but: str = "") -> bytes:
    """The head of an answer as it is, or without one header."""
    kept = tuple(pair for pair in answer.headers if pair[0].lower() != but)
    return head_bytes(answer.status, kept) + date + b"\r\n"


def streamed(scene: Scene, headers: Headers, chunks: Iterable[bytes]) -> Steps:
    """A correct chunked answer of any length, made while it is sent."""
    yield Send(scene.head(200, (*headers, ("Transfer-Encoding", "chunked"))))
    if scene.request.method != "HEAD":
        for chunk in chunks:
            yield Send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        yield Send(b"0\r\n\r\n")


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def capped(steps: Iterable[Step], most_bytes: int) -> Steps:
    """The same steps, ended by a close once too many bytes went out: no script may fill the machine."""
    left = most_bytes
    for step in steps:
        if isinstance(step, Send):
            left -= len(step.data)
            if left < 0:
                yield Close()
                return
        yield step


def status_of(data: bytes) -> int:
    """The final status that these bytes announce; 0 if they announce none."""
    code = data[9:12]
    return int(code) if data.startswith(b"HTTP/1.") and code.isdigit() and code >= b"200" else 0
