"""A site that says what may be done with its pages, each page in another convention."""

from collections.abc import Mapping

from headwater.simweb.message import Page, Request
from headwater.simweb.world.specials.special import Room, links, simple_page

HOST = "rights.test"
ROBOTS = """User-agent: *
Content-Signal: /signal/ search=yes, ai-input=no, ai-train=no
Content-Usage: /usage/ train-ai=n, search=y
Content-Usage: /usage/open/ train-ai=y
Disallow: /closed/

License: http://rights.test/licence.xml
"""
TDMREP = (
    b'[{"location": "/tdm/*", "tdm-reservation": 1, "tdm-policy": "http://rights.test/policy.json"},'
    b' {"location": "/free/", "tdm-reservation": 0}]'
)
RSL_LINK = '<http://rights.test/licence.xml>; rel="license"; type="application/rsl+xml"'
# Path -> what its head and header say.
STORIES: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "/silent": ("", ()),
    "/signal/story": ("", ()),
    "/usage/story": ("", ()),
    "/usage/open/story": ("", ()),
    "/tdm/story": ("", ()),
    "/free/story": ("", ()),
    "/header/usage": ("", (("Content-Usage", "train-ai=n, ai-input=y, some-new-use=n"),)),
    "/header/tdm": ("", (("tdm-reservation", "1"), ("tdm-policy", "/policy.json"))),
    "/header/licence": ("", (("Link", RSL_LINK),)),
    "/header/noai": ("", (("X-Robots-Tag", "noai, noimageai"),)),
    "/page/tdm": ('<meta name="tdm-reservation" content="1"><meta name="tdm-policy" content="/policy.json">', ()),
    "/page/noai": ('<meta name="robots" content="noai">', ()),
    "/page/licence": ('<link rel="license" type="application/rsl+xml" href="/licence.xml">', ()),
    "/unsearched": ("", (("Content-Usage", "search=n"),)),
    "/rsl/story": ("", ()),
}
FEED = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:rsl="https://rslstandard.org/rsl"><channel><title>Rights</title><link>http://rights.test/</link>
<item><title>Terms of rsl</title><link>http://rights.test/rsl/story</link>
<rsl:content url="/rsl/story"><rsl:license><rsl:permits type="usage">search</rsl:permits>
<rsl:prohibits type="usage">ai-train</rsl:prohibits></rsl:license></rsl:content></item>
</channel></rss>
"""
PAID = (("crawler-price", "USD 0.02"), ("Link", RSL_LINK), ("WWW-Authenticate", "License"))
ASKS_WHO_WE_ARE = (("cf-mitigated", "challenge"),)
_SENTENCE = "The {name} of the harbour is told at length here, so that sentence number {n} has words of its own. "


def claiming(request: Request) -> Page | None:
    match request.path:
        case "/robots.txt":
            return Page(ROBOTS.encode(), "text/plain")
        case "/.well-known/tdmrep.json":
            return Page(TDMREP, "application/json")
        case "/rights.xml":
            return Page(FEED.encode(), "application/rss+xml")
        case "/paid":
            return Page(b"<title>402</title>Pay first.", status=402, headers=PAID)
        case "/challenged":
            return Page(b"<title>One moment</title>", status=202, headers=ASKS_WHO_WE_ARE)
        case path if path in STORIES:
            return _story(path)
    return None


def _story(path: str) -> Page:
    head, headers = STORIES[path]
    name = " ".join(path.strip("/").split("/"))
    text = "".join(_SENTENCE.format(name=name, n=n) for n in range(12))
    return simple_page(f"The {name}", f"<article><p>{text}</p></article>", head=head, headers=headers)


CLAIMING: Mapping[str, tuple[str, Room]] = {
    HOST: (f"<ul>{links([(path, path) for path in STORIES])}</ul>", claiming),
}
