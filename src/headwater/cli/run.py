"""`headwater run`: one role of the system, in the foreground until Ctrl-C."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from headwater.cli.launch import Launch, Launched
from headwater.cli.serving import with_services

if TYPE_CHECKING:
    from headwater.services import Services

app = App(name="run", help="Run one role: maintain.")


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
