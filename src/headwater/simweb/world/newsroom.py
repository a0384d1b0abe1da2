"""What a news publisher has published by a given moment. No state: every local day is drawn from its own dice."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from urllib.parse import quote, unquote

from headwater.simweb.world import prose
from headwater.simweb.world.cache import Cache
from headwater.simweb.world.days import days_back, local_day, times_of
from headwater.simweb.world.dice import Dice
from headwater.simweb.world.markup import slug_of
from headwater.simweb.world.paths import PATHS, day_at, number_of
from headwater.simweb.world.publishers import Publisher

UPDATED = 0.12
CORRECTED = 0.3  # of the updated ones
REMOVED = 0.02
REPRINTED = 0.2  # of the items of a publisher that reprints
REPRINT_LAG = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Item:
    """The truth about one page of text, as it stands at the moment asked about."""

    url: str
    title: str
    paragraphs: tuple[str, ...]
    author: str
    published: datetime
    updated: datetime | None
    language: str
    section: str
    keywords: tuple[str, ...]
    duplicate_of: str | None = None

    @property
    def lead(self) -> str:
        return self.paragraphs[0]

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)


@dataclass(frozen=True, slots=True)
class Story:
    """One article's whole life, decided at birth; the text is written when somebody reads it."""

    number: int
    path: str
    published: datetime
    topic: int
    key: int
    author: str
    first_title: str
    corrected_title: str | None = None
    updated_at: datetime | None = None
    removed_at: datetime | None = None
    answers_gone: bool = False  # 410 once removed, else 404
    duplicate_of: str | None = None

    def version(self, now: datetime) -> int:
        return int(self.updated_at is not None and self.updated_at <= now)

    def title(self, now: datetime) -> str:
        return self.corrected_title if self.corrected_title and self.version(now) else self.first_title

    def changed_at(self, now: datetime) -> datetime:
        return self.updated_at if self.updated_at and self.updated_at <= now else self.published

    def is_out(self, now: datetime) -> bool:
        return self.published <= now

    def is_removed(self, now: datetime) -> bool:
        return self.removed_at is not None and self.removed_at <= now


class Newsroom:
    def __init__(
        self,
        publisher: Publisher,
        seed: int,
        opened: datetime,
        days: Cache[tuple[Story, ...]],
        reprinted: "Newsroom | None" = None,
    ) -> None:
        self.publisher = publisher
        self.topics = publisher.speech.topics
        self.section_slugs = tuple(slug_of(topic.section) for topic in self.topics)
        self._seed = seed
        self._first_day = local_day(publisher, opened)
        self._days = days
        self._reprinted = reprinted

    def url(self, story: Story) -> str:
        return f"http://{self.publisher.host}{story.path}"

    def stories(self, now: datetime) -> Iterator[Story]:
        """What stands on the site, newest first."""
        for story in self._published(now):
            if not story.is_removed(now):
                yield story

    def newest(self, now: datetime, n: int) -> tuple[Story, ...]:
        return tuple(islice(self.stories(now), n))

    def removed(self, now: datetime) -> Iterator[Story]:
        return (story for story in self._published(now) if story.is_removed(now))

    def find(self, path: str, query: str, now: datetime) -> Story | None:
        """The story at this address if it is out, removed or not."""
        asked = quote(unquote(path)) if "%" in path else path
        if asked.endswith(".php"):
            asked += "?" + query.partition("&")[0]
        day = day_at(asked)
        stories = self.day(day) if day else ()
        return next((s for s in stories if s.path == asked and s.is_out(now)), None)

    def lead(self, story: Story) -> str:
        return next(prose.paragraphs(self._voice(story), story.key))

    def item(self, story: Story, now: datetime) -> Item:
        voice, version = self._voice(story), story.version(now)
        body = tuple(prose.paragraphs(voice, story.key))
        topic = self.topics[story.topic]
        return Item(
            url=self.url(story),
            title=story.title(now),
            paragraphs=(*body, prose.addition(voice, story.key)) if version else body,
            author=story.author,
            published=story.published,
            updated=story.updated_at if version else None,
            language=self.publisher.language,
            section=topic.section,
            keywords=Dice(story.key, "keywords").some(topic.keywords, 3),
            duplicate_of=story.duplicate_of,
        )

    def day(self, day: date) -> tuple[Story, ...]:
        if day < self._first_day:
            return ()
        return self._days.get((self.publisher.host, day), lambda: self._write(day))

    def _published(self, now: datetime) -> Iterator[Story]:
        for day in days_back(local_day(self.publisher, now), self._first_day):
            for story in reversed(self.day(day)):
                if story.published <= now:
                    yield story

    def _write(self, day: date) -> tuple[Story, ...]:
        dice = Dice(self._seed, self.publisher.host, day)
        times = times_of(self.publisher, day, dice)
        return tuple(self._story(day, place, at, dice) for place, at in enumerate(times))

    def _story(self, day: date, place: int, published: datetime, dice: Dice) -> Story:
        topic = int(dice.fraction() * len(self.topics))
        voice = prose.voice_of(self.publisher.speech, self.topics[topic])
        title, author = prose.title(voice, dice), prose.person(self.publisher.speech, dice)
        key, fate = dice.key(), dice.fraction()
        reprint = self._reprint(day, place, published, dice)
        if reprint is not None:
            return reprint
        life = published + timedelta(minutes=int(dice.between(60, 1200)))
        is_updated, is_removed = fate < UPDATED, fate > 1 - REMOVED
        return Story(
            number=number_of(day, place),
            path=self._path(day, place, title, topic),
            published=published,
            topic=topic,
            key=key,
            author=author,
            first_title=title,
            corrected_title=prose.title(voice, dice) if fate < UPDATED * CORRECTED else None,
            updated_at=life if is_updated else None,
            removed_at=life if is_removed else None,
            answers_gone=key % 2 == 0,
        )

    def _reprint(self, day: date, place: int, published: datetime, dice: Dice) -> Story | None:
        """A copy of what the other paper had on top half an hour ago; the key makes the text the same."""
        if self._reprinted is None or not dice.happens(REPRINTED):
            return None
        for original in self._reprinted.newest(published - REPRINT_LAG, 1):
            return Story(
                number=number_of(day, place),
                path=self._path(day, place, original.first_title, original.topic),
                published=published,
                topic=original.topic,
                key=original.key,
                author=original.author,
                first_title=original.first_title,
                duplicate_of=self._reprinted.url(original),
            )
        return None

    def _path(self, day: date, place: int, title: str, topic: int) -> str:
        make = PATHS[self.publisher.url_style]
        return make(day, place, slug_of(title), self.section_slugs[topic])

    def _voice(self, story: Story) -> prose.Voice:
        return prose.voice_of(self.publisher.speech, self.topics[story.topic])
