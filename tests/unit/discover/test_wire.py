"""Answers of channels into a child and back: nothing is lost on the way, and only what a reader may say comes back."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from headwater.discover.items import Unreadable
from headwater.discover.polls.reading import read_answer
from headwater.discover.polls.run_state import Finding, FirstAnswer, ItemTally, RunState, Todo
from headwater.discover.polls.task import (
    ReadAnswer,
    Reply,
    Subject,
    Task,
    answer_of,
    encode_task,
    is_channel,
    read_from,
    task_from,
)
from headwater.discover.publisher_hints import PublisherHints
from headwater.errors import UsageError
from headwater.extraction.jobs.normalise import Employer
from headwater.net.validators import Validators
from headwater.sources.kinds import ChannelKind
from headwater.urls.scope import Scope

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
URL = "http://a.test/x"
RSS = b"""<rss version="2.0"><channel><title>A</title><ttl>60</ttl><skipHours><hour>3</hour></skipHours>
<item><title>One</title><link>/one</link><description>Deadline: 1 June 2026. Nairobi.</description>
<pubDate>Mon, 04 May 2026 08:00:00 GMT</pubDate></item></channel></rss>"""
INDEX = b"<sitemapindex><sitemap><loc>http://a.test/1.xml</loc></sitemap></sitemapindex>"
PAGE = (
    b'<title>A</title><li class="job"><a href="/jobs/1">Nurse in Kenya</a> Salary: 3,000 EUR a month</li>'
    b'<a href="/news/2026/05/04/a-long-story-about-it">A long story about it</a><a rel=next href="?page=2">2</a>'
)
API = b'{"items": [{"url": "/a", "title": "T", "n": 123456789012345678901234567890}], "next": "c2"}'
RECIPE = orjson.dumps({"map": {"url": "url", "title": "title", "n": "n"}, "data_path": "items"}).decode()


def task(kind: ChannelKind, body: bytes, run_state: RunState | None = None, **subject: Any) -> Task:
    scope = Scope(frozenset({"a.test"}), include_paths=("/",))
    about = Subject(kind=kind, url=URL, scope=scope, most_answers=10, max_depth=2, followed_since=NOW, **subject)
    return Task(
        about, run_state or RunState((Todo(URL, kind),)), Reply(URL, body, "text/html", "headwater", ("/s",)), NOW
    )


TASKS = {
    "feed": task(ChannelKind.FEED, RSS),
    "vacancies of a feed": task(ChannelKind.FEED, RSS, lists_vacancies=True, employer=Employer("A", "ngo", URL)),
    "sitemap index": task(ChannelKind.SITEMAP, INDEX, answers={URL: {"turn": 0}}, followed=frozenset()),
    "listing": task(ChannelKind.LISTING, PAGE, selectors={"list": {"article_cards": "li"}}),
    "vacancies of a page": task(ChannelKind.LISTING, PAGE, lists_vacancies=True),
    "api": task(ChannelKind.API, API, recipe=RECIPE),
    "search": task(ChannelKind.SEARCH, PAGE, followed=frozenset({ChannelKind.LISTING})),
    "a search that finds": task(ChannelKind.SEARCH, RSS),
    "unreadable": task(ChannelKind.FEED, b"nothing"),
}


def there_and_back(one: Task) -> ReadAnswer | Unreadable:
    answer = orjson.dumps(answer_of(read_answer(task_from(encode_task(one)))))
    return read_from(orjson.loads(answer), one)


@pytest.mark.parametrize("one", TASKS.values(), ids=TASKS)
def test_what_is_read_in_a_child_is_what_would_be_read_here(one: Task) -> None:
    assert is_channel(encode_task(one))
    assert task_from(encode_task(one)) == one
    assert there_and_back(one) == read_answer(one)


def test_the_run_stays_where_it_is() -> None:
    run_state = RunState((Todo(URL, ChannelKind.FEED),), asked=("http://a.test/0",), notes=("a note",))
    first = FirstAnswer(
        200, Validators('"1"'), "http://b.test/", publisher_hints=PublisherHints(ttl=timedelta(hours=2))
    )
    came_to = replace(run_state, first=first, began_at=NOW, is_partial=True, deaths=1, answers={URL: {"etag": "x"}})
    run_state = came_to.counting(ItemTally(requests=3), [NOW])
    read = there_and_back(task(ChannelKind.FEED, RSS, run_state))
    assert isinstance(read, ReadAnswer)
    assert replace(read.run_state, notes=run_state.notes) == run_state
    assert read.run_state.notes[0] == "a note"


def test_a_reader_is_not_told_what_the_run_has_come_to() -> None:
    first = FirstAnswer(200, Validators('"secret-tag"'))
    run_state = RunState((Todo(URL, ChannelKind.FEED),), first=first, answers={"http://a.test/other": {}})
    assert b"secret-tag" not in encode_task(task(ChannelKind.FEED, RSS, run_state))
    assert b"/other" not in encode_task(task(ChannelKind.FEED, RSS, run_state))


def _with(**changes: Any) -> Callable[[dict[str, Any]], object]:
    return lambda answer: answer | changes


@pytest.mark.parametrize(
    "forged",
    [
        lambda _: None,
        lambda _: [],
        lambda _: {},
        _with(todo=[]),
        _with(todo=[{"url": "http://b.test/", "reads_as": "api"}]),
        _with(todo=[{"url": URL, "reads_as": "shell"}]),
        _with(findings=[{"kind": "feed", "url": "http://b.test/feed", "title": "B", "items": 1}]),
        _with(items=[{"title": "no url"}]),
        _with(items=[{"url": 7}]),
        _with(items=[{"url": "http://a.test/", "published_at": "yesterday"}]),
        _with(publisher_hints={"ttl": "soon"}),
        _with(publisher_hints={"ttl": 1e300}),
        _with(publisher_hints={"ttl": -60}),
        _with(publisher_hints={"max_age": 1}),
        _with(publisher_hints={"robots_wait": 86_400}),
        _with(publisher_hints={"skip_hours": [24]}),
        _with(publisher_hints={"skip_days": list(range(100))}),
        _with(listed=-1),
        _with(listed=10**18),
        _with(title=["a"]),
        _with(harvest={"vacancies": [{"title": "Nurse"}], "skipped": []}),
        _with(memory=[]),
        lambda answer: (
            answer | {"todo": [*answer["todo"], *({"url": f"/{n}", "reads_as": "feed"} for n in range(2000))]}
        ),
    ],
    ids=range(23),
)
def test_what_no_reader_says_is_not_believed(forged: Callable[[dict[str, Any]], object]) -> None:
    one = TASKS["feed"]
    honest = orjson.loads(orjson.dumps(answer_of(read_answer(one))))
    with pytest.raises(UsageError):
        read_from(forged(honest), one)


def test_a_search_keeps_what_it_found_before() -> None:
    found = Finding(ChannelKind.SITEMAP, "http://a.test/map.xml", "", 3, NOW)
    run_state = RunState((Todo(URL, ChannelKind.FEED),), asked=("http://a.test/",), findings=(found,))
    read = there_and_back(task(ChannelKind.SEARCH, RSS, run_state))
    assert isinstance(read, ReadAnswer)
    assert [one.kind for one in read.run_state.findings] == [ChannelKind.SITEMAP, ChannelKind.FEED]
