"""What an operator does while roles work: a policy is obeyed, a killed worker is seen, a sink is away for a while."""

from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect
from tests.browser.console.roles import a_role, gone, shown
from tests.browser.console.watching import DESK, PHONE, Scheme, watched
from tests.integration.archive.shelf import LONG, OTHER, Shelf, key_of
from tests.integration.cli.desk import Served
from tests.integration.cli.desk import served as a_site
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.deliver.test_redis import Server, serving
from tests.integration.serve.callers import ApiCaller, api_on

from headwater.simweb.message import Page as SitePage

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

HOST = "127.0.0.5"
TEXT = "".join(
    f"<p>The tide at the harbour rose for the {n}th time, and all boats rose with it.</p>" for n in range(20)
)
PATHS = ("/one", "/two", "/three")
A, B = "https://a.example/one", "https://a.example/two"


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


async def killed(process: Process) -> None:
    """As by the kernel or a person: it says nothing any more."""
    process.kill()
    await process.wait()


@pytest.mark.parametrize(("width", "scheme", "has_script"), [(DESK, "light", True), (PHONE, "dark", False)])
async def test_a_killed_worker_is_seen_and_what_it_held_is_done_by_another(
    chromium: Browser,
    near: ApiCaller,
    site: Served,
    database_url: str,
    width: int,
    scheme: Scheme,
    has_script: bool,
) -> None:
    async with (
        watched(chromium, near.address, width=width, scheme=scheme, has_script=has_script) as one,
        a_role(database_url, "maintain", site.settings),
        a_role(database_url, "fetch", {**site.settings, "fetch.concurrency": "1"}) as worker,
    ):
        page = await one.go("/console/crawl")
        await shown(page, "#roles", "fetch")
        row = page.locator("#roles tbody tr", has_text=str(worker.pid))
        await expect(row).to_contain_text("alive")
        await killed(worker)
        await near.post("frontier/submit", {"url": f"{site.url}/one"})
        # Three heartbeats that do not come.
        await shown(page, "#roles", "silent")
        await expect(row).to_contain_text("silent")
        await expect(row.locator("button")).to_have_count(0)
        await one.go("/console/problems")
        await shown(page, "main", "nobody fetches")
        if has_script:
            await one.require_fine()
        async with a_role(database_url, "fetch", site.settings) as another:
            await one.go("/console/crawl")
            await shown(page, "#roles", str(another.pid))
            await one.go(f"/console/frontier/url?url={quote(f'{site.url}/one', safe='')}")
            await shown(page, "#now", "fetched")
        assert one.troubles == []


@pytest.mark.parametrize(("width", "scheme", "has_script"), [(DESK, "light", True), (PHONE, "dark", False)])
async def test_a_worker_is_drained_and_works_again(
    chromium: Browser,
    near: ApiCaller,
    site: Served,
    database_url: str,
    width: int,
    scheme: Scheme,
    has_script: bool,
) -> None:
    async with (
        watched(chromium, near.address, width=width, scheme=scheme, has_script=has_script) as one,
        a_role(database_url, "fetch", site.settings) as worker,
    ):
        page = await one.go("/console/crawl")
        await shown(page, "#roles", str(worker.pid))
        row = page.locator("#roles tbody tr", has_text=str(worker.pid))
        await row.locator("button").click()
        await page.click("button:text-is('Drain it')")
        await expect(page.locator(".banners")).to_contain_text(f"The process {worker.pid}")
        await shown(page, "#roles", "drained")
        await near.post("frontier/submit", {"url": f"{site.url}/one"})
        story = f"/console/frontier/url?url={quote(f'{site.url}/one', safe='')}"
        await one.go(story)
        await shown(page, "#now", "pending")
        await one.go("/console/crawl")
        if has_script:
            await one.require_fine()
        await row.locator("button").click()
        await expect(page.locator(".banners")).to_contain_text("works again")
        await one.go(story)
        await shown(page, "#now", "fetched")
        assert worker.returncode is None, "it was told to rest, not to end"
        assert one.troubles == []


async def ids_in(redis: Server) -> set[str]:
    """Of records that it was sent, some of them twice: at least once is what is promised."""
    entries: Any = await redis.asking.xrange("records")
    return {fields["id"] for _, fields in entries}


