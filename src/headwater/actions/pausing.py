"""Pausing everything, and going on."""

from headwater.database.pool import Database
from headwater.frontier.pause import CrawlPause, lift_pause, read_pause, set_pause
from headwater.sources.store import Event, Level, record


async def pause_everything(database: Database, actor: str, reason: str = "") -> CrawlPause:
    """Nothing is polled or fetched until it is lifted; the first who set it stays named."""
    async with database.transaction() as connection:
        if await set_pause(connection, actor, reason):
            told = f"everything is paused{f': {reason}' if reason else ''}"
            await record(connection, Event("crawl_paused", told, actor=actor, level=Level.WARN))
        found = await read_pause(connection)
    assert found is not None
    return found


async def resume_everything(database: Database, actor: str) -> bool:
    """Whether it was paused."""
    async with database.transaction() as connection:
        was_set = await lift_pause(connection)
        if was_set:
            await record(connection, Event("crawl_resumed", "everything goes on", actor=actor))
    return was_set
