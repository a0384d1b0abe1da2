from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from headwater.simweb.message import Page, Request
from headwater.simweb.world import Publisher, World

Ask = Callable[..., Page | None]
START = datetime(2026, 5, 4, 10, tzinfo=UTC)  # a Monday


def visit(world: World, url: str, now: datetime, **headers: str) -> Page | None:
    parts = urlsplit(url)
    request = Request("GET", parts.netloc, parts.path or "/", parts.query, headers)
    return world.sites[parts.netloc].page(request, now)


@pytest.fixture(scope="session")
def start() -> datetime:
    return START


@pytest.fixture(scope="session")
def world() -> World:
    return World(7, 72, start=START, rate=0.5)


@pytest.fixture(scope="session")
def news(world: World) -> list[Publisher]:
    return [publisher for publisher in world.publishers if publisher.kind == "news"]


@pytest.fixture(scope="session")
def ask(world: World) -> Ask:
    """The page at a URL of the shared world, by default at its start."""

    def asked(url: str, now: datetime = START, **headers: str) -> Page | None:
        return visit(world, url, now, **headers)

    return asked
