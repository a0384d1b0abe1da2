"""A search is narrowed by what its documents have in common, by links that need no script."""

import pytest
from playwright.async_api import Browser, expect
from tests.browser.console.watching import DESK, PHONE, Scheme, watched
from tests.integration.archive.shelf import SOURCE, Shelf
from tests.integration.search.facets import OTHER, add_source, keep_pages
from tests.integration.serve.callers import ApiCaller
from tests.integration.serve.console.test_archive_pages import HOSTILE

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

PATH = "/console/documents"


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_search_with_hostile_values_is_fine(
    chromium: Browser, served: ApiCaller, width: int, scheme: Scheme
) -> None:
    shelf = Shelf(served.services.database)
    await add_source(shelf.database, SOURCE, HOSTILE)
    await add_source(shelf.database, OTHER, "Long " * 60)
    for n in range(14):
        authors = (f"{HOSTILE}{n}", "A" * 90)
        source = SOURCE if n % 2 else OTHER
        await shelf.keep(f"https://{'long-name-' * 4}{n}.example/", f"budget {n}", source_id=source, authors=authors)
    async with watched(chromium, served.address, width=width, scheme=scheme) as one:
        for path in (PATH, f"{PATH}?q=budget", f"{PATH}?q=budget&author={'A' * 90}&month=2026-05&page_type=live"):
            await one.go(path)
            await one.require_fine()


@pytest.mark.parametrize("has_script", [True, False])
@pytest.mark.parametrize("width", [PHONE, DESK])
async def test_a_value_is_chosen_kept_and_taken_back(
    chromium: Browser, served: ApiCaller, width: int, has_script: bool
) -> None:
    await keep_pages(Shelf(served.services.database))
    async with watched(chromium, served.address, width=width, has_script=has_script) as one:
        page = await one.go(f"{PATH}?q=budget")
        hits = page.locator(".hits > li")
        await expect(hits).to_have_count(5)
        await page.click(".narrowing >> text=2026-05")
        await expect(hits).to_have_count(2)
        await expect(page.locator(".facet.chosen")).to_contain_text("2026-05")
        await page.click(".narrowing >> text=2026-05-31")
        await expect(hits).to_have_count(1)
        await page.click(".filters button")
        await expect(page.locator(".facet.chosen li")).to_have_count(2)
        await page.click(".chosen a >> nth=-1")
        await expect(hits).to_have_count(2)
        await page.click(".chosen a")
        await expect(hits).to_have_count(5)
        await page.click(".narrowing >> text=Die Zeitung")
        await expect(hits).to_have_count(1)
        assert one.troubles == []
