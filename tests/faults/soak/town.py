"""A web of thousands of small publishers in a process of its own, which remembers how its visitors behaved.

The log of a million visits would not fit: each is folded into figures as it ends. Hosts can be told to turn everybody
away for a while, and remember who came all the same.
"""

import asyncio
import multiprocessing as mp
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

from headwater.chance import Random, random_from
from headwater.clock import SystemClock
from headwater.simweb.message import Page, Request
from headwater.simweb.server import SimWeb
from headwater.simweb.visits import Visit

FORBIDDEN = "/private/"
ROBOTS = f"User-agent: *\nDisallow: {FORBIDDEN}\n".encode()
BESIDE_PAGES = ("/robots.txt", "/.well-known/tdmrep.json")
NEWS_EVERY_SECONDS = 20.0
FOLD_EVERY_SECONDS = 1.0
# Two arrivals may be measured this much closer than they were sent.
MEASURING_SECONDS = 0.005
SHOWN = 5
VOCABULARY = [
    first + middle + last
    for first in ("bar", "cor", "den", "fal", "gor", "hal", "lim", "mor", "nel", "pat")
    for middle in ("a", "e", "i", "o", "u", "an", "el", "or")
    for last in ("bor", "den", "kin", "ley", "mark", "ster", "ton")
]


@dataclass(frozen=True)
class Plan:
    """Few hosts that always have work, many with a page now and then, and some with a feed."""

    large: int
    small: int
    daily: int
    delay_seconds: float

    def names(self) -> list[str]:
        kinds = (("large", self.large), ("small", self.small), ("daily", self.daily))
        return [f"{kind}-{number}.test" for kind, count in kinds for number in range(count)]


def article(address: str) -> bytes:
    """A short one, whose title and text are no other page's."""
    random, title = random_from(address), title_of(address)
    text = "".join(f"<p>{' '.join(random.choices(VOCABULARY, k=25)).capitalize()}.</p>" for _ in range(4))
    return f"<html><title>{title}</title><article><h1>{title}</h1>{text}</article></html>".encode()


def title_of(address: str) -> str:
    """Words alone: a number in it might be taken for that of an error."""
    return " ".join(random_from(f"title of {address}").choices(VOCABULARY, k=6)).capitalize()


@dataclass
class Town:
    """Every host of it: robots.txt, a feed that grows where the name says so, and an article at any other path."""

    clock: SystemClock
    turns_away: dict[str, float] = field(default_factory=dict)  # for so many seconds from their next visit on
    away_until: dict[str, float] = field(default_factory=dict)
    came_too_early: int = 0
    began: float = field(init=False)
    ended: float | None = None

    def __post_init__(self) -> None:
        self.began = self.clock.monotonic()

    def page(self, request: Request, now: datetime) -> Page | None:
        moment = self.clock.monotonic()
        self.came_too_early += self.away_until.get(request.host, 0.0) > moment
        if seconds := self.turns_away.pop(request.host, 0.0):
            self.away_until[request.host] = moment + seconds
            return Page(b"Later.", "text/plain", 429, (("Retry-After", f"{seconds:.0f}"),))
        if request.path == "/robots.txt":
            return Page(ROBOTS, "text/plain")
        if request.path in BESIDE_PAGES:
            return None
        if request.path == "/feed":
            return feed(request.host, self.news())
        return Page(article(f"{request.host}{request.path}"))

    def news(self) -> int:
        """Items that each feed has published by now."""
        until = self.clock.monotonic() if self.ended is None else self.ended
        return 1 + int((until - self.began) / NEWS_EVERY_SECONDS)


def feed(host: str, count: int) -> Page:
    urls = [news_at(host, number) for number in reversed(range(count))]
    items = "".join(
        f"<item><title>{title_of(url.removeprefix('http://'))}</title><link>{url}</link><guid>{url}</guid></item>"
        for url in urls
    )
    text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>{host}</title>{items}</channel></rss>'
    return Page(text.encode(), "application/rss+xml")


def news_at(host: str, number: int) -> str:
    return f"http://{host}/news-{number}"


