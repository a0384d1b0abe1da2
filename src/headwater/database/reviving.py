"""A server of our own that was killed under its users is started again by one of them."""

from datetime import timedelta

from headwater.clock import Clock
from headwater.database.embedded import EmbeddedServer
from headwater.errors import EmbeddedServerFailed
from headwater.log import Logger

LOOK_EVERY_SECONDS = 2.0
# Between two attempts of all processes together: on a full disk each of them only writes more.
PAUSE = timedelta(seconds=15)


async def keep_serving(
    server: EmbeddedServer, clock: Clock, log: Logger, *, every: float = LOOK_EVERY_SECONDS, pause: timedelta = PAUSE
) -> None:
    """Until cancelled. A server that was shut down in order stays down: a person wanted that."""
    is_told = False
    while True:
        await clock.sleep(every)
        if server.was_killed:
            await _revive(server, clock, log, pause)
        elif server.was_shut_down and not is_told:
            log.warning("database_was_shut_down", fix="Any command of ours starts it again.")
        is_told = server.was_shut_down


async def _revive(server: EmbeddedServer, clock: Clock, log: Logger, pause: timedelta) -> None:
    try:
        if await server.revive(clock.now(), pause):
            log.warning("database_started_again", folder=str(server.directory), why="it was killed")
    except EmbeddedServerFailed as error:
        log.error("database_cannot_start", error=error.what, fix=error.fix, again_in_seconds=pause.total_seconds())
