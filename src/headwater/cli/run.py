"""`headwater run`: one role of the system, in the foreground until Ctrl-C."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from headwater.cli.launch import Launch, Launched
from headwater.cli.serving import with_services

if TYPE_CHECKING:
    from headwater.services import Services

app = App(name="run", help="Run one role: poll, maintain.")


@app.command(name="poll")
def poll(*, launch: Launched = Launch()) -> None:  # noqa: B008
    """Poll channels as they fall due; until Ctrl-C. Any number of pollers may run."""

    async def work(services: "Services") -> None:
        from headwater.run.polling import run_poller
        from headwater.run.stopping import owner_name, until_stopped

        await until_stopped(lambda stop: run_poller(services, owner_name("poll", services.random), stop))

    with_services(launch, work)


@app.command(name="maintain")
def maintain(
    *,
    once: Annotated[bool, Parameter(negative="", help="Do everything one time and end.")] = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Rescue expired leases, fold counters, keep the fetch log, vacuum hot tables; until Ctrl-C."""

    async def work(services: "Services") -> None:
        from headwater.run.maintenance import maintenance_of

        chores = maintenance_of(services)
        await (chores.once() if once else chores.run())

    with_services(launch, work)
