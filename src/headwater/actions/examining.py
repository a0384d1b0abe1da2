"""The machine and the installation examined."""

from headwater.clock import SystemClock
from headwater.database.migrate import migrate
from headwater.database.migrate import status as migrations
from headwater.errors import DependencyDown, QueryFailed
from headwater.reports.doctor import Check, examine_database, examine_machine, unreachable
from headwater.reports.health import InstallationHealth, health_of, without_database
from headwater.services import data_folder, open_database, open_to_read
from headwater.settings import Loaded


async def examine_installation(loaded: Loaded) -> list[Check]:
    settings = loaded.settings
    data = data_folder(settings)
    checks = [check async for check in examine_machine(settings, data)]
    try:
        async with open_database(settings, application_name=loaded.application_name) as (database, _):
            if settings.database.url is None and (await migrations(database)).is_empty:
                # The embedded database belongs to us alone: a first look may as well make it.
                await migrate(database)
            async for check in examine_database(settings, data, database, SystemClock()):
                checks.append(check)  # noqa: PERF401 - those before a failure are kept
    except DependencyDown as error:
        checks.append(unreachable(error, is_configured=settings.database.url is not None))
    except QueryFailed as error:
        checks.append(Check("failure", error.what.rstrip("."), error.fix))
    return checks


async def health_of_installation(loaded: Loaded) -> InstallationHealth:
    """As the database tells it, or that it does not answer."""
    try:
        async with open_to_read(loaded.settings, application_name=loaded.application_name) as database:
            return await health_of(database)
    except DependencyDown as error:
        return without_database(error.what, error.fix)
