"""Inventing publishers. Kinds, languages and templates take turns, so that even a dozen publishers show them all."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp

from headwater.simweb.world.dice import Dice
from headwater.simweb.world.languages import Language
from headwater.simweb.world.languages.ar import ARABIC
from headwater.simweb.world.languages.de import GERMAN
from headwater.simweb.world.languages.en import ENGLISH
from headwater.simweb.world.languages.es import SPANISH
from headwater.simweb.world.languages.fr import FRENCH
from headwater.simweb.world.languages.pt import PORTUGUESE
from headwater.simweb.world.languages.ru import RUSSIAN
from headwater.simweb.world.markup import slug_of
from headwater.simweb.world.publishers import Feed, FeedKind, Kind, Pagination, Publisher, Sitemap, SitemapKind
from headwater.simweb.world.robots import Robots

KINDS: tuple[Kind, ...] = (
    "news",
    "news",
    "jobs",
    "news",
    "news",
    "news",
    "docs",
    "news",
    "news",
    "news",
    "news",
    "news",
)
SPOKEN = (
    *(ENGLISH, GERMAN, ENGLISH, FRENCH, ARABIC, SPANISH, ENGLISH, RUSSIAN),
    *(PORTUGUESE, ENGLISH, GERMAN, ENGLISH, FRENCH, ENGLISH, SPANISH, ENGLISH),
)
TEMPLATES = ("jsonld", "wordpress", "opengraph", "graph", "semantic", "soup")
URL_STYLES = ("dated", "section", "story", "query")
LISTING_STYLES = ("cards", "list", "rows")
JOB_LISTING_STYLES = ("job-listing", "job-row", "job", "links")
NEWS_RHYTHMS = ("office_hours", "around_the_clock", "morning_paper", "weekly", "evenings", "bursts")
# Arabic names have no Latin spelling of their own here, but hosts need one.
LATIN_NAMES = ("sawt-alsahil", "akhbar-alwadi", "sada-almina", "minbar-alnahr", "naba-alsharq")
HIDDEN_PATHS = ("/members/", "/search", "/print/")
UNWELCOME = (("GreedyBot",), ("GreedyBot", "PriceScraper"), ("TrainingCrawler",))
FEED_PATHS: dict[FeedKind, tuple[str, ...]] = {
    "rss": ("/feed", "/rss.xml", "/feed.xml", "/index.xml"),
    "rdf": ("/index.rdf", "/rss"),
    "atom": ("/atom.xml", "/feed.atom", "/feeds/all.atom.xml"),
    "json": ("/feed.json", "/index.json"),
}
SITEMAP_PATHS: dict[SitemapKind, str] = {
    "plain": "/sitemap.xml",
    "index": "/sitemap_index.xml",
    "news": "/news-sitemap.xml",
    "gzip": "/sitemap.xml.gz",
}
ORG_NAMES = (
    ("River", "Open Hands", "Clear Water", "First Light", "Green Belt", "Safe Harbour", "Common Field", "New Roots"),
    ("Relief", "Aid Network", "Foundation", "Institute", "Alliance", "Agency", "Initiative"),
)
ORG_TYPES = ("un", "ingo", "ngo", "academic", "foundation", "gov", "social_enterprise", "network")
TOOL_NAMES = ("Anvil", "Lantern", "Pebble", "Sextant", "Loom", "Kettle", "Marble", "Trellis", "Beacon", "Quill")
APIS: tuple[Pagination | None, ...] = ("page", "offset", "cursor", None)


def cast(seed: int, count: int, rate: float, crawl_delays: Sequence[float]) -> tuple[Publisher, ...]:
    taken: dict[str, Publisher] = {}
    for number in range(count):
        dice = Dice(seed, "publisher", number)
        publisher = _INVENT[KINDS[number % len(KINDS)]](number, dice, taken, crawl_delays)
        taken[publisher.host] = replace(publisher, rate=publisher.rate * rate)
    return tuple(taken.values())


def _news(number: int, dice: Dice, taken: dict[str, Publisher], delays: Sequence[float]) -> Publisher:
    speech = SPOKEN[number % len(SPOKEN)]
    country, zone = dice.one(speech.homes)
    name = " ".join(dice.one(half) for half in speech.papers) if number else "Harbour News"
    host = _free_host(slug_of(name) if speech is not ARABIC else dice.one(LATIN_NAMES), number, taken)
    sitemaps = _sitemaps(host, dice)
    charset, in_header = _charset(speech, dice)
    return Publisher(
        number=number,
        host=host,
        name=name,
        kind="news",
        speech=speech,
        country=country,
        timezone=zone,
        rate=_rate(dice, middle=8, highest=120),
        rhythm=dice.one(NEWS_RHYTHMS),
        robots=_robots(dice, delays, HIDDEN_PATHS),
        feeds=_feeds(host, number, dice),
        sitemaps=sitemaps,
        template=TEMPLATES[(number + number // len(KINDS)) % len(TEMPLATES)],
        url_style=dice.one(URL_STYLES),
        listing_style=dice.one(LISTING_STYLES),
        pagination=dice.one(("query", "rel_next")),
        charset=charset,
        is_charset_in_header=in_header,
        reprints=_reprinted(speech, taken, dice),
    )


def _jobs(number: int, dice: Dice, taken: dict[str, Publisher], delays: Sequence[float]) -> Publisher:
    name = " ".join(dice.one(half) for half in ORG_NAMES)
    host = _free_host(f"careers.{slug_of(name)}", number, taken)
    country, zone = dice.one(ENGLISH.homes)
    feed = _feed(host, "rss", "/careers/feed.xml", dice)
    return Publisher(
        number=number,
        host=host,
        name=name,
        kind="jobs",
        speech=ENGLISH,
        country=country,
        timezone=zone,
        rate=_rate(dice, middle=1.5, highest=12),
        rhythm="office_hours",
        robots=_robots(dice, delays, ("/careers/apply/", "/search")),
        feeds=(feed,) if dice.happens(0.5) else (),
        sitemaps=(_sitemap(host, "plain"),) if dice.happens(0.5) else (),
        listing_style=JOB_LISTING_STYLES[number // len(KINDS) % len(JOB_LISTING_STYLES)],
        org_type=dice.one(ORG_TYPES),
        api=APIS[number // len(KINDS) % len(APIS)],
    )


def _docs(number: int, dice: Dice, taken: dict[str, Publisher], delays: Sequence[float]) -> Publisher:
    name = dice.one(TOOL_NAMES)
    host = _free_host(f"docs.{slug_of(name)}", number, taken)
    return Publisher(
        number=number,
        host=host,
        name=name,
        kind="docs",
        speech=ENGLISH,
        country="US",
        timezone="America/Chicago",
        rate=0.0,
        rhythm="office_hours",
        robots=_robots(dice, delays, ("/search", "/draft/")),
        sitemaps=(_sitemap(host, "plain"),) if dice.happens(0.7) else (),
    )


_INVENT = {"news": _news, "jobs": _jobs, "docs": _docs}


def _free_host(name: str, number: int, taken: dict[str, Publisher]) -> str:
    host = f"{name}.test"
    return f"{name}-{number}.test" if host in taken else host


def _rate(dice: Dice, middle: float, highest: float) -> float:
    """A long tail: most publish a little, a few a great deal."""
    spread = sum(dice.fraction() for _ in range(4)) - 2
    return round(min(middle * exp(1.6 * spread), highest), 2)


def _charset(speech: Language, dice: Dice) -> tuple[str, bool]:
    if dice.happens(0.7):
        return "utf-8", dice.happens(0.8)
    return speech.legacy_charset, dice.happens(0.5)


def _reprinted(speech: Language, taken: dict[str, Publisher], dice: Dice) -> str:
    """An older publisher of the same language that reprints nobody itself, so that copies never chain."""
    originals = [p.host for p in taken.values() if p.kind == "news" and p.speech is speech and not p.reprints]
    return dice.one(originals) if originals and dice.happens(0.25) else ""


def _robots(dice: Dice, delays: Sequence[float], hidden: Sequence[str]) -> Robots:
    if dice.happens(0.15):
        return Robots(is_missing=True)
    return Robots(
        disallow=dice.some(hidden, dice.count(1, len(hidden))) if dice.happens(0.5) else (),
        crawl_delay=dice.one(delays) if delays and dice.happens(0.12) else None,
        unwelcome=dice.one(UNWELCOME) if dice.happens(0.2) else (),
        lists_sitemaps=dice.happens(0.7),
    )


def _feeds(host: str, number: int, dice: Dice) -> tuple[Feed, ...]:
    if number and dice.happens(0.1):
        return ()
    kinds: tuple[FeedKind, ...] = ("rss", "atom", "json", "rdf", "rss", "atom")
    first = kinds[(number + number // len(KINDS)) % len(kinds)]
    feeds = [_feed(host, first, dice.one(FEED_PATHS[first]) if number else "/feed.xml", dice)]
    if first == "rss" and dice.happens(0.2):
        feeds.append(_feed(host, "json", "/feed.json", dice))
    return tuple(feeds)


def _feed(host: str, kind: FeedKind, path: str, dice: Dice) -> Feed:
    return Feed(
        url=f"http://{host}{path}",
        path=path,
        kind=kind,
        window=dice.one((10, 15, 20, 20, 30, 50)),
        has_full_text=kind != "rdf" and dice.happens(0.35),
        is_linked=dice.happens(0.8),
        tracks_clicks=dice.happens(0.2),
        has_relative_links=kind == "atom" and dice.happens(0.3),
        has_permalink_guids=dice.happens(0.6),
        ttl_minutes=dice.one((15, 30, 60)) if kind == "rss" and dice.happens(0.4) else None,
        max_age_seconds=dice.one((300, 900, 1800)) if dice.happens(0.4) else None,
    )


def _sitemaps(host: str, dice: Dice) -> tuple[Sitemap, ...]:
    if dice.happens(0.2):
        return ()
    kinds: tuple[SitemapKind, ...] = ("plain", "index", "gzip")
    whole = _sitemap(host, dice.one(kinds))
    return (whole, _sitemap(host, "news")) if dice.happens(0.5) else (whole,)


def _sitemap(host: str, kind: SitemapKind) -> Sitemap:
    path = SITEMAP_PATHS[kind]
    return Sitemap(f"http://{host}{path}", path, kind)
