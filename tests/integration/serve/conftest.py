from collections.abc import AsyncIterator

import pytest
from tests.integration.serve.callers import ApiCaller, api_on

from headwater.database.pool import Database


@pytest.fixture
async def api(database_url: str, database: Database) -> AsyncIterator[ApiCaller]:
    """As on a laptop: no login, this machine only, so that everybody is an admin."""
    async with api_on(database_url) as caller:
        yield caller
