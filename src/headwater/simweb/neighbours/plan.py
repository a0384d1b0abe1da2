"""What the neighbour does and to whom, as plain data, and what one attack puts on the web."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Literal, get_args

from headwater.simweb.message import Page, Request, Site
from headwater.simweb.mischief.stage import Mischief

AttackName = Literal[
    "stolen_words",
    "stolen_vacancies",
    "false_canonical",
    "stories_as_jobs",
    "copies",
    "heavy_listing",
    "silent_names",
    "heavy_subdomains",
    "deadly_page",
    "foreign_flood",
    "many_names",
    "effects",
    "hidden_text",
]
ATTACKS: tuple[AttackName, ...] = get_args(AttackName)
DOMAIN = "mallory.test"


@dataclass(frozen=True, slots=True)
class Plan:
    """The attacks that are on, the addresses of others they aim at, and how large each is."""

    attacks: tuple[AttackName, ...] = ()
    articles: tuple[str, ...] = ()  # open, refused or forbidden by robots.txt, as the caller likes
    vacancies: tuple[str, ...] = ()  # where to apply, at other employers
    stories: tuple[str, ...] = ()  # a newspaper's, listed as vacancies
    copied: tuple[str, ...] = ()  # articles shown under the neighbour's own name, always in their newest text
    silent_names: int = 2_000
    heavy_pages: int = 30  # on ten subdomains
    deadly_pages: int = 3
    flood: int = 10_000  # new addresses at every poll
    crowd: int = 3_000  # names on one address


Source = Literal["news", "jobs"]


@dataclass(frozen=True, slots=True)
class Followed:
    """A source as an operator would follow it; without feeds its page is a listing to look through."""

    attack: AttackName
    url: str
    kind: Source = "news"
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    is_hostile: bool = True


def with_feed(attack: AttackName, home: str, *, is_hostile: bool = True) -> Followed:
    """A source of news whose feed lies below its home, which ends in a slash."""
    return Followed(attack, home, feeds=(f"{home}feed.xml",), is_hostile=is_hostile)


def no_mischief() -> Mapping[str, Mischief]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Stand:
    """What one attack puts on the web."""

    sites: Mapping[str, Site]
    followed: tuple[Followed, ...]
    mischief: Mapping[str, Mischief] = field(default_factory=no_mischief)  # by host


Attack = Callable[[Plan, Mapping[str, Site]], Stand]
Written = Callable[[Request, datetime], Page | None]


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages by their path, each written when it is asked for; `other` is asked for all further paths."""

    named: Mapping[str, Written]
    other: Written = lambda _request, _now: None

    def page(self, request: Request, now: datetime) -> Page | None:
        return self.named.get(request.path, self.other)(request, now)


def always(page: Page) -> Written:
    return lambda _request, _now: page


def path_number(request: Request, prefix: str, below: int) -> int | None:
    """The number in `<prefix><number>`, if there are so many."""
    said = request.path.removeprefix(prefix)
    is_one = said != request.path and said.isdecimal() and len(said) < 10
    return int(said) if is_one and int(said) < below else None
