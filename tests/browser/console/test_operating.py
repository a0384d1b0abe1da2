"""What an operator does while roles work: a policy is obeyed, a killed worker is seen, a sink is away for a while."""

from collections.abc import AsyncIterator, Iterator
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect
from tests.browser.console.roles import a_role, shown
from tests.browser.console.watching import watched
from tests.integration.cli.desk import Served
from tests.integration.cli.desk import served as a_site
from tests.integration.serve.callers import ApiCaller, api_on

from headwater.simweb.message import Page as SitePage

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

HOST = "127.0.0.5"
TEXT = "".join(
    f"<p>The tide at the harbour rose for the {n}th time, and all boats rose with it.</p>" for n in range(20)
)
PATHS = ("/one", "/two", "/three")


@pytest.fixture(scope="session")
def site() -> Iterator[Served]:
    with a_site(HOST) as serving:
        for path in PATHS:
            page = f"<html><head><title>Tide {path}</title></head><body><article><h1>Tide {path}</h1>{TEXT}</article>"
            serving.pages[path] = SitePage(page.encode(), "text/html")
        yield serving


@pytest_asyncio.fixture(loop_scope="session")
async def near(database_url: str, site: Served) -> AsyncIterator[ApiCaller]:
    """The web role, which may ask the simulated site."""
    async with api_on(database_url, site.settings) as caller:
        yield caller


@pytest.mark.parametrize("has_script", [True, False])
async def test_a_policy_is_edited_and_the_next_request_obeys_it(
    chromium: Browser, near: ApiCaller, site: Served, database_url: str, has_script: bool
) -> None:
    before = len(site.web.visits.all())
    async with (
        watched(chromium, near.address, has_script=has_script) as one,
        a_role(database_url, "fetch", site.settings),
    ):
        await near.post("frontier/submit", {"url": f"{site.url}/one"})
        page = await one.go(f"/console/frontier/url?url={quote(f'{site.url}/one', safe='')}")
        await shown(page, "#now", "fetched")
        await page.click("text=its pace and robots.txt")
        assert "20 ms, by the default" in (await page.inner_text("#pace")).replace("\N{NO-BREAK SPACE}", " ")
        await page.click("text=Change it")
        await page.fill("[name=min_request_interval_ms]", "3000")
        await page.click("button:text-is('Set')")
        await expect(page.locator(".banners")).to_contain_text("the next request obeys it")
        await expect(page.locator("#pace")).to_contain_text("by the host policy")
        if has_script:
            await one.require_fine()
        for path in PATHS[1:]:
            await near.post("frontier/submit", {"url": f"{site.url}{path}"})
        await one.go(f"/console/frontier?host={HOST}")
        await shown(page, "#urls", "fetched", len(PATHS))
        assert one.troubles == []
    pages = [visit.arrived for visit in site.web.visits.all()[before:] if visit.path in PATHS[1:]]
    assert len(pages) == 2
    assert pages[1] - pages[0] >= 3
