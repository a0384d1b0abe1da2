"""A fetching process of the demo: the real worker, whose names all lead to the simulated web.

Told what to do in one line of JSON on standard input; tells each verdict as a line of JSON; ends when its input ends.
"""

import asyncio
from typing import Any

from headwater.cli.output import show_json
from headwater.clock import SystemClock
from headwater.ingest.journey import Finished
from headwater.run.fetching import run_worker
from headwater.run.processes import task_given, until_input_ends
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.resolver import SimResolver


def page_as_dict(finished: Finished) -> dict[str, Any]:
    verdict = finished.verdict
    return {
        "host": finished.lease.host,
        "url": finished.lease.url,
        "verdict": type(verdict).__name__ if verdict else "LeaseLost",
        "reason": str(getattr(verdict, "reason", "")),
        "detail": str(getattr(verdict, "detail", "") or getattr(verdict, "to", "")),
        "wait": getattr(verdict, "wait", None) and verdict.wait.total_seconds(),  # type: ignore[union-attr]
    }


def tell(finished: Finished) -> None:
    show_json(page_as_dict(finished))


async def work(task: dict[str, Any]) -> None:
    resolver = SimResolver(task["port"], clock=SystemClock())
    async with open_services(load(Given(flags=task["flags"]))) as services:
        await until_input_ends(lambda stop: run_worker(services, task["owner"], stop, tell, resolver))


def main() -> None:
    asyncio.run(work(task_given()))


if __name__ == "__main__":
    main()
