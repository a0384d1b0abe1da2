"""The demo's simulated web, in a process of its own: its log of visits is the judge, and must not wait for anybody.

Told its seed in one line of JSON; says its port in one; ends when its input ends, with its report as the last line.
"""

import asyncio
import sys
from datetime import datetime
from typing import Any

import orjson

from headwater.cli.demo.world import misbehave
from headwater.cli.output import show_json
from headwater.clock import Clock, SystemClock
from headwater.simweb.play import play_world

LOOK_EVERY_SECONDS = 0.005


def tell(what: dict[str, Any]) -> None:
    show_json(what)


async def watch_lag(clock: Clock, worst: list[float]) -> None:
    """How late this process was at most: its times of visits are wrong by no more than that."""
    while True:
        before = clock.monotonic()
        await clock.sleep(LOOK_EVERY_SECONDS)
        worst[0] = max(worst[0], clock.monotonic() - before - LOOK_EVERY_SECONDS)


async def serve(task: dict[str, Any]) -> None:
    worst = [0.0]
    begins = datetime.fromisoformat(task["begins"])
    wanted = {name: task[name] for name in ("seed", "publishers", "pace")}
    async with play_world(**wanted, arrives_from=begins) as playing:
        misbehave(playing)
        watching = asyncio.create_task(watch_lag(SystemClock(), worst))
        tell({"port": playing.port, "hosts": len(playing.web.sites), "began": playing.clock.began})
        await asyncio.to_thread(sys.stdin.read)
        watching.cancel()
        tell({"lag_seconds": worst[0], **playing.web.report(agent="headwater")})


def main() -> None:
    asyncio.run(serve(orjson.loads(sys.stdin.readline())))


if __name__ == "__main__":
    main()
