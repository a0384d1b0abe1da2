"""The machine-readable side of a news site: its feeds and sitemaps as they stand at a moment."""

import gzip
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from headwater.simweb.message import Page
from headwater.simweb.world import sitemaps
from headwater.simweb.world.cache import Cache
from headwater.simweb.world.feeds import Entry, Issue, feed_charset, feed_text, feed_type
from headwater.simweb.world.newsroom import Newsroom, Story
from headwater.simweb.world.pages import xml_page
from headwater.simweb.world.publishers import Feed
from headwater.simweb.world.sitemaps import Headline, Place

NEWS_SITEMAP_REACHES = timedelta(days=2)
Answer = Callable[[datetime], Page]


def version_of(stories: Sequence[Story], now: datetime) -> int:
    """Changes whenever what a page lists changes."""
    return hash(tuple((story.number, story.version(now)) for story in stories))


def last_change(stories: Sequence[Story], now: datetime) -> datetime | None:
    return max((story.changed_at(now) for story in stories), default=None)


class NewsChannels:
    def __init__(self, newsroom: Newsroom, opened: datetime, pages: Cache[Page]) -> None:
        self._newsroom = newsroom
        self._publisher = newsroom.publisher
        self._opened = opened
        self._pages = pages
        by_kind: dict[str, Answer] = {
            "plain": self._plain,
            "gzip": self._gzip,
            "index": self._index,
            "news": self._news,
        }
        self.answers: Mapping[str, Answer] = {
            **{feed.path: partial(self._feed, feed) for feed in self._publisher.feeds},
            **{sitemap.path: by_kind[sitemap.kind] for sitemap in self._publisher.sitemaps},
        }

    def month(self, path: str, now: datetime) -> Page | None:
        """A child of the sitemap index, `/sitemap-2026-05.xml`."""
        months = self._months(now)
        name = path.removeprefix("/sitemap-").removesuffix(".xml")
        return self._urlset(path, months[name], now) if name in months else None

    def _feed(self, feed: Feed, now: datetime) -> Page:
        stories = self._newsroom.newest(now, feed.window)
        key = (self._publisher.host, feed.path, version_of(stories, now))
        return self._pages.get(key, lambda: self._feed_page(feed, stories, now))

    def _feed_page(self, feed: Feed, stories: Sequence[Story], now: datetime) -> Page:
        entries = [self._entry(feed, story, now) for story in stories]
        changed = last_change(stories, now)
        text = feed_text(Issue(self._publisher, feed, entries, changed or self._opened))
        return Page(
            text.encode(feed_charset(self._publisher, feed), "xmlcharrefreplace"),
            feed_type(self._publisher, feed),
            last_modified=changed,
            cache_control=f"max-age={feed.max_age_seconds}" if feed.max_age_seconds else "",
        )

    def _entry(self, feed: Feed, story: Story, now: datetime) -> Entry:
        return Entry(
            number=story.number,
            path=story.path,
            title=story.title(now),
            summary=self._newsroom.lead(story),
            author=story.author,
            section=self._newsroom.topics[story.topic].section,
            published=story.published,
            updated=story.updated_at if story.version(now) else None,
            paragraphs=self._newsroom.item(story, now).paragraphs if feed.has_full_text else (),
        )

    def _plain(self, now: datetime) -> Page:
        return self._urlset("/sitemap.xml", tuple(self._newsroom.stories(now)), now)

    def _gzip(self, now: datetime) -> Page:
        plain = self._plain(now)
        key = (self._publisher.host, "/sitemap.xml.gz", plain.body)
        return self._pages.get(key, lambda: _packed(plain))

    def _index(self, now: datetime) -> Page:
        children = [
            Place(f"{self._publisher.home}sitemap-{month}.xml", last_change(stories, now) or self._opened)
            for month, stories in self._months(now).items()
        ]
        return xml_page(sitemaps.index(children), max((c.changed for c in children), default=None))

    def _news(self, now: datetime) -> Page:
        stories = [s for s in self._newsroom.stories(now) if s.published > now - NEWS_SITEMAP_REACHES]
        headlines = [Headline(self._place(s, now), s.title(now), s.published) for s in stories]
        text = sitemaps.news(headlines, self._publisher.name, self._publisher.language)
        return xml_page(text, last_change(stories, now))

    def _urlset(self, path: str, stories: Sequence[Story], now: datetime) -> Page:
        def render() -> Page:
            return xml_page(sitemaps.urlset(self._place(s, now) for s in stories), last_change(stories, now))

        return self._pages.get((self._publisher.host, path, version_of(stories, now)), render)

    def _months(self, now: datetime) -> dict[str, list[Story]]:
        months: dict[str, list[Story]] = {}
        for story in self._newsroom.stories(now):
            months.setdefault(f"{story.published:%Y-%m}", []).append(story)
        return months

    def _place(self, story: Story, now: datetime) -> Place:
        return Place(self._newsroom.url(story), story.changed_at(now))


def _packed(plain: Page) -> Page:
    # No time stamp inside: the same map must be the same bytes.
    return Page(gzip.compress(plain.body, mtime=0), "application/gzip", last_modified=plain.last_modified)
