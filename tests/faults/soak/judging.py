"""After the faults: everything is healed, what waits is fetched, and then every promise is looked at."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any

from tests.faults import invariants
from tests.faults.soak.draws import Stage, say
from tests.faults.soak.queueing import Queue
from tests.faults.soak.town import title_of

from headwater.database.pool import Database

DRAINED_WITHIN_SECONDS = 900
LOOK_EVERY_SECONDS = 1.0
SHOWN = 5
WITHIN_SECONDS = 90.0
# As if whatever waits for better days had waited for them.
DUE_NOW = (
    "update robots set expires_at = now() where access = 'unreachable'",
    "delete from host_closures",
    "update hosts set closed_until = '-infinity', bad_in_a_row = 0 where closed_until > now() or bad_in_a_row > 0",
    "update url_frontier set next_fetch_at = now() where status in ('pending', 'failed') and next_fetch_at > now()",
    """select refresh_hosts(array_agg(bucket), array_agg(host), clock_timestamp()) from hosts
       where exists (select from url_frontier e where e.bucket = hosts.bucket and e.host = hosts.host
                     and e.status in ('pending', 'failed'))""",
    "update sinks set retry_at = '-infinity'",
    "update delivery_failures set next_try_at = now()",
)
POLL_NOW = "update channels set next_poll_at = now() where token is null and is_active and next_poll_at > now()"
UNPOLLED = "select count(*) from channels where is_active and kind = 'feed' and (last_ok_at is null or last_ok_at < $1)"
WAITING = "select count(*) from url_frontier where status in ('pending', 'failed', 'fetching')"
POISONED_BY_ONE_DEATH = """
    select count(*) from url_frontier e where e.reason = 'poison' and 2 > (
        select count(*) from fetch_log l where l.bucket = e.bucket and l.url_hash = e.url_hash
                                             and l.verdict = 'crashed')"""
UNDELIVERED = """
    select (select count(*) from outbox) + (select count(*) from delivery_failures)
           + (select count(*) from sinks where position < (select coalesce(max(position), 0) from changes))"""


async def healed(stage: Stage) -> int:
    """What is still not done when the time for it is over."""
    stage.crew.tell_all(sick_share=0.0)
    await stage.town.ask("publish no more")
    # Whoever was told to stay away keeps to it: only then may what waits be due at once.
    await asyncio.sleep(await stage.town.ask("turn nobody away"))
    now = await stage.ask_one("select now()")
    until = monotonic() + DRAINED_WITHIN_SECONDS
    left, parts = 1, [0, 0, 0]
    while left and monotonic() < until:
        for statement in (*DUE_NOW, POLL_NOW):
            await stage.ask(statement)
        for _ in range(10):
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            parts = [await stage.ask_one(WAITING), await stage.ask_one(UNPOLLED, now), await stage.ask_one(UNDELIVERED)]
            left = sum(parts)
            if not left:
                break
        pages, feeds, changes = parts
        say(f"{stage.seen[-1][1]:>9,} requests; {pages:,} pages wait, {feeds} feeds, {changes} changes for the sink")
    return left


async def judged(stage: Stage, queue: Queue, codes: list[int]) -> dict[str, Any]:
    """With nobody at work."""
    queue.note_news(await stage.town.ask("publish no more"))
    figures, visits = stage.figures, await stage.town.ask("report")
    async with await Database.connect(stage.dsn, size=2) as database:
        found = await entries(database, queue)
        broken = await invariants.broken(database)
        sink = await compare_sink(stage, database)
    return {
        "drawn": dict(sorted(figures.drawn.items(), key=lambda one: int(one[0][1:]))),
        **visits,
        **found,
        "invariants_broken": len(broken),
        "invariants_broken_at": [str(one) for one in broken[:SHOWN]],
        **sink,
        "killed": figures.killed,
        "entries_held_by_the_killed": figures.entries_held,
        "given_back_seconds": spread(figures.given_back_seconds),
        "run_again_seconds": spread(figures.run_again_seconds),
        "restart_back_seconds": figures.restart_back_seconds,
        "connections_cut": figures.cuts,
        "sessions_ended": figures.sessions_ended,
        "left_behind": figures.left_behind,
        "unasked_ends": len(stage.crew.unasked),
        "unasked_ends_are": stage.crew.unasked[:SHOWN],
        "bad_ends": len(figures.slow_ends) + sum(code != 0 for code in codes),
        "old_snapshot_alarms": stage.crew.logged("old_snapshot_holds_vacuum_back"),
        "leases_lost": stage.crew.logged("lease_lost"),
    }


def spread(seconds: list[float]) -> dict[str, float | None]:
    """Of the kills: a queue that is never empty has pages before those that were given back."""
    return {
        "kills": len(seconds),
        "median": sorted(seconds)[len(seconds) // 2] if seconds else None,
        "longest": max(seconds, default=None),
        "beyond_90": sum(one > WITHIN_SECONDS for one in seconds),
    }


async def entries(database: Database, queue: Queue) -> dict[str, Any]:
    """I1 and I5: each accepted URL is one entry, and a document with its own text where it may be asked for."""
    rows = await database.fetch("select url, status, reason from url_frontier")
    known = {row["url"]: row for row in rows}
    lost = queue.accepted - known.keys()
    documents = await database.fetch("select url, title from documents where deleted_at is null")
    titles = {row["url"]: row["title"] for row in documents}
    poisoned = {url for url, row in known.items() if row["reason"] == "poison"}
    missing = queue.accepted - queue.forbidden - poisoned - titles.keys()
    wrong = [url for url, title in titles.items() if title != title_of(url.removeprefix("http://"))]
    doubled = len(rows) - len(known) + len(documents) - len(titles)
    return {
        "accepted": len(queue.accepted),
        "lost": len(lost),
        "lost_are": sorted(lost)[:SHOWN],
        "doubled": doubled,
        "documents": len(documents),
        "documents_missing": len(missing),
        "documents_missing_are": [str(tuple(known[url])) for url in sorted(missing & known.keys())[:SHOWN]],
        "documents_wrong": len(wrong),
        "documents_wrong_are": wrong[:SHOWN],
        "poisoned": len(poisoned),
        "poisoned_by_one_death": await database.fetchval(POISONED_BY_ONE_DEATH),
        "disallowed_by_robots": count_of(rows, lambda row: row["reason"] == "robots_blocked"),
    }


def count_of(rows: list[Any], holds: Callable[[Any], bool]) -> int:
    return sum(1 for row in rows if holds(row))


async def compare_sink(stage: Stage, database: Database) -> dict[str, Any]:
    """I6, both ways."""
    rows = await database.fetch(
        "select url_hash, title from documents where deleted_at is null and duplicate_of is null"
    )
    archive = {row["url_hash"].hex(): row["title"] for row in rows}
    held = await stage.search.ask("held")
    return {
        "sink_equal": held == archive,
        "in_sink": len(held),
        "only_in_archive": len(archive.keys() - held.keys()),
        "only_in_sink": len(held.keys() - archive.keys()),
    }
