"""All roles in one process, and a hub: what a site publishes is a document without a poll."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.faults.standing import until
from tests.integration.push.conftest import FEED, PushStage, feed, opened_stage

from headwater.run.everything import run_everything
from headwater.simweb.message import Page

pytestmark = pytest.mark.long

WORDS = "The harbour council met on Tuesday and agreed to dredge the northern channel before winter comes. "
STORY = Page(
    f"<html lang='en'><head><title>Dredging agreed</title></head><body><article><h1>Dredging agreed</h1>"
    f"<p>{WORDS * 6}</p><p>{WORDS * 5}</p></article></body></html>".encode()
)


@asynccontextmanager
async def everything_runs(stage: PushStage) -> AsyncIterator[None]:
    stop = asyncio.Event()
    running = asyncio.create_task(run_everything(stage.path.services, stop, resolver=stage.path.resolver))
    try:
        yield
    finally:
        stop.set()
        await running


async def test_what_is_published_is_a_document_after_a_push_without_a_poll(database_url: str) -> None:
    async with opened_stage(database_url, claims=True) as stage:
        stage.site.pages |= {"/feed": feed("old"), "/old": STORY, "/new": STORY}
        await stage.follow()

        async def is_subscribed() -> bool:
            await stage.hub.settle()
            return any(one.is_confirmed for one in stage.hub.subscriptions.values())

        async def is_kept() -> bool:
            return bool(await stage.database.fetchval("select 1 from documents where url = 'http://a.test/new'"))

        async with everything_runs(stage):
            await until(is_subscribed, 60)
            polls = stage.path.asked().count("a.test/feed")
            page = feed("old", "new")
            stage.site.pages["/new"] = Page(STORY.body.replace(b"northern", b"southern"))
            await stage.hub.publish(FEED, page.body, page.content_type)
            await until(is_kept, 60)
            assert stage.path.asked().count("a.test/feed") == polls
