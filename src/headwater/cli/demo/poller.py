"""The demo's poller: the real one, on the world's days, whose names all lead to the simulated web.

Told what to do in one line of JSON on standard input; tells each run as a line of JSON; ends when its input ends.
"""

import asyncio
from datetime import datetime
from typing import Any

from headwater.cli.output import show_json
from headwater.clock import ArrivingClock, SystemClock
from headwater.discover.polls.polling import Ran
from headwater.run.polling import run_poller
from headwater.run.processes import task_given, until_input_ends
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.resolver import SimResolver


def poll_as_dict(ran: Ran) -> dict[str, Any] | None:
    if ran.ending is None:
        return None
    return {
        "poll": ran.ending.status,
        "source": ran.channel.source.name,
        "kind": str(ran.channel.kind),
        "host": ran.channel.url.host,
        "http_status": ran.ending.http_status,
        "inserted": ran.run_state.tally.inserted,
        "requests": ran.run_state.tally.requests,
        "message": ran.ending.message,
        "next_in": ran.ending.next.interval.total_seconds(),
        "reason": ran.ending.next.reason,
    }


def tell(ran: Ran) -> None:
    if told := poll_as_dict(ran):
        show_json(told)


async def work(task: dict[str, Any]) -> None:
    clock = SystemClock()
    world = ArrivingClock(datetime.fromisoformat(task["begins"]), task["pace"], clock, task["began"])
    async with open_services(load(Given(flags=task["flags"]))) as services:
        await until_input_ends(
            lambda stop: run_poller(
                services,
                task["owner"],
                stop,
                tell,
                SimResolver(task["port"], clock=clock),
                calendar=world.now,
            )
        )


def main() -> None:
    asyncio.run(work(task_given()))


if __name__ == "__main__":
    main()
