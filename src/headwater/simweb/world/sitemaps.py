"""Sitemaps: plain, news, and indexes of one child a month."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater.simweb.world.markup import in_xml

PROLOG = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
NEWS_NAMESPACE = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'


@dataclass(frozen=True, slots=True)
class Place:
    url: str
    changed: datetime


@dataclass(frozen=True, slots=True)
class Headline:
    place: Place
    title: str
    published: datetime


def urlset(places: Iterable[Place]) -> str:
    urls = "\n".join(f"<url>{_located(place)}</url>" for place in places)
    return f"{PROLOG}<urlset {NAMESPACE}>\n{urls}\n</urlset>\n"


def index(children: Iterable[Place]) -> str:
    maps = "\n".join(f"<sitemap>{_located(child)}</sitemap>" for child in children)
    return f"{PROLOG}<sitemapindex {NAMESPACE}>\n{maps}\n</sitemapindex>\n"


def news(headlines: Sequence[Headline], name: str, language: str) -> str:
    publication = (
        f"<news:publication><news:name>{in_xml(name)}</news:name>"
        f"<news:language>{language}</news:language></news:publication>"
    )
    urls = "\n".join(
        f"<url>{_located(h.place)}<news:news>{publication}"
        f"<news:publication_date>{h.published.isoformat()}</news:publication_date>"
        f"<news:title>{in_xml(h.title)}</news:title></news:news></url>"
        for h in headlines
    )
    return f"{PROLOG}<urlset {NAMESPACE} {NEWS_NAMESPACE}>\n{urls}\n</urlset>\n"


def _located(place: Place) -> str:
    return f"<loc>{in_xml(place.url)}</loc><lastmod>{place.changed.isoformat()}</lastmod>"
