"""A role's end: the first Ctrl-C lets it finish what is under way, the second does not."""

import asyncio
import os
import signal
import socket
from collections.abc import Awaitable, Callable

from headwater.chance import Random
from headwater.run.service_manager import STOPPING, ServiceManager


async def until_stopped(
    role: Callable[[asyncio.Event], Awaitable[None]], on_first: Callable[[], None] = lambda: None
) -> None:
    """SIGINT and SIGTERM ask it to stop; a second one ends it where it is."""
    stop = asyncio.Event()
    running = asyncio.ensure_future(role(stop))
    loop = asyncio.get_running_loop()

    def end() -> None:
        if stop.is_set():
            running.cancel()
            return
        stop.set()
        ServiceManager.of_this_process().tell(STOPPING)
        on_first()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    try:
        await running
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def owner_name(role: str, random: Random) -> str:
    """Under which leases are held: told apart by people, and never the same twice."""
    return f"{role}@{socket.gethostname()}:{os.getpid()}:{random.getrandbits(32):08x}"
