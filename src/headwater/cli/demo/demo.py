"""`headwater demo`: the system running offline: database, simulated web, a poller, several fetching processes."""

from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, program_as_typed, run_to_end
from headwater.cli.numbers import require_number
from headwater.cli.output import say, say_lines, show, show_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from headwater.serve.server import ListeningSocket
    from headwater.services import Services


@dataclass(frozen=True, slots=True)
class DemoRequest:
    seconds: int
    seed: int
    publishers: int
    pace: float
    keep: bool
    is_quiet: bool
    # Where it is kept, if a person said so; else among the files of this machine that may go at any time.
    kept_in: "Path | None" = None


# A second to a year of the world's time for each of ours.
SLOWEST_PACE, FASTEST_PACE = 0.001, 31_536_000


def demo(
    *,
    seconds: int = 20,
    seed: int = 1,
    publishers: int = 60,
    pace: float = 600,
    headless: Annotated[bool, Parameter(negative="", help="Only the beginning and the summary.")] = False,
    keep: Annotated[
        bool, Parameter(negative="", help="Keep the database to look around in afterwards, in service.data_dir if set.")
    ] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """An offline tour: publishers of a simulated web are followed, polled as it pays, and their pages fetched.

    Parameters
    ----------
    seconds
        How long it runs.
    seed
        Equal seeds give equal webs.
    publishers
        How many sites publish in it.
    pace
        How much faster than ours the world's time runs until it reaches the present: at the end, after two minutes at
        most. It begins that much earlier.
    """
    from headwater.cli.demo.watch import broken_promises
    from headwater.errors import UsageError

    if not 1 <= seconds <= 86400:
        raise UsageError(f"A demo of {seconds} seconds is not possible.", fix="Give 1 to 86400.")
    require_number("--pace", pace, SLOWEST_PACE, FASTEST_PACE)
    kept_in = launch.settings().settings.service.data_dir if keep else None
    summary = run_to_end(tour(DemoRequest(seconds, seed, publishers, pace, keep, headless, kept_in)))
    if json:
        show_json(summary)
    else:
        typed = program_as_typed()
        say(f"Next: {typed} up    (and in another terminal: {typed} sources add https://example.org)")
    return int(bool(broken_promises(summary)))


async def tour(request: DemoRequest) -> dict[str, Any]:
    from headwater.cli.demo.watch import Served, Watched, summarise, watch
    from headwater.cli.demo.world import follow_everybody, world_begins
    from headwater.clock import SystemClock
    from headwater.run.processes import child_processes
    from headwater.services import open_services
    from headwater.settings import Given, load
    from headwater.simweb.world import World

    # Equal seeds give equal worlds: this one is only asked who publishes in it.
    begins = world_begins(SystemClock().now(), request.seconds, request.pace)
    world = World(request.seed, request.publishers, start=begins)
    web = {"seed": request.seed, "publishers": request.publishers, "pace": request.pace, "begins": begins.isoformat()}
    with demo_folder(request.kept_in, keep=request.keep) as folder:
        async with (
            child_processes("headwater.cli.demo.web", [web]) as (process,),
            console_before_all() as serve_console,
        ):
            served = await Served.by(process)
            flags = demo_flags(folder, served.port)
            say("Starting embedded PostgreSQL …")
            async with open_services(load(Given(flags=flags))) as services, serve_console(services):
                await introduce(services)
                say(
                    f"Simulated web: {served.hosts:,} hosts on http://127.0.0.1:{served.port}/ (this machine only); "
                    f"its time runs {request.pace:g} times as fast as ours until it is the present"
                )
                watched = Watched(
                    services, served, flags, request.seconds, begins, request.pace, is_quiet=request.is_quiet
                )
                await follow_everybody(services, world, watched.world_now())
                heard = await watch(watched)
                summary = await summarise(watched, await served.report(), heard)
        if request.keep:
            show(f"Look around: {program_as_typed()} --set service.data_dir={folder} frontier stats")
    return summary


@asynccontextmanager
async def console_before_all() -> "AsyncIterator[Callable[[Services], AbstractAsyncContextManager[None]]]":
    """Its address is told first, and nobody has to look for it; who comes at once is answered when all has started."""
    from headwater.serve.server import address_of, listening
    from headwater.settings.groups import WebSettings

    with listening(WebSettings(port=0)) as bound:
        say(f"Console: {address_of(bound)}/ (no login, this machine only)")
        yield partial(_serving, bound)


@asynccontextmanager
async def _serving(bound: "ListeningSocket", services: "Services") -> "AsyncIterator[None]":
    import asyncio

    from headwater.serve.server import serve

    stop = asyncio.Event()
    serving = asyncio.create_task(serve(services, bound, stop))
    try:
        yield
    finally:
        stop.set()
        await serving


@contextmanager
def demo_folder(place: "Path | None", *, keep: bool) -> "Iterator[Path]":
    import shutil

    folder = _new_folder(place)
    # As root the server runs under a user of its own, who has to get through here, but not to look around.
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _new_folder(place: "Path | None") -> "Path":
    import tempfile
    from pathlib import Path

    from headwater.errors import UsageError
    from headwater.settings.environment import data_directory

    if place is None:
        return Path(tempfile.mkdtemp(prefix="headwater-demo-"))
    parent = data_directory(place)
    try:
        parent.mkdir(0o711, parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="demo-", dir=parent))
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(
            f"The demo cannot be kept in {parent}: {why}.",
            fix="Set service.data_dir to a folder that you may write to.",
        ) from error


def demo_flags(folder: "Path", port: int) -> dict[str, str]:
    """The address guard stays on, with one exception: the simulated web's own port on this machine."""
    return {
        "service.data_dir": str(folder),
        "log.level": "error",
        "fetch.contact": "mailto:demo@headwater.test",
        "fetch.concurrency": "30",
        "poll.concurrency": "20",
        # The world begins in the past: maintenance must not think its days forgotten.
        "keep.run_days": "3650",
        "poll.tick": "250ms",
        "network.allow": f"127.0.0.1:{port}",
    }


async def introduce(services: "Services") -> None:
    from headwater.cli.doctor import report
    from headwater.reports.doctor import examine
    from headwater.services import data_folder

    data = data_folder(services.settings)
    say_lines(report([check async for check in examine(services.settings, data, services.database, services.clock)]))
