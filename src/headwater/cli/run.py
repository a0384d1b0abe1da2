"""`headwater run`: one role of the system, in the foreground until Ctrl-C."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from headwater.cli.launch import Launch, Launched, with_services
from headwater.cli.output import announce

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from headwater.services import Services

app = App(name="run", help="Run one role: poll, fetch, deliver, maintain, web.")


@app.command(name="poll")
def poll(
    *,
    processes: Annotated[int, Parameter(help="How many poller processes to run on this machine.")] = 1,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Poll channels as they fall due; until Ctrl-C. Any number of pollers may run."""

    async def alone(services: "Services", owner: str, stop: "asyncio.Event") -> None:
        from headwater.run.polling import run_poller

        await run_poller(services, owner, stop)

    return _run_role("poll", alone, processes, launch)


@app.command(name="fetch")
def fetch(
    *,
    processes: Annotated[int, Parameter(help="How many worker processes to run on this machine.")] = 1,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Claim due URLs, fetch, read and store them; until Ctrl-C. Any number of workers may run."""

    async def alone(services: "Services", owner: str, stop: "asyncio.Event") -> None:
        from headwater.run.fetching import run_worker

        await run_worker(services, owner, stop)

    return _run_role("fetch", alone, processes, launch)


@app.command(name="deliver")
def deliver(*, launch: Launched = Launch()) -> int:  # noqa: B008
    """Move changes into the log and bring sinks up to date; until Ctrl-C. Any number of them may run."""

    async def alone(services: "Services", owner: str, stop: "asyncio.Event") -> None:
        from headwater.run.delivering import run_deliverer

        await run_deliverer(services, owner, stop)

    return _run_role("deliver", alone, 1, launch)


@app.command(name="web")
def web(*, launch: Launched = Launch()) -> int:  # noqa: B008
    """Serve the API over HTTP; until Ctrl-C. Any number of them may run."""

    async def alone(services: "Services", owner: str, stop: "asyncio.Event") -> None:
        from headwater.serve.server import run_web

        await run_web(services, owner, stop, lambda address: announce(f"Console: {address}/"))

    return _run_role("web", alone, 1, launch)


def _run_role(
    role: str,
    alone: "Callable[[Services, str, asyncio.Event], Awaitable[None]]",
    processes: int,
    launch: Launch,
) -> int:
    """One in this process; several in processes of their own, which are started again when they die."""
    from headwater.errors import UsageError

    if not 1 <= processes <= 256:
        raise UsageError(f"{processes} processes are not possible.", fix="Give 1 to 256.")

    async def work(services: "Services") -> int:
        from headwater.run.extraction_pools import pool_size_of
        from headwater.run.processes import run_processes
        from headwater.run.stopping import owner_name, until_stopped

        if processes == 1:
            await until_stopped(lambda stop: alone(services, owner_name(role, services.random), stop))
            return 0
        # The cores are shared: every process with a child for each of them would only make them wait for each other.
        share = pool_size_of(services.settings.extract, processes)
        task = replace(launch, overrides={**launch.overrides, "extract.children": str(share)}).as_task()
        return await run_processes(services, "headwater.cli.role_worker", processes, {**task, "role": role})

    return with_services(launch, work)


@app.command(name="maintain")
def maintain(
    *,
    once: Annotated[bool, Parameter(negative="", help="Do everything one time and end.")] = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Rescue expired leases, fold counters, keep histories, vacuum hot tables; until Ctrl-C."""

    async def work(services: "Services") -> None:
        from headwater.run.maintenance import maintenance_of, run_maintenance

        await (maintenance_of(services).once() if once else run_maintenance(services))

    with_services(launch, work)
