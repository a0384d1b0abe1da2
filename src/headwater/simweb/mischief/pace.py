"""Slowness: late, dripping, stalled and endless answers."""

from dataclasses import dataclass
from itertools import repeat
from typing import Annotated, Literal

from pydantic import Field

from headwater.simweb.mischief.stage import Mischief, Scene, Send, Stall, Steps, Wait, head_of, pieces, streamed

Milliseconds = Annotated[float, Field(ge=0)]
Positive = Annotated[int, Field(gt=0)]


@dataclass(frozen=True, slots=True)
class SlowStart(Mischief):
    """Nothing for `delay_ms`, then the answer as it should be."""

    delay_ms: Milliseconds = 1000

    def play(self, scene: Scene) -> Steps:
        yield Wait(self.delay_ms / 1000)
        yield Send(scene.wire(scene.page))


@dataclass(frozen=True, slots=True)
class SlowDrip(Mischief):
    """`bytes` at a time, one helping `every_ms`: from the first byte of the head, or of the body alone."""

    bytes: Positive = 1
    every_ms: Milliseconds = 100
    of: Literal["body", "head"] = "body"

    def play(self, scene: Scene) -> Steps:
        wire = scene.wire(scene.page)
        head_end = wire.index(b"\r\n\r\n") + 4
        dripping = (head_end, len(wire)) if self.of == "body" else (0, head_end)
        yield Send(wire[: dripping[0]])
        for piece in pieces(wire[slice(*dripping)], self.bytes):
            yield Wait(self.every_ms / 1000)
            yield Send(piece)
        yield Send(wire[dripping[1] :])


@dataclass(frozen=True, slots=True)
class StallAt(Mischief):
    """Silence for ever after the connect, the head, or half of the body."""

    point: Literal["connect", "head", "body"] = "connect"

    def play(self, scene: Scene) -> Steps:
        if self.point != "connect":
            yield Send(head_of(scene.answer, scene.date))
        if self.point == "body":
            yield Send(scene.answer.body[: len(scene.answer.body) // 2])
        yield Stall()


@dataclass(frozen=True, slots=True)
class EndlessBody(Mischief):
    """A body without an end, `bytes` in each chunk, as fast as it is read or one chunk `every_ms`."""

    bytes: Positive = 65_536
    every_ms: Milliseconds = 0

    def play(self, scene: Scene) -> Steps:
        chunk = b"endless " * (self.bytes // 8) + b"." * (self.bytes % 8)
        for step in streamed(scene, (("Content-Type", "text/html"),), repeat(chunk)):
            yield step
            if self.every_ms:
                yield Wait(self.every_ms / 1000)


@dataclass(frozen=True, slots=True)
class TinyChunks(Mischief):
    """The right body in chunks of one byte, `packed` of them in each write: costly for careless readers."""

    packed: Positive = 1000

    def play(self, scene: Scene) -> Steps:
        yield Send(head_of(scene.answer, scene.date, but="content-length")[:-2] + b"Transfer-Encoding: chunked\r\n\r\n")
        for piece in pieces(scene.answer.body, self.packed):
            yield Send(b"".join(b"1\r\n%c\r\n" % byte for byte in piece))
        yield Send(b"0\r\n\r\n")


KINDS = (SlowStart, SlowDrip, StallAt, EndlessBody, TinyChunks)
