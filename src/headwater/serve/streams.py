"""Server-sent events: one reader of the database for each topic, and its message, the same bytes, for all readers."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from headwater.clock import SystemClock
from headwater.errors import DatabaseDown, QueryFailed, as_fields
from headwater.log import Logger
from headwater.serve.topics import Topic, TopicReader

HEARTBEAT_SECONDS = 15.0
# Between two messages of a topic, at least.
COALESCED_SECONDS = 1.0
# Messages that wait for a reader that is slow; older ones are dropped.
MOST_WAITING = 64
# Messages of topics with news that are kept for those who come back.
MOST_KEPT = 60
HEARTBEAT = b": still here\n\n"
# Milliseconds after which a client that lost its stream comes back.
FIRST = b"retry: 3000\n\n"


@dataclass(frozen=True, slots=True)
class StreamMessage:
    """`number` grows by one with each message of this process; `said` is empty where it is news."""

    topic: Topic
    number: int
    said: Mapping[str, Any]
    frame: bytes


@dataclass(slots=True, eq=False)
class Subscription:
    """One who listens. What it does not take in time is dropped, the oldest first."""

    topics: frozenset[Topic]
    _waiting: deque[bytes] = field(default_factory=lambda: deque(maxlen=MOST_WAITING), init=False)
    _has_more: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _is_over: bool = field(default=False, init=False)

    def put(self, frame: bytes) -> None:
        self._waiting.append(frame)
        self._has_more.set()

    def end(self) -> None:
        self._is_over = True
        self._has_more.set()

    async def frames(self, heartbeat: float = HEARTBEAT_SECONDS) -> AsyncIterator[bytes]:
        """Until the role ends; a comment where nothing was to be said for so long."""
        yield FIRST
        while not self._is_over:
            try:
                async with asyncio.timeout(heartbeat):
                    await self._has_more.wait()
            except TimeoutError:
                yield HEARTBEAT
                continue
            self._has_more.clear()
            # One by one: what is handed over to a connection that does not move is kept there, out of our bounds.
            while self._waiting:
                yield self._waiting.popleft()


class StreamHub:
    """Nothing is read of a topic that nobody listens to."""

    def __init__(self, reader_of: Callable[[Topic], TopicReader], run_name: str, log: Logger) -> None:
        self._reader_of = reader_of
        self._run_name = run_name
        self._log = log
        self._number = 0
        self._subscriptions: set[Subscription] = set()
        self._tasks: dict[Topic, asyncio.Task[None]] = {}
        self._last: dict[Topic, StreamMessage] = {}
        self._kept: deque[StreamMessage] = deque(maxlen=MOST_KEPT)
        self._is_over = False

    @contextmanager
    def joined(self, topics: frozenset[Topic], last_id: str = "") -> Iterator[Subscription]:
        """`last_id` is that of the last message heard; those since then are told first, as far as they are kept."""
        one = Subscription(topics)
        self._subscriptions.add(one)
        for message in self._known(topics, self._number_in(last_id)):
            one.put(message.frame)
        for topic in topics:
            self._read(topic)
        if self._is_over:
            one.end()
        try:
            yield one
        finally:
            self._subscriptions.discard(one)

    def end(self) -> None:
        self._is_over = True
        for one in self._subscriptions:
            one.end()

    async def close(self) -> None:
        self.end()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _known(self, topics: frozenset[Topic], heard: int | None) -> list[StreamMessage]:
        """How things stand, and news that were missed."""
        standing = [one for topic, one in self._last.items() if topic in topics]
        missed = [one for one in self._kept if one.topic in topics and heard is not None and one.number > heard]
        return sorted({one.number: one for one in (*standing, *missed)}.values(), key=lambda one: one.number)

    def _number_in(self, last_id: str) -> int | None:
        """None for an id of another process, or of none."""
        name, _, number = last_id.partition(".")
        is_ours = name == self._run_name and number.isascii() and number.isdigit() and len(number) < 19
        return int(number) if is_ours else None

    def _read(self, topic: Topic) -> None:
        if topic not in self._tasks and not self._is_over:
            self._tasks[topic] = task = asyncio.create_task(self._keep_reading(topic))
            task.add_done_callback(lambda _: self._forget(topic))

    def _forget(self, topic: Topic) -> None:
        # How things stood is no longer known.
        self._tasks.pop(topic, None)
        self._last.pop(topic, None)

    async def _keep_reading(self, topic: Topic) -> None:
        reader, clock = self._reader_of(topic), SystemClock()
        while any(topic in one.topics for one in self._subscriptions):
            try:
                said = await reader.read()
            except (DatabaseDown, QueryFailed) as error:
                self._log.debug("topic_not_read", topic=str(topic), **as_fields(error))
            else:
                if said is not None:
                    self.tell(topic, said, is_news=reader.is_news)
            await clock.sleep(max(reader.every_seconds, COALESCED_SECONDS))

    def tell(self, topic: Topic, said: Mapping[str, Any], *, is_news: bool) -> None:
        """All who listen to it; where it says the same as before, and is no news, nobody."""
        last = self._last.get(topic)
        if not is_news and last and last.said == said:
            return
        self._number += 1
        head = f"event: {topic}\nid: {self._run_name}.{self._number}\ndata: ".encode()
        # Joined, the bytes have the size that is needed; those of orjson have ten times as much room.
        told = orjson.dumps(said, default=str, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z)
        frame = b"".join((head, told, b"\n\n"))
        if is_news:
            self._kept.append(StreamMessage(topic, self._number, {}, frame))
        else:
            self._last[topic] = StreamMessage(topic, self._number, said, frame)
        for one in self._subscriptions:
            if topic in one.topics:
                one.put(frame)
