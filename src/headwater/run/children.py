"""Children to read in, as the settings want them: for pages, for answers of channels, or for both."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from headwater.extract.children import Children
from headwater.services import Services
from headwater.settings.groups import ExtractSettings

FOR_PAGES = "headwater.extract.work:read_sent"
# Without what only pages need: a poller does not pay for language models.
FOR_CHANNELS = "headwater.discover.polls.work:read_sent"
FOR_BOTH = "headwater.run.work:read_sent"
MEBIBYTE = 1024 * 1024
# An answer that keeps its child busy until the time limit leaves another for everybody else's.
FEWEST_FOR_CHANNELS = 2


@asynccontextmanager
async def page_children(services: Services, work: str = FOR_PAGES) -> AsyncIterator[Children]:
    async with _children(services, work, children_of(services.settings.extract)) as children:
        yield children


@asynccontextmanager
async def channel_children(services: Services) -> AsyncIterator[Children]:
    """Not started before there is something to read."""
    children = _children(services, FOR_CHANNELS, most_for_channels(services.settings.extract))
    try:
        yield children
    finally:
        await children.close()


def children_of(settings: ExtractSettings, processes: int = 1) -> int:
    """As many as were asked for, else this process's share of the cores."""
    return settings.children or max(1, (os.cpu_count() or 1) // processes)


def most_for_channels(settings: ExtractSettings) -> int:
    return max(FEWEST_FOR_CHANNELS, children_of(settings))


def _children(services: Services, work: str, size: int) -> Children:
    settings = services.settings.extract
    return Children(
        work,
        size=size,
        timeout=settings.timeout.total_seconds(),
        clock=services.clock,
        memory_bytes=settings.memory_mb * MEBIBYTE,
    )
