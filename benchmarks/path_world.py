"""The web of the path benchmark: news sites with pages as heavy as real ones, served by a process of their own.

Nobody asks for a longer delay than the one both crawlers keep, and time stands still: a page is the same whoever comes
and whenever. All of them are written and packed before anybody comes: on a real web that is the work of other machines.
"""

import asyncio
import multiprocessing as mp
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice, pairwise
from multiprocessing.connection import Connection
from statistics import mean
from urllib.parse import urlsplit

from tests.clocks import ManualClock

from benchmarks.path_furniture import Furniture, furniture_of
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.simweb.codings import encoded
from headwater.simweb.message import Page, Request, Site
from headwater.simweb.negotiation import best_coding
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.server import SimWeb
from headwater.simweb.visits import Visit
from headwater.simweb.world import World, prose
from headwater.simweb.world.markup import in_html
from headwater.simweb.world.newssite import NewsSite

SEED = 7
# Some publish too little, a sixth are no newspapers, and a sixth of these are of a time before such furniture.
PUBLISHERS_PER_HOST = 2
ANCIENT = "soup"
BOTH_ACCEPT = "gzip, deflate, br, zstd"
BETWEEN_PARAGRAPHS = "</p>\n<p>"
# What the server may be wrong about when a request came.
TOLERANCE = timedelta(milliseconds=5)


@dataclass(frozen=True, slots=True)
class Plot:
    """Which part of the world is crawled."""

    hosts: int
    pages_per_host: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What the server saw of one crawl. `too_soon`: requests within the delay after another to the same host."""

    requests: int
    statuses: dict[int, int]
    too_soon: int


class HeavySite:
    """A news site's own pages, with a longer article and a real site's furniture around it."""

    def __init__(self, site: NewsSite, furniture: Furniture) -> None:
        self._site = site
        self._furniture = furniture
        self._packed: dict[tuple[str, str, str], Page | None] = {}

    def page(self, request: Request, now: datetime) -> Page | None:
        coding = best_coding(request.headers.get("accept-encoding", ""))
        place = (request.path, request.query, coding)
        if place not in self._packed:
            self._packed[place] = self._page(request, now, coding)
        return self._packed[place]

    def _page(self, request: Request, now: datetime, coding: str) -> Page | None:
        page = self._site.page(request, now)
        if page is None or page.status != 200 or not page.content_type.startswith("text/html"):
            return page
        body = encoded(self._furnished(self._lengthened(page.body, request, now), request.path), coding)
        headers = page.headers if coding == "identity" else (*page.headers, ("Content-Encoding", coding))
        return replace(page, body=body, headers=headers)

    def _furnished(self, body: bytes, path: str) -> bytes:
        furniture = self._furniture
        head, tag, rest = body.partition(b"</head>\n<body")
        attributes, end, rest = rest.partition(b">")
        content, closing, after = rest.rpartition(b"</body>")
        around = (furniture.top, content, furniture.below(path), furniture.bottom)
        return b"".join((head, furniture.head, tag, attributes, end, *around, closing, after))

    def _lengthened(self, body: bytes, request: Request, now: datetime) -> bytes:
        """With twice as many paragraphs, in the site's own language and charset."""
        newsroom = self._site.newsroom
        story = newsroom.find(request.path, request.query, now)
        if story is None:
            return body
        voice = prose.voice_of(newsroom.publisher.speech, newsroom.topics[story.topic])
        more = [in_html(paragraph) for paragraph in prose.paragraphs(voice, story.key + 1)]
        written = BETWEEN_PARAGRAPHS.join(("", *more, "")).encode(newsroom.publisher.charset, "xmlcharrefreplace")
        return body.replace(BETWEEN_PARAGRAPHS.encode(), written, 1)


