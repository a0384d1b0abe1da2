"""`feed`: the newest records as Atom, JSON Feed a page to read and OPML of their sources, in a folder to be served."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO, Self

import orjson
from pydantic import Field

from headwater.deliver.feeds.atom import FEED_END, entry_xml, feed_start
from headwater.deliver.feeds.entries import FeedAbout, FeedEntry, entry_of, moment_in_feed, plain_line, web_address
from headwater.deliver.feeds.jsonfeed import json_feed
from headwater.deliver.feeds.river import river_page
from headwater.deliver.records import Record
from headwater.deliver.sink import (
    Accepted,
    Delivery,
    DeliveryOutcome,
    Fence,
    SinkContext,
    SinkKind,
    SinkOptions,
    Upsert,
)
from headwater.deliver.sinks.folder import (
    folder_of,
    part_of,
    put_file,
    remove_parts,
    telling_disk_trouble,
    try_folder,
)
from headwater.sources.exchange.fields import Row
from headwater.sources.exchange.opml import write_opml

STATE = ".headwater-feed"
FORMAT = 1
# Entries kept beyond those that are shown: they move up when others are removed.
RESERVE = 200
# A source leaves the list when the newest records of it that are known here are gone.
NEWEST_OF_SOURCE = 5
LONGEST_TITLE = 200


class FeedOptions(SinkOptions):
    folder: str = Field("", description="Where the files go; in the data folder's `sinks/NAME` if nothing is said.")
    title: str = Field("", max_length=LONGEST_TITLE, description="What the feed is called; its sink's name otherwise.")
    items: int = Field(50, ge=1, le=1_000, description="How many entries it has, the newest first.")
    full_text: bool = Field(False, description="Entries carry their whole text, not only its beginning.")
    url: str = Field("", description="The address under which the folder is served, for the feed's links to itself.")


@dataclass(slots=True)
class FeedSource:
    """`newest` are records of it, by key, with their times."""

    name: str
    url: str
    tags: tuple[str, ...]
    feed_url: str = ""
    newest: dict[str, str] = field(default_factory=dict)

    def note(self, key: str, at: datetime) -> None:
        self.newest[key] = moment_in_feed(at)
        if len(self.newest) > NEWEST_OF_SOURCE:
            del self.newest[min(self.newest, key=lambda one: (self.newest[one], one))]


@dataclass(slots=True)
class FeedState:
    """All a feed knows, kept beside its files. `updated_at` is when its entries last changed."""

    made_with: dict[str, Any]
    updated_at: datetime
    entries: dict[str, FeedEntry] = field(default_factory=dict)
    sources: dict[str, FeedSource] = field(default_factory=dict)
    _source_of: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._source_of = {key: own for own, source in self.sources.items() for key in source.newest}

    def apply(self, batch: Sequence[Delivery], *, with_text: bool) -> None:
        """A change that is already there changes nothing: a batch may come twice."""
        for one in batch:
            key = f"{one.key.kind}:{one.key.id}"
            self._forget(key)
            if isinstance(one, Upsert):
                self._note(key, one.record, with_text=with_text)

    def newest(self, count: int) -> list[FeedEntry]:
        return sorted(self.entries.values(), key=lambda one: (one.published_at, one.id), reverse=True)[:count]

    def cut(self, count: int) -> None:
        """Only as many as may ever be shown."""
        kept = {(one.kind, one.id) for one in self.newest(count)}
        self.entries = {key: one for key, one in self.entries.items() if (one.kind, one.id) in kept}

    def as_json(self) -> bytes:
        return orjson.dumps(
            {
                "format": FORMAT,
                "made_with": self.made_with,
                "updated_at": self.updated_at,
                "entries": {key: one.as_dict() for key, one in self.entries.items()},
                "sources": self.sources,
            }
        )

    @classmethod
    def from_json(cls, body: bytes) -> Self:
        """Raises ValueError, KeyError or TypeError for what was not written here."""
        said = orjson.loads(body)
        return cls(
            said["made_with"],
            datetime.fromisoformat(said["updated_at"]),
            {key: FeedEntry.from_dict(one) for key, one in said["entries"].items()},
            {
                key: FeedSource(one["name"], one["url"], tuple(one["tags"]), one["feed_url"], one["newest"])
                for key, one in said["sources"].items()
            },
        )

    def _note(self, key: str, record: Record, *, with_text: bool) -> None:
        entry = entry_of(record, with_text=with_text)
        self.entries[key] = entry
        about, known = record.source, self.sources.get(str(record.source.id))
        newest = known.newest if known else {}
        source = FeedSource(
            plain_line(about.name, 200), web_address(about.url), about.tags, web_address(about.feed_url), newest
        )
        source.note(key, entry.published_at)
        self.sources[str(about.id)] = source
        self._source_of[key] = str(about.id)

    def _forget(self, key: str) -> None:
        self.entries.pop(key, None)
        own = self._source_of.pop(key, "")
        if source := self.sources.get(own):
            source.newest.pop(key, None)
            if not source.newest:
                del self.sources[own]


class FeedSink:
    def __init__(self, options: FeedOptions, context: SinkContext) -> None:
        self.folder = folder_of(options.folder, context.name, context.data_folder)
        self._options = options
        self._name = context.name
        self._clock = context.clock
        self._log = context.log
        self._state = self._empty()

    def place_of(self, record: Record) -> str:
        return ""

    async def prepare(self, fence: Fence) -> None:
        kept = await asyncio.to_thread(self._kept_state)
        if kept is None:
            await fence.note_missing()
        self._state = kept or self._empty()
        await asyncio.to_thread(self._show_options, fence)

    async def send(self, batch: Sequence[Delivery], fence: Fence) -> Sequence[DeliveryOutcome]:
        await asyncio.to_thread(self._take, batch, fence)
        return [Accepted()] * len(batch)

    async def close(self) -> None:
        pass

    def _show_options(self, fence: Fence) -> None:
        """Those that a person has changed show at once, before anything new comes."""
        with telling_disk_trouble(self.folder):
            made_with = self._options.model_dump(mode="json")
            if self._state.made_with != made_with:
                self._state.made_with = made_with
                self._write(fence)

    def _take(self, batch: Sequence[Delivery], fence: Fence) -> None:
        shown, sources = self._shown(), _sources_of(self._state)
        self._state.apply(batch, with_text=self._options.full_text)
        self._state.cut(self._options.items + RESERVE)
        is_shown = (self._shown(), _sources_of(self._state)) != (shown, sources)
        if is_shown:
            self._state.updated_at = self._clock.now()
        with telling_disk_trouble(self.folder):
            if is_shown:
                self._write(fence)
            else:
                self._put(STATE, self._state.as_json(), fence)

    def _shown(self) -> list[FeedEntry]:
        return self._state.newest(self._options.items)

    def _write(self, fence: Fence) -> None:
        """The state comes last: killed before, the batch comes again and finds the state as it was."""
        for name, body in self._files():
            self._put(name, body, fence)
        self._put(STATE, self._state.as_json(), fence)

    def _files(self) -> Iterator[tuple[str, bytes]]:
        entries = self._shown()
        atom = (feed_start(self._about("atom.xml")), *map(entry_xml, entries), FEED_END)
        yield "atom.xml", "".join(atom).encode()
        yield "feed.json", json_feed(self._about("feed.json"), entries)
        yield "sources.opml", "".join(write_opml(_sources_of(self._state), self._title)).encode()
        yield "index.html", river_page(self._about("index.html"), entries).encode()

    @property
    def _title(self) -> str:
        return plain_line(self._options.title, LONGEST_TITLE) or self._name

    def _about(self, name: str) -> FeedAbout:
        base = web_address(self._options.url).rstrip("/")
        page, own = (f"{base}/", f"{base}/{name}") if base else ("", "")
        return FeedAbout(f"urn:headwater:feed:{self._name}", self._title, self._state.updated_at, page, own)

    def _put(self, name: str, body: bytes, fence: Fence) -> None:
        def write(file: BinaryIO) -> None:
            file.write(body)

        put_file(self.folder / name, part_of(self.folder, name, fence.token), write, fence)

    def _kept_state(self) -> FeedState | None:
        with telling_disk_trouble(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_parts(self.folder)
        try:
            return FeedState.from_json((self.folder / STATE).read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._log.warning("feed_state_unreadable", sink=self._name, file=str(self.folder / STATE), error=str(error))
            return None

    def _empty(self) -> FeedState:
        return FeedState({}, self._clock.now().astimezone(UTC).replace(microsecond=0))


def _sources_of(state: FeedState) -> list[Row]:
    known = sorted(state.sources.values(), key=lambda one: (one.name.casefold(), one.url))
    return [Row(0, one.url, one.name, one.feed_url, tags=one.tags) for one in known if one.url]


KIND = SinkKind(
    name="feed",
    summary="The newest records as Atom, JSON Feed, OPML and a page to read.",
    options=FeedOptions,
    make=FeedSink,
    wants_feeds=True,
    test=try_folder,
)
