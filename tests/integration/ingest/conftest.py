from collections.abc import AsyncIterator

import pytest
from tests.integration.archive.shelf import broken
from tests.integration.ingest.press import Press, press_on, reading_pool

from headwater.database.pool import Database


@pytest.fixture
async def press(database: Database) -> AsyncIterator[Press]:
    """Whatever a test does, what is always true of the archive is true at its end."""
    async with reading_pool() as pool, press_on(database, pool) as ready:
        yield ready
    assert await broken(database) == []
