"""Spider traps: places where following every link never ends."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from urllib.parse import parse_qs, urlencode

from headwater.simweb.message import Page, Request, Site
from headwater.simweb.world.dice import Dice
from headwater.simweb.world.specials.special import Room, links, simple_page

MONTH = re.compile(r"(\d{1,4})-(\d{2})")
SESSION = re.compile(r";jsessionid=\w+$")
LOCAL_LINK = re.compile(rb'href="(/[^"?;#]*)"')
FACETS = {
    "colour": ("red", "blue", "green", "grey"),
    "size": ("s", "m", "l", "xl"),
    "brand": ("alder", "birch", "cedar", "elm"),
    "price": ("low", "middle", "high"),
    "sort": ("new", "cheap", "rated"),
}
MAZE_LINKS = 50
LATEST_YEAR = 9998


def calendar(request: Request) -> Page | None:
    """Every month links to the one before and the one after, for ever."""
    if request.path != "/calendar":
        return None
    asked = MONTH.fullmatch(parse_qs(request.query).get("month", ["2026-01"])[0])
    if asked is None:
        return None
    year, month = min(int(asked[1]), LATEST_YEAR), int(asked[2])
    months = year * 12 + month - 1
    ways = [
        (f"/calendar?month={n // 12:04}-{n % 12 + 1:02}", said) for n, said in ((months - 1, "«"), (months + 1, "»"))
    ]
    days = [(f"/calendar?month={year:04}-{month:02}&day={day}", str(day)) for day in range(1, 29)]
    return simple_page(f"Events in {year:04}-{month:02}", f"<ul>{links(ways + days)}</ul><p>No events on this day.</p>")


def endless(request: Request) -> Page | None:
    """There is always a next page, and it always shows the same."""
    if request.path != "/archive":
        return None
    said = parse_qs(request.query).get("page", ["1"])[0]
    page = int(said) if said.isdecimal() and len(said) < 12 else 1
    body = f'<p>Older entries.</p><a rel="next" href="/archive?page={page + 1}">Next page</a>'
    return simple_page(f"Archive, page {page}", body)


def maze(request: Request) -> Page | None:
    """Fifty links with fresh random names on every page."""
    if not request.path.startswith("/maze/"):
        return None
    dice = Dice("maze", request.path)
    return simple_page("Corridor", f"<ul>{links([(f'/maze/{dice.key():x}', 'Door') for _ in range(MAZE_LINKS)])}</ul>")


def repeat(request: Request) -> Page | None:
    """A relative link that makes the path longer with every step."""
    if not request.path.startswith("/loop/"):
        return None
    return simple_page("Loop", f"<ul>{links([('loop/', 'Deeper'), ('./again/again/', 'Again')])}</ul>")


def facets(request: Request) -> Page | None:
    """Filters that combine freely, in any order."""
    if request.path != "/shop":
        return None
    chosen = {name: values[0] for name, values in parse_qs(request.query).items()}
    filters = [
        (f"/shop?{urlencode(chosen | {name: value})}", f"{name}: {value}")
        for name, values in FACETS.items()
        for value in values
    ]
    return simple_page("Shop", f"<ul>{links(filters)}</ul><p>{len(list(product(*FACETS.values())))} articles</p>")


def actions(request: Request) -> Page | None:
    """Links that do something: a visit here is an accident."""
    if request.path in ("/logout", "/account", "/delete"):
        return simple_page("Done", "<p>As you wish.</p>")
    return None


TRAPS: Mapping[str, tuple[str, Room]] = {
    "calendar.test": ('<a href="/calendar?month=2026-01">Calendar</a>', calendar),
    "endless.test": ('<a href="/archive?page=1">Archive</a>', endless),
    "maze.test": ('<a href="/maze/entrance">Maze</a>', maze),
    "repeat.test": ('<a href="/loop/">Loop</a>', repeat),
    "facets.test": ('<a href="/shop">Shop</a>', facets),
    "actions.test": (
        (
            '<a href="/logout">Sign out</a> <a href="/account?action=delete&amp;id=7">Delete account</a> '
            '<a href="/delete?id=7">Delete</a>'
        ),
        actions,
    ),
}


@dataclass(frozen=True, slots=True)
class Sessions:
    """Every link of every page carries a session id that nobody has seen before."""

    site: Site

    def page(self, request: Request, now: datetime) -> Page | None:
        page = self.site.page(replace(request, path=SESSION.sub("", request.path)), now)
        if page is None or not page.content_type.startswith("text/html"):
            return page
        session = f"{Dice(request.path, request.query).key():012x}".encode()
        return replace(page, body=LOCAL_LINK.sub(rb'href="\1;jsessionid=' + session + b'"', page.body))
