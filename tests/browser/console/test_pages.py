"""Overview, crawl, login and the page for site owners, as people use them."""

import pytest
from playwright.async_api import Browser, expect
from tests.browser.console.watching import DESK, PHONE, Scheme, watched
from tests.integration.serve.callers import ApiCaller
from tests.integration.serve.console.hostile import put_hostile_rows
from tests.integration.serve.people import PASSWORD, add_user

from headwater.reports.rolling import roll_up

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

PAGES = ("/console", "/console/crawl", "/console/requests", "/crawler")


@pytest.mark.parametrize("width", [PHONE, DESK])
async def test_pages_with_hostile_rows_are_fine(chromium: Browser, served: ApiCaller, width: int) -> None:
    await put_hostile_rows(served)
    await roll_up(served.services.database)
    scheme: Scheme = "dark" if width == PHONE else "light"
    async with watched(chromium, served.address, width=width, scheme=scheme) as one:
        for path in PAGES:
            await one.go(path)
            await one.require_fine()


async def test_an_empty_console_says_what_to_do(chromium: Browser, served: ApiCaller) -> None:
    async with watched(chromium, served.address) as one:
        await one.go("/console")
        assert "Follow a site" in await one.text()
        await one.require_fine()


@pytest.mark.parametrize("has_script", [True, False])
async def test_everything_is_paused_and_resumed(chromium: Browser, served: ApiCaller, has_script: bool) -> None:
    async with watched(chromium, served.address, has_script=has_script) as one:
        page = await one.go("/console/crawl")
        await page.click("main >> text=Pause everything")
        await page.fill("[name=reason]", "moving")
        await page.click("main >> text=Pause everything >> nth=-1")
        await expect(page.locator(".banners")).to_contain_text("Everything is paused.")
        await expect(page.locator(".banners")).to_contain_text("developer paused everything")
        assert (await served.get("crawl/status")).json["pause"]["reason"] == "moving"
        await page.click(".banners >> text=Resume")
        await expect(page.locator(".banners")).to_contain_text("Everything goes on")
        assert (await served.get("crawl/status")).json["pause"] is None
        assert one.troubles == []


async def test_new_rows_come_by_themselves_and_not_under_the_pointer(chromium: Browser, served: ApiCaller) -> None:
    _, channel = await put_hostile_rows(served)
    another = """
        insert into runs (at, id, source_id, channel_id, kind, trigger, status, duration_ms, message)
        select now(), gen_random_uuid(), source_id, channel_id, kind, trigger, 'ok', 1, $2
        from runs where channel_id = $1 limit 1
    """
    async with watched(chromium, served.address) as one:
        page = await one.go("/console/crawl")
        await expect(page.locator("#live-switch")).to_have_attribute("aria-pressed", "true")
        await page.wait_for_timeout(1_500)
        await served.services.database.execute(another, channel, "came by itself")
        await expect(page.locator("#runs")).to_contain_text("came by itself", timeout=30_000)
        await page.hover("#runs tbody tr")
        await served.services.database.execute(another, channel, "came under the pointer")
        await expect(page.locator("#more-news")).to_be_visible(timeout=30_000)
        assert "under the pointer" not in await page.inner_text("#runs")
        await page.mouse.move(0, 0)
        await expect(page.locator("#runs")).to_contain_text("came under the pointer")
        await one.require_fine()


@pytest.mark.parametrize("has_script", [True, False])
async def test_a_person_logs_in_and_out(chromium: Browser, served: ApiCaller, has_script: bool) -> None:
    await add_user(served.services.database)
    async with watched(chromium, served.address, has_script=has_script) as one:
        page = await one.go("/console/crawl?status=fail")
        await page.wait_for_url("**/login?next=*")
        if has_script:
            await one.require_fine()
        await page.fill("[name=name]", "ann")
        await page.fill("[name=password]", PASSWORD)
        await page.click("text=Log in >> nth=-1")
        await page.wait_for_url("**/console/crawl?status=fail")
        await page.click("text=Log out")
        await page.wait_for_url("**/login")
        await one.go("/console")
        assert "/login" in page.url
        assert one.troubles == []


async def test_a_site_owner_asks(chromium: Browser, served: ApiCaller) -> None:
    async with watched(chromium, served.address, width=PHONE) as one:
        page = await one.go("/crawler")
        await page.fill("[name=place]", "harbour.example")
        await page.fill("[name=contact]", "ann@harbour.example")
        await page.click("button:text('Send')")
        await expect(page.locator("[role=status]")).to_contain_text("harbour.example")
        await one.require_fine()
        await one.go("/console/requests")
        await page.click("button:text('Take down')")
        await page.click("button:text('Take it down')")
        await expect(page.locator(".banners")).to_contain_text("is left alone from now on")
        await one.require_fine()
