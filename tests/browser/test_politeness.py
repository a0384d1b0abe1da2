"""What a render costs its host is paid for: one slot, and the next moved by every request made."""

import asyncio
from datetime import timedelta

import pytest
from tests.browser.conftest import Stage, html, script

from headwater.errors import DatabaseDown
from headwater.fetch.render import MOST_REQUESTS, Rendered, RenderFailed, WhyFailed
from headwater.net.transport import Response
from headwater.politeness.hosts import HostPolicy, set_policy
from headwater.reports.politeness import smallest_gaps
from headwater.simweb.mischief.pace import StallAt
from headwater.simweb.mischief.replies import Throttle
from headwater.simweb.questions import highest_concurrency
from headwater.urls.canonical import CanonicalUrl, canonicalise

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PARTS = "".join(f"<script src=/{n}.js></script>" for n in range(5))
NEXT_SLOT = "select next_slot_at from hosts where host = 'a.test'"
# No other timeout is as long.
FAR_AWAY = timedelta(seconds=3571)
LOGGED = "select count(*) from fetch_log where kind = 'render' and host = 'a.test'"


@pytest.fixture
def five_parts(stage: Stage) -> Stage:
    stage.site.pages |= {"/": html(PARTS)} | {f"/{n}.js": script("") for n in range(5)}
    return stage


@pytest.mark.long
async def test_the_next_slot_moves_by_the_number_of_requests(five_parts: Stage) -> None:
    stage = five_parts
    async with stage.with_held_slot() as (held_slot, document):
        await set_policy(stage.path.database, "a.test", HostPolicy(min_request_interval_ms=1000), timedelta())
        # So far away that the time the render takes plays no part.
        await stage.path.database.execute("update hosts set next_slot_at = clock_timestamp() + interval '1 hour'")
        before = await stage.path.database.fetchval(NEXT_SLOT)
        result = await stage.rendering.render(document, held_slot)
        moved = await stage.path.database.fetchval(NEXT_SLOT) - before
    assert isinstance(result, Rendered)
    assert result.requests == 6
    assert moved == 5 * timedelta(milliseconds=1030)


@pytest.mark.long
async def test_parts_come_one_after_the_other_and_are_written_down(five_parts: Stage) -> None:
    stage = five_parts
    await stage.render()
    assert highest_concurrency(stage.path.visits()) == 1
    assert await stage.path.database.fetchval(LOGGED) == 5
    await stage.path.fetch("http://a.test/")
    gaps = await smallest_gaps(stage.path.database, timedelta(minutes=1))
    assert [gap.host for gap in gaps] == ["a.test"]
    assert [gap for gap in gaps if gap.is_broken] == []


@pytest.mark.long
async def test_a_host_that_says_slow_down_is_left_alone_at_once(five_parts: Stage) -> None:
    stage = five_parts
    stage.path.sim.script("a.test", Throttle(seconds=60), "/1.js")
    result = await stage.render()
    assert isinstance(result, RenderFailed)
    assert result.reason is WhyFailed.SLOW_DOWN
    assert result.wait == timedelta(seconds=60)
    assert stage.asked() == ["a.test/", "a.test/0.js", "a.test/1.js"]
    assert await stage.path.database.fetchval("select reason from host_closures") == "retry_after"


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        "update slots set expires_at = clock_timestamp()",
        "update slots set expires_at = clock_timestamp() + interval '4 seconds'",
        "update hosts set closed_until = 'infinity'",
    ],
)
async def test_without_its_place_at_the_host_a_page_gets_nothing(five_parts: Stage, change: str) -> None:
    stage = five_parts
    async with stage.with_held_slot() as (held_slot, document):
        await stage.path.database.execute(change)
        before = await stage.path.database.fetchval(NEXT_SLOT)
        result = await stage.rendering.render(document, held_slot)
        assert await stage.path.database.fetchval(NEXT_SLOT) == before
    assert isinstance(result, Rendered)
    assert stage.asked() == ["a.test/"]


@pytest.mark.long
async def test_a_request_that_the_deadline_cuts_off_is_paid_for_too(
    five_parts: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = five_parts
    stage.with_renderer(deadline=FAR_AWAY, quiet_within=timedelta(hours=1))
    deadlines = noted_timeouts(monkeypatch, FAR_AWAY)
    stage.path.sim.script("a.test", StallAt(), "/0.js")
    rendering = asyncio.create_task(stage.render())
    async with asyncio.timeout(60):
        while "a.test/0.js" not in stage.asked():
            await asyncio.sleep(0.01)
    [deadline] = deadlines
    deadline.reschedule(asyncio.get_running_loop().time())
    result = await rendering
    assert isinstance(result, RenderFailed)
    assert result.reason is WhyFailed.DEADLINE
    assert await stage.path.database.fetchval(LOGGED) == 1
    assert stage.asked() == ["a.test/", "a.test/0.js"]


def noted_timeouts(monkeypatch: pytest.MonkeyPatch, length: timedelta) -> list[asyncio.Timeout]:
    """Those of this length, to be moved to the moment that a test is about."""
    noted: list[asyncio.Timeout] = []
    made = asyncio.timeout

    def make(delay: float | None) -> asyncio.Timeout:
        one = made(delay)
        if delay == length.total_seconds():
            noted.append(one)
        return one

    monkeypatch.setattr(asyncio, "timeout", make)
    return noted


@pytest.mark.long
async def test_what_is_refused_counts_as_asked_for(stage: Stage) -> None:
    stage.site.pages["/"] = html("<script>for (let n = 0; n < 50; n++) fetch('/part?n=' + n).catch(() => {})</script>")
    asked: list[str] = []
    async with stage.with_held_slot() as (_, document):

        async def refusing(url: CanonicalUrl, kind: str) -> Response | None:
            asked.append(url.url)
            return document if kind == "document" else None

        result = await stage.rendering.renderer.render(document.url, refusing)
    assert isinstance(result, Rendered)
    assert result.requests == 1
    assert len(asked) == MOST_REQUESTS


@pytest.mark.long
async def test_a_fault_of_ours_is_no_fault_of_the_page(five_parts: Stage) -> None:
    async def broken_fetch(url: CanonicalUrl, kind: str) -> Response | None:
        raise DatabaseDown("The database does not answer.")

    with pytest.raises(DatabaseDown):
        await five_parts.rendering.renderer.render(canonicalise("http://a.test/"), broken_fetch)


@pytest.mark.long
async def test_no_more_pages_are_open_at_once_than_allowed(five_parts: Stage) -> None:
    open_now: list[int] = []
    running = 0

    async def counted(url: CanonicalUrl, kind: str) -> Response | None:
        nonlocal running
        running += 1
        open_now.append(running)
        await asyncio.sleep(0)
        return None

    renderer = five_parts.rendering.renderer
    url = canonicalise("http://a.test/")

    async def one() -> None:
        nonlocal running
        await renderer.render(url, counted)
        running -= 1

    await asyncio.gather(*(one() for _ in range(5)))
    assert len(open_now) == 5
    assert max(open_now) <= renderer.browser.upkeep.pages_at_once
