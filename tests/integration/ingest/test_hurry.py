"""When pages come faster than they can be read, they are read at less cost, and say so."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from tests.integration.ingest.press import WORLD_NOW, Press

from headwater.archive.raw import KeptBody, RawBody
from headwater.extraction.templates.guide import agreement
from headwater.frontier.verdicts import Fetched
from headwater.ingest.page_reader import PageReader
from headwater.ingest.stored_pages import lease_of, response_of
from headwater.simweb.world import Item
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey


def hurrying(press: Press, after_seconds: float) -> PageReader:
    return replace(press.page_reader, reader=replace(press.page_reader.reader, hurry_after=after_seconds))


async def read(press: Press, page_reader: PageReader, item: Item) -> tuple[str, str]:
    address = canonicalise(item.url)
    key, headers = DocumentKey(address.bucket, address.url_hash), {"Content-Type": press.publisher.html_type}
    kept = KeptBody(WORLD_NOW, RawBody(key, press.source, address.url, 200, headers, press.html(item.url)))
    _, effects = await page_reader.read(lease_of(kept), Fetched(), response_of(kept))
    assert effects.document is not None
    return effects.document.produced_by, effects.document.text


@pytest.mark.long
async def test_only_pages_behind_a_long_queue_are_read_in_a_hurry(press: Press) -> None:
    items = press.items(12)
    calm, hurried = hurrying(press, 3600.0), hurrying(press, 0.0)
    assert (await read(press, hurried, items[0]))[0] == "trafilatura", "nobody waits"
    told = await asyncio.gather(*(read(press, calm, item) for item in items))
    assert {by for by, _ in told} == {"trafilatura"}
    told = await asyncio.gather(*(read(press, hurried, item) for item in items))
    assert Counter(by for by, _ in told)["trafilatura_cropped"] >= 6
    for item, (_, text) in zip(items, told, strict=True):
        assert agreement(text, item.text) > 0.9


async def test_a_page_read_in_a_hurry_teaches_nothing(press: Press) -> None:
    hurried = hurrying(press, -1.0)
    for item in press.items(6):
        assert (await read(press, hurried, item))[0] == "trafilatura_cropped"
    assert all(not tally.read_well for tally in press.template_cache.taken().values())
