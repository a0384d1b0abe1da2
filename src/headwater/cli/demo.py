"""`headwater demo`: what there is, running, offline: database, simulated web, frontier, several claiming processes."""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headwater.cli.launch import AsJson, run_to_end
from headwater.cli.output import say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.services import Services
    from headwater.simweb.play import Playing

PROCESSES = 4
BATCH = 10
URLS_PER_PUBLISHER = 40
HEADINGS = "   time   claimed     /s   pending   hosts open   waiting   busy   next opens in"


@dataclass(frozen=True, slots=True)
class Wish:
    seconds: int
    seed: int
    publishers: int
    keep: bool
    is_quiet: bool


def demo(
    *,
    seconds: int = 20,
    seed: int = 1,
    publishers: int = 60,
    headless: Annotated[bool, Parameter(negative="", help="Only the beginning and the summary.")] = False,
    keep: Annotated[bool, Parameter(negative="", help="Keep the database to look around in afterwards.")] = False,
    json: AsJson = False,
) -> int:
    """An offline tour: an embedded database, a simulated web, a frontier filled from it, four processes claiming.

    Parameters
    ----------
    seconds
        How long it runs.
    seed
        Equal seeds give equal webs.
    publishers
        How many sites publish in it.
    """
    from headwater.errors import UsageError

    if not 1 <= seconds <= 86400:
        raise UsageError(f"A demo of {seconds} seconds is not possible.", fix="Give 1 to 86400.")
    summary = run_to_end(tour(Wish(seconds, seed, publishers, keep, is_quiet=headless)))
    if json:
        show_json(summary)
    return 0 if summary["hosts_asked_too_soon"] == 0 and summary["counters_equal_recount"] else 1


async def tour(wish: Wish) -> dict[str, Any]:
    from headwater.services import open_services
    from headwater.simweb.play import play_world

    with demo_folder(keep=wish.keep) as folder:
        loaded = demo_settings(folder)
        say("Starting embedded PostgreSQL …")
        async with open_services(loaded) as services, play_world(seed=wish.seed, publishers=wish.publishers) as playing:
            await introduce(services, playing)
            await fill_frontier(services, playing)
            summary = await run_claimers(services, wish)
            conclude(summary)
        if wish.keep:
            show(f"Look around: headwater --set service.data_dir={folder} frontier stats")
    return summary


@contextmanager
def demo_folder(*, keep: bool) -> "Iterator[Path]":
    import shutil
    import tempfile
    from pathlib import Path

    folder = Path(tempfile.mkdtemp(prefix="headwater-demo-"))
    # As root the server runs under a user of its own, who has to get through here, but not to look around.
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def demo_settings(folder: "Path") -> Any:
    from headwater.settings import Given, load

    flags = {"service.data_dir": str(folder), "log.level": "warning", "fetch.contact": "mailto:demo@headwater.test"}
    return load(Given(flags=flags))


async def introduce(services: "Services", playing: "Playing") -> None:
    from headwater.cli.doctor import report
    from headwater.reports.doctor import examine
    from headwater.services import data_folder

    data = data_folder(services.settings)
    say(report([check async for check in examine(services.settings, data, services.database, services.clock)]))
    say(f"Simulated web: {len(playing.web.sites):,} hosts on http://127.0.0.1:{playing.port}/ (this machine only)")


async def fill_frontier(services: "Services", playing: "Playing") -> None:
    from itertools import islice

    from headwater.frontier.entry import Origin
    from headwater.frontier.submit import Found, Outcome, Submitter, submit
    from headwater.sources.store import create_source

    began = services.clock.monotonic()
    queued = 0
    for publisher in playing.world.publishers:
        items = islice(playing.world.items(publisher, playing.clock.now()), URLS_PER_PUBLISHER)
        async with services.database.transaction() as connection:
            source = await create_source(connection, publisher.name, f"http://{publisher.host}/", publisher.kind)
            answers = await submit(connection, Submitter(source, Origin.FEED), [Found(item.url) for item in items])
        queued += sum(answer.outcome is Outcome.QUEUED for answer in answers)
    took = services.clock.monotonic() - began
    say(f"Frontier: {queued:,} URLs of {len(playing.world.publishers)} publishers queued in {took:.1f} s\n")


async def run_claimers(services: "Services", wish: Wish) -> dict[str, Any]:
    import asyncio

    from headwater.run.maintenance import maintenance_of
    from headwater.run.processes import children

    say(f"{PROCESSES} processes claim, keep to their slots and settle; fetching itself is still to come.")
    if not wish.is_quiet:
        say(HEADINGS)
    task = {"dsn": services.dsn, "batch": BATCH, "lease_seconds": services.settings.lease.duration.total_seconds()}
    keeping = asyncio.create_task(maintenance_of(services).run())
    try:
        async with children("headwater.run.rehearsal", [task | {"owner": f"demo-{n}"} for n in range(PROCESSES)]):
            claimed = await watch(services, wish)
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])
    return await summarise(services, claimed, wish.seconds)


async def watch(services: "Services", wish: Wish) -> int:
    from headwater.frontier.entry import Status
    from headwater.frontier.reads import count_entries
    from headwater.reports.frontier import hosts_now

    claimed = 0
    for second in range(1, wish.seconds + 1):
        await services.clock.sleep(1.0)
        counts = (await count_entries(services.database)).by_status
        now = await hosts_now(services.database)
        done = counts[Status.FETCHED]
        opens = "" if now.next_in is None else f"{now.next_in.total_seconds():.2f} s"
        line = f"{second:5} s {done:9,} {done - claimed:6,} {counts[Status.PENDING]:9,}"
        if not wish.is_quiet:
            say(f"{line} {now.open:12,} {now.waiting:9,} {now.busy:6,}   {opens:>13}")
        claimed = done
    return claimed


async def summarise(services: "Services", claimed: int, seconds: int) -> dict[str, Any]:
    from datetime import timedelta

    from headwater.frontier.reads import counted_and_recounted
    from headwater.reports.politeness import broken, smallest_gaps

    gaps = await smallest_gaps(services.database, timedelta(hours=1), limit=100_000)
    counted, recounted = await counted_and_recounted(services.database)
    closest = min(gaps, key=lambda gap: gap.smallest_gap - gap.delay, default=None)
    return {
        "claimed": claimed,
        "claims_per_s": round(claimed / seconds, 1),
        "hosts": len(gaps),
        "hosts_asked_too_soon": len(broken(gaps)),
        "smallest_gap_seconds": closest and round(closest.smallest_gap.total_seconds(), 3),
        "smallest_gap_host": closest and closest.host,
        "its_delay_seconds": closest and closest.delay.total_seconds(),
        "counters_equal_recount": counted.by_source == recounted.by_source,
        "by_status": counted.by_status,
    }


def conclude(summary: dict[str, Any]) -> None:
    say()
    say(f"{summary['claimed']:,} URLs claimed and settled, {summary['claims_per_s']:g} per second.")
    if summary["hosts"]:
        say(
            f"Closest two requests to one host: {summary['smallest_gap_seconds']:.3f} s apart at "
            f"{summary['smallest_gap_host']}, whose delay is {summary['its_delay_seconds']:g} s; "
            f"{summary['hosts_asked_too_soon']} of {summary['hosts']} hosts were asked too soon."
        )
    told = "equal" if summary["counters_equal_recount"] else "do NOT equal"
    say(f"The counters {told} a recount of all entries.")
