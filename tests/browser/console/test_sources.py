"""What an operator does with sources, in a real browser: follow one, bring in a list, mend those that fail."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page
from tests.browser.console.roles import a_role
from tests.browser.console.watching import DESK, PHONE, Scheme, watched
from tests.integration.cli.desk import Served
from tests.integration.cli.desk import served as a_site
from tests.integration.serve.callers import ApiCaller, api_on, command_says

from headwater.simweb.message import Page as SitePage

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

SOURCES = "/console/sources"
RISES = [f"<p>The tide at the harbour rose for the {n}th time, and all boats rose with it.</p>" for n in range(20)]
ITEM = "<item><title>The tide is in</title><link>/tide</link><pubDate>Mon, 04 May 2026 10:00:00 GMT</pubDate></item>"
FEED = f"<rss version='2.0'><channel><title>Harbour News</title>{ITEM}</channel></rss>".encode()


@pytest.fixture(scope="session")
def site() -> Iterator[Served]:
    with a_site("127.0.0.4") as serving:
        head = "<link rel='alternate' type='application/rss+xml' href='/feed.xml'>"
        serving.pages["/"] = SitePage(f"<html><head>{head}</head><body>Harbour</body></html>".encode(), "text/html")
        serving.pages["/feed.xml"] = SitePage(FEED, "text/xml")
        page = f"<html><head><title>The tide is in</title></head><body><article><h1>The tide is in</h1>{''.join(RISES)}"
        serving.pages["/tide"] = SitePage(f"{page}</article></body></html>".encode(), "text/html")
        yield serving


@pytest_asyncio.fixture(loop_scope="session")
async def near(database_url: str, site: Served) -> AsyncIterator[ApiCaller]:
    """The web role, which may ask the simulated site."""
    async with api_on(database_url, {**site.settings, "poll.sitemaps": "false"}) as caller:
        yield caller


async def chosen_segment(page: Page) -> str:
    return await page.inner_text(".segments [aria-current]")


async def add_failing(served: ApiCaller, count: int) -> None:
    for number in range(count):
        url = f"https://bad-{number}.example/"
        said = {"url": url, "name": f"Bad {number}", "feed_url": f"{url}feed"}
        assert (await served.post("sources", said)).status == 201
    await served.post("sources", {"url": "https://good.example/", "name": "Good"})
    await served.services.database.execute(
        "update channels set consecutive_errors = 4, last_error = 'HTTP 503', error_class = 'server', last_status = 503"
        " where url like '%bad-%'"
    )


@pytest.mark.parametrize("has_script", [True, False])
async def test_a_site_is_followed_and_its_first_document_seen(
    chromium: Browser, near: ApiCaller, site: Served, database_url: str, has_script: bool
) -> None:
    async with watched(chromium, near.address, has_script=has_script) as one:
        page = await one.go(SOURCES)
        await page.fill("input[name=url]", f"{site.url}/")
        await page.click("text=Look at it")
        await page.click("button[value=look]")
        while "Looking …" in await one.text():
            await page.click("text=Look again")
        assert "Harbour News" in await page.input_value("input[name=name]")
        assert "The tide is in" in await one.text()
        await page.click("button:has-text('Follow it')")
        assert "It is followed" in await page.inner_text(".banners")
        assert await page.inner_text("h1") == "Harbour News"
        await try_it(page, "Test fetch", "HTTP 200", "/feed.xml")
        await try_it(page, "Simulate extract", "Nothing was stored", "1 of 1 item", "Its beginning")
        assert await near.services.database.fetchval("select count(*) from url_frontier") == 0
        flags = [flag for name, value in site.settings.items() for flag in ("--set", f"{name}={value}")]
        await command_says(database_url, *flags, "crawl", "run-due")
        await fetch_everything(database_url, site.settings, near)
        await page.click("text=Documents >> nth=1")
        assert "The tide is in" in await one.text()
        if has_script:
            await one.require_fine()
        assert one.troubles == []


async def try_it(page: Page, button: str, *said: str) -> None:
    await page.click(f"button:has-text('{button}')")
    while "Looking …" in await page.inner_text("main"):
        await page.click("text=Look again")
    told = await page.inner_text("main")
    for part in said:
        assert part in told, part


async def fetch_everything(database_url: str, settings: Mapping[str, str], near: ApiCaller) -> None:
    """A worker of its own, until the first document is there."""
    async with a_role(database_url, "fetch", settings), asyncio.timeout(300):
        while not await near.services.database.fetchval("select count(*) from documents"):
            await asyncio.sleep(0.05)


async def test_two_hundred_sources_are_imported(chromium: Browser, served: ApiCaller) -> None:
    async with watched(chromium, served.address) as one:
        page = await one.go(f"{SOURCES}/import")
        lines = [f"https://site-{number:03d}.example/" for number in range(200)]
        await page.fill("textarea", "\n".join([*lines, "htp://foo"]))
        await page.click("text=Try it")
        assert "Import 200 sources" in await one.text()
        assert "did you mean http" in await one.text()
        await one.require_fine()
        await page.click("text=Import 200 sources")
        while not await page.query_selector("#result"):
            await page.reload()
        await one.go(SOURCES)
        assert "50 of 200 shown" in await one.text()
        await one.require_fine()


@pytest.mark.parametrize("has_script", [True, False])
async def test_failing_sources_are_mended_together(chromium: Browser, served: ApiCaller, has_script: bool) -> None:
    await add_failing(served, 6)
    async with watched(chromium, served.address, has_script=has_script) as one:
        page = await one.go(SOURCES)
        await page.click(".segments >> text=Failing")
        assert await chosen_segment(page) == "Failing6"
        assert "Good" not in await page.inner_text("#sources")
        await page.check("input[name=chosen] >> nth=0")
        await page.click("button[value=pause]")
        assert "1 source paused." in await page.inner_text(".banners")
        await page.check("input[name=all_matching]")
        await page.click("button[value=clear_errors]")
        assert await page.inner_text("h1") == "Clear errors of 5 sources?"
        await page.click("button:has-text('Clear errors of 5 sources')")
        while "running" in (await one.text()).lower():
            await page.reload()
        errors = "select count(*) from channels where consecutive_errors > 0 and is_active"
        assert await served.services.database.fetchval(errors) == 0
        await one.go(SOURCES)
        assert "Failing" not in await page.inner_text(".segments")
        if has_script:
            await one.require_fine()
        assert one.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
async def test_pages_about_sources_are_fine(chromium: Browser, served: ApiCaller, scheme: Scheme, width: int) -> None:
    await add_failing(served, 3)
    async with watched(chromium, served.address, width=width, scheme=scheme) as one:
        listed = (await served.get("sources")).json["sources"]
        base = f"{SOURCES}/{listed[0]['id']}"
        tabs = [f"{base}/{tab}" for tab in ("runs", "urls", "documents", "template", "settings")]
        for path in (SOURCES, f"{SOURCES}/add", f"{SOURCES}/import", base, *tabs):
            await one.go(path)
            await one.require_fine()


async def test_two_people_at_one_form_keep_both_their_changes(chromium: Browser, served: ApiCaller) -> None:
    said = {"url": "https://harbour.example/", "name": "Harbour", "feed_url": "https://harbour.example/feed.xml"}
    source = (await served.post("sources", said)).json["id"]
    path = f"{SOURCES}/{source}/settings"
    async with (
        watched(chromium, served.address) as ada,
        # The form comes back with 409, which a browser notes.
        watched(chromium, served.address, has_script=False, makes_troubles=True) as ben,
    ):
        first, second = await ada.go(path), await ben.go(path)
        await first.fill("input[name=priority]", "8")
        await first.click("button:has-text('Save')")
        assert "Changed: priority." in await first.inner_text(".banners")
        await second.fill("input[name=timezone]", "Europe/Paris")
        await second.fill("input[name=org_type]", "newspaper")
        await second.click("button:has-text('Save')")
        told = await second.inner_text(".errors")
        assert "was changed since you opened the form" in told
        assert "Priority is now “8”." in told
        assert await second.input_value("input[name=priority]") == "8"
        assert await second.input_value("input[name=timezone]") == "Europe/Paris"
        await second.click("button:has-text('Save')")
        assert "Changed: organisation type, time zone." in await second.inner_text(".banners")
    now = (await served.get(f"sources/{source}")).json
    assert (now["priority"], now["timezone"], now["org_type"]) == (8, "Europe/Paris", "newspaper")


async def test_the_list_is_sorted_by_its_heads_and_keeps_the_filters(chromium: Browser, served: ApiCaller) -> None:
    await add_failing(served, 3)
    await served.services.database.execute(
        "update channels set consecutive_errors = consecutive_errors + 5 where url like '%bad-1%'"
    )
    async with watched(chromium, served.address, width=DESK) as one:
        page = await one.go(f"{SOURCES}?status=failing&text=bad")
        await page.click("#sources thead >> text=Errors")
        assert await chosen_segment(page) == "Failing3"
        assert await page.input_value("input[name=text]") == "bad"
        rows = await page.locator("#sources tbody tr th").all_inner_texts()
        assert rows[0].startswith("Bad 1")
        assert await page.get_attribute("#sources thead th:has-text('Errors')", "aria-sort") == "descending"
        await page.select_option("select[name=order]", label="newest first")
        await page.click("button:has-text('Filter')")
        assert await chosen_segment(page) == "Failing3"
        rows = await page.locator("#sources tbody tr th").all_inner_texts()
        assert [row.split("\n")[0] for row in rows] == ["Bad 2", "Bad 1", "Bad 0"]
        await page.select_option("select[name=order]", label="by name")
        await page.click("button:has-text('Filter')")
        assert await page.query_selector("#sources thead [aria-sort]") is None
        await one.require_fine()
