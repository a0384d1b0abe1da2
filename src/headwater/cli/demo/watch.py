"""The demo's running commentary, and its summary as the server saw it."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import orjson

from headwater.cli.demo.delivery import delivering
from headwater.cli.output import message_width, say
from headwater.cli.words import length_of, quantity, shorten_line
from headwater.clock import ArrivingClock
from headwater.errors import DependencyDown
from headwater.frontier.entry import EntryStatus
from headwater.frontier.reads import count_both_ways, count_statuses
from headwater.reports.frontier import delays_of, hosts_now
from headwater.reports.tour import a_common_word, archive_in_figures, delays_to_discovery
from headwater.run.maintenance import run_maintenance
from headwater.run.processes import child_processes
from headwater.search.search import search

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.database.pool import Database
    from headwater.services import Services

FETCHERS = 3
# Narrow enough for a terminal of 80 columns.
HEADINGS = "  time  world's time   polls   found  fetched   /s  waiting  resting  busy"
NEWS_INDENT = " " * 8
TOLERANCE_SECONDS = 0.005
SHOWN_REASONS = 6
SHOWN_HITS = 3


@dataclass(slots=True)
class DemoReports:
    """Reports of the poller and the workers."""

    counts: Counter[str] = field(default_factory=Counter)
    polls: Counter[str] = field(default_factory=Counter)
    found: int = 0
    delivery: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    news: list[str] = field(default_factory=list)

    def hear(self, line: bytes) -> None:
        told = orjson.loads(line)
        if "poll" in told:
            self._hear_poll(told)
        else:
            self.counts[told["verdict"]] += 1
        if news := news_of(told):
            self.news.append(news)

    def _hear_poll(self, told: dict[str, Any]) -> None:
        self.polls[told["poll"]] += 1
        self.polls["not_modified"] += told["http_status"] == 304
        self.found += told["inserted"]
        if told["kind"] != "search":
            self.reasons.pop(told["source"], None)  # the latest stand last
            self.reasons[told["source"]] = f"in {length_of(timedelta(seconds=told['next_in']))}: {told['reason']}"

    def latest(self) -> str:
        told, self.news = self.news, []
        return " · ".join(dict.fromkeys(told[-2:]))


def news_of(told: dict[str, Any]) -> str:
    """Worth a word: refusals, waits, moves and ends; not the hundreds that went well."""
    match told.get("verdict"):
        case None if told["kind"] == "search" or told["poll"] != "ok":
            return f"{told['host']}: {told['message'][:70]}"
        case None if told["inserted"]:
            return f"{told['source']}: {told['inserted']} new"
        case "HostSaysWait":
            return f"{told['host']}: {told['reason']}, waiting {told['wait'] or 0:g} s"
        case "Dead":
            return f"{told['host']}: {told['reason']} ({told['detail'][:60]})"
        case "Moved":
            return f"{told['host']} moved to {told['detail'][:60]}"
        case "RetryLater":
            return f"{told['host']}: {told['reason']}, again later"
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class Served:
    """The simulated web's process, as far as the demo talks with it."""

    process: asyncio.subprocess.Process
    port: int
    hosts: int
    began: float  # by the machine's monotonic clock

    @classmethod
    async def by(cls, process: asyncio.subprocess.Process) -> Self:
        assert process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            raise DependencyDown("The simulated web did not start.", fix="Its own message stands above.")
        return cls(process, **orjson.loads(line))

    async def report(self) -> dict[str, Any]:
        """Ends it: the report is its last word."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        told: dict[str, Any] = orjson.loads(await self.process.stdout.read())
        return told


@dataclass(frozen=True, slots=True)
class Watched:
    services: "Services"
    served: Served
    flags: "Mapping[str, str]"
    seconds: int
    begins: datetime
    pace: float
    is_quiet: bool

    @property
    def folder(self) -> Path:
        return Path(self.flags["service.data_dir"])

    def world_now(self) -> datetime:
        return ArrivingClock(self.begins, self.pace, self.services.clock, self.served.began).now()


async def watch(watched: Watched) -> DemoReports:
    say(f"One process polls, {FETCHERS} fetch: robots, slots, redirects and refusals as they happen.")
    say("Changes are delivered to a folder of JSON Lines and to a webhook of this demo's own.")
    say()
    heard = DemoReports()
    common = {"flags": dict(watched.flags), "port": watched.served.port}
    poller = {
        **common,
        "owner": "demo-poller",
        "begins": watched.begins.isoformat(),
        "began": watched.served.began,
        "pace": watched.pace,
    }
    fetchers = [{**common, "owner": f"demo-{number}"} for number in range(FETCHERS)]
    keeping = asyncio.create_task(run_maintenance(watched.services))
    try:
        async with delivering(watched.services, watched.folder) as sinks:
            async with (
                child_processes("headwater.cli.demo.poller", [poller]) as pollers,
                child_processes("headwater.cli.demo.worker", fetchers) as workers,
            ):
                listening = [asyncio.create_task(listen(one, heard)) for one in (*pollers, *workers)]
                await comment(watched, heard)
                for task in listening:
                    task.cancel()
            heard.delivery = await sinks.report()
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])
    return heard


async def listen(worker: asyncio.subprocess.Process, heard: DemoReports) -> None:
    assert worker.stdout is not None
    async for line in worker.stdout:
        heard.hear(line)


async def comment(watched: Watched, heard: DemoReports) -> None:
    database = watched.services.database
    if not watched.is_quiet:
        say(HEADINGS if message_width() else f"{HEADINGS}   what just happened")
    before = 0
    for second in range(1, watched.seconds + 1):
        await watched.services.clock.sleep(1.0)
        if watched.is_quiet:
            continue
        counts = await count_statuses(database)
        now = await hosts_now(database)
        done = counts[EntryStatus.FETCHED]
        waiting = counts[EntryStatus.PENDING] + counts[EntryStatus.FAILED]
        polls = heard.polls["ok"] + heard.polls["warn"] + heard.polls["fail"]
        discovery = f"{second:4} s  {watched.world_now():%a %d %H:%M}  {polls:6,} {heard.found:7,}"
        fetching = f"{done:8,} {done - before:4,} {waiting:8,} {now.waiting:8,} {now.busy:5,}"
        say_second(f"{discovery} {fetching}", heard.latest())
        before = done


def say_second(figures: str, news: str) -> None:
    """With its news below on a terminal, where a longer line would wrap."""
    if width := message_width():
        say(figures)
        if news:
            say(shorten_line(f"{NEWS_INDENT}{news}", width - 1))
    else:
        say(f"{figures}   {news}".rstrip())


async def summarise(watched: Watched, seen: dict[str, Any], heard: DemoReports) -> dict[str, Any]:
    """Politeness as the server saw it: from its own log of visits, whose times are late by its own lag at most."""
    database = watched.services.database
    counts, recounted = await count_both_ways(database)
    summary = {
        "requests": seen["total"]["requests"],
        "requests_per_s": round(seen["total"]["requests"] / watched.seconds, 1),
        "polls": dict(heard.polls),
        "discovered": heard.found,
        "discovery_delay_minutes": await delays_to_discovery(database, watched.begins),
        "fetched": counts.by_status[EntryStatus.FETCHED],
        **await archive_in_figures(database),
        "delivery": heard.delivery,
        "search": await search_a_word(database),
        "verdicts": dict(heard.counts),
        **politeness_of(seen, await delays_of(database)),
        "counters_equal_recount": counts.by_source == recounted.by_source,
        "by_status": counts.by_status,
    }
    conclude(summary, watched, heard)
    return summary


async def search_a_word(database: "Database") -> dict[str, Any] | None:
    """A word that stands in many titles, looked for as a reader would."""
    word = await a_common_word(database)
    if word is None:
        return None
    page = await search(database, word, limit=SHOWN_HITS)
    return {"query": word, "hits": [{"title": hit.title, "snippet": hit.snippet} for hit in page.hits]}


def politeness_of(seen: dict[str, Any], delays: "Mapping[str, float]") -> dict[str, Any]:
    tolerance = TOLERANCE_SECONDS + seen["lag_seconds"]
    gaps = {host: told["smallest_gap_ms"] / 1000 for host, told in seen["hosts"].items() if told["smallest_gap_ms"]}
    closest = min(gaps, key=lambda host: gaps[host] - delays[host], default=None)
    return {
        "hosts": len(seen["hosts"]),
        "hosts_asked_too_soon": sum(gap < delays[host] - tolerance for host, gap in gaps.items()),
        "smallest_gap_seconds": closest and round(gaps[closest], 3),
        "smallest_gap_host": closest,
        "its_delay_seconds": closest and delays[closest],
        "server_lag_seconds": round(seen["lag_seconds"], 3),
        "highest_concurrency": seen["total"]["highest_concurrency"],
        "disallowed_requests": seen["total"]["disallowed"],
        "unconditional_repeats": seen["total"]["unconditional_repeats"],
        "repeated": seen["total"]["repeated"],
    }


def conclude(summary: dict[str, Any], watched: Watched, heard: DemoReports) -> None:
    say()
    hours = (watched.world_now() - watched.begins).total_seconds() / 3600
    polls = sum(heard.polls[word] for word in ("ok", "warn", "fail"))
    say(
        f"In {hours:.1f} hours of the world's time: {polls:,} polls, {heard.polls['not_modified']:,} of them answered "
        f'"not modified"; {heard.found:,} new items, {summary["fetched"]:,} pages fetched.'
    )
    if delay := summary["discovery_delay_minutes"]:
        say(
            f"{delay['items']} of them were published meanwhile: found {delay['p50']:g} minutes after publication "
            f"in the median, 95 % within {delay['p95']:g} (the world's minutes)."
        )
    say(
        f"{summary['documents']:,} documents in {summary['languages']} languages, {summary['duplicates']:,} marked as "
        f"copies of others, {summary['vacancies']:,} vacancies."
    )
    sent, delay = summary["delivery"], summary["delivery"]["log_delay_ms"]
    say(
        f"{sent['changes']:,} changes in the log, {delay['p50']} ms after they were made in the median, 95 % within "
        f"{delay['p95']} ms;"
    )
    say(f"delivered: {sent['jsonl_lines']:,} lines to files, {sent['webhooks']:,} signed messages to a webhook.")
    if found := summary["search"]:
        say(f"Search for {found['query']!r}:")
        for hit in found["hits"]:
            say(f"  {hit['title'][:76]}")
            say(f"    {' '.join(hit['snippet'].split())[:100]}")
    say("The last ones polled, and when and why they are polled again:")
    for source, reason in list(heard.reasons.items())[-SHOWN_REASONS:]:
        say(f"  {source[:30]:30}  {reason}")
    say(f"{summary['requests']:,} requests to {summary['hosts']} hosts.")
    if summary["smallest_gap_host"]:
        say(
            f"As the server saw it: at {summary['smallest_gap_host']}, delay {summary['its_delay_seconds']:g} s, "
            f"two requests came {summary['smallest_gap_seconds']:.3f} s apart, closer than anywhere else"
        )
        say(
            f"(the server's own clock readings were up to {summary['server_lag_seconds']:.3f} s late); "
            f"never more than {summary['highest_concurrency']} at once to one host, "
            f"{summary['hosts_asked_too_soon']} hosts asked too soon,"
        )
        say(
            f"{summary['disallowed_requests']} disallowed paths requested, "
            f"{summary['unconditional_repeats']} answers asked for again without their validators."
        )
    told = "equal" if summary["counters_equal_recount"] else "do NOT equal"
    say(f"The counters {told} a recount of all entries.")
    for promise in broken_promises(summary):
        say(f"Broken promise: {promise}. The demo ends with an error; please report it with `--seed` and `--json`.")


def broken_promises(summary: "Mapping[str, Any]") -> list[str]:
    """Promises of a crawler that this run broke."""
    counts = {
        "hosts_asked_too_soon": ("host", "asked sooner than the delay allows"),
        "disallowed_requests": ("request", "for what robots.txt disallows"),
        "unconditional_repeats": ("request", "repeated without the validators of the one before"),
    }
    broken = [f"{quantity(summary[name], noun)} {what}" for name, (noun, what) in counts.items() if summary[name]]
    if summary["repeated"]:
        broken[-1] += f" ({', '.join(summary['repeated'])})"
    if behind := {name: count for name, count in summary["delivery"]["behind"].items() if count}:
        broken.append(f"sinks are behind the log ({behind})")
    if summary["delivery"]["webhooks_forged"]:
        broken.append("a webhook came with a wrong signature")
    return broken if summary["counters_equal_recount"] else [*broken, "the counters differ from a recount"]
