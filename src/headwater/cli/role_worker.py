"""One of several processes of `headwater run fetch --processes N` or `run poll --processes N`.

Told its role and settings in one line of JSON on standard input; ends when its input ends.
"""

import asyncio
import sys
from typing import Any

from headwater.cli.launch import Launch
from headwater.errors import HeadwaterError, as_fields
from headwater.run.processes import task_given, until_input_ends
from headwater.run.stopping import owner_name
from headwater.services import Services, logger_for, open_services


async def work(task: dict[str, Any]) -> None:
    async with open_services(Launch.from_task(task).settings()) as services:
        # A worker that breaks ends the process with its error; its parent starts another.
        await until_input_ends(lambda stop: run_role(task["role"], services, stop))


async def run_role(role: str, services: Services, stop: asyncio.Event) -> None:
    """Each imports only what it needs: a poller has no use for what reads pages."""
    owner = owner_name(role, services.random)
    if role == "poll":
        from headwater.run.polling import run_poller

        await run_poller(services, owner, stop)
    else:
        from headwater.run.fetching import run_worker

        await run_worker(services, owner, stop)


def main() -> None:
    task = task_given()
    try:
        asyncio.run(work(task))
    except HeadwaterError as error:
        # One line of the log, and its parent says that it died.
        logger_for(Launch.from_task(task).settings()).error("worker_failed", **as_fields(error))
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
