"""A browser that dies, grows or wears out is replaced; one that cannot be had says so."""

import os
import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.browser.conftest import Stage, html

from headwater.clock import SystemClock
from headwater.fetch.browser import Browser, RenderUnavailable, Upkeep, own_memory_bytes
from headwater.fetch.render import Rendered, RenderFailed, WhyFailed

pytestmark = [pytest.mark.asyncio(loop_scope="session")]

MEGABYTE = 1024 * 1024


@pytest_asyncio.fixture(loop_scope="session")
async def small(stage: Stage) -> AsyncIterator[Stage]:
    """With a browser of its own, that may hold little and lasts for two renders."""
    upkeep = Upkeep(renders_each=2, memory_bytes=500 * MEGABYTE)
    stage.site.pages["/"] = html("<p>Text</p>")
    async with Browser(SystemClock(), upkeep) as browser:
        stage.with_renderer(browser=browser)
        yield stage


def pid_of(stage: Stage) -> int:
    pid = stage.rendering.renderer.browser.pid
    assert pid is not None
    return pid


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.long
@pytest.mark.browser
async def test_a_crashed_browser_is_replaced(stage: Stage) -> None:
    stage.site.pages["/"] = html("<p>Text</p>")
    assert isinstance(await stage.render(), Rendered)
    first = pid_of(stage)
    os.kill(first, signal.SIGKILL)
    # The news of its death may come after a render has begun, which is lost then; the next is not.
    results = [await stage.render(), await stage.render()]
    assert isinstance(results[-1], Rendered)
    assert pid_of(stage) != first


@pytest.mark.long
@pytest.mark.browser
async def test_a_browser_is_replaced_when_it_has_served_its_time(small: Stage) -> None:
    await small.render()
    first = pid_of(small)
    await small.render()
    assert not runs(first)
    assert isinstance(await small.render(), Rendered)
    assert pid_of(small) != first


@pytest.mark.long
@pytest.mark.browser
async def test_a_page_that_takes_too_much_memory_loses_its_browser(small: Stage) -> None:
    small.site.pages["/"] = html(
        f"<script>const held = new Uint8Array({800 * MEGABYTE}).fill(1); while (held) {{}}</script>"
    )
    result = await small.render()
    assert isinstance(result, RenderFailed)
    assert result.reason is WhyFailed.LOST
    small.site.pages["/"] = html("<p>Text</p>")
    assert isinstance(await small.render(), Rendered)


@pytest.mark.long
@pytest.mark.browser
async def test_nothing_runs_on_when_the_browser_is_closed(stage: Stage) -> None:
    stage.site.pages["/"] = html("<p>Text</p>")
    async with Browser(SystemClock()) as browser:
        stage.with_renderer(browser=browser)
        assert browser.pid is None
        await stage.render()
        pid = pid_of(stage)
    assert not runs(pid)


async def test_without_the_extra_the_message_says_what_to_install() -> None:
    browser = Browser(SystemClock(), programs=("sh",), driver="no_such_driver")
    with pytest.raises(RenderUnavailable, match="the extra `render` is not installed") as caught:
        async with browser.page("Headwater"):
            pass
    assert "pip install headwater[render]" in caught.value.fix


async def test_without_a_chromium_the_message_says_what_to_install() -> None:
    browser = Browser(SystemClock(), programs=("no-such-chromium",))
    with pytest.raises(RenderUnavailable, match="there is no Chromium") as caught:
        async with browser.page("Headwater"):
            pass
    assert "apt install chromium" in caught.value.fix


async def test_a_program_that_is_no_browser_is_named() -> None:
    browser = Browser(SystemClock(), programs=("false",))
    with pytest.raises(RenderUnavailable, match="/false could not be started"):
        async with browser.page("Headwater"):
            pass


async def test_memory_that_all_processes_share_is_not_counted_for_each() -> None:
    status = "Name:\tx\nVmRSS:\t  900 kB\nRssAnon:\t     300 kB\nRssFile:\t     500 kB\nRssShmem:\t     100 kB\n"
    assert own_memory_bytes(status) == 400 * 1024
    assert own_memory_bytes("") == 0
