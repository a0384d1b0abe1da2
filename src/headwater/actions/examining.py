"""The machine and the installation examined."""

from headwater.clock import SystemClock
from headwater.database.migrate import migrate
from headwater.database.migrate import status as migrations
from headwater.reports.doctor import Check, examine
from headwater.services import data_folder, open_database
from headwater.settings import Loaded


async def examine_installation(loaded: Loaded) -> list[Check]:
    settings = loaded.settings
    async with open_database(settings, application_name=loaded.application_name) as (database, _):
        if settings.database.url is None and (await migrations(database)).is_empty:
            # The embedded database belongs to us alone: a first look may as well make it.
            await migrate(database)
        return [check async for check in examine(settings, data_folder(settings), database, SystemClock())]
