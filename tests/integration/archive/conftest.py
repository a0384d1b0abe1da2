from collections.abc import AsyncIterator

import pytest
from tests.integration.archive.shelf import Shelf, broken

from headwater.database.pool import Database


@pytest.fixture
async def shelf(database: Database) -> AsyncIterator[Shelf]:
    """Whatever a test does, what is always true of the archive is true at its end."""
    on_shelf = Shelf(database)
    yield on_shelf
    assert await broken(database) == []
