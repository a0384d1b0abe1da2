"""The feed: what it shows is what it was sent, also after a kill, and what is removed is gone at once."""

import json
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import feedparser
import pytest
from tests.integration.archive.shelf import LONG, OTHER, SOURCE, Shelf
from tests.integration.deliver.folders import NOW, Bench, log_written
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.deliver.test_file_sinks import killed
from tests.unit.deliver.samples import HOSTILE, document, job, key, removal, upsert

from headwater.database.pool import Database
from headwater.deliver.records import RecordSource
from headwater.deliver.store import add_sink_row, ask_backfill
from headwater.sources.exchange.fields import Row
from headwater.sources.exchange.opml import read_opml
from headwater.sources.kinds import ChannelKind
from headwater.sources.store import NewChannel, add_channel
from headwater.urls.canonical import canonicalise

FILES = {"atom.xml", "feed.json", "sources.opml", "index.html", ".headwater-feed"}


@pytest.fixture
def feed(tmp_path: Path) -> Bench:
    return Bench(tmp_path, "feed")


def titles(bench: Bench) -> list[str]:
    """The same in all three."""
    read = feedparser.parse((bench.folder / "atom.xml").read_bytes())
    assert not read.bozo
    found = [entry.title for entry in read.entries]
    assert found == [item["title"] for item in json.loads((bench.folder / "feed.json").read_bytes())["items"]]
    assert (bench.folder / "index.html").read_text("utf-8").count("<article>") == len(found)
    return found


def sources(bench: Bench) -> list[str]:
    rows = read_opml((bench.folder / "sources.opml").read_text("utf-8"))
    return [one.name for one in rows if isinstance(one, Row)]


async def test_the_newest_come_first_and_no_more_than_wanted(feed: Bench) -> None:
    feed.options = {"items": 2}
    await feed.sends([upsert(number, document(number)) for number in (3, 1, 2)])
    assert titles(feed) == ["Tides 1", "Tides 2"]
    assert set(feed.names()) == FILES


async def test_what_is_removed_is_gone_at_once_and_others_move_up(feed: Bench) -> None:
    feed.options = {"items": 2}
    await feed.sends([upsert(number, document(number)) for number in (1, 2, 3)])
    await feed.sends([removal(4, key(1))], token="t2")
    assert titles(feed) == ["Tides 2", "Tides 3"]
    assert "Tides 1" not in "".join((feed.folder / name).read_text("utf-8") for name in FILES)


async def test_a_change_replaces_and_a_batch_may_come_twice(feed: Bench) -> None:
    await feed.sends([upsert(1, document(1))], [upsert(2, document(1, title="Later"))])
    written = (feed.folder / "atom.xml").read_bytes()
    feed.clock.move(timedelta(hours=1))
    await feed.sends([upsert(2, document(1, title="Later"))], token="t2")
    assert titles(feed) == ["Later"]
    assert (feed.folder / "atom.xml").read_bytes() == written


async def test_options_show_before_anything_new_comes(feed: Bench) -> None:
    await feed.sends([upsert(1, document(1)), upsert(2, document(2))])
    feed.options = {"items": 1, "title": "Coast <&>", "url": "https://feeds.example/coast/"}
    await feed.sends(token="t2")
    read = feedparser.parse((feed.folder / "atom.xml").read_bytes())
    assert (len(read.entries), read.feed.title_detail.value) == (1, "Coast <&>")
    assert {link.href for link in read.feed.links} == {
        "https://feeds.example/coast/atom.xml",
        "https://feeds.example/coast/",
    }
    assert json.loads((feed.folder / "feed.json").read_bytes())["feed_url"] == "https://feeds.example/coast/feed.json"


async def test_the_text_is_in_it_only_where_it_is_wanted(feed: Bench) -> None:
    await feed.sends([upsert(1, document(1, summary="Short."))])
    assert b"Low water" not in (feed.folder / "atom.xml").read_bytes()
    feed.options = {"full_text": True}
    await feed.sends([upsert(2, document(1, summary="Short."))], token="t2")
    assert b"Low water" in (feed.folder / "atom.xml").read_bytes()


async def test_sources_come_and_go_with_their_records(feed: Bench) -> None:
    other = document(2, source=RecordSource(UUID(int=8), "Buoys & <co>", "https://buoys.example/"))
    await feed.sends([upsert(1, document(1)), upsert(2, other)])
    assert sources(feed) == ["Buoys & <co>", "Harbour News"]
    await feed.sends([removal(3, key(1))], token="t2")
    assert sources(feed) == ["Buoys & <co>"]
    await feed.sends([removal(4, key(2))], token="t3")
    assert titles(feed) == []


async def test_vacancies_and_documents_share_a_river(feed: Bench) -> None:
    await feed.sends([upsert(1, document(1)), upsert(2, job(1))])
    assert sorted(titles(feed)) == ["Nurse 1", "Tides 1"]
    assert "until 2026-11-18" in (feed.folder / "index.html").read_text("utf-8")


async def test_hostile_titles_are_shown_as_text(feed: Bench) -> None:
    await feed.sends([upsert(at, document(at, title=title, summary=title)) for at, title in enumerate(HOSTILE, 1)])
    assert len(titles(feed)) == len(HOSTILE)
    assert "<script" not in (feed.folder / "index.html").read_text("utf-8")


async def test_a_state_that_cannot_be_read_begins_anew(feed: Bench) -> None:
    (feed.folder / ".headwater-feed").write_bytes(b'{"entries": [')
    await feed.sends([upsert(1, document(1))])
    assert titles(feed) == ["Tides 1"]


@pytest.mark.long
def test_killed_at_any_step_the_feed_is_whole_afterwards(open_folder: Path) -> None:
    steps = killed(open_folder, "feed")
    assert steps > 8
    for step in range(steps + 1):
        bench = Bench(open_folder / f"{step:03}", "feed")
        assert set(bench.names()) == FILES
        assert titles(bench) == ["Later", *(f"Tides {number}" for number in range(3, 7))]


async def test_the_loop_fills_it_from_the_archive_and_takes_out_duplicates(database: Database, feed: Bench) -> None:
    shelf = Shelf(database)
    await shelf.keep("https://a.example/1", LONG, title="First", published_at=NOW)
    await shelf.keep("https://a.example/2", OTHER, title="Second", published_at=NOW + timedelta(days=-1))
    async with database.transaction() as connection:
        sink_id = await add_sink_row(connection, "out", "feed", {"folder": str(feed.folder)}, None)
        await ask_backfill(connection, sink_id, "new")
    await log_written(database)
    await feed.worker(database).run(sink_id)
    assert sorted(titles(feed)) == ["First", "Second"]
    await shelf.keep("https://a.example/2", LONG, title="Second")
    await log_written(database)
    await feed.worker(database).run(sink_id)
    assert titles(feed) == ["First"]


async def test_readers_can_follow_the_feeds_of_its_sources(feed: Bench, shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source("The Gazette")
    address = canonicalise("https://gazette.example/feed.xml")
    async with shelf.database.transaction() as connection:
        await add_channel(connection, SOURCE, NewChannel(ChannelKind.FEED, address))
        sink_id = await add_sink_row(connection, "out", "feed", {"folder": str(feed.folder)}, None)
    await shelf.keep("https://gazette.example/1", LONG, title="First")
    await log_written(shelf.database)
    await feed.worker(shelf.database).run(sink_id)
    [outline] = read_opml((feed.folder / "sources.opml").read_text("utf-8"))
    assert isinstance(outline, Row)
    assert (outline.name, outline.feed_url) == ("The Gazette", address.url)
