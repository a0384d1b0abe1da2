"""The table of channel kinds: the only one, and what the schema has to list by itself agrees with it."""

import re
import subprocess
import sys

import pytest
from tests.integration.discover.conftest import Desk

from headwater.database.migrate import migrate, require_current, status
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.polls.task import reader_of
from headwater.errors import MigrationFailed, QueryFailed
from headwater.frontier.entry import EntryOrigin
from headwater.sources.kinds import ChannelKind, kinds_that
from headwater.sources.source import SourceMode

FOREIGN_KEY_VIOLATION = "23503"
QUOTED = re.compile(r"'(\w+)'")


@pytest.mark.parametrize("kind", [kind for kind in ChannelKind if kind.traits.reader])
def test_the_reader_that_the_table_names_is_there(kind: ChannelKind) -> None:
    assert callable(reader_of(kind))


@pytest.mark.parametrize("kind", ChannelKind)
def test_what_the_table_says_is_known_elsewhere(kind: ChannelKind) -> None:
    traits = kind.traits
    assert not traits.origin or EntryOrigin(traits.origin)
    assert traits.mode == "any" or SourceMode(traits.mode)
    assert traits.origin or not traits.brings_news, "news have an origin in the frontier"
    assert traits.remembers_items or not (traits.learns_rhythm or traits.names_vacancies)


def test_kinds_are_known_without_their_readers_and_without_a_database() -> None:
    code = "import sys, headwater.sources.kinds; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert set(loaded).isdisjoint({"asyncpg", "lxml", "headwater.database", "headwater.discover"})


@pytest.mark.long
def test_who_polls_does_not_load_what_reads() -> None:
    code = "import sys, headwater.discover.polls.polling; print('headwater.discover.polls.reading' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert told.strip() == "False"


async def test_the_database_knows_the_kinds_of_the_table(desk: Desk) -> None:
    database = desk.path.database
    assert {row["kind"] for row in await database.fetch("select kind from channel_kinds")} == set(ChannelKind)
    source = await desk.follow(feeds=("http://a.test/feed",))
    with pytest.raises(QueryFailed) as caught:
        await database.execute("update channels set kind = 'telegram' where source_id = $1", source)
    assert caught.value.sqlstate == FOREIGN_KEY_VIOLATION


async def test_a_new_kind_needs_db_migrate_and_no_migration(database: Database) -> None:
    # As a Headwater left it that did not know this kind yet.
    await database.execute("delete from channel_kinds where kind = 'backfill'")
    assert (await status(database)).missing_kinds == ("backfill",)
    with pytest.raises(MigrationFailed, match="the kind backfill") as caught:
        await require_current(database)
    assert "headwater db migrate" in caught.value.fix
    assert await migrate(database) == []
    await require_current(database)


async def test_a_kind_that_an_older_headwater_has_not_may_stay(database: Database) -> None:
    await database.execute("insert into channel_kinds values ('telegram')")
    await require_current(database)
    assert await migrate(database) == []
    assert await database.fetchval("select true from channel_kinds where kind = 'telegram'")


async def test_indexes_of_some_kinds_are_for_those_that_the_table_says(desk: Desk) -> None:
    database = desk.path.database
    never_empty = set(kinds_that(lambda traits: traits.is_never_empty))
    ailing = await database.fetchval("select pg_get_indexdef('channels_ailing'::regclass)")
    assert set(QUOTED.findall(ailing)) == never_empty
    looked_at = str(load_queries("headwater.reports").sources_to_look_at)
    [told] = re.findall(r"last_item_count = 0 AND last_ok_at IS NOT NULL AND kind IN (\([^)]*\))", looked_at)
    assert set(QUOTED.findall(told)) == never_empty
    followed_once = await database.fetchval("select pg_get_indexdef('channels_one_feed'::regclass)")
    assert set(QUOTED.findall(followed_once)) == set(kinds_that(lambda traits: traits.has_one_source))
