"""The log as a reader pulls it: every position once and in order, each record as it is now."""

import asyncio
from random import Random

import pytest
from tests.integration.archive.shelf import LONG, OTHER, Shelf, key_of
from tests.integration.deliver.memory_sink import Delivering

from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.deliver.log import READERS, move_changes
from headwater.deliver.pulling import PositionGone, change_as_dict, follow_changes, newest_position, pull_changes
from headwater.errors import UsageError
from headwater.search.views import View, add_view

A, B, C = "https://a.example/1", "https://b.example/1", "https://c.example/1"


async def test_pages_tell_every_position_and_where_to_go_on(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    await shelf.keep(A, LONG, title="One")
    await shelf.keep(B, OTHER, title="Two")
    await move_changes(shelf.database)
    await shelf.tombstone(A)
    await move_changes(shelf.database)
    page = await pull_changes(shelf.database, 0, 2)
    assert (page.next, page.more) == (2, True)
    assert [(one.entry.position, one.op) for one in page.changes] == [(1, "remove"), (2, "upsert")]
    page = await pull_changes(shelf.database, page.next, 2)
    assert [(one.entry.position, one.op, one.version) for one in page.changes] == [(3, "remove", 2)]
    assert (page.next, page.more) == (3, False)
    assert await pull_changes(shelf.database, 3, 2) == type(page)((), 3, more=False)


async def test_what_is_not_in_the_view_is_removed_with_its_id_alone(shelf: Shelf, delivering: Delivering) -> None:
    await delivering.source()
    view = await add_view(shelf.database, View(name="boats", query="ferry"))
    await shelf.keep(A, f"ferry {LONG}", title="Ferry")
    await shelf.keep(B, OTHER, title="Train")
    await move_changes(shelf.database)
    page = await pull_changes(shelf.database, 0, 10, view)
    told = [change_as_dict(one) for one in page.changes]
    assert [one["op"] for one in told] == ["upsert", "remove"]
    assert told[0]["record"]["title"] == "Ferry"
    assert "text" not in told[0]["record"]
    assert change_as_dict(page.changes[0], with_text=True)["record"]["text"].startswith("ferry ")
    assert told[1].keys() == {"position", "at", "changed_at", "op", "kind", "id", "version"}
    assert told[1]["id"] == key_of(B)[1].hex()


async def test_a_position_that_the_log_does_not_reach_is_refused(shelf: Shelf) -> None:
    for number in range(4):
        await shelf.keep(A, f"{number} {LONG}")
        await move_changes(shelf.database)
    await shelf.database.execute("DELETE FROM changes WHERE position <= 2")
    with pytest.raises(PositionGone) as gone:
        await pull_changes(shelf.database, 1, 10)
    await shelf.database.execute("UPDATE change_counter SET oldest_position = 3")
    with pytest.raises(PositionGone, match="begins at position 3: changes after 0 were dropped"):
        await pull_changes(shelf.database, 0, 10)
    assert gone.value.fix.endswith("headwater changes --after 4")
    with pytest.raises(PositionGone, match="ends at position 4"):
        await pull_changes(shelf.database, 5, 10)
    assert len((await pull_changes(shelf.database, 2, 10)).changes) == 2
    assert await newest_position(shelf.database, 100) == 2
    with pytest.raises(UsageError):
        await pull_changes(shelf.database, 2, 0)


async def test_who_follows_gets_each_change_once_and_is_woken(database_url: str, database: Database) -> None:
    """Well before the next look, which is five seconds away."""
    shelf, seen = Shelf(database), list[int]()
    done = asyncio.Event()

    async def follow(listener: Listener) -> None:
        async for page in follow_changes(database, listener, "tester", 0):
            seen.extend(one.entry.position for one in page.changes)
            if len(seen) >= 30:
                done.set()

    async with Listener(database_url, [READERS], Random(1)) as listener:
        task = asyncio.create_task(follow(listener))
        for number in range(30):
            await shelf.keep(f"https://a.example/{number}", f"{number} {LONG}")
            await asyncio.gather(move_changes(database), move_changes(database))
        async with asyncio.timeout(4):
            await done.wait()
        task.cancel()
        await asyncio.wait([task])
    assert seen == list(range(1, 31))
