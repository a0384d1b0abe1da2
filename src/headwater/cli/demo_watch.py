"""The demo's running commentary, and its summary as the server saw it."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import orjson

from headwater.cli.output import say
from headwater.errors import DependencyDown
from headwater.frontier.entry import Status
from headwater.frontier.reads import count_entries, counted_and_recounted
from headwater.reports.frontier import delays_of, hosts_now
from headwater.run.maintenance import maintenance_of
from headwater.run.processes import children

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.services import Services

PROCESSES = 4
HEADINGS = "  time   fetched     /s   waiting   hosts open   resting   busy   what just happened"
TOLERANCE_SECONDS = 0.005


@dataclass(slots=True)
class Heard:
    """What the workers told."""

    counts: Counter[str] = field(default_factory=Counter)
    news: list[str] = field(default_factory=list)

    def hear(self, line: bytes) -> None:
        told = orjson.loads(line)
        self.counts[told["verdict"]] += 1
        if news := news_of(told):
            self.news.append(news)

    def latest(self) -> str:
        told, self.news = self.news, []
        return " · ".join(dict.fromkeys(told[-2:]))


def news_of(told: dict[str, Any]) -> str:
    """Worth a word: refusals, waits, moves and ends; not the hundreds that went well."""
    match told["verdict"]:
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


async def watch_workers(
    services: "Services", port: int, flags: "Mapping[str, str]", seconds: int, *, is_quiet: bool
) -> Heard:
    say(f"{PROCESSES} processes fetch: robots, slots, redirects and refusals as they happen.")
    heard = Heard()
    tasks = [{"owner": f"demo-{number}", "flags": dict(flags), "port": port} for number in range(PROCESSES)]
    keeping = asyncio.create_task(maintenance_of(services).run())
    try:
        async with children("headwater.cli.demo_worker", tasks) as workers:
            listening = [asyncio.create_task(listen(worker, heard)) for worker in workers]
            await comment(services, heard, seconds, is_quiet=is_quiet)
            for task in listening:
                task.cancel()
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])
    return heard


async def listen(worker: asyncio.subprocess.Process, heard: Heard) -> None:
    assert worker.stdout is not None
    async for line in worker.stdout:
        heard.hear(line)


async def comment(services: "Services", heard: Heard, seconds: int, *, is_quiet: bool) -> None:
    if not is_quiet:
        say(HEADINGS)
    before = 0
    for second in range(1, seconds + 1):
        await services.clock.sleep(1.0)
        if is_quiet:
            continue
        counts = (await count_entries(services.database)).by_status
        now = await hosts_now(services.database)
        done = counts[Status.FETCHED]
        waiting = counts[Status.PENDING] + counts[Status.FAILED]
        line = f"{second:4} s {done:9,} {done - before:6,} {waiting:9,} {now.open:12,} {now.waiting:9,} {now.busy:6,}"
        say(f"{line}   {heard.latest()}")
        before = done


async def summarise(services: "Services", seen: dict[str, Any], heard: Heard, seconds: int) -> dict[str, Any]:
    """Politeness as the server saw it: from its own log of visits, whose times are late by its own lag at most."""
    tolerance = TOLERANCE_SECONDS + seen["lag_seconds"]
    gaps = {host: told["smallest_gap_ms"] / 1000 for host, told in seen["hosts"].items() if told["smallest_gap_ms"]}
    delays = await delays_of(services.database)
    closest = min(gaps, key=lambda host: gaps[host] - delays[host], default=None)
    counted, recounted = await counted_and_recounted(services.database)
    summary = {
        "requests": seen["total"]["requests"],
        "requests_per_s": round(seen["total"]["requests"] / seconds, 1),
        "fetched": counted.by_status[Status.FETCHED],
        "verdicts": dict(heard.counts),
        "hosts": len(seen["hosts"]),
        "hosts_asked_too_soon": sum(gap < delays[host] - tolerance for host, gap in gaps.items()),
        "smallest_gap_seconds": closest and round(gaps[closest], 3),
        "smallest_gap_host": closest,
        "its_delay_seconds": closest and delays[closest],
        "server_lag_seconds": round(seen["lag_seconds"], 3),
        "highest_concurrency": seen["total"]["highest_concurrency"],
        "disallowed_requests": seen["total"]["disallowed"],
        "unconditional_repeats": seen["total"]["unconditional_repeats"],
        "counters_equal_recount": counted.by_source == recounted.by_source,
        "by_status": counted.by_status,
    }
    conclude(summary)
    return summary


def conclude(summary: dict[str, Any]) -> None:
    say()
    say(f"{summary['requests']:,} requests to {summary['hosts']} hosts; {summary['fetched']:,} pages fetched.")
    if summary["smallest_gap_host"]:
        say(
            f"As the server saw it: at {summary['smallest_gap_host']}, delay {summary['its_delay_seconds']:g} s, "
            f"two requests came {summary['smallest_gap_seconds']:.3f} s apart, closer than anywhere else"
        )
        say(
            f"(the server's own clock readings were up to {summary['server_lag_seconds']:.3f} s late); "
            f"never more than {summary['highest_concurrency']} at once to one host, "
            f"{summary['hosts_asked_too_soon']} hosts asked too soon, "
            f"{summary['disallowed_requests']} disallowed paths requested."
        )
    told = "equal" if summary["counters_equal_recount"] else "do NOT equal"
    say(f"The counters {told} a recount of all entries.")
