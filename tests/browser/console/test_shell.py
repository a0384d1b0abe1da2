"""The frame of every page: in both colours, on a phone and on a desk, with and without a script."""

import pytest
from playwright.async_api import Browser
from tests.browser.console.watching import DESK, PHONE, Scheme, watched
from tests.integration.serve.callers import ApiCaller

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

STYLE = "/console/style"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
async def test_everything_that_pages_are_made_of_is_fine(
    chromium: Browser, served: ApiCaller, scheme: Scheme, width: int
) -> None:
    async with watched(chromium, served.address, width=width, scheme=scheme) as one:
        await one.go(STYLE)
        await one.require_fine()


async def test_without_a_script_everything_is_there_as_well(chromium: Browser, served: ApiCaller) -> None:
    async with watched(chromium, served.address, has_script=False) as one:
        page = await one.go("/")
        assert page.url == f"{served.address}/console"
        await page.click("text=Use dark colours")
        assert await page.get_attribute("html", "data-theme") == "dark"
        await page.click("text=Use light colours")
        assert await page.get_attribute("html", "data-theme") == "light"
        assert one.troubles == []


async def test_keys_lead_through_the_console(chromium: Browser, served: ApiCaller) -> None:
    async with watched(chromium, served.address) as one:
        page = await one.go(STYLE)
        await page.keyboard.press("j")
        await page.keyboard.press("j")
        await page.keyboard.press("x")
        assert await page.inner_text("output.chosen") == "1 chosen"
        await page.check(".choose-all")
        assert await page.inner_text("output.chosen") == "6 chosen"
        await page.evaluate("document.activeElement.blur()")
        await page.keyboard.press("?")
        assert await page.is_visible("#keys")
        await page.keyboard.press("Escape")
        await page.keyboard.press("g")
        await page.keyboard.press("o")
        await page.wait_for_url("**/console")
        await one.require_fine()


async def test_the_policy_stops_what_a_page_must_not_do(chromium: Browser, served: ApiCaller) -> None:
    async with watched(chromium, served.address) as one:
        page = await one.go(STYLE)
        await page.evaluate("() => { try { document.body.innerHTML = '<b>x</b>' } catch { } }")
        await page.evaluate("() => { document.body.setAttribute('style', 'color: red') }")
        assert any("require-trusted-types-for" in trouble or "TrustedHTML" in trouble for trouble in one.troubles)
        assert any("style-src" in trouble for trouble in one.troubles)
