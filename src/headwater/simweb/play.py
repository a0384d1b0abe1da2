"""A world being played: its sites behind a server, its time running at a pace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from headwater.chance import random_from
from headwater.clock import ArrivingClock, PacedClock, SystemClock
from headwater.errors import UsageError
from headwater.simweb.server import SimWeb
from headwater.simweb.world import World

# A Monday morning, always the same one: runs with equal seeds look alike whenever they are made.
WORLD_BEGINS = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
MOST_PUBLISHERS = 100_000


@dataclass(frozen=True, slots=True)
class Playing:
    world: World
    web: SimWeb
    clock: PacedClock
    port: int


@asynccontextmanager
async def play_world(
    *,
    seed: int,
    publishers: int,
    port: int = 0,
    pace: float = 1.0,
    crawl_delays: tuple[float, ...] = (1, 2, 5),
    arrives_from: datetime | None = None,
) -> AsyncIterator[Playing]:
    """On a Monday in the past, or `arrives_from` a moment on in the present."""
    if not 1 <= publishers <= MOST_PUBLISHERS:
        raise UsageError(f"A web of {publishers} publishers cannot be played.", fix=f"Give 1 to {MOST_PUBLISHERS:,}.")
    if not 0 < pace <= 1_000_000:
        raise UsageError(f"Time cannot run at {pace:g} times its speed.", fix="Give a pace above 0.")
    if not 0 <= port <= 65535:
        raise UsageError(f"There is no port {port}.", fix="Give 1 to 65535, or 0 for a free one.")
    real = SystemClock()
    clock = ArrivingClock(arrives_from, pace, real) if arrives_from else PacedClock(WORLD_BEGINS, pace, real)
    world = World(seed, publishers, start=arrives_from or WORLD_BEGINS, crawl_delays=crawl_delays)
    web = SimWeb(world.sites, clock=clock, real=real, random=random_from(seed))
    bound = await web.start(port=port)
    try:
        yield Playing(world, web, clock, bound)
    finally:
        await web.stop()
