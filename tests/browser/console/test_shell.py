"""The frame of every page: in both colours, on a phone and on a desk, with and without a script."""

from typing import Literal

import pytest
from playwright.async_api import Browser
from tests.browser.console.accessibility import findings
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


@pytest.mark.parametrize(("scheme", "other"), [("light", "dark"), ("dark", "light")])
async def test_the_other_colours_are_offered_and_filters_stay(
    chromium: Browser, served: ApiCaller, scheme: Scheme, other: str
) -> None:
    async with watched(chromium, served.address, scheme=scheme) as one:
        page = await one.go(f"{STYLE}?status=failing")
        assert not await page.is_visible(f"text=Use {scheme} colours")
        await page.click(f"text=Use {other} colours")
        assert await page.get_attribute("html", "data-theme") == other
        assert page.url == f"{served.address}{STYLE}?status=failing"
        assert await page.is_visible(f"text=Use {scheme} colours")


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
    async with watched(chromium, served.address, makes_troubles=True) as one:
        page = await one.go(STYLE)
        await page.evaluate("() => { try { document.body.innerHTML = '<b>x</b>' } catch { } }")
        await page.evaluate("() => { document.body.setAttribute('style', 'color: red') }")
        await page.evaluate("() => fetch('https://elsewhere.example/').catch(() => null)")
        assert any("require-trusted-types-for" in trouble or "TrustedHTML" in trouble for trouble in one.troubles)
        assert any("style-src" in trouble for trouble in one.troubles)
        assert any("connect-src" in trouble for trouble in one.troubles)


async def test_every_trouble_of_a_page_fails_its_test(chromium: Browser, served: ApiCaller) -> None:
    async def goes_wrong(script: str, event: Literal["console", "pageerror"]) -> None:
        async with watched(chromium, served.address) as one:
            page = await one.go(STYLE)
            async with page.expect_event(event):
                await page.evaluate(f"() => {{ {script} }}")

    with pytest.raises(AssertionError, match="ow"):
        await goes_wrong("console.error('ow')", "console")
    with pytest.raises(AssertionError, match="ow is not defined"):
        await goes_wrong("setTimeout(() => { ow() })", "pageerror")
    with pytest.raises(AssertionError, match="style-src"):
        await goes_wrong("document.body.setAttribute('style', 'color: red')", "console")


async def test_what_many_cannot_use_is_found(chromium: Browser, served: ApiCaller) -> None:
    spoil = """
        () => {
            const picture = document.createElement("img"), button = document.createElement("button");
            const pale = document.createElement("p");
            pale.textContent = "Can hardly be read";
            pale.className = "window pale";
            document.styleSheets[0].insertRule(".pale { color: #bbb !important }");
            document.querySelector("main").append(picture, button, pale);
        }
    """
    async with watched(chromium, served.address) as one:
        page = await one.go(STYLE)
        await page.evaluate(spoil)
        found = " ".join(await findings(page))
        for rule in ("axe image-alt", "axe button-name", "axe color-contrast", "no name", "contrast 1."):
            assert rule in found, rule
