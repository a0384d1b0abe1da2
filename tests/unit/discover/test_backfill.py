"""Where the older pages of a feed are, and when enough of the past was read."""

from datetime import UTC, datetime, timedelta

import pytest

from headwater.discover.feeds.read import read_feed
from headwater.discover.feeds.words import next_of_wordpress
from headwater.discover.items import Item, Reading
from headwater.discover.polls.backfill import page_before, since_then, start_of_backfill, wait_before_trying_again
from headwater.discover.polls.run_state import Todo
from headwater.sources.kinds import ChannelKind

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SINCE = NOW - timedelta(days=365)
HERE = "https://a.test/feed"
STEP = Todo(HERE, ChannelKind.FEED)
ATOM = 'xmlns="http://www.w3.org/2005/Atom"'


def more_in(body: str) -> tuple[str, ...]:
    reading = read_feed(body.encode(), "", HERE, NOW)
    assert isinstance(reading, Reading)
    return reading.more


@pytest.mark.parametrize(
    ("body", "older"),
    [
        (f'<feed {ATOM}><link rel="prev-archive" href="/2026/10"/><link rel="next" href="/p2"/></feed>', "/2026/10"),
        (f'<feed {ATOM}><link rel="next" href="/p2"/></feed>', "/p2"),
        (f'<feed {ATOM}><generator uri="https://wordpress.org/">WordPress</generator></feed>', "/feed?paged=2"),
        ("<rss><channel><generator>https://wordpress.org/?v=6</generator></channel></rss>", "/feed?paged=2"),
        ('{"version": "https://jsonfeed.org/version/1", "items": [], "next_url": "/2.json"}', "/2.json"),
    ],
)
def test_a_feed_says_where_its_older_entries_are(body: str, older: str) -> None:
    assert more_in(body) == (f"https://a.test{older}",)


@pytest.mark.parametrize(
    "body",
    [
        f'<feed {ATOM}><link rel="self" href="/x"/><generator>Hugo</generator></feed>',
        f'<feed {ATOM}><link rel="next" href="javascript:x"/></feed>',
        '{"version": "https://jsonfeed.org/version/1", "items": [], "next_url": 7e999}',
    ],
)
def test_a_feed_that_names_none_has_none(body: str) -> None:
    reading = read_feed(body.encode(), "", HERE, NOW)
    assert not isinstance(reading, Reading) or reading.more == ()


@pytest.mark.parametrize(
    ("url", "following"),
    [
        ("https://a.test/feed", "https://a.test/feed?paged=2"),
        ("https://a.test/feed?paged=7", "https://a.test/feed?paged=8"),
        ("https://a.test/?feed=rss2&paged=x", "https://a.test/?feed=rss2&paged=2"),
    ],
)
def test_pages_of_wordpress_are_counted(url: str, following: str) -> None:
    assert next_of_wordpress(url) == following


def test_what_is_not_known_to_be_older_is_wanted() -> None:
    young, old, undated = Item("u1", published_at=SINCE), Item("u2", updated_at=SINCE - timedelta(days=1)), Item("u3")
    assert since_then((young, old, undated), SINCE) == (young, undated)


def page(*days: int, more: str = "https://a.test/2") -> Reading:
    return Reading(
        tuple(Item(f"https://a.test/i{n}", published_at=NOW - timedelta(days=n)) for n in days), more=(more,)
    )


def test_an_archive_is_followed_until_a_whole_page_is_too_old() -> None:
    further = page_before(page(300, 400), STEP, HERE, SINCE)
    assert further == Todo("https://a.test/2", ChannelKind.FEED, 1, before="https://a.test/i300")
    assert page_before(page(366, 400), STEP, HERE, SINCE) is None


@pytest.mark.parametrize("reading", [page(), page(1, more="https://b.test/2"), page(1, more=""), Reading((Item("u"),))])
def test_an_archive_ends_where_it_is_empty_elsewhere_or_says_no_more(reading: Reading) -> None:
    assert page_before(reading, STEP, HERE, SINCE) is None


def test_a_page_that_begins_like_the_one_before_is_the_same_page() -> None:
    again = Todo("https://a.test/2", ChannelKind.FEED, before="https://a.test/i1")
    assert page_before(page(1, more="https://a.test/3"), again, HERE, SINCE) is None


def test_a_backfill_reads_what_is_followed_and_guesses_a_sitemap_only_without_one() -> None:
    def asked(places: tuple[str, ...], named: tuple[str, ...] = ()) -> list[str]:
        return [todo.url for todo in start_of_backfill("https://a.test/news", places, named).todo]

    assert asked(("sitemap https://a.test/s.xml", f"feed {HERE}"), ("https://a.test/r.xml",)) == [
        "https://a.test/s.xml",
        HERE,
    ]
    assert asked((f"feed {HERE}",), ("https://a.test/r.xml",)) == [HERE, "https://a.test/r.xml"]
    assert asked(()) == ["https://a.test/sitemap.xml"]


def test_what_fails_for_the_moment_is_tried_again_for_some_hours() -> None:
    waits = [wait_before_trying_again(tries, timedelta()) for tries in range(6)]
    assert waits[:2] == [timedelta(minutes=15), timedelta(minutes=30)]
    assert waits[5] is None
    assert wait_before_trying_again(0, timedelta(hours=9)) == timedelta(hours=9)
