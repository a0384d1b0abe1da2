"""The work of a child that reads answers of channels. Importing this loads the parsers, and nothing of the database."""

from datetime import UTC, datetime

import orjson

from headwater.discover.polls.reading import read_answer
from headwater.discover.polls.run_state import RunState, Todo
from headwater.discover.polls.task import Reply, Subject, Task, answer_of, encode_task, read_from, reader_of, task_from
from headwater.plugins import READERS, installed
from headwater.sources.kinds import ChannelKind, kinds_that

_URL = "http://warm-up.example/"
_SAMPLE = b"<rss version='2.0'><channel><item><title>Warm up</title><link>/a</link></item></channel></rss>"


def read_sent(received: bytes) -> orjson.Fragment:
    """A task as `encode_task` packs it; the reply is written as JSON."""
    return answer_of(read_answer(task_from(received)))


def _warm_up() -> None:
    """Once there and back: parsers that are loaded for the first answer are then there for every child."""
    for kind in kinds_that(lambda traits: traits.reader):
        reader_of(ChannelKind(kind))
    subject = Subject(kind=ChannelKind.FEED, url=_URL)
    run_state = RunState((Todo(_URL, ChannelKind.FEED),))
    task = Task(subject, run_state, Reply(_URL, _SAMPLE, "text/xml"), datetime(2000, 1, 1, tzinfo=UTC))
    read_from(orjson.loads(orjson.dumps(read_sent(encode_task(task)))), task)


# Only their names: the code of plug-ins is imported in the child that needs it.
installed(READERS)
_warm_up()
