"""Children to read in, as the settings want them: for pages, for answers of channels, or for both."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.log import Logger
from headwater.machine import memory_kills, memory_limit, processors
from headwater.services import Services
from headwater.settings.groups import ExtractSettings

FOR_PAGES = "headwater.extraction.work:read_sent"
# Without what only pages need: a poller does not pay for language models.
FOR_CHANNELS = "headwater.discover.polls.work:read_sent"
FOR_BOTH = "headwater.run.work:read_sent"
MEBIBYTE = 1024 * 1024
# An answer that keeps its child busy until the time limit leaves another for everybody else's.
FEWEST_FOR_CHANNELS = 2
USUAL_CHILD_BYTES = 128 * MEBIBYTE
# Of address space: its libraries alone map 280.
SMALLEST_CHILD_BYTES = 384 * MEBIBYTE


@asynccontextmanager
async def page_pool(services: Services, work: str = FOR_PAGES) -> AsyncIterator[ExtractionPool]:
    async with _pool(services, work, pool_size_of(services.settings.extract)) as children:
        yield children


@asynccontextmanager
async def channel_pool(services: Services) -> AsyncIterator[ExtractionPool]:
    """Not started before there is something to read."""
    children = _pool(services, FOR_CHANNELS, most_for_channels(services.settings.extract))
    try:
        yield children
    finally:
        await children.close()


def pool_size_of(settings: ExtractSettings, processes: int = 1) -> int:
    """As many as were asked for, else this process's share of the processors and the memory that may be used."""
    return settings.children or max(1, pool_size_within(processors(), memory_limit()) // processes)


def pool_size_within(most: int, limit_bytes: int | None) -> int:
    """Half of the memory is for them; the rest is for us, and for a page that is larger than usual."""
    return most if limit_bytes is None else max(1, min(most, limit_bytes // 2 // USUAL_CHILD_BYTES))


def child_bytes(wanted: int, limit_bytes: int | None) -> int:
    """How large a child may grow: less than was set where its control group could not bear it."""
    return wanted if limit_bytes is None else min(wanted, max(limit_bytes // 2, SMALLEST_CHILD_BYTES))


def most_for_channels(settings: ExtractSettings) -> int:
    return max(FEWEST_FOR_CHANNELS, pool_size_of(settings))


def _pool(services: Services, work: str, size: int) -> ExtractionPool:
    settings = services.settings.extract
    children = ExtractionPool(
        work,
        size=size,
        timeout=settings.timeout.total_seconds(),
        clock=services.clock,
        memory_bytes=child_bytes(settings.memory_mb * MEBIBYTE, memory_limit()),
    )
    children.on_kill = Kills(services.log).tell
    return children


class Kills:
    """Says of each child that was killed whether its control group had no memory left."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._known = memory_kills()

    def tell(self, pause: float) -> None:
        known, self._known = self._known, memory_kills()
        limit = memory_limit()
        self._log.error(
            "reader_killed",
            why=why_killed(known, self._known),
            limit_mb=None if limit is None else limit // MEBIBYTE,
            again_in_seconds=pause,
            fix="Give the container or the machine more memory, or lower extract.children or extract.memory_mb.",
        )


def why_killed(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return "a child that read a page was killed from outside, most likely for want of memory"
    if after > before:
        return "the kernel killed a child that read a page: its control group had no memory left"
    return "a child that read a page was killed from outside, and not by its own control group's limit"
