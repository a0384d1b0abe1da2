"""`headwater demo`: what there is, running, offline: database, simulated web, frontier, several fetching processes."""

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
    """An offline tour: an embedded database, a simulated web, a frontier filled from it, four processes fetching.

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
    promises = ("hosts_asked_too_soon", "disallowed_requests", "unconditional_repeats")
    return int(any(summary[promise] for promise in promises) or not summary["counters_equal_recount"])


async def tour(wish: Wish) -> dict[str, Any]:
    from headwater.cli.demo_watch import Served, summarise, watch_workers
    from headwater.cli.demo_world import fill_frontier, same_world
    from headwater.run.processes import children
    from headwater.services import open_services
    from headwater.settings import Given, load

    world = same_world(wish.seed, wish.publishers)
    web = {"seed": wish.seed, "publishers": wish.publishers}
    with demo_folder(keep=wish.keep) as folder:
        async with children("headwater.cli.demo_web", [web]) as (process,):
            served = await Served.by(process)
            flags = demo_flags(folder, served.port)
            say("Starting embedded PostgreSQL …")
            async with open_services(load(Given(flags=flags))) as services:
                await introduce(services)
                say(f"Simulated web: {served.hosts:,} hosts on http://127.0.0.1:{served.port}/ (this machine only)")
                await fill_frontier(services, world)
                heard = await watch_workers(services, served.port, flags, wish.seconds, is_quiet=wish.is_quiet)
                summary = await summarise(services, await served.report(), heard, wish.seconds)
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


def demo_flags(folder: "Path", port: int) -> dict[str, str]:
    """The address guard stays on, with one exception: the simulated web's own port on this machine."""
    return {
        "service.data_dir": str(folder),
        "log.level": "error",
        "fetch.contact": "mailto:demo@headwater.test",
        "fetch.concurrency": "30",
        "network.allow": f"127.0.0.1:{port}",
    }


async def introduce(services: "Services") -> None:
    from headwater.cli.doctor import report
    from headwater.reports.doctor import examine
    from headwater.services import data_folder

    data = data_folder(services.settings)
    say(report([check async for check in examine(services.settings, data, services.database, services.clock)]))
