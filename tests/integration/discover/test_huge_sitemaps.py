"""Sitemaps as long as they may be cost their share: short transactions, no flood of due pages, little for a change."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import getpagesize
from uuid import UUID

import pytest
from tests.integration.discover.conftest import DELAY, Desk
from tests.integration.discover.test_channels import index
from tests.integration.discover.test_conditional import asked, last_visit

from headwater.discover.polls.submit_items import DUE_AT_ONCE, PART
from headwater.frontier.submit import hold_hosts
from headwater.simweb.message import Page

SITEMAP, BLOG = "http://a.test/sitemap.xml", "http://a.test/blog.xml"
ROWS = """
    select 'e' || encode(url_hash, 'hex') as key, xmin::text as written from url_frontier
    union all select 'd' || encode(url_hash, 'hex') || channel_id, xmin::text from discoveries
"""
FETCHED = """
    update url_frontier set status = 'fetched'
    where url_hash = any (array(select url_hash from url_frontier order by next_fetch_at limit $1))
"""


def long_sitemap(places: Sequence[str], dates: Sequence[str] = ()) -> Page:
    rows = "".join(
        f"<url><loc>http://a.test{place}</loc>{f'<lastmod>{dates[n]}</lastmod>' if n < len(dates) else ''}</url>"
        for n, place in enumerate(places)
    )
    return Page(f"<urlset>{rows}</urlset>".encode(), "application/xml")


def pages(count: int, of: str = "page") -> list[str]:
    return [f"/{of}/{number}" for number in range(count)]


async def follow(desk: Desk, *sitemaps: str, url: str = "http://a.test/") -> UUID:
    source = await desk.follow(url, sitemaps=sitemaps)
    async with desk.path.database.transaction() as connection:
        await hold_hosts(connection, ["a.test"], DELAY)
    return source


@dataclass(frozen=True)
class Written:
    """Rows of entries and discoveries by the transactions that wrote them last."""

    rows: dict[str, str]

    @property
    def largest(self) -> int:
        """Entries of one transaction."""
        return max(Counter(at for key, at in self.rows.items() if key.startswith("e")).values())

    def since(self, before: "Written") -> int:
        return sum(before.rows.get(key) != at for key, at in self.rows.items())


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize()


async def watch(highest: list[int]) -> None:
    """The most memory, until cancelled."""
    while True:
        highest.append(resident_bytes())
        await asyncio.sleep(0.05)


async def written(desk: Desk) -> Written:
    return Written({row["key"]: row["written"] for row in await desk.path.database.fetch(ROWS)})


async def poll_of(desk: Desk) -> str:
    [ran] = await desk.poll_again()
    assert ran.ending is not None
    return ran.ending.message


async def test_a_long_sitemap_is_taken_in_parts_and_its_pages_fall_due_one_by_one(desk: Desk) -> None:
    desk.site.pages["/sitemap.xml"] = long_sitemap(pages(PART + 100))
    await follow(desk, SITEMAP)
    [ran] = await desk.poll()
    assert (ran.run_state.tally.found, ran.run_state.tally.inserted) == (PART + 100, PART + 100)
    assert (await written(desk)).largest == PART
    [due] = await desk.path.database.fetch(
        "select count(*) filter (where next_fetch_at <= created_at) as at_once, max(next_fetch_at - created_at) as last"
        " from url_frontier"
    )
    assert (due["at_once"], due["last"]) == (DUE_AT_ONCE, (PART + 100 - DUE_AT_ONCE) * DELAY)


async def test_a_long_sitemap_that_has_changed_little_costs_little(desk: Desk) -> None:
    listed = pages(DUE_AT_ONCE + 50)
    desk.site.pages["/sitemap.xml"] = long_sitemap(listed)
    await follow(desk, SITEMAP)
    await desk.poll()
    before, visit = await written(desk), last_visit(desk)
    assert await poll_of(desk) == "not modified"
    assert asked(desk, visit) == [("/sitemap.xml", 304)]
    desk.site.pages["/sitemap.xml"] = long_sitemap(["/new", *listed])
    assert "1 new" in await poll_of(desk)
    assert (await written(desk)).since(before) == 2, "an entry and its discovery"


async def test_what_others_find_on_the_host_does_not_stand_behind_a_long_sitemap(desk: Desk) -> None:
    database = desk.path.database
    desk.site.pages |= {"/sitemap.xml": long_sitemap(pages(DUE_AT_ONCE + 800)), "/blog.xml": long_sitemap(["/blog/1"])}
    await follow(desk, SITEMAP)
    await desk.poll()
    # Thirty seconds in which its pages were fetched, as fast as their host may be asked.
    await database.execute("update url_frontier set next_fetch_at = next_fetch_at - interval '30 seconds'")
    await database.execute(FETCHED, round(30 / DELAY.total_seconds()))
    await follow(desk, BLOG, url="http://a.test/blog/")
    await desk.poll()
    [place] = await database.fetch(
        "select count(*) filter (where o.next_fetch_at < e.next_fetch_at) as before, count(*) as pending"
        " from url_frontier e, url_frontier o where e.url = 'http://a.test/blog/1' and o.status = 'pending'"
    )
    assert place["before"] < DUE_AT_ONCE + 100
    assert place["pending"] == 701


@pytest.mark.long
async def test_100_000_urls_in_an_index_cost_short_transactions_and_bounded_memory(desk: Desk) -> None:
    """Half of them undated, half not changed for long; then one is new."""
    listed, old = pages(50_000), pages(50_000, "old")
    desk.site.pages |= {
        "/sitemap.xml": index("/one.xml", "/two.xml"),
        "/one.xml": long_sitemap(listed),
        "/two.xml": long_sitemap(old, ["2020-01-01"] * 50_000),
    }
    await follow(desk, SITEMAP)
    before, highest = resident_bytes(), list[int]()
    watching = asyncio.create_task(watch(highest))
    [ran] = await desk.poll()
    watching.cancel()
    assert (ran.run_state.tally.requests, ran.run_state.tally.inserted) == (3, 50_000)
    first = await written(desk)
    assert first.largest == PART
    assert max(highest) - before < 200 * 2**20
    desk.site.pages["/one.xml"] = long_sitemap(["/new", *listed[:-1]])
    visit = last_visit(desk)
    assert "1 new" in await poll_of(desk)
    assert sorted(asked(desk, visit)) == [("/one.xml", 200), ("/sitemap.xml", 304), ("/two.xml", 304)]
    assert (await written(desk)).since(first) == 2
