"""`headwater workers`: processes of roles, and a way to let one take on no more."""

from typing import TYPE_CHECKING, Literal

from cyclopts import App

from headwater.cli.launch import AsJson, Cursor, Launch, Launched, Limit, with_services
from headwater.cli.output import say, say_more, show, show_json, show_table
from headwater.cli.words import inert, quantity, relative

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from headwater.reports.log_lines import LogLine
    from headwater.reports.operations import RoleProcess
    from headwater.reports.paging import ListPage
    from headwater.services import Services

A_PERSON = "a person"

app = App(name="workers", help="Processes of roles: who runs, what they warned of, and one that takes on no more.")


@app.command(name="list")
def list_processes(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """List the processes of roles, the latest heartbeat first; also those that fell silent in the last day."""

    async def work(services: "Services") -> "tuple[Sequence[RoleProcess], datetime]":
        from headwater.actions.workers import list_workers
        from headwater.reports.discovery import time_now

        return await list_workers(services), await time_now(services.database)

    found, now = with_services(launch, work)
    if json:
        from headwater.shapes.workers import worker_as_dict

        show_json({"workers": [worker_as_dict(one) for one in found]})
        return
    if not found:
        say("Nothing runs. Start everything: headwater up")
        return
    show_table(
        ("id", "role", "state", "in hand", "process", "version", "started", "heartbeat"),
        [
            (
                str(one.id)[:8],
                one.role,
                str(one.state),
                f"{one.under_way:,}",
                inert(f"{one.pid} on {one.host}"),
                inert(one.version),
                relative(one.started_at, now),
                relative(one.beat_at, now),
            )
            for one in found
        ],
        whole=("id",),
    )


@app.command(name="log")
def show_log(
    *,
    level: Literal["warning", "error"] | None = None,
    event: str | None = None,
    role: str | None = None,
    pid: int | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List what processes warned of in the last day, newest first, whichever machine they run on.

    Parameters
    ----------
    level
        Only warnings, or only errors.
    event
        The name of the event, as docs/log-events.md lists them.
    role
        What the process is: poll, fetch, deliver, web, maintain, up.
    pid
        The number of a process.
    limit
        Lines per page.
    """

    async def work(services: "Services") -> "tuple[ListPage[LogLine], datetime]":
        from headwater.reports.discovery import time_now
        from headwater.reports.log_lines import LineFilter, page_of_lines

        wanted = LineFilter(level, event, role, pid)
        return await page_of_lines(services.database, wanted, limit, cursor), await time_now(services.database)

    page, now = with_services(launch, work)
    if json:
        from headwater.shapes.log_lines import line_as_dict

        show_json({"lines": [line_as_dict(one) for one in page.items], "cursor": page.cursor})
        return
    if not page.items:
        say("Of such lines there are none in the last day.")
        return
    show_table(
        ("when", "level", "process", "what"),
        [(relative(one.at, now), one.level, inert(f"{one.role} {one.pid}"), inert(one.told)) for one in page.items],
        below=("what",),
    )
    say_more(page.cursor)


@app.command(name="drain")
def drain(worker: str, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Let a process take on no more work. It hears so within ten seconds, ends what it has in hand, and keeps running.

    Parameters
    ----------
    worker
        Its id, the beginning of it, or its process number.
    """

    async def work(services: "Services") -> "RoleProcess":
        from headwater.actions.workers import drain_worker

        return await drain_worker(services, worker, A_PERSON)

    _tell(with_services(launch, work), as_json=json)


@app.command(name="resume")
def resume(worker: str, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Let a drained process take on work again, within ten seconds.

    Parameters
    ----------
    worker
        Its id, the beginning of it, or its process number.
    """

    async def work(services: "Services") -> "RoleProcess":
        from headwater.actions.workers import resume_worker

        return await resume_worker(services, worker, A_PERSON)

    _tell(with_services(launch, work), as_json=json)


def _tell(one: "RoleProcess", *, as_json: bool) -> None:
    if as_json:
        from headwater.shapes.workers import worker_as_dict

        show_json(worker_as_dict(one))
        return
    who = f"The process {one.pid} on {inert(one.host)} ({one.role})"
    if one.drain_asked_at is None:
        show(f"{who} takes on work again from its next heartbeat on.")
        return
    show(f"{who} takes on no more from its next heartbeat on; {quantity(one.under_way, 'piece')} of work in hand.")
    say("Watch it: headwater workers list")
    say(f"Take it back: headwater workers resume {str(one.id)[:8]}")
