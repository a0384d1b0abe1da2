from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser
from tests.browser.console.watching import a_browser
from tests.integration.serve.callers import ApiCaller, api_on

from headwater.database.pool import Database


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with a_browser() as one:
        yield one


@pytest_asyncio.fixture(loop_scope="session")
async def served(database_url: str) -> AsyncIterator[ApiCaller]:
    """The web role in development mode, on a database of its own."""
    async with api_on(database_url) as caller:
        yield caller


@pytest_asyncio.fixture(loop_scope="session")
async def rows(served: ApiCaller) -> Database:
    """Its database, to put rows into."""
    return served.services.database
