"""Every page of the README's pictures over the demo's world, as an eye and a reader of screens meet it."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser
from tests.browser.console.watching import DESK, PHONE, Scheme, watched
from tests.browser.pictures import FOLDER, PICTURES, SCHEMES, a_demo, lived_through, paths_shown, take_all

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

# Of the demo; it goes on until the test has looked at everything.
LIVED_SECONDS, MOST_SECONDS = 25, 900
MOST_BYTES = 1_700_000


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def demo(quick_folder: Path) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """Its console's address, and the paths of the pictures."""
    with tempfile.TemporaryDirectory(dir=quick_folder) as place:
        async with a_demo(Path(place), MOST_SECONDS) as (address, database):
            await lived_through(database, LIVED_SECONDS)
            yield address, await paths_shown(database)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [PHONE, DESK])
async def test_nobody_stumbles_over_a_page(
    chromium: Browser, demo: tuple[str, dict[str, str]], scheme: Scheme, width: int
) -> None:
    address, paths = demo
    async with watched(chromium, address, width=width, scheme=scheme) as one:
        for path in paths.values():
            await one.go(path)
            await one.require_fine()


async def test_pictures_are_taken_of_all(chromium: Browser, demo: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    taken = await take_all(chromium, *demo, tmp_path)
    assert len(taken) == len(SCHEMES) * sum(1 + one.has_phone for one in PICTURES)
    assert all(one.read_bytes()[8:12] == b"WEBP" for one in taken)
    assert sum(one.stat().st_size for one in taken) < MOST_BYTES
    kept = {one.name for one in FOLDER.glob("*.webp")}
    assert kept == {one.name for one in taken}, "make screenshots"
