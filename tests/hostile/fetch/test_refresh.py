"""Section C, 62: a page that sends its readers elsewhere by `Refresh` is a page, and nobody follows it."""

import pytest
from tests.faults.world import DELAY, Articles, article, workbench
from tests.hostile.fetch.ears import listening, tapped

from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.simweb.message import Page
from headwater.sources.source import Profile, SourceKind

INWARDS = ("http://127.0.0.1:{port}/", "http://127.0.0.2:{port}/", "http://[::1]:{port}/", "http://2130706433:{port}/")


def sent_by_header(target: str) -> Page:
    return Page(article(f"header {target}"), headers=(("Refresh", f"0; url={target}"),))


def sent_by_meta(target: str) -> Page:
    tag = f'<meta http-equiv="refresh" content="0; url={target}">'.encode()
    return Page(article(f"meta {target}").replace(b"<title>", tag + b"<title>", 1))


@pytest.mark.parametrize("is_crawled", [False, True])
async def test_a_refresh_to_a_private_address_is_not_followed(
    database: Database, database_url: str, is_crawled: bool
) -> None:
    async with listening() as ears:
        targets = [target.format(port=ears.port) for target in INWARDS]
        pages = {f"/header{at}": sent_by_header(target) for at, target in enumerate(targets)}
        pages |= {f"/meta{at}": sent_by_meta(target) for at, target in enumerate(targets)}
        async with workbench(database, {"a.test": Articles(pages=pages)}) as bench:
            source = bench.source
            if is_crawled:
                async with database.transaction() as connection:
                    crawled = Profile("http://a.test/", kind=SourceKind.DOCS, allow_external=True)
                    source = await take_up(connection, WantedSource(crawled), "tester", DELAY)
            await bench.queue(*(f"http://a.test{path}" for path in pages), source=source)
            with tapped() as dialled:
                # The ports alone would not keep anybody out.
                async with bench.worker(database_url, network__ports=f"80,443,{ears.port}"):
                    await bench.until_settled()
            assert set(await bench.rows("host, status")) == {("a.test", "fetched")}
            assert len(bench.asked()) == len(pages)
            assert dialled == {("127.0.0.1", bench.port)}
        assert ears.heard == (0, 0)
