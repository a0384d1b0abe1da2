"""Pages of the console in a real browser, watched: whatever a person would not forgive is noted as a trouble."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from tests.browser.console import accessibility

from headwater.fetch.browser import PROGRAMS

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
Scheme = Literal["light", "dark"]
PHONE, DESK = 360, 1280
# What a policy forbids is an event of the document; it is told as an error, which is heard.
TELL_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))
"""


@dataclass
class WatchedPage:
    """`go` opens a path of the console; `troubles` are of all since then, and fail the test."""

    page: Page
    address: str
    troubles: list[str] = field(default_factory=list)

    async def go(self, path: str) -> Page:
        await self.page.goto(f"{self.address}{path}", wait_until="load")
        return self.page

    async def require_fine(self) -> None:
        """No trouble so far, nothing that a reader of screens would stumble over, and no page wider than the screen."""
        found = [*self.troubles, *await accessibility.findings(self.page)]
        assert found == [], f"{self.page.url}: {found}"

    async def text(self, selector: str = "main") -> str:
        return await self.page.inner_text(selector)


@asynccontextmanager
async def a_browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        program = next(filter(None, map(shutil.which, PROGRAMS)))
        browser = await playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        await browser.close()


@asynccontextmanager
async def watched(
    browser: Browser,
    address: str,
    *,
    width: int = DESK,
    scheme: Scheme = "light",
    has_script: bool = True,
    makes_troubles: bool = False,
) -> AsyncIterator[WatchedPage]:
    """`makes_troubles`: for a test that wants them."""
    context: BrowserContext = await browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=has_script
    )
    await context.add_init_script(TELL_VIOLATIONS)
    page = await context.new_page()
    # A page is never kept waiting by a machine that is busy.
    page.set_default_timeout(60_000)
    watching = WatchedPage(page, address)
    page.on("console", lambda said: _note_message(watching, said))
    page.on("pageerror", lambda error: watching.troubles.append(f"error: {error}"))
    page.on("request", lambda request: _note_request(watching, request.url))
    try:
        yield watching
    finally:
        await context.close()
    assert watching.troubles == [] or makes_troubles, watching.troubles


def _note_message(watching: WatchedPage, said: Any) -> None:
    if said.type in ("error", "warning"):
        watching.troubles.append(f"console: {said.text}")


def _note_request(watching: WatchedPage, url: str) -> None:
    if not url.startswith((f"{watching.address}/", "data:", "about:")):
        watching.troubles.append(f"elsewhere: {url}")
