"""Readers say as a value whether an answer was damaged; no sentence is looked at for it."""

import gzip
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from headwater.discover.feeds.draft import MOST_ENTRIES
from headwater.discover.feeds.read import read_feed
from headwater.discover.items import Reading
from headwater.discover.polls.run_state import RunState, Todo, run_state_from
from headwater.discover.sitemaps.read import read_sitemap
from headwater.sources.kinds import ChannelKind

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
URL = "https://a.example/feed.xml"
ITEMS = "".join(f"<item><title>{at}</title><link>https://a.example/{at}</link></item>" for at in range(40))
RSS = f'<rss version="2.0"><channel><title>A</title>{ITEMS}</channel></rss>'
SITEMAP = f"<urlset>{''.join(f'<url><loc>https://a.example/{at}</loc></url>' for at in range(400))}</urlset>".encode()


def feed(text: str) -> Reading:
    found = read_feed(text.encode(), "application/rss+xml", URL, NOW)
    assert isinstance(found, Reading)
    return found


def sitemap(body: bytes) -> Reading:
    found = read_sitemap(body, "https://a.example/sitemap.xml", NOW, None)
    assert isinstance(found, Reading)
    return found


DAMAGED = {
    "a feed that breaks off": lambda: feed(RSS[:-900]),
    "a feed that is wrongly nested": lambda: feed(RSS.replace("</title><link>", "<b></title></i><link>")),
    "a feed of too many entries": lambda: feed(RSS.replace(ITEMS, ITEMS * (MOST_ENTRIES // 40 + 1))),
    "a sitemap whose gzip is cut off": lambda: sitemap(gzip.compress(SITEMAP)[:-200]),
    "a sitemap that breaks off": lambda: sitemap(SITEMAP[:-300]),
}


@pytest.mark.parametrize("read", DAMAGED.values(), ids=DAMAGED)
def test_a_reader_says_that_an_answer_is_damaged(read: Callable[[], Reading]) -> None:
    found = read()
    assert found.items
    assert found.damage
    assert found.damage in " ".join(found.notes)


def test_a_whole_answer_and_one_that_was_mended_are_not_damaged() -> None:
    assert not feed(RSS).damage
    assert not sitemap(SITEMAP).damage
    mended = feed(RSS.replace("<title>3</title>", "<title>3 & 4</title>"))
    assert mended.notes
    assert not mended.damage


def test_a_run_keeps_its_first_damage_whatever_it_notes_and_wherever_it_goes_on() -> None:
    run_state = RunState((Todo(URL, ChannelKind.FEED),)).noting("Only the first of its readers was asked.")
    assert not run_state.damage
    run_state = run_state.having_read(feed(RSS[:-900])).having_read(feed(RSS))
    assert run_state.damage == feed(RSS[:-900]).damage
    again = run_state_from(run_state.to_dict())
    assert again is not None
    assert again.damage == run_state.damage
