"""Files of more rows than are stored at once: nothing is lost between two batches, and an import may end anywhere."""

from datetime import timedelta

import pytest

from headwater.database.pool import Database
from headwater.discover.importing import ROWS_AT_ONCE, Import, Imported
from headwater.sources.exchange.reading import SourceFile, open_sources

pytestmark = pytest.mark.long

DELAY = timedelta(milliseconds=50)
MANY = ROWS_AT_ONCE + 40
FIRST, SECOND = "https://s0.example/,https://s0.example/feed", "https://s0.example/,https://s0.example/more"


class Interrupted(Exception):
    """As by Ctrl-C."""


def large_file() -> SourceFile:
    """Behind the first batch: a further feed of its first source, its first row again with another tag, a bad line."""
    rows = [f"https://s{number}.example/,https://s{number}.example/feed,a" for number in range(MANY)]
    return open_sources("\n".join(["url,feed_url,tags", *rows, f"{SECOND},b", f"{FIRST},c", "htp:/x,,"]).encode())


def importing(database: Database, *, is_dry: bool = False) -> Import:
    return Import(database, DELAY, "tester", is_dry=is_dry)


def counts(done: Imported) -> tuple[int, int, int, list[int]]:
    return done.added, done.feeds_added, done.known, [one.line for one in done.bad]


async def test_every_row_is_counted_once_and_a_dry_run_says_the_same(database: Database) -> None:
    file = large_file()
    assert (file.rows, file.duplicates, file.bad) == (MANY + 1, 1, 1)
    expected = (MANY, 1, 0, [MANY + 4])
    assert counts(await importing(database, is_dry=True).of(file.in_order())) == expected
    assert await database.fetchval("select count(*) from sources") == 0
    assert counts(await importing(database).of(file.in_order())) == expected
    tags = await database.fetchval("select tags from sources where url = 'https://s0.example/'")
    assert list(tags) == ["a", "c"]


async def test_an_interrupted_import_is_gone_on_with(database: Database) -> None:
    file = large_file()

    def stop(_done: int) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        await importing(database).of(file.in_order(), stop)
    kept = await database.fetchval("select count(*) from sources")
    assert 0 < kept < MANY
    assert counts(await importing(database).of(file.in_order())) == (MANY - kept, 1, kept, [MANY + 4])
    before = await database.fetch("select * from channels order by id")
    assert counts(await importing(database).of(file.in_order())) == (0, 0, MANY + 1, [MANY + 4])
    assert await database.fetch("select * from channels order by id") == before