@pytest.mark.redis
@pytest.mark.parametrize(("width", "scheme", "has_script"), [(DESK, "dark", True), (PHONE, "light", False)])
async def test_a_sink_goes_down_and_comes_back(
    chromium: Browser, near: ApiCaller, database_url: str, width: int, scheme: Scheme, has_script: bool
) -> None:
    shelf = Shelf(near.services.database)
    await Delivering(near.services.database).source()
    await shelf.keep(A, LONG)
    async with (
        serving() as redis,
        watched(chromium, near.address, width=width, scheme=scheme, has_script=has_script) as one,
        a_role(database_url, "deliver", {}),
    ):
        page = await one.go("/console/settings/sinks/add")
        await page.fill("[name=name]", "boats")
        await page.select_option("[name=type]", "redis")
        await page.fill("[name=options]", f"url = {redis.url}\nname = records")
        await page.check("[name=from_archive]")
        await page.click("button:text-is('Add and try it')")
        await expect(page.locator(".banners")).to_contain_text("The sink boats is added.")
        await shown(page, "#sink-now", "up to date")
        assert await ids_in(redis) == {key_of(A).url_hash.hex()}
        await redis.stop()
        await shelf.keep(B, OTHER)
        await shown(page, "#sink-now", "down")
        await expect(page.locator("main")).to_contain_text("It is down")
        await one.go("/console")
        await shown(page, "#problems", "boats")
        if has_script:
            await one.require_fine()
        await redis.start()
        await page.click("#problems button:has-text('Go on now')")
        await expect(page.locator(".banners")).to_contain_text("The sink boats goes on.")
        await one.go("/console/settings/sinks/boats")
        await shown(page, "#sink-now", "up to date")
        # This server forgets all when it ends: what it has now was sent since.
        assert await ids_in(redis) == {key_of(B).url_hash.hex()}
        await one.go("/console")
        await gone(page, "#problems", "boats")
        assert one.troubles == []


@pytest.mark.parametrize(("width", "scheme", "has_script"), [(DESK, "light", True), (PHONE, "dark", False)])
async def test_a_document_is_found_read_and_taken_down(
    chromium: Browser, served: ApiCaller, width: int, scheme: Scheme, has_script: bool
) -> None:
    shelf = Shelf(served.services.database)
    await Delivering(served.services.database).source()
    await shelf.keep("https://harbour.example/tide", LONG, title="The tide is in")
    await shelf.keep("https://other.example/ebb", OTHER, title="The tide is out")
    await served.post("frontier/submit", {"url": "https://harbour.example/tide"})
    async with watched(chromium, served.address, width=width, scheme=scheme, has_script=has_script) as one:
        page = await one.go("/console/documents")
        await page.fill("[name=q]", "tide")
        await page.click("button:text-is('Search')")
        await expect(page.locator("#hits li")).to_have_count(2)
        if has_script:
            await one.require_fine()
        await page.click("text=The tide is in")
        assert await page.inner_text("h1") == "The tide is in"
        await expect(page.locator(".foreign-paragraphs")).to_contain_text("word0 word1")
        if has_script:
            await one.require_fine()
        await page.click("main >> text=Take down")
        assert await page.input_value("[name=pattern]") == "https://harbour.example/tide"
        await page.fill("[name=pattern]", "harbour.example")
        await page.fill("[name=reason]", "its owner asked")
        await page.click("button:text-is('Take down')")
        await expect(page.locator("main")).to_contain_text("1 document and 1 queued URL would be removed.")
        if has_script:
            await one.require_fine()
        await page.click("button:text-is('Take it down')")
        await gone(page, "main", "running")
        await one.go("/console/documents?q=tide")
        await expect(page.locator("#hits li")).to_have_count(1)
        assert "The tide is out" in await one.text()
        await one.go(f"/console/documents/{key_of('https://harbour.example/tide').url_hash.hex()}")
        assert "It was withdrawn: takedown" in await one.text()
        assert "word0" not in await one.text()
        await one.go("/console/settings/takedowns")
        await expect(page.locator("#takedowns")).to_contain_text("its owner asked")
        assert one.troubles == []
