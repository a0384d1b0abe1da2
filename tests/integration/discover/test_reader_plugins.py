"""Readers of channels that other distributions bring: real ones, in real children, for feeds, listings and APIs."""

import json
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from io import StringIO
from pathlib import Path

import orjson
import pytest
from tests.integration.cli import desk as commands
from tests.integration.cli.conftest import Said
from tests.integration.cli.desk import PLACE, served
from tests.integration.discover.conftest import STARTED, Desk, rss, stories
from tests.integration.fetch.conftest import SmallSite
from tests.plugins import Installs, installing

from headwater.clock import SystemClock
from headwater.discover.items import Unreadable
from headwater.discover.polls.reader import TOO_LONG, ChannelReader
from headwater.discover.polls.reading import read_answer
from headwater.discover.polls.requesting import sitemaps_of
from headwater.discover.polls.run_state import RunState, Todo
from headwater.discover.polls.task import ReadAnswer, Reply, Subject, Task, answer_of, encode_task, read_from, task_from
from headwater.discover.searching.following import SiteLook, explore, sum_up
from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.plugins import READERS, installed
from headwater.reports.doctor import check_plugins
from headwater.simweb.message import Page
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceKind, SourceMode
from headwater.urls.canonical import canonicalise

ROOT = Path(__file__).parents[3]
LIST = "http://a.test/stories.csv"
FEED = "http://a.test/feed.xml"
# Two stories that our own rules find.
OURS = rss(*stories(2)).body


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installs]:
    with installing(READERS, tmp_path / "site", monkeypatch) as install:
        yield install


