"""Holding a reader up: lists and pages that never end to be read, names that never answer, floods of addresses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from urllib.parse import urlsplit

from headwater.simweb.message import Page, Request, Site
from headwater.simweb.mischief.pace import StallAt
from headwater.simweb.neighbours.plan import (
    DOMAIN,
    AttackName,
    Followed,
    Pages,
    Plan,
    Stand,
    always,
    path_number,
    with_feed,
)
from headwater.simweb.neighbours.words import Item, article, canary, lines, rss
from headwater.simweb.world.markup import in_script

LISTING = f"listing.{DOMAIN}"
ENTANGLED = f"entangled.{DOMAIN}"
SILENT = f"silent.{DOMAIN}"
HEAVY = f"heavy.{DOMAIN}"
DEADLY = f"deadly.{DOMAIN}"
FLOOD = f"flood.{DOMAIN}"
CROWD = f"crowd.{DOMAIN}"
POSTINGS = 220
DIVS = 19_800
SUBDOMAINS = 10
FLOOD_NAMES = 500
# Items that do not close: every one lies in the one before, and readers walk up and down.
NESTED_LISTS = b"<!doctype html><title>Archive</title>" + b"<ul><li>" * 100_000 + b"end"
# Elements of four bytes: a few MB on the wire become more than a reader may hold.
TINY_PARAGRAPHS = b"<!doctype html><title>Archive</title>" + b"<p>a" * 1_000_000


def heavy_listing(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """A careers page of 100 kB whose vacancies all refer to one place, with a text of thousands of elements.

    Beside it one of lists in lists, which no reader comes to the end of.
    """
    postings: list[dict[str, object]] = [
        {"@type": "JobPosting", "title": f"Post {n}", "url": f"/jobs/{n}", "jobLocation": {"@id": "#place"}}
        for n in range(POSTINGS)
    ]
    place = {"@type": "Place", "@id": "#place", "name": "<div>" * DIVS}
    data = in_script({"@context": "https://schema.org", "@graph": [place, *postings]})
    page = Page(f'<title>Vacancies</title><script type="application/ld+json">{data}</script>'.encode())
    sites = {LISTING: Pages({"/careers": always(page)}), ENTANGLED: Pages({"/careers": always(Page(NESTED_LISTS))})}
    return Stand(sites, tuple(Followed("heavy_listing", f"http://{host}/careers", "jobs") for host in sites))


def silent_names(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """Names that take a connection and never say anything; half of them under one domain."""
    names = silent_hosts(plan.silent_names)
    items = [Item(f"http://{name}/", f"Place {canary('silent_names', n)}") for n, name in enumerate(names)]
    feed = rss("Places", items)
    followed = with_feed("silent_names", f"http://{SILENT}/")
    return Stand({SILENT: Pages({"/feed.xml": always(feed)})}, (followed,), dict.fromkeys(names, StallAt("connect")))


def silent_hosts(number: int) -> list[str]:
    return [f"s{n:04}.silent.test" if n % 2 else f"silent-{n:04}.test" for n in range(number)]


def heavy_subdomains(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """Ten names of one domain, whose pages take all the time a reader gives them."""
    return _in_vain("heavy_subdomains", HEAVY, SUBDOMAINS, plan.heavy_pages, NESTED_LISTS)


def deadly_page(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """Pages that take more memory than a reader has: whoever reads one dies."""
    return _in_vain("deadly_page", DEADLY, 1, plan.deadly_pages, TINY_PARAGRAPHS)


def _in_vain(attack: AttackName, domain: str, names: int, pages: int, body: bytes) -> Stand:
    """So many pages, in turns at so many names, that nobody can read."""
    hosts = [f"n{n}.{domain}" for n in range(names)]
    page = Page(body)

    def unreadable(request: Request, now: datetime) -> Page | None:
        return None if path_number(request, "/page-", pages) is None else page

    urls = [f"http://{hosts[n % names]}/page-{n}" for n in range(pages)]
    feed = rss("Archive", [Item(url, f"Page {canary(attack, n)}") for n, url in enumerate(urls)])
    site = Pages({"/feed.xml": always(feed)}, unreadable)
    followed = with_feed(attack, f"http://{domain}/")
    return Stand(dict.fromkeys((domain, *hosts), site), (followed,))


def foreign_flood(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """A feed with thousands of addresses that it never listed before, of names of its own making and of others."""
    names = [f"f{n:03}.flood.test" for n in range(FLOOD_NAMES)]
    hosts = [*names, *{urlsplit(url).netloc: None for url in plan.articles}]
    page = Pages({}, lambda request, now: article(f"Page {canary('foreign_flood', 0)}", lines("foreign_flood", 0)))
    followed = with_feed("foreign_flood", f"http://{FLOOD}/")
    return Stand({FLOOD: Flood(plan.flood, tuple(hosts)), **dict.fromkeys(names, page)}, (followed,))


@dataclass(frozen=True, slots=True)
class Flood:
    """Remembers how often it was polled: that alone makes its addresses new."""

    size: int
    hosts: tuple[str, ...]
    polls: "count[int]" = field(default_factory=count)

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path != "/feed.xml":
            return None
        poll, title = next(self.polls), f"Page {canary('foreign_flood', 0)}"
        hosts = self.hosts
        items = [Item(f"http://{hosts[n % len(hosts)]}/flood/{poll}-{n}", title) for n in range(self.size)]
        return rss("Everything", items)


def many_names(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """Thousands of names, each with one page, that all lead to one machine; half of them under one domain."""
    names = crowd_hosts(plan.crowd)
    page = Pages({"/page": always(article(f"Page {canary('many_names', 0)}", lines("many_names", 0)))})
    urls = [f"http://{name}/page" for name in names]
    feed = rss("Names", [Item(url, f"Page {canary('many_names', n)}") for n, url in enumerate(urls)])
    followed = with_feed("many_names", f"http://{CROWD}/")
    return Stand({CROWD: Pages({"/feed.xml": always(feed)}), **dict.fromkeys(names, page)}, (followed,))


def crowd_hosts(number: int) -> list[str]:
    return [f"c{n:04}.crowd.test" if n % 2 else f"crowd-{n:04}.test" for n in range(number)]
