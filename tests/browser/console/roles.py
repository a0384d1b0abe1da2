"""Roles as processes of their own, beside the web role whose pages are looked at."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from playwright.async_api import Page

PATIENCE_SECONDS = 240


@asynccontextmanager
async def a_role(database_url: str, name: str, settings: Mapping[str, str]) -> AsyncIterator[Process]:
    """Asked to stop at the end, unless a test has ended it before."""
    given = {"database.url": database_url, **settings}
    flags = [flag for word, value in given.items() for flag in ("--set", f"{word}={value}")]
    command = (sys.executable, "-m", "headwater", *flags, "run", name)
    process = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=DEVNULL)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def shown(page: Page, selector: str, told: str, times: int = 1) -> None:
    """Loads the page anew until a part of it says so: also where no script does that."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await page.inner_text(selector)).lower().count(told) < times:
            await asyncio.sleep(0.2)
            await page.reload()


async def gone(page: Page, selector: str, told: str) -> None:
    """Loads the page anew until a part of it says so no more."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while told in (await page.inner_text(selector)).lower():
            await asyncio.sleep(0.2)
            await page.reload()
