"""Pages of the simulated web, whose text, title and date are known, for the benchmarks of extraction."""

from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

from headwater.extraction.page import Page
from headwater.simweb.message import Request
from headwater.simweb.world import Item, World

SIMULATED_NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
SIMULATED_PUBLISHERS, PER_PUBLISHER = 72, 5


class Simulated(NamedTuple):
    page: Page
    item: Item


def simulated_pages() -> list[Simulated]:
    web = World(7, SIMULATED_PUBLISHERS, start=SIMULATED_NOW, rate=0.5)
    return [
        Simulated(Page(url=item.url, body=body_at(web, item.url), codec=publisher.charset), item)
        for publisher in web.publishers
        if publisher.kind == "news"
        for item in islice(web.items(publisher, SIMULATED_NOW), PER_PUBLISHER)
    ]


def body_at(web: World, url: str) -> bytes:
    place = urlsplit(url)
    page = web.sites[place.netloc].page(Request("GET", place.netloc, place.path, place.query, {}), SIMULATED_NOW)
    assert page is not None
    return page.body
