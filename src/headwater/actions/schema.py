"""The schema of the database, changed by a person."""

from headwater.database.migrate import Migration, rollback, status
from headwater.errors import Busy, UsageError
from headwater.reports.operations import SILENT, live_processes
from headwater.services import open_server
from headwater.settings import Loaded


async def take_back_migrations(loaded: Loaded, steps: int) -> list[Migration]:
    """The newest ones. Refused while roles run: they would fail at the tables and functions that are gone."""
    async with open_server(loaded.settings, application_name=loaded.application_name) as database:
        there = len((await status(database)).applied)
        if steps > there > 0:
            fix = f"Give --steps {there} to take back all, and with them everything that is stored."
            raise UsageError(f"{there:,} migrations can be taken back, not {steps:,}.", fix=fix)
        if alive := await live_processes(database):
            named = ", ".join(f"{one.role} (process {one.pid} on {one.host})" for one in alive)
            killed = f"One that was killed counts as running for {SILENT.total_seconds():.0f} s."
            raise Busy(
                f"Roles run on this database, and would fail at tables that are gone: {named}.",
                fix=f"Stop them first, then run the same command again. {killed}",
            )
        return await rollback(database, steps)
