"""Names to addresses, with a deadline of its own so that dead names stop nothing else, and the guard's word on each."""

import asyncio
import socket

from aiohttp import AsyncResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from headwater.net.guard import AddressGuard


class GuardedResolver(AbstractResolver):
    """One lookup per connection: what was checked is what is dialled, whatever the name says a moment later."""

    def __init__(self, guard: AddressGuard, timeout: float, inner: AbstractResolver | None = None) -> None:
        self._guard = guard
        self._timeout = timeout
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        self._guard.check_host(host)
        try:
            async with asyncio.timeout(self._timeout):
                found = await self._resolver().resolve(host, port, family)
        except TimeoutError as error:
            raise socket.gaierror(socket.EAI_AGAIN, f"no answer within {self._timeout:g} s") from error
        if not found:
            # The client would trip over an answer without addresses.
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        self._guard.check_all((place["host"], place["port"]) for place in found)
        return found

    async def close(self) -> None:
        if self._inner is not None:
            await self._inner.close()

    def _resolver(self) -> AbstractResolver:
        # Made on first use: it binds itself to the running event loop.
        if self._inner is None:
            self._inner = AsyncResolver(timeout=self._timeout, tries=1)
        return self._inner
