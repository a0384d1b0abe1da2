"""Looks at sites and channels that are begun by a form: an operation each, whose page shows what was seen.

A look that ends soon is shown at once; of a slower one the page follows the operation, with or without a script.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi.encoders import jsonable_encoder

from headwater.serve.console.components import link, notice, panel
from headwater.serve.console.shown import cut, moment
from headwater.serve.console.visit import PageVisit
from headwater.serve.operations import OperationRunner, Progress, StoredOperation
from headwater.serve.pages.markup import Markup, element, joined

# A person waits that long for a page; then it says how far things are.
PATIENCE_SECONDS = 12.0
SHOWN_ITEMS = 3


async def begin_look(
    work: OperationRunner, kind: str, actor: str, look: Callable[[], Awaitable[Mapping[str, Any]]]
) -> StoredOperation:
    """Begun, and mostly ended already."""
    is_over = asyncio.Event()

    async def watched(_: Progress) -> Mapping[str, Any]:
        try:
            told: Mapping[str, Any] = jsonable_encoder(await look())
            return told
        finally:
            # Its end is written a moment later; the page is asked for after that.
            asyncio.get_running_loop().call_later(0.05, is_over.set)

    begun = await work.begin(kind, actor, watched)
    waiting = asyncio.create_task(is_over.wait())
    await asyncio.wait([waiting], timeout=PATIENCE_SECONDS)
    waiting.cancel()
    return begun


def looking(visit: PageVisit, found: StoredOperation) -> Markup:
    """While it runs."""
    told = joined("Begun ", moment(found.created_at, visit.now), ". Each host is asked at its own pace.")
    again = link("Look again", visit.query.path, class_="button")
    return panel("Looking …", element("p", told), element("p", again), note="this page follows it")


def as_it_goes(*parts: Markup) -> Markup:
    """One live part around all that changes when a look ends: the script puts in only what has a place already."""
    return element("div", *parts, class_="live stack", id="look")


def trouble_of(found: StoredOperation) -> Markup:
    """Why it failed, or was left unfinished."""
    said = found.problem or {}
    fix = cut(said.get("fix", ""), 400)
    return notice("fail", cut(said.get("detail", "It did not end."), 400), f" {fix}" if fix else "")