def documented() -> str:
    """The reader of CSV lists in the docs."""
    page = (ROOT / "docs" / "library.md").read_text("utf-8")
    [code] = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def read(body" in block]
    return str(code)


def table(*paths: str) -> Page:
    rows = "".join(f"{path},Story of {path},2026-03-02T0{number}:00:00\n" for number, path in enumerate(paths))
    return Page(f"link,headline,at\n{rows}".encode(), "text/csv")


def saying(code: str) -> str:
    """A reader of that code."""
    return f"def read(body, content_type, url):\n    {code}\n"


def read(
    body: bytes = OURS, kind: ChannelKind = ChannelKind.FEED, url: str = FEED, reads_as: ChannelKind | None = None
) -> ReadAnswer | Unreadable:
    """As a child reads it, over the border and back."""
    subject = Subject(kind=kind, url=url)
    task = Task(subject, RunState((Todo(url, reads_as or kind),)), Reply(url, body), STARTED)
    answered = orjson.loads(orjson.dumps(answer_of(read_answer(task_from(encode_task(task))))))
    return read_from(answered, task)


def items_of(found: ReadAnswer | Unreadable) -> list[str]:
    assert isinstance(found, ReadAnswer)
    return [item.url for item in found.items]


async def test_a_list_that_only_a_plugin_can_read_is_polled_as_any_feed(installs: Installs, desk: Desk) -> None:
    installs("acme-lists", "a.test", documented())
    desk.site.pages["/stories.csv"] = table("/one", "http://b.test/two")
    source = await desk.follow(feeds=(LIST,))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert (ran.ending.status, ran.run_state.notes) == ("ok", ())
    assert await desk.entries() == {"http://a.test/one", "http://b.test/two"}
    kept = await desk.path.database.fetch("select title, published_at from channel_items order by published_at")
    assert tuple(kept[1]) == ("Story of http://b.test/two", datetime(2026, 3, 2, 1, tzinfo=UTC))
    desk.site.pages["/stories.csv"] = table("/three", "/one")
    [ran] = await desk.poll_again()
    assert (ran.run_state.tally.found, ran.run_state.tally.inserted) == (2, 1)
    assert (await desk.channel(source)).consecutive_errors == 0


@pytest.mark.long
async def test_its_places_are_those_of_the_source(installs: Installs, desk: Desk) -> None:
    installs("acme-lists", "a.test", saying("return [{'url': '/news/a'}, {'url': '/b'}, {'url': 'http://b.test/c'}]"))
    desk.site.pages["/"] = Page(b"<title>A</title>")
    await desk.follow(mode=SourceMode.SPIDER, include_paths=("/news/",))
    await desk.poll()
    assert await desk.entries() == {"http://a.test/news/a"}


@pytest.mark.long
async def test_its_items_are_the_vacancies_of_a_job_source(installs: Installs, desk: Desk) -> None:
    installs("acme-lists", "a.test", saying("return [{'url': '/jobs/7', 'title': 'Harbour pilot'}]"))
    desk.site.pages["/jobs"] = Page(b"Harbour pilot, number 7", "text/plain")
    await desk.follow("http://a.test/jobs", kind=SourceKind.JOBS, name="Aid Org", max_depth=0)
    [ran] = await desk.poll()
    assert await desk.path.database.fetchval("select apply_url from jobs where title = 'Harbour pilot'") is not None
    # It may have had further pages, so that nothing is over which it does not name.
    assert ran.run_state.is_partial


def test_an_api_is_read_without_its_recipe(installs: Installs) -> None:
    installs("acme-lists", "a.test", saying("return ({'url': line} for line in body.decode().split())"))
    assert items_of(read(b"/1 /2", ChannelKind.API)) == ["http://a.test/1", "http://a.test/2"]


@pytest.mark.parametrize("kind", [ChannelKind.SITEMAP, ChannelKind.BACKFILL])
def test_sitemaps_and_the_past_are_not_shown_to_it(installs: Installs, kind: ChannelKind) -> None:
    installs("acme-lists", "a.test", saying("return [{'url': '/theirs'}]"))
    found = read(kind=kind, reads_as=ChannelKind.FEED if kind is ChannelKind.BACKFILL else kind)
    assert isinstance(found, Unreadable) or "http://a.test/theirs" not in items_of(found)


BAD = {
    "raises": ("raise ValueError(body)", "ValueError at acme_lists.py:2"),
    "raises late": ("yield {'url': '/a'}; raise ValueError(body)", "ValueError at acme_lists.py:2"),
    "exits": ("raise SystemExit", "SystemExit at acme_lists.py:2"),
    "recurs": ("return read(body, content_type, url)", "RecursionError at acme_lists.py:2"),
    "answers with text": ("return body.decode()", "it answered with str, neither an iterable of mappings nor None"),
    "answers with bytes": ("return body", "it answered with bytes"),
    "answers with one item": ("return {'url': '/a'}", "it answered with dict"),
    "answers with a number": ("return 7", "it answered with int"),
    "answers with texts": ("return ['/a']", "one of its items is str, not a mapping"),
    "answers with other fields": ("return [{'link': '/a'}]", "1 unknown fields"),
    "answers with other types": ("return [{'url': 7}]", "its url is no text"),
    "answers with bytes as title": ("return [{'url': '/a', 'title': b'A'}]", "its title is no text"),
    "answers with a text as time": (
        "return [{'url': '/a', 'published_at': '2026-03-01'}]",
        "its published_at is no datetime with a time zone",
    ),
    "answers without a zone": (
        "import datetime; return [{'url': '/a', 'updated_at': datetime.datetime(2026, 3, 1)}]",
        "its updated_at is no datetime with a time zone",
    ),
}


@pytest.mark.parametrize(("code", "why"), BAD.values(), ids=BAD.keys())
def test_a_bad_plugin_is_named_and_the_answer_is_read_by_our_own_rules(installs: Installs, code: str, why: str) -> None:
    installs("acme-lists", "a.test", saying(code))
    found = read()
    assert items_of(found) == ["http://a.test/story-0", "http://a.test/story-1"]
    assert isinstance(found, ReadAnswer)
    [note] = found.run_state.notes
    assert note.startswith("The reader of acme-lists 1.2 for a.test failed: ")
    assert why in note
    assert "Story" not in note


@pytest.mark.parametrize(
    ("code", "why"),
    [("import no_such_module", "No module named 'no_such_module'"), ("read = 7", "acme_lists:read is not a function")],
)
def test_one_that_cannot_be_loaded_is_named(installs: Installs, code: str, why: str) -> None:
    installs("acme-lists", "a.test", code)
    found = read()
    assert isinstance(found, ReadAnswer)
    assert why in found.run_state.notes[0]


def test_where_our_own_rules_fail_too_both_are_told(installs: Installs) -> None:
    installs("acme-lists", "a.test", saying("raise ValueError"))
    found = read(b"link,headline\n/a,A\n")
    assert isinstance(found, Unreadable)
    assert found.why.endswith("The reader of acme-lists 1.2 for a.test failed: ValueError at acme_lists.py:2.")
    assert not found.why.startswith("The reader")


def test_none_leaves_the_answer_to_us_and_an_empty_list_is_one(installs: Installs) -> None:
    installs("acme-lists", "a.test", saying("return None if b'rss' in body else []"))
    assert len(items_of(read())) == 2
    assert items_of(read(b"nothing today")) == []


def test_other_hosts_are_not_its_own_and_import_nothing(installs: Installs) -> None:
    installs("acme-lists", "a.test", "raise RuntimeError")
    for url in ("http://test/", "http://aa.test/", "http://a.test.example/"):
        found = read(url=url)
        assert isinstance(found, ReadAnswer)
        assert found.run_state.notes == ()
    assert "acme_lists" not in sys.modules
    found = read(url="http://www.a.test/")
    assert isinstance(found, ReadAnswer)
    assert len(found.run_state.notes) == 1


HOSTILE = """
import datetime

def read(body, content_type, url):
    ancient, far = datetime.datetime.min, datetime.datetime.max
    yield {"url": "/a", "title": "<b>A</b>\\0\\n" + "x" * 1_000_000, "summary": "1 < 2 & \\ud800 \\0 3",
           "author": "\\udfff" + "y" * 1_000, "language": "z" * 1_000, "guid": "g\\0" * 10_000,
           "published_at": ancient.replace(tzinfo=datetime.UTC), "updated_at": far.replace(tzinfo=datetime.UTC)}
    yield {"url": "/a", "title": "again"}
    for odd in ("javascript:alert(1)", "data:text/html,x", "ftp://a.test/", "//", "http://", "http://[", "", " ",
                "file:///etc/passwd", "/" + "a" * 1_000_000, "http://\\ud800.test/"):
        yield {"url": odd}
    yield {"title": "without"}
    yield {"url": "?p=\\ud800\\0", "guid": "7"}
    yield {"url": None, "guid": "http://b.test/by-guid"}
    number = 0
    while True:
        number += 1
        yield {"url": f"/{number}"}
"""


def test_a_hostile_answer_is_bounded_and_can_be_stored(installs: Installs) -> None:
    installs("acme-lists", "a.test", HOSTILE)
    found = read()
    assert isinstance(found, ReadAnswer)
    first, *others = found.items
    assert (first.url, len(first.title), first.title[:9]) == ("http://a.test/a", 500, "<b>A</b> ")
    assert (first.summary, first.published_at, first.updated_at) == ("1 < 2 & 3", None, None)
    assert (len(first.author), len(first.language)) == (200, 35)
    assert len(first.guid) <= 1_024
    assert len(found.items) < 10_000
    assert all(item.url.startswith(("http://a.test/", "http://b.test/by-guid")) for item in others)
    assert all(len(item.url) < 10_000 for item in others)
    assert "Only the first 10,000 entries were read." in found.run_state.notes
    assert found.is_partial
    stored = json.dumps([item.url + item.title + item.summary + item.guid for item in found.items], ensure_ascii=False)
    assert "\\u0000" not in stored
    assert stored.encode()


@asynccontextmanager
async def impatient(desk: Desk) -> AsyncIterator[None]:
    """The desk, with readers that do not wait for ever; on a busy machine our own, who come next, need some of it."""
    work = "headwater.discover.polls.work:read_sent"
    async with ExtractionPool(work, size=1, timeout=5.0, clock=SystemClock(), memory_bytes=512 << 20) as pool:
        desk.polling = replace(desk.polling, poll=replace(desk.polling.poll, reader=ChannelReader(pool)))
        yield


ENDS = {
    "dies": ("import os; os._exit(3)", "exit 3"),
    "hangs": ("import time; time.sleep(600)", "took too long"),
    "lists for ever": ("import itertools; return (None for _ in itertools.count() if not _ + 1)", "took too long"),
    "eats": ("return [{'url': '/a', 'title': 'x' * (1 << 30)}]", "out of memory"),
}


@pytest.mark.long
@pytest.mark.parametrize(("code", "why"), ENDS.values(), ids=ENDS.keys())
async def test_a_plugin_that_takes_its_child_along_costs_the_poll_nothing(
    installs: Installs, desk: Desk, code: str, why: str
) -> None:
    installs("acme-lists", "a.test", saying(code))
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    async with impatient(desk):
        [ran] = await desk.poll()
    assert ran.run_state.notes == (f"The reader of acme-lists 1.2 for a.test failed: {why}.",)
    assert len(await desk.entries()) == 3
    channel = await desk.channel(source)
    assert channel.consecutive_errors == 0
    assert ran.ending is not None
    assert ran.ending.message.endswith(f"The reader of acme-lists 1.2 for a.test failed: {why}")


@pytest.mark.long
async def test_a_plugin_is_not_blamed_for_an_answer_that_our_own_rules_cannot_read_either(
    installs: Installs, desk: Desk
) -> None:
    installs("acme-lists", "a.test", saying("import time; time.sleep(600)"))
    desk.site.pages["/stories.csv"] = table("/one")
    source = await desk.follow(feeds=(LIST,))
    async with impatient(desk):
        await desk.poll()
    channel = await desk.channel(source)
    assert channel.last_error is not None
    assert channel.last_error.endswith("The reader of acme-lists 1.2 for a.test failed: took too long.")
    assert not channel.last_error.startswith(TOO_LONG)
    # No process of ours was ended by the answer itself.
    assert "it ended a process of ours" not in channel.next_reason


async def look(desk: Desk, url: str = "http://a.test/") -> SiteLook:
    poll, sitemaps = desk.polling.poll, partial(sitemaps_of, desk.path.database)
    looking = explore(poll.asker.follower, sitemaps, poll.reader, canonicalise(url), STARTED + timedelta(days=1))
    return sum_up([one async for one in looking])


@pytest.mark.long
async def test_a_search_finds_a_list_at_its_address_and_where_a_page_names_it(installs: Installs, desk: Desk) -> None:
    installs("acme-lists", "a.test", documented())
    desk.site.pages["/stories.csv"] = table("/one", "/two")
    [found] = (await look(desk, LIST)).findings
    assert (found.kind, found.url, found.items) == (ChannelKind.FEED, LIST, 2)
    assert found.newest == datetime(2026, 3, 2, 1, tzinfo=UTC)
    desk.site.pages["/"] = Page(b'<link rel=alternate type="application/rss+xml" title=List href=/stories.csv>')
    await desk.follow()
    await desk.poll()
    assert await desk.path.database.fetchval("select url from channels where kind = 'feed'") == LIST


@pytest.mark.long
async def test_an_empty_answer_of_a_plugin_is_no_finding_and_a_failed_one_is_told(
    installs: Installs, desk: Desk
) -> None:
    desk.site.pages["/"] = Page(b"<title>A</title>")
    installs("acme-lists", "a.test", saying("return []"))
    installs("best-lists", "b.test", saying("raise ValueError"))
    assert (await look(desk)).findings == ()
    desk.path.sim.sites |= {"b.test": SmallSite({"/": Page(b"<title>B</title>")})}  # type: ignore[operator]
    found = await look(desk, "http://b.test/")
    assert (found.findings, found.notes) == (
        (),
        ("The reader of best-lists 1.2 for b.test failed: ValueError at best_lists.py:2.",),
    )


class Terminal(commands.Desk):
    """Somebody who has installed what `installs` puts there."""

    def says(self, *words: str) -> Said:
        return self._says(words, StringIO(), StringIO(), {"PYTHONPATH": os.environ["PYTHONPATH"]})


@pytest.mark.long
def test_a_person_adds_a_list_by_its_address(installs: Installs, database_url: str, open_folder: Path) -> None:
    installs("acme-lists", PLACE, documented())
    terminal = Terminal(database_url, open_folder)
    with served() as site:
        terminal.settings = site.settings
        site.pages["/stories.csv"] = table("/one", "/two")
        seen = terminal.says("sources", "add", f"{site.url}/stories.csv", "--dry-run")
        assert (seen.code, "Story of /one" in seen.out) == (0, True)
        assert terminal.says("sources", "add", f"{site.url}/stories.csv").code == 0
        kept = terminal.value("select kind || ' ' || url from channels where kind = 'feed'")
        assert kept == f"feed {site.url}/stories.csv"


@pytest.mark.long
def test_a_list_whose_reader_fails_is_refused_with_the_reason(
    installs: Installs, database_url: str, open_folder: Path
) -> None:
    installs("sick-lists", PLACE, saying("raise ValueError"))
    terminal = Terminal(database_url, open_folder)
    with served() as site:
        terminal.settings = site.settings
        site.pages["/own.json"] = Page(b'{"stories": []}', "application/json")
        refused = terminal.says("sources", "add", f"{site.url}/own.json")
    assert refused.code != 0
    assert f"The reader of sick-lists 1.2 for {PLACE} failed: ValueError at sick_lists.py:2." in refused.err


def test_doctor_names_them_with_what_is_wrong(installs: Installs) -> None:
    assert [check.says for check in check_plugins(READERS, ())] == ["No readers of other distributions are installed"]
    installs("acme-lists", "a.test", documented())
    installs("best-lists", "a.test", documented())
    installs("sick-lists", "sick.test", "raise RuntimeError('ill')")
    told = check_plugins(READERS, installed(READERS))
    assert [(check.level, check.says.partition(":")[0]) for check in told] == [
        ("ok", "Reader for a.test"),
        ("warning", "Reader for a.test"),
        ("failure", "Reader for sick.test"),
    ]
    assert "RuntimeError: ill" in told[2].says
    assert "these channels" in told[2].fix
    assert "acme-lists 1.2" in told[1].fix
