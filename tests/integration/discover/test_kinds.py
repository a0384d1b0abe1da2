"""The table of channel kinds: the only one, and what the schema has to list by itself agrees with it."""

import re
import subprocess
import sys

import pytest
from tests.integration.discover.conftest import Desk

from headwater.database.queries import load_queries
from headwater.discover.polls.task import reader_of
from headwater.frontier.entry import EntryOrigin
from headwater.sources.kinds import ChannelKind, kinds_that
from headwater.sources.source import Mode

QUOTED = re.compile(r"'(\w+)'")


@pytest.mark.parametrize("kind", [kind for kind in ChannelKind if kind.traits.reader])
def test_the_reader_that_the_table_names_is_there(kind: ChannelKind) -> None:
    assert callable(reader_of(kind))


@pytest.mark.parametrize("kind", ChannelKind)
def test_what_the_table_says_is_known_elsewhere(kind: ChannelKind) -> None:
    traits = kind.traits
    assert not traits.origin or EntryOrigin(traits.origin)
    assert traits.mode == "any" or Mode(traits.mode)
    assert traits.origin or not traits.brings_news, "news have an origin in the frontier"
    assert traits.remembers_items or not (traits.learns_rhythm or traits.names_vacancies)


def test_kinds_are_known_without_their_readers_and_without_a_database() -> None:
    code = "import sys, headwater.sources.kinds; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert set(loaded).isdisjoint({"asyncpg", "lxml", "headwater.database", "headwater.discover"})


def test_who_polls_does_not_load_what_reads() -> None:
    code = "import sys, headwater.discover.polls.polling; print('headwater.discover.polls.reading' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert told.strip() == "False"


async def test_the_schema_lists_the_kinds_of_the_table(desk: Desk) -> None:
    database = desk.path.database
    checks = [
        row["told"]
        for row in await database.fetch(
            "select pg_get_constraintdef(oid) as told from pg_constraint where conrelid = 'channels'::regclass"
            " and contype = 'c' and conkey = array[(select attnum from pg_attribute"
            " where attrelid = 'channels'::regclass and attname = 'kind')]"
        )
    ]
    assert [set(QUOTED.findall(told)) for told in checks] == [set(ChannelKind)]
    never_empty = set(kinds_that(lambda traits: traits.is_never_empty))
    ailing = await database.fetchval("select pg_get_indexdef('channels_ailing'::regclass)")
    assert set(QUOTED.findall(ailing)) == never_empty
    looked_at = str(load_queries("headwater.reports").sources_to_look_at)
    [told] = re.findall(r"last_item_count = 0 AND last_ok_at IS NOT NULL AND kind IN (\([^)]*\))", looked_at)
    assert set(QUOTED.findall(told)) == never_empty
    followed_once = await database.fetchval("select pg_get_indexdef('channels_one_feed'::regclass)")
    assert set(QUOTED.findall(followed_once)) == set(kinds_that(lambda traits: traits.has_one_source))
