"""The list of special hosts and how each is built."""

from collections.abc import Callable, Mapping

from headwater.simweb.message import Site
from headwater.simweb.world.languages.en import ENGLISH
from headwater.simweb.world.publishers import Feed, Publisher, Sitemap
from headwater.simweb.world.robots import Robots
from headwater.simweb.world.specials.claims import CLAIMING
from headwater.simweb.world.specials.copies import Mirror, NearCopy
from headwater.simweb.world.specials.manners import ASKING, ConsentWall, Soft404, Variants
from headwater.simweb.world.specials.special import Special
from headwater.simweb.world.specials.traps import TRAPS, Sessions

DISALLOWED: Mapping[str, tuple[str, ...]] = {"private.test": ("/members/",)}
# Nothing is wrong with slow.test and broken.test until somebody scripts mischief for them.
PLAIN = ("private.test", "slow.test", "broken.test")
WRAPPED: Mapping[str, Callable[[Site], Site]] = {
    "session.test": Sessions,
    "soft404.test": Soft404,
    "canonical.test": Variants,
    "consent.test": ConsentWall,
}
# What they make of the first publisher's site.
COPIES: Mapping[str, Callable[[Site, str], Site]] = {
    "mirror.test": lambda site, host: Mirror(site, host, "mirror.test"),
    "near.test": lambda site, host: NearCopy(Mirror(site, host, "near.test")),
}
SPECIAL_HOSTS = (*TRAPS, *ASKING, *WRAPPED, *PLAIN, *CLAIMING)


def special_publisher(number: int, host: str) -> Publisher:
    return Publisher(
        number=number,
        host=host,
        name=host.removesuffix(".test").capitalize() + " Bulletin",
        kind="news",
        speech=ENGLISH,
        country="GB",
        timezone="Europe/London",
        rate=3.0,
        rhythm="around_the_clock",
        robots=Robots(disallow=DISALLOWED.get(host, ()), lists_sitemaps=True),
        feeds=(Feed(f"http://{host}/feed.xml", "/feed.xml", "rss", 20),),
        sitemaps=(Sitemap(f"http://{host}/sitemap.xml", "/sitemap.xml", "plain"),),
        template="jsonld",
        url_style="story",
    )


def peculiar(host: str, site: Site) -> Site:
    """The ordinary site of this host, with its peculiarity."""
    if host in WRAPPED:
        return WRAPPED[host](site)
    door, room = {**TRAPS, **ASKING, **CLAIMING}.get(host, ("", None))
    return Special(site, door, room) if room else site