def plotted(world: World, plot: Plot) -> dict[str, list[str]]:
    """The newest stories of the first newspapers that have enough of them, by host."""
    papers = {one.host for one in world.publishers if one.kind == "news" and one.template != ANCIENT}
    urls: defaultdict[str, list[str]] = defaultdict(list)
    for url in world.urls(WORLD_BEGINS):
        host = urlsplit(url).netloc
        if host in papers and len(urls[host]) < plot.pages_per_host:
            urls[host].append(url)
    enough = {host: found for host, found in urls.items() if len(found) == plot.pages_per_host}
    assert len(enough) >= plot.hosts, f"only {len(enough)} hosts have {plot.pages_per_host} pages"
    return dict(islice(enough.items(), plot.hosts))


def world_of(plot: Plot) -> World:
    return World(SEED, plot.hosts * PUBLISHERS_PER_HOST, start=WORLD_BEGINS, crawl_delays=())


def in_turn(urls: Mapping[str, Sequence[str]]) -> list[str]:
    """Host by host, as discovery would bring them."""
    return [url for turn in zip(*urls.values(), strict=True) for url in turn]


def heavy_site(world: World, host: str) -> HeavySite:
    site = world.sites[host]
    assert isinstance(site, NewsSite)
    return HeavySite(site, furniture_of(random_from(host)))


def seen_in(visits: Sequence[Visit], delay: timedelta) -> Seen:
    arrivals: defaultdict[str, list[float]] = defaultdict(list)
    for visit in visits:
        arrivals[visit.host].append(visit.arrived)
    gaps = (later - earlier for times in arrivals.values() for earlier, later in pairwise(sorted(times)))
    least = (delay - TOLERANCE).total_seconds()
    return Seen(len(visits), dict(Counter(visit.status for visit in visits)), sum(gap < least for gap in gaps))


def pages_at(sites: Mapping[str, Site], urls: Sequence[str], accept_encoding: str) -> list[Page]:
    places = [urlsplit(url) for url in urls]
    headers = {"accept-encoding": accept_encoding}
    requests = [Request("GET", place.netloc, place.path, place.query, headers) for place in places]
    pages = (sites[request.host].page(request, WORLD_BEGINS) for request in requests)
    return [page for page in pages if page is not None]


async def serve(parent: Connection, plot: Plot, delay: timedelta) -> None:
    """Tells where it is and what there is to fetch; then, each time it is asked, what it has seen since."""
    world = world_of(plot)
    urls = plotted(world, plot)
    sites: dict[str, Site] = {host: heavy_site(world, host) for host in urls}
    web = SimWeb(sites, clock=ManualClock(WORLD_BEGINS), real=SystemClock(), random=random_from(SEED))
    pages = in_turn(urls)
    pages_at(sites, pages, BOTH_ACCEPT)
    page_bytes = mean(len(page.body) for page in pages_at(sites, pages[: plot.hosts], "identity"))
    parent.send(Served(await web.start(), page_bytes, pages))
    while await asyncio.to_thread(parent.recv) == "report":
        parent.send(seen_in(web.visits.all(), delay))
        web.reset()
    await web.stop()


def run_server(parent: Connection, plot: Plot, delay: timedelta) -> None:
    asyncio.run(serve(parent, plot, delay))


@dataclass(frozen=True, slots=True)
class Served:
    port: int
    page_bytes: float  # on average, before compression
    urls: list[str]


class Web:
    def __init__(self, served: Served, pid: int, link: Connection) -> None:
        self.served = served
        self.pid = pid
        self._link = link

    def report(self) -> Seen:
        """Of what came since the last one."""
        self._link.send("report")
        seen: Seen = self._link.recv()
        return seen


@contextmanager
def simulated_web(plot: Plot, delay: timedelta) -> Iterator[Web]:
    spawn = mp.get_context("spawn")
    ours, theirs = spawn.Pipe()
    server = spawn.Process(target=run_server, args=(theirs, plot, delay), daemon=True)
    server.start()
    # Only the child may hold its end, or a child that died would be waited for for ever.
    theirs.close()
    try:
        assert server.pid is not None
        yield Web(ours.recv(), server.pid, ours)
    finally:
        ours.send("stop")
        server.join()
