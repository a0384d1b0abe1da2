"""Who publishes in the simulated web, as values: everything about a publisher that does not change."""

from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo

from headwater.simweb.world.languages import Language
from headwater.simweb.world.robots import Robots

Kind = Literal["news", "jobs", "docs"]
FeedKind = Literal["rss", "rdf", "atom", "json"]
SitemapKind = Literal["plain", "index", "news", "gzip"]
Pagination = Literal["page", "offset", "cursor"]


@dataclass(frozen=True, slots=True)
class Feed:
    url: str
    path: str
    kind: FeedKind
    window: int  # how many of the newest items it lists
    has_full_text: bool = False
    is_linked: bool = True  # announced in the home page's head
    tracks_clicks: bool = False  # links carry utm parameters
    has_relative_links: bool = False  # Atom only, against xml:base
    has_permalink_guids: bool = True  # RSS only
    ttl_minutes: int | None = None
    max_age_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Sitemap:
    url: str
    path: str
    kind: SitemapKind


@dataclass(frozen=True, slots=True)
class Publisher:
    number: int
    host: str
    name: str
    kind: Kind
    speech: Language
    country: str
    timezone: str
    rate: float  # items or vacancies a day, averaged over a week
    rhythm: str
    robots: Robots
    feeds: tuple[Feed, ...] = ()
    sitemaps: tuple[Sitemap, ...] = ()
    template: str = "semantic"
    url_style: str = "dated"
    listing_style: str = "cards"
    pagination: str = "query"
    charset: str = "utf-8"
    is_charset_in_header: bool = True
    reprints: str = ""  # the host whose articles it copies now and then
    org_type: str = ""  # for jobs
    api: Pagination | None = None  # for jobs

    @property
    def language(self) -> str:
        return self.speech.code

    @property
    def home(self) -> str:
        return f"http://{self.host}/"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def html_type(self) -> str:
        return f"text/html; charset={self.charset}" if self.is_charset_in_header else "text/html"
