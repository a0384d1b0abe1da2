"""The way of a run through a channel's answers, put away and taken up again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from headwater.discover.polls.run_state import (
    Finding,
    FirstAnswer,
    ItemTally,
    OwnListing,
    RunState,
    Todo,
    UnreadPage,
    run_state_from,
)
from headwater.discover.publisher_hints import PublisherHints
from headwater.net.validators import Validators
from headwater.sources.kinds import ChannelKind

START = RunState((Todo("http://a.test/", ChannelKind.SITEMAP),))
AT = datetime(2026, 3, 2, tzinfo=UTC)


def child(number: int, **more: object) -> Todo:
    return Todo(f"http://a.test/{number}.xml", ChannelKind.SITEMAP, 1, **more)  # type: ignore[arg-type]


def test_a_run_comes_back_from_json_as_it_was() -> None:
    run_state = (
        START.ahead([child(1), child(2, state={"index": 3})])
        .counting(ItemTally(requests=1, found=2, inserted=1), [AT, None])
        .noting("something")
        .remembering("http://a.test/0.xml", {"etag": None, "led_to": [["http://a.test/1.xml", "sitemap", 1, False]]})
        .passed()
    )
    hints = PublisherHints(timedelta(0), timedelta(seconds=90.5), ttl=timedelta(hours=1), skip_hours=frozenset({3, 4}))
    own = OwnListing(2, 1, (AT, None))
    run_state = replace(
        run_state,
        began_at=AT,
        first=FirstAnswer(200, Validators('"x"', "then"), "http://b.test/", "A", hints, 5, own),
        unread=UnreadPage("http://a.test/3.xml", "HTTP 500", AT),
        is_cut=True,
        deaths=1,
    )
    run_state = RunState(
        **{
            **{name: getattr(run_state, name) for name in RunState.__dataclass_fields__},
            "findings": (
                Finding(ChannelKind.FEED, "http://a.test/feed", "A", 3, AT),
                Finding(ChannelKind.LISTING, "http://a.test/", "", 9),
            ),
        }
    )
    assert run_state_from(orjson.loads(orjson.dumps(run_state.to_dict()))) == run_state


PUT_AWAY_BEFORE = {
    "todo": [{"url": "http://a.test/", "reads_as": "feed"}],
    "asked": [],
    "tally": {},
    "notes": [],
    "dates": [],
    "findings": [],
    "has_news": False,
    "kept": {"etag": "x", "unread": ["http://a.test/2", "HTTP 500", None], "began_at": "2026-03-02T00:00:00+00:00"},
}


@pytest.mark.parametrize(
    "stored",
    [
        *(None, 7, [], {}, {"todo": []}),
        {"first": {}, "todo": [{"url": 1}]},
        {"first": {}, "todo": [{"url": "http://a.test/", "reads_as": "x"}]},
        START.to_dict() | {"first": {"status": "fine"}},
        START.to_dict() | {"first": {"publisher_hints": {"ttl": "soon"}}},
        START.to_dict() | {"dates": ["yesterday"]},
        START.to_dict() | {"unread": ["http://a.test/2", "HTTP 500", None]},
        PUT_AWAY_BEFORE,
    ],
)
def test_what_is_no_run_or_was_put_away_in_another_form_begins_anew(stored: object) -> None:
    assert run_state_from(stored) is None


def test_nothing_is_asked_twice_in_one_run() -> None:
    run_state = START.ahead([child(1), child(1), Todo("http://a.test/", ChannelKind.SITEMAP)]).passed()
    assert [todo.url for todo in run_state.todo] == ["http://a.test/1.xml"]
    assert [todo.url for todo in run_state.ahead([child(1), child(2)]).todo] == [
        "http://a.test/1.xml",
        "http://a.test/2.xml",
    ]
    again = run_state.passed().ahead([child(1)])
    assert again.todo == ()


def test_pages_of_an_api_have_one_address_and_are_told_apart_by_their_state() -> None:
    page = Todo("http://a.test/api", ChannelKind.API, state={"index": 1})
    run_state = RunState((Todo("http://a.test/api", ChannelKind.API),)).ahead([page]).passed()
    assert run_state.todo == (page,)


def test_a_run_has_a_largest_number_of_steps() -> None:
    run_state = START.ahead([child(n) for n in range(100)], most=5)
    assert len(run_state.todo) == 5
    assert len(run_state.passed().ahead([child(n) for n in range(100, 200)], most=5).todo) == 4


def test_the_page_that_continues_one_without_news_is_dropped_and_no_other() -> None:
    own, other = child(1, continues=START.step.url), child(2, continues="http://a.test/elsewhere")
    wanted = child(3, continues=START.step.url, is_wanted=True)
    run_state = START.ahead([own, other, wanted, child(4)])
    assert run_state.pruned().todo == (START.step, other, wanted, child(4))
    assert replace(run_state, has_news=True).pruned().todo == run_state.todo


def test_a_list_is_read_to_its_end_before_the_pages_beside_it() -> None:
    second, third = child(2, continues=START.step.url), child(3, continues=child(2).url)
    run_state = START.ahead([second, child(8), child(3), child(9)], most=5).passed()
    assert [todo.url for todo in run_state.ahead([third], most=5).todo] == [
        one.url for one in (second, third, child(8), child(9))
    ]
    assert run_state.ahead([third], most=3).todo == (second, third)


def test_the_page_that_a_redirect_led_to_is_not_asked_again() -> None:
    run_state = START.ahead([child(1), child(2)]).passed(child(2).url)
    assert run_state.todo == (child(1),)
    assert run_state.ahead([child(2)]).todo == (child(1),)


def test_notes_are_kept_once_and_bounded() -> None:
    run_state = START.noting("a", "a", "", "b")
    assert run_state.notes == ("a", "b")
    assert len(run_state.noting(*map(str, range(1000))).notes) <= 20


def test_a_step_in_vain_is_still_to_be_made_and_counted_also_when_it_is_put_away() -> None:
    run_state = RunState((Todo("http://a.test/api", ChannelKind.API),))
    assert run_state.is_untouched
    again = run_state_from(run_state.trying_again().to_dict())
    assert again is not None
    assert (again.step.tries, again.is_first_step, again.is_untouched, again.tally.requests) == (1, True, False, 1)
