"""One session for all databases that a worker makes and drops: to begin two for each test cost a fifth of its clone.

It has an event loop of its own, for each test has another; so its users are fixtures that are not coroutines.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import asyncpg


class Administrator:
    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self._numbers = count(1)

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner().__enter__()
        self._connection = self._runner.run(asyncpg.connect(database_named(self._server_url, "postgres")))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._runner.run(self._connection.close())
        self._runner.close()

    @contextmanager
    def new_database(self, base: str, how: str) -> Iterator[str]:
        name = f"{base}_{os.getpid()}_{next(self._numbers)}"
        self._execute(f'create database "{name}" {how}')
        try:
            yield database_named(self._server_url, name)
        finally:
            self._execute(f'drop database "{name}" with (force)')

    def _execute(self, statement: str) -> None:
        self._runner.run(self._connection.execute(statement))


def database_named(server_url: str, name: str) -> str:
    # Not urlunsplit: it drops the empty host of a socket's address.
    address = urlsplit(server_url)
    return f"{address.scheme}://{address.netloc}/{name}?{address.query}"
