"""Answers that are sent piece by piece while they are made. Nothing is made ahead of a reader that is slow."""

from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class PlacedStream(StreamingResponse):
    """A stream that holds what it was given, such as a place, until it ends, however it does."""

    def __init__(
        self, pieces: AsyncIterator[bytes], held: ExitStack, *, media_type: str, headers: Mapping[str, str]
    ) -> None:
        super().__init__(pieces, headers=dict(headers), media_type=media_type)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._held:
            await super().__call__(scope, receive, send)
