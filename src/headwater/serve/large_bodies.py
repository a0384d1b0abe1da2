"""Bodies beyond the usual size: each is held in memory whole, so few are read at a time and the others wait unread."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.serve.access.visits import SAFE_METHODS
from headwater.serve.frame import LARGEST_BODY_BYTES

# One of ten million bytes is four times that while it is read.
AT_A_TIME = 2


class LargeBodies:
    """Inside of what knows the caller: of others only small bodies are taken, and they wait for nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._places = asyncio.Semaphore(AT_A_TIME)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A read, such as a stream without end, has no body worth waiting for.
        is_change = scope["type"] == "http" and scope["method"] not in SAFE_METHODS
        if is_change and scope["state"]["visit"].caller and may_be_large(Headers(scope=scope)):
            async with self._places:
                await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def may_be_large(headers: Headers) -> bool:
    """One that comes in chunks does not say. Pure."""
    length = headers.get("content-length", "0")
    return "transfer-encoding" in headers or not length.isdigit() or int(length) > LARGEST_BODY_BYTES
