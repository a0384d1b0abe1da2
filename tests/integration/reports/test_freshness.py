"""Delays to sinks, of a source and overall."""

from datetime import timedelta

from tests.integration.archive.shelf import LONG, SOURCE, Shelf
from tests.integration.deliver.memory_sink import Delivering

from headwater.database.pool import Database
from headwater.deliver.log import move_changes
from headwater.figures import SINK_DELAY
from headwater.reports.freshness import freshness_of, sink_delays

SECOND = timedelta(seconds=1)


async def test_delays_to_a_sink_are_told_of_a_source(database: Database) -> None:
    delivering, shelf = Delivering(database), Shelf(database)
    await delivering.source()
    sink = await delivering.add("store")
    assert (await freshness_of(database, SOURCE, [])).sinks == ()
    for number in range(3):
        await shelf.keep(f"https://gazette.example/{number}", text=f"{LONG} {number} {number}")
    await move_changes(database)
    await delivering.worker().run(sink)
    await database.execute(
        "update delivered g set at = d.changed_at + interval '4 seconds' from documents d where g.hash = d.url_hash"
    )
    await database.execute("update sinks set created_at = now() - interval '1 hour'")
    found = await freshness_of(database, SOURCE, [])
    assert [(one.sink, one.delay.count, one.delay.p50, one.delay.p95) for one in found.sinks] == [
        ("store", 3, 4 * SECOND, 4 * SECOND)
    ]
    await database.execute("update delivered set version = 9")
    assert (await freshness_of(database, SOURCE, [])).sinks == (), "what it holds is not what they are now"


async def test_delays_to_all_sinks_are_told_of_a_day_by_their_classes(database: Database) -> None:
    await database.execute(
        "insert into rollup_hours (figure, hour, label, count) select $1, now() - ago * interval '1 hour', label, count"
        " from (values (1, 'main.1000', 50), (1, 'main.3000', 50), (30, 'main.600000', 999), (2, 'old.more', 1))"
        " as told (ago, label, count)",
        SINK_DELAY,
    )
    main, old = await sink_delays(database)
    assert (main.sink, main.delay.count, main.delay.p50) == ("main", 100, SECOND)
    assert main.delay.p95 == 2.8 * SECOND
    assert (old.sink, old.delay.p50) == ("old", timedelta(hours=1))
