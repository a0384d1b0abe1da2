"""The page of figures: equal to a recount of what happened, and never going back."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

from prometheus_client.parser import text_string_to_metric_families
from tests.faults.world import Articles, feed, workbench
from tests.integration.archive.shelf import LONG, OTHER, Shelf
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.frontier.surgery import until

from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Database
from headwater.deliver.log import move_changes
from headwater.figures import Figures
from headwater.log import make_logger
from headwater.metrics import METRICS
from headwater.reports.exposition import exposition
from headwater.reports.rolling import roll_up
from headwater.run.presence import Presence, forget_processes

Labels = tuple[tuple[str, str], ...]


async def scraped(database: Database) -> dict[str, dict[Labels, float]]:
    """By name and labels."""
    told: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families((await exposition(database)).decode()):
        for sample in family.samples:
            told.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return told


def by(told: dict[Labels, float], *labels: str) -> dict[tuple[str, ...], float]:
    return {tuple(dict(one)[label] for label in labels): value for one, value in told.items()}


async def test_every_metric_of_an_empty_installation_is_there_and_is_told_once(database: Database) -> None:
    page = (await exposition(database)).decode()
    types = [line.split()[2] for line in page.splitlines() if line.startswith("# TYPE")]
    assert sorted(types) == sorted(one.name for one in METRICS)
    assert all(f"# HELP {one.name} " in page for one in METRICS)


async def test_no_label_names_a_host_a_source_or_a_url(database: Database) -> None:
    assert not {"host", "source", "url", "domain"} & {label for one in METRICS for label in one.labels}


async def test_after_a_run_the_counters_equal_a_recount(database: Database, database_url: str) -> None:
    sites = {"host0.test": Articles(pages={"/feed": feed(*(f"http://host0.test/{n}" for n in range(3)))})}
    async with workbench(database, sites) as bench, bench.everything(database_url):
        source = await bench.follow("http://host0.test/", "http://host0.test/feed")

        async def has_three() -> bool:
            return bool(await database.fetchval("select count(*) = 3 from documents where source_id = $1", source))

        await until(has_three)
        await bench.until_settled()
    assert await roll_up(database)
    assert await roll_up(database), "and again: nothing is counted twice"
    told = await scraped(database)
    log = await database.fetch("select kind, verdict, status, duration_ms, body_bytes, url_hash from fetch_log")
    runs = await database.fetch("select kind, inserted, status, http_status from runs")
    kinds = Counter(row["kind"] for row in log)
    requests = by(told["headwater_requests_total"], "kind", "class")
    assert {kind: sum(count for (one, _), count in requests.items() if one == kind) for kind in kinds} == kinds
    outcomes = Counter(row["verdict"] for row in log if row["url_hash"] and row["verdict"] != "went_on")
    fetches = by(told["headwater_fetches_total"], "outcome", "origin")
    assert fetches == {("fetched", "feed"): outcomes["fetched"]} == {("fetched", "feed"): 3}
    assert sum(told["headwater_fetch_bytes_total"].values()) == sum(row["body_bytes"] or 0 for row in log)
    timed = [row["duration_ms"] for row in log if row["duration_ms"] is not None]
    assert told["headwater_fetch_duration_seconds_count"][()] == len(timed)
    assert told["headwater_fetch_duration_seconds_sum"][()] == sum(timed) / 1000
    assert told["headwater_fetch_duration_seconds_bucket"][(("le", "0.3"),)] == sum(one <= 300 for one in timed)
    assert sum(told["headwater_feed_polls_total"].values()) == len(runs)
    assert sum(told["headwater_items_total"].values()) == sum(row["inserted"] for row in runs)
    assert told["headwater_documents_stored_total"][()] == 3
    assert told["headwater_changes_total"][()] == await database.fetchval("select count(*) from changes")
    made = sum(row["status"] is not None for row in log)
    assert sum(told["headwater_connections_total"].values()) == made
    assert told["headwater_politeness_wait_seconds_count"][()] >= made
    assert by(told["headwater_frontier_urls"], "status")["fetched",] == 3
    assert told["headwater_database_size_bytes"][()] > 1_000_000
    assert set(by(told["headwater_roles"], "role").values()) == {0}, "all of them ended in order"


async def test_what_a_process_counted_outlives_it_and_its_figures(database: Database) -> None:
    figures = Figures()
    log = make_logger("info", "json")
    figures.add("failed.rescue", "so")
    figures.note_settled(0.02)
    figures.note_settled(20)
    async with Heartbeat(database, "ann", 20) as heart:
        presence = Presence(database, heart, figures, log, uuid4(), "fetch", ["fetch"])
        await presence.beat()
        await presence.beat()
        figures.add("failed.rescue", "so")
        await presence.beat()
        await presence.end()
    await database.execute("update role_figures set since = since - interval '9 days'")
    await forget_processes(database)
    told = await scraped(database)
    assert told["headwater_task_failures_total"] == {(("task", "rescue"),): 2}
    assert told["headwater_settle_duration_seconds_bucket"][(("le", "0.03"),)] == 1
    assert told["headwater_settle_duration_seconds_count"][()] == 2
    assert told["headwater_settle_duration_seconds_sum"][()] == 20.02
    await roll_up(database)
    assert (await scraped(database))["headwater_task_failures_total"] == told["headwater_task_failures_total"]


async def test_many_processes_that_beat_at_once_lose_nothing(database: Database) -> None:
    async def live(number: int) -> None:
        figures = Figures()
        async with Heartbeat(database, f"owner {number}", 20) as heart:
            presence = Presence(database, heart, figures, make_logger("info", "json"), uuid4(), "fetch", ["fetch"])
            for _ in range(10):
                for task in ("b", "a", "c"):
                    figures.add(f"died.{task}")
                await presence.beat()

    await asyncio.gather(*map(live, range(4)))
    told = await scraped(database)
    assert by(told["headwater_task_deaths_total"], "task") == {("a",): 40, ("b",): 40, ("c",): 40}


async def test_a_sink_is_told_with_its_delay_and_what_it_has_before_it(database: Database) -> None:
    delivering, shelf = Delivering(database), Shelf(database)
    await delivering.source()
    sink = await delivering.add("store")
    worker = delivering.worker()
    for number in range(3):
        await shelf.keep(f"https://gazette.example/{number}", text=f"{LONG} {number} {number}")
    await move_changes(database)
    await worker.run(sink)
    sent = (await scraped(database))["headwater_sink_sent_total"]
    assert by(sent, "sink") == {("store",): 3}
    delays = {name: count for name, count in worker.figures.counts.items() if name.startswith("sink_delay.store.")}
    assert sum(delays.values()) == 3
    await shelf.keep("https://gazette.example/3", text=OTHER)
    await move_changes(database)
    await database.execute("update sinks set failures = 3")
    told = await scraped(database)
    assert by(told["headwater_sink_pending"], "sink") == {("store",): 1}
    assert by(told["headwater_sink_up"], "sink") == {("store",): 0}
    assert by(told["headwater_health"], "part")["sink store",] == 2


async def test_counters_do_not_go_back_when_days_of_logs_are_dropped(database: Database) -> None:
    await database.execute(
        "insert into fetch_log (at, bucket, host, token, kind, owner, started_at, status, verdict)"
        " select now() - interval '3 minutes', 1, 'a.test', gen_random_uuid(), 'page', 'w', now(), 200, 'done'"
        " from generate_series(1, 5)"
    )
    await roll_up(database)
    before = (await scraped(database))["headwater_requests_total"]
    await database.execute("delete from fetch_log")
    await database.execute("delete from rollup_minutes")
    await roll_up(database)
    assert (await scraped(database))["headwater_requests_total"] == before == {(("class", "2xx"), ("kind", "page")): 5}


def waits(figures: Figures) -> Iterator[tuple[str, int]]:
    return ((name, count) for name, count in figures.counts.items() if name.startswith("politeness_wait."))


def test_times_are_counted_in_the_class_whose_bound_they_do_not_exceed() -> None:
    figures = Figures()
    for seconds in (0, 0.1, 0.1004, 0.101, 99):
        figures.note_time("politeness_wait", seconds, (0, 100, 300))
    assert dict(waits(figures)) == {
        "politeness_wait.0": 1,
        "politeness_wait.100": 2,
        "politeness_wait.300": 1,
        "politeness_wait.more": 1,
    }
    assert figures.counts["politeness_wait_ms"] == round(timedelta(seconds=99.301) / timedelta(milliseconds=1))
