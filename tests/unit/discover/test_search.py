"""What a look at a site leads to, and what it comes to."""

from datetime import timedelta

import pytest

from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.polls.requesting import Deferred, Trouble, is_no_page
from headwater.discover.polls.run_state import Finding, RunState, Todo
from headwater.discover.searching.following import Looked, sum_up
from headwater.discover.searching.search import MOST_CANDIDATES, try_usual_addresses
from headwater.sources.kinds import ChannelKind

SITE = "http://a.test/nohome"
RUN_STATE = RunState((Todo(SITE, ChannelKind.SEARCH),))
FEED = Finding(ChannelKind.FEED, "http://a.test/feed", "A", 3)
LISTING = Finding(ChannelKind.LISTING, SITE, "A", 7)
MISSING = Trouble(ErrorClass.NOT_FOUND, "HTTP 404", 404)
FAILING = Trouble(ErrorClass.UPSTREAM, "HTTP 500", 500)
WAIT = Deferred(timedelta(seconds=15), "a.test: delay")


@pytest.mark.parametrize(
    ("error", "status", "is_one"),
    [
        (ErrorClass.NOT_FOUND, 404, True),
        (ErrorClass.GONE, 410, True),
        (ErrorClass.FORBIDDEN, 403, True),
        (ErrorClass.UPSTREAM, 400, True),
        (ErrorClass.RATE_LIMITED, 429, False),
        (ErrorClass.UPSTREAM, 500, False),
        (ErrorClass.UPSTREAM, 302, False),
        (ErrorClass.NETWORK, None, False),
        (ErrorClass.FORBIDDEN, None, False),
    ],
)
def test_a_search_goes_on_without_a_page_only_where_its_host_answers_and_bears_it(
    error: ErrorClass, status: int | None, is_one: bool
) -> None:
    assert is_no_page(Trouble(error, "", status)) is is_one


def test_without_a_page_the_sitemaps_of_robots_come_before_the_usual_places() -> None:
    asked = [one.url for one in try_usual_addresses(RUN_STATE, SITE, ("http://a.test/map.xml",)).todo]
    assert asked[:3] == [SITE, "http://a.test/map.xml", "http://a.test/feed"]
    assert len(asked) == MOST_CANDIDATES + 1


def test_without_a_page_nothing_is_looked_for_that_is_followed_already() -> None:
    kinds = {one.reads_as for one in try_usual_addresses(RUN_STATE, SITE, (), frozenset({ChannelKind.FEED})).todo}
    assert kinds == {ChannelKind.SEARCH, ChannelKind.SITEMAP}


def test_a_look_is_in_vain_once_all_was_asked() -> None:
    assert sum_up([Looked(MISSING, ()), Looked(MISSING, ())]).is_in_vain
    assert not sum_up([Looked(FAILING, ())]).is_in_vain
    assert not sum_up([Looked(WAIT, ())]).is_in_vain
    assert not sum_up([Looked(MISSING, (FEED,))]).is_in_vain


@pytest.mark.parametrize(("found", "kept"), [((LISTING,), ()), ((FEED,), (FEED,))], ids=["listing", "feed"])
def test_a_look_that_a_wait_ended_keeps_a_feed_and_leaves_the_rest_to_a_poller(
    found: tuple[Finding, ...], kept: tuple[Finding, ...]
) -> None:
    seen = sum_up([Looked(MISSING, ()), Looked(WAIT, found)])
    assert (seen.findings, seen.trouble) == (kept, WAIT)
