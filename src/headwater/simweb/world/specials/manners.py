"""Sites that ask for manners: keep out, do not index, look elsewhere, agree first, not found although it says 200."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from headwater.simweb.message import Page, Request, Site
from headwater.simweb.world.specials.special import Room, links, simple_page

FOUND_ARTICLE = re.compile(r"/(news|article)")
LONG_TEXT = "<p>This text is long enough to be an article, but its owner asked robots not to keep it.</p>" * 20


def noindex(request: Request) -> Page | None:
    match request.path:
        case "/hidden/meta":
            return simple_page("Not for the index", LONG_TEXT, head='<meta name="robots" content="noindex">')
        case "/hidden/header":
            return simple_page("Not for the index", LONG_TEXT, headers=(("X-Robots-Tag", "noindex"),))
        case "/hidden/nofollow":
            way = f"<ul>{links([('/unreachable/', 'Do not go there')])}</ul>"
            return simple_page("Do not follow", way, head='<meta name="robots" content="nofollow">')
        case "/unreachable/":
            return simple_page("Only linked with nofollow", LONG_TEXT)
    return None


def refresh(request: Request) -> Page | None:
    if request.path == "/moved":
        return simple_page("Moved", "<p>One moment.</p>", head='<meta http-equiv="refresh" content="0; url=/latest">')
    if request.path == "/moved-in-circles":
        head = '<meta http-equiv="refresh" content="1;URL=\'/moved-in-circles\'">'
        return simple_page("Moved", "<p>One moment.</p>", head=head)
    return None


ASKING: Mapping[str, tuple[str, Room]] = {
    "noindex.test": (
        (
            '<a href="/hidden/meta">A</a> <a href="/hidden/header">B</a> <a href="/hidden/nofollow">C</a> '
            '<a rel="nofollow" href="/unreachable/">D</a>'
        ),
        noindex,
    ),
    "refresh.test": ('<a href="/moved">Old address</a> <a href="/moved-in-circles">Older address</a>', refresh),
}


@dataclass(frozen=True, slots=True)
class Soft404:
    """Answers 200 to anything, also where nothing is."""

    site: Site

    def page(self, request: Request, now: datetime) -> Page | None:
        found = self.site.page(request, now)
        if found is not None or request.path == "/robots.txt":
            return found
        return simple_page(
            "Page not found", '<p>Sorry, this page does not exist. <a href="/">Back to the start</a></p>'
        )


@dataclass(frozen=True, slots=True)
class Variants:
    """Every article also stands under /amp, in upper case and with any parameter; the canonical link names one."""

    site: Site

    def page(self, request: Request, now: datetime) -> Page | None:
        path = request.path.removeprefix("/amp")
        page = self.site.page(replace(request, path=path or "/"), now) or self.site.page(
            replace(request, path=path.lower()), now
        )
        if page is None or request.path != "/":
            return page
        variants = re.sub(rb'(<a href=")(/news/[^"]+)(")', rb"\1/amp\2\3", page.body)
        return replace(page, body=page.body.replace(b"</main>", _main(variants) + b"</main>"))


@dataclass(frozen=True, slots=True)
class ConsentWall:
    """Shows its articles only to those who sent back the consent cookie."""

    site: Site

    def page(self, request: Request, now: datetime) -> Page | None:
        page = self.site.page(request, now)
        agreed = "consent=yes" in request.headers.get("cookie", "")
        if page is None or agreed or not FOUND_ARTICLE.match(request.path):
            return page
        body = "<p>Before you continue: we and our 312 partners would like your consent.</p><button>Accept all</button>"
        return simple_page("Your privacy", body, headers=(("Set-Cookie", "wall=shown; Path=/"),))


def _main(body: bytes) -> bytes:
    found = re.search(rb"<main>(.*)</main>", body, re.DOTALL)
    return found[1] if found else b""
