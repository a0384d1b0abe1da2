"""What a child runs that reads answers of channels. Importing this loads the parsers, and nothing of the database."""

from datetime import UTC, datetime

import orjson

from headwater.discover.polls.reading import read_answer
from headwater.discover.polls.run_state import RunState, Todo
from headwater.discover.polls.task import Reply, Subject, Task, reader_of
from headwater.discover.polls.wire import answer_of, encode_task, read_from, task_from
from headwater.sources.kinds import ChannelKind, kinds_that

_URL = "http://warm-up.example/"
_SAMPLE = b"<rss version='2.0'><channel><item><title>Warm up</title><link>/a</link></item></channel></rss>"


def read_sent(received: bytes) -> orjson.Fragment:
    """What `wire.sent` packed; the answer is written as JSON."""
    return answer_of(read_answer(task_from(received)))


def _warm_up() -> None:
    """Once there and back: what is built and loaded for the first answer is then there for every child."""
    for kind in kinds_that(lambda traits: traits.reader):
        reader_of(ChannelKind(kind))
    subject = Subject(kind=ChannelKind.FEED, url=_URL)
    run_state = RunState((Todo(_URL, ChannelKind.FEED),))
    task = Task(subject, run_state, Reply(_URL, _SAMPLE, "text/xml"), datetime(2000, 1, 1, tzinfo=UTC))
    read_from(orjson.loads(orjson.dumps(read_sent(encode_task(task)))), task)


_warm_up()
