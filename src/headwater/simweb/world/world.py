"""The simulated web's contents: a seed makes the publishers, and time makes what they publish."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from headwater.errors import UsageError
from headwater.simweb.message import Page, Site
from headwater.simweb.world.cache import Cache
from headwater.simweb.world.careersite import CareerSite
from headwater.simweb.world.casting import cast
from headwater.simweb.world.docsites import DocsSite
from headwater.simweb.world.newsroom import Item, Newsroom, Story
from headwater.simweb.world.newssite import NewsSite
from headwater.simweb.world.opml import opml_of
from headwater.simweb.world.publishers import Publisher
from headwater.simweb.world.specials.hosts import COPIES, SPECIAL_HOSTS, peculiar, special_publisher
from headwater.simweb.world.templates.guises import Guise, GuiseName
from headwater.simweb.world.vacancies import Board, Opening, Vacancy

CACHED_DAYS = 20_000


class Sites(Mapping[str, Site]):
    """Sites by host, each built when first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], Site]]) -> None:
        self._makers = makers
        self._built: dict[str, Site] = {}

    def __getitem__(self, host: str) -> Site:
        if host not in self._built:
            self._built[host] = self._makers[host]()
        return self._built[host]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class World:
    """Equal arguments make equal worlds, byte by byte, whenever and in whatever order they are looked at."""

    def __init__(
        self,
        seed: int,
        publishers: int,
        *,
        start: datetime,
        history: timedelta = timedelta(days=30),
        rate: float = 1.0,
        crawl_delays: Sequence[float] = (1.0, 2.0, 5.0),
        cached_pages: int = 2_000,
    ) -> None:
        if publishers < 1:
            raise UsageError("A world needs at least one publisher.", fix="Ask for 1 or more.")
        self._seed = seed
        self._opened = start - history
        self._pages: Cache[Page] = Cache(cached_pages)
        self._days: Cache[tuple[Story, ...]] = Cache(CACHED_DAYS)
        self._openings: Cache[tuple[Opening, ...]] = Cache(CACHED_DAYS)
        self._newsrooms: dict[str, Newsroom] = {}
        self.publishers = cast(seed, publishers, rate, crawl_delays)
        self.specials = tuple(special_publisher(publishers + n, host) for n, host in enumerate(SPECIAL_HOSTS))
        self._by_host = {p.host: p for p in (*self.publishers, *self.specials)}
        ordinary = {host: partial(self._site, publisher) for host, publisher in self._by_host.items()}
        copied = {host: partial(self._copy, make) for host, make in COPIES.items()}
        self.sites: Mapping[str, Site] = Sites({**ordinary, **copied})

    def items(self, publisher: Publisher, now: datetime) -> Iterator[Item]:
        """What stands on a news or documentation site, newest first."""
        match publisher.kind:
            case "news":
                newsroom = self._newsroom(publisher)
                return (newsroom.item(story, now) for story in newsroom.stories(now))
            case "docs":
                return DocsSite(publisher, self._seed, self._opened).items()
            case "jobs":
                return iter(())

    def guises(self, publisher: Publisher, name: GuiseName, now: datetime) -> Iterator[Guise]:
        """Pages of a news site that are not what they seem, with the truth about each, newest story first."""
        if publisher.kind != "news":
            return iter(())
        return NewsSite(self._newsroom(publisher), self._opened, self._pages).guises(name, now)

    def removed(self, publisher: Publisher, now: datetime) -> Iterator[str]:
        """Addresses of articles that were published and taken down again."""
        if publisher.kind != "news":
            return iter(())
        newsroom = self._newsroom(publisher)
        return map(newsroom.url, newsroom.removed(now))

    def vacancies(self, publisher: Publisher, now: datetime) -> Iterator[Vacancy]:
        """What a career site offers at this moment, newest first."""
        return self._board(publisher).open_at(now) if publisher.kind == "jobs" else iter(())

    def urls(self, now: datetime) -> Iterator[str]:
        """Every article, manual page and vacancy of every publisher."""
        for publisher in self.publishers:
            match publisher.kind:
                case "news":
                    newsroom = self._newsroom(publisher)
                    yield from map(newsroom.url, newsroom.stories(now))
                case "docs":
                    yield from (item.url for item in self.items(publisher, now))
                case "jobs":
                    yield from (vacancy.url for vacancy in self.vacancies(publisher, now))

    def opml(self, title: str = "Simulated publishers") -> str:
        return opml_of(self.publishers, title)

    def _site(self, publisher: Publisher) -> Site:
        match publisher.kind:
            case "news":
                site = NewsSite(self._newsroom(publisher), self._opened, self._pages)
                return peculiar(publisher.host, site)
            case "docs":
                return DocsSite(publisher, self._seed, self._opened)
            case "jobs":
                return CareerSite(self._board(publisher), self._opened)

    def _copy(self, make: Callable[[Site, str], Site]) -> Site:
        original = self.publishers[0].host
        return make(self.sites[original], original)

    def _newsroom(self, publisher: Publisher) -> Newsroom:
        if publisher.host not in self._newsrooms:
            reprinted = self._newsroom(self._by_host[publisher.reprints]) if publisher.reprints else None
            newsroom = Newsroom(publisher, self._seed, self._opened, self._days, reprinted)
            self._newsrooms[publisher.host] = newsroom
        return self._newsrooms[publisher.host]

    def _board(self, publisher: Publisher) -> Board:
        return Board(publisher, self._seed, self._opened, self._openings)
