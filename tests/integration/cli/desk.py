"""Commands in this process: what a person would see, a hundred times as quick as starting a program for each."""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar
from unittest.mock import patch

from cyclopts import App, Parameter
from cyclopts.argument import ArgumentCollection
from tests.integration.cli.conftest import Said

from headwater.chance import random_from
from headwater.cli.app import run
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.simweb.message import Page, Request
from headwater.simweb.server import SimWeb

T = TypeVar("T")

# A loopback address that the simulated web does not keep for itself, and that needs no resolver.
PLACE = "127.0.0.2"
LIMIT_SECONDS = 300
COLOURS = re.compile(r"\x1b\[[\d;]*m")


assemble = App.assemble_argument_collection
# With the command, whose number would otherwise be given to another one.
assembled: dict[tuple[int, int, bool], tuple[object, ArgumentCollection]] = {}


def arguments_of(
    app: App, *, default_parameter: Parameter | None = None, parse_docstring: bool = False
) -> ArgumentCollection:
    """As `App.assemble_argument_collection`, which works them out of the types nine times for each command."""
    if default_parameter is not None:
        return assemble(app, default_parameter=default_parameter, parse_docstring=parse_docstring)
    key = (id(app), id(app.default_command), parse_docstring)
    if key not in assembled:
        assembled[key] = (app, app.default_command), assemble(app, parse_docstring=parse_docstring)
    return unused(assembled[key][1])


def unused(arguments: ArgumentCollection) -> ArgumentCollection:
    """A copy for one command to fill in; an option of several parts is made of the copies of its parts."""
    copies = {id(one): copy(one) for one in arguments}
    for one in copies.values():
        one.tokens = []
        parts, one.children = one.children, one.children.copy()
        one.children[:] = [copies[id(part)] for part in parts]
    fresh = arguments.copy()
    fresh[:] = copies.values()
    return fresh


class Screen(StringIO):
    """What is printed for a person."""

    def isatty(self) -> bool:
        return True


@dataclass
class Desk:
    """Somebody who types commands on one database. `home` is where their files lie."""

    database_url: str
    home: Path
    settings: dict[str, str] = field(default_factory=dict)

    def says(self, *words: str) -> Said:
        return self._says(words, StringIO(), StringIO(), {})

    def sees(self, *words: str, columns: int = 80, rows: int = 24) -> Said:
        """What a person at a terminal of that size sees, without its colours."""
        size = {"COLUMNS": str(columns), "LINES": str(rows), "TERM": "xterm"}
        said = self._says(words, Screen(), Screen(), size)
        return Said(said.code, COLOURS.sub("", said.out), COLOURS.sub("", said.err))

    def _says(self, words: tuple[str, ...], out: StringIO, err: StringIO, surroundings: dict[str, str]) -> Said:
        given = {
            "database.url": self.database_url,
            "service.data_dir": str(self.home / "data"),
            "poll.sitemaps": "false",
            # A busy machine has its children read for longer than a page is given, or sooner told to hurry.
            "extract.timeout": "300s",
            "extract.hurry_after": "300s",
            **self.settings,
        }
        flags = [flag for name, value in given.items() for flag in ("--set", f"{name}={value}")]
        here = {"PATH": os.environ["PATH"], "XDG_CONFIG_HOME": str(self.home), **surroundings}
        with (
            patch.dict(os.environ, here, clear=True),
            patch.object(App, "assemble_argument_collection", arguments_of),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = run([*flags, *words])
        return Said(code, out.getvalue(), err.getvalue())

    def on_database(self, work: Callable[[Database], Awaitable[T]]) -> T:
        return asyncio.run(self._connected(work))

    async def _connected(self, work: Callable[[Database], Awaitable[T]]) -> T:
        async with await Database.connect(self.database_url, size=2) as database:
            return await work(database)

    def execute(self, statement: str, *values: object) -> None:
        self.on_database(lambda database: database.execute(statement, *values))

    def value(self, query: str) -> Any:
        return self.on_database(lambda database: database.fetchval(query))

    def file(self, name: str, text: str) -> str:
        place = self.home / name
        place.write_text(text, encoding="utf-8")
        return str(place)

    def followed(self, url: str, *words: str) -> str:
        """The id of a source that is added without looking."""
        said = self.says("sources", "add", url, "--no-discover", "--json", *words)
        assert said.code == 0, said.err
        return str(said.json["id"])

    def polled_in(self, wait: timedelta, interval: timedelta | None = None) -> None:
        """As if every channel's last poll had set its next one there."""
        moved = "update channels set next_poll_at = clock_timestamp() + $1, poll_interval = $2"
        self.execute(moved, wait, interval)


class Pages(dict[str, Page]):
    """A site: its pages by their paths."""

    def page(self, request: Request, now: datetime) -> Page | None:
        return self.get(request.path)


@dataclass
class Served:
    """A small site that is answering while commands run, each of which has an event loop of its own."""

    pages: Pages
    web: SimWeb
    port: int
    place: str = PLACE

    @property
    def url(self) -> str:
        return f"http://{self.place}:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        return {"network.allow": f"{self.place}:{self.port}", "politeness.delay": "20ms"}

    def asked(self) -> list[str]:
        return [visit.target for visit in self.web.visits.all()]


@contextmanager
def served(place: str = PLACE) -> Iterator[Served]:
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    pages, clock = Pages(), SystemClock()
    web = SimWeb({place: pages}, clock=clock, real=clock, random=random_from(1))
    try:
        port = asyncio.run_coroutine_threadsafe(web.start(place), loop).result(LIMIT_SECONDS)
        yield Served(pages, web, port, place)
        asyncio.run_coroutine_threadsafe(web.stop(), loop).result(LIMIT_SECONDS)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def assert_a_sentence(said: Said) -> None:
    """What went wrong, for a person: no traceback, no words of the database."""
    assert said.err.startswith("headwater: ")
    assert "Traceback" not in said.err
    assert "PostgreSQL" not in said.err
    assert said.out == ""