@dataclass
class Manners:
    """What visitors did: requests, how close they came, what they should have left alone."""

    arrivals: dict[str, "array[float]"] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    asked: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    disallowed: list[str] = field(default_factory=list)
    requests: int = 0

    def fold(self, visits: list[Visit]) -> None:
        for visit in visits:
            self.requests += 1
            self.arrivals[visit.host].append(visit.arrived)
            self.statuses[visit.status] += 1
            address = f"{visit.host}{visit.target}"
            if visit.path.startswith(FORBIDDEN):
                self.disallowed.append(address)
            if visit.path not in (*BESIDE_PAGES, "/feed"):
                self.asked[address] += 1

    def too_close(self, delay_seconds: float) -> list[tuple[str, float]]:
        least = delay_seconds - MEASURING_SECONDS
        gaps = (
            (host, later - earlier)
            for host, moments in self.arrivals.items()
            for earlier, later in pairwise(sorted(moments))
        )
        return [(host, round(gap, 4)) for host, gap in gaps if gap < least]

    def told(self, delay_seconds: float) -> dict[str, Any]:
        close = self.too_close(delay_seconds)
        gaps = (second - first for moments in self.arrivals.values() for first, second in pairwise(sorted(moments)))
        return {
            "requests": self.requests,
            "hosts": len(self.arrivals),
            "pages": len(self.asked),
            "asked_again": sum(self.asked.values()) - len(self.asked),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "delays_broken": len(close),
            "delays_broken_at": close[:SHOWN],
            "smallest_gap_ms": round(min(gaps, default=0.0) * 1000, 1),
            "disallowed": len(self.disallowed),
            "disallowed_at": self.disallowed[:SHOWN],
        }


async def serve(parent: Connection, plan: Plan) -> None:
    clock, manners = SystemClock(), Manners()
    town = Town(clock)
    web = SimWeb(dict.fromkeys(plan.names(), town), clock=clock, real=clock, random=random_from(1))
    port = await web.start()

    def fold() -> None:
        manners.fold(web.visits.all())
        web.visits.forget()

    async def keep_folding() -> None:
        while True:
            await asyncio.sleep(FOLD_EVERY_SECONDS)
            fold()

    folding = asyncio.create_task(keep_folding())
    parent.send(port)
    while (order := await asyncio.to_thread(parent.recv))[0] != "stop":
        fold()
        parent.send(obey(order, town, manners, plan))
    folding.cancel()
    await web.stop()


def obey(order: tuple[Any, ...], town: Town, manners: Manners, plan: Plan) -> Any:
    match order:
        case ("requests",):
            return manners.requests
        case ("turn away", hosts, seconds):
            town.turns_away.update(dict.fromkeys(hosts, seconds))
        case ("turn nobody away",):
            town.turns_away.clear()
            return max(0.0, max(town.away_until.values(), default=0.0) - town.clock.monotonic())
        case ("publish no more",):
            town.ended = town.ended or town.clock.monotonic()
            return town.news()
        case ("report",):
            return {**manners.told(plan.delay_seconds), "came_too_early": town.came_too_early}
    return None


def run_town(parent: Connection, plan: Plan) -> None:
    asyncio.run(serve(parent, plan))


class TownHall:
    """The way to the town's process; one asks at a time."""

    def __init__(self, pipe: Connection, plan: Plan) -> None:
        self._pipe = pipe
        self._asking = asyncio.Lock()
        self.plan = plan
        self.port: int = pipe.recv()

    async def ask(self, *order: Any) -> Any:
        async with self._asking:
            self._pipe.send(order)
            return await asyncio.to_thread(self._pipe.recv)

    async def turn_away(self, random: Random, count: int, seconds: float) -> None:
        """Of hosts that are asked all the time."""
        busy = [name for name in self.plan.names() if not name.startswith("small")]
        await self.ask("turn away", random.sample(busy, min(count, len(busy))), seconds)


@contextmanager
def served_town(plan: Plan) -> Iterator[TownHall]:
    spawn = mp.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=run_town, args=(theirs, plan), daemon=True)
    process.start()
    # Only the child may hold its end, or a child that died would be waited for for ever.
    theirs.close()
    try:
        yield TownHall(ours, plan)
    finally:
        process.kill()
        process.join()
