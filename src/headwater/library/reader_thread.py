"""A thread with an event loop and a database of its own, for programs that have neither."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from headwater.chance import random_from
from headwater.database.migrate import require_current
from headwater.database.pool import Database
from headwater.database.postmaster import cluster_version
from headwater.deliver.answering import engine_for
from headwater.errors import NotFound
from headwater.log import make_logger
from headwater.search.engine import SearchEngine
from headwater.services import embedded_server, open_to_read
from headwater.settings import Settings
from headwater.settings.environment import load_from_surroundings

T = TypeVar("T")


class ReaderThread:
    """Opens the database in its constructor and raises there, if it cannot."""

    def __init__(self, config: Path | None, settings: Mapping[str, str]) -> None:
        loaded = load_from_surroundings(dict(settings), config).settings
        _require_archive(loaded)
        self._settings = loaded
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        opened: Future[Database] = Future()
        self._thread = threading.Thread(target=self._serve, args=(loaded, opened), name="headwater", daemon=True)
        self._thread.start()
        try:
            self._database = opened.result()
        except BaseException:
            self.close()
            raise

    def ask(self, work: Callable[[Database], Awaitable[T]]) -> T:
        asked = asyncio.run_coroutine_threadsafe(_awaited(work, self._database), self._loop)
        try:
            return asked.result()
        except BaseException:
            # Ctrl-C reaches the caller, not the statement.
            asked.cancel()
            raise

    @property
    def search_engine(self) -> SearchEngine:
        """To be used within `ask`."""
        log = make_logger(self._settings.log.level, self._settings.log.format)
        return engine_for(self._database, self._settings, random_from(), log)

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join()

    def _serve(self, settings: Settings, opened: "Future[Database]") -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._keep_open(settings, opened))

    async def _keep_open(self, settings: Settings, opened: "Future[Database]") -> None:
        """Opened and closed in one task, as its parts demand."""
        try:
            async with open_to_read(settings, application_name="headwater library") as database:
                await require_current(database)
                opened.set_result(database)
                await self._closing.wait()
        except BaseException as problem:
            if opened.done():
                raise
            opened.set_exception(problem)


def _require_archive(settings: Settings) -> None:
    """An embedded database that was never made is not made by a reader."""
    if settings.database.url is not None:
        return
    folder = embedded_server(settings).directory
    if cluster_version(folder / "data") is None:
        raise NotFound(
            f"There is no archive in {folder}.",
            fix="Name its settings file, headwater.open(file), or start one: headwater up",
        )


async def _awaited(work: Callable[[Database], Awaitable[T]], database: Database) -> T:
    return await work(database)
