"""All attacks of the hostile neighbour at once: what healthy publishers published is stored as if there were none."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import pytest
import zstandard
from tests.clocks import ManualClock
from tests.hostile.street import MARK, Employer, Street, street
from tests.told import TOLD

from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.simweb.neighbours import ATTACKS, Followed, Plan
from headwater.simweb.neighbours.pretence import ACTING
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.world import Publisher, World

PAPERS = 4
EMPLOYER = Employer()
DOCUMENTS = """
select d.canonical_url, d.url, d.title, d.text, d.summary, d.author, d.published_at, d.updated_at, d.language,
       d.section, d.keywords, d.images, d.word_count, d.page_type, d.quality, d.content_hash, d.simhash, d.produced_by,
       d.version, d.duplicate_of, d.near_duplicate_of, d.deleted_at is null as is_shown, d.search::text as search,
       s.url as source
from documents d join sources s on s.id = d.source_id order by d.url
"""
JOBS = """
select j.apply_url, j.title, j.org_name, j.location_raw, j.country, j.deadline, j.description_snippet, j.language,
       j.level_norm, j.mission_tags, j.contract_type, j.work_modality, j.status,
       j.search_tsv::text as search, s.url as source
from jobs j join sources s on s.id = j.source_id order by j.apply_url, j.title
"""
DELETED = f"""
select d.canonical_url from {TOLD} join documents d on (d.bucket, d.url_hash) = (o.bucket, o.hash)
where o.kind = 'document' and o.op = 'delete'
"""
# Their own rows about the neighbour, what it listed among them, which nothing of others is made of.
ABOUT_IT = "sources|channels|channel_items|url_frontier|discoveries|runs.*|events|fetch_log.*|host.*|raw_bodies.*"
# The neighbour's pages and lists that end; the others hold a visitor up for as long as they can.
QUICK_PAGES = "words|vacancies|stories|copies|effects|hidden|github|homes"
FLAGS = {
    "fetch.read_timeout": "2s",
    "fetch.total_timeout": "3s",
    "fetch.retries_in_place": "0",
    "extract.timeout": "3s",
}


@dataclass(frozen=True)
class Kept:
    """What stands in the archive of the healthy publishers."""

    documents: list[dict[str, Any]]
    jobs: list[dict[str, Any]]


def papers_of(world: World) -> list[Publisher]:
    return [one for one in world.publishers if one.kind == "news" and one.feeds and not one.reprints][:PAPERS]


def followed(papers: Sequence[Publisher]) -> list[Followed]:
    feeds = {one.home: tuple(feed.url for feed in one.feeds) for one in papers}
    return [Followed("stolen_words", home, feeds=urls) for home, urls in feeds.items()]


def aimed(world: World, now: datetime) -> Plan:
    """At what the healthy publishers' feeds list, and at the employer."""
    articles = tuple(item.url for one in papers_of(world) for item in islice(world.items(one, now), 4))
    return Plan(
        ATTACKS,
        articles,
        vacancies=EMPLOYER.urls,
        stories=articles,
        copied=articles,
        silent_names=40,
        heavy_pages=10,
        deadly_pages=2,
        flood=300,
        crowd=40,
    )


def is_of(hosts: Collection[str], url: str) -> bool:
    return urlsplit(url).netloc in hosts


async def play(here: Street, papers: Sequence[Publisher]) -> Kept:
    """Followed, then attacked, then asked for everything again."""
    async with here.working():
        await here.follow(*followed(papers), EMPLOYER.followed)
        await here.settle()
        rows = await here.database.fetch("select url from url_frontier")
        urls = [row["url"] for row in rows]
        await here.follow(*here.neighbours.followed)
        await here.until(
            "not exists (select 1 from channels where is_active and last_polled_at is null"
            " and next_poll_at < now() + interval '10 minutes')"
        )
        await here.until(
            "not exists (select 1 from url_frontier where status in ('pending', 'fetching') and host ~ $1)", QUICK_PAGES
        )
        await here.fetch_again(*urls)
    hosts = hosts_of(papers)
    return Kept(
        [dict(row) for row in await here.database.fetch(DOCUMENTS) if is_of(hosts, row["url"])],
        [dict(row) for row in await here.database.fetch(JOBS) if is_of(hosts, row["source"])],
    )


@pytest.mark.long
async def test_what_healthy_publishers_published_is_stored_as_if_they_had_no_hostile_neighbour(
    database: Database, database_url: str, empty_database_url: str
) -> None:
    world, clock = World(5, 14, start=WORLD_BEGINS, crawl_delays=()), ManualClock(WORLD_BEGINS)
    papers, sites = papers_of(world), {**world.sites, EMPLOYER.host: EMPLOYER}
    async with await Database.connect(empty_database_url, size=5) as other:
        await migrate(other)
        async with street(other, empty_database_url, sites, Plan(), FLAGS, clock) as alone:
            expected = await play(alone, papers)
    assert len(expected.documents) > 20
    assert [row["apply_url"] for row in expected.jobs] == list(EMPLOYER.urls)
    async with street(database, database_url, sites, aimed(world, WORLD_BEGINS), FLAGS, clock) as here:
        found = await play(here, papers)
        assert found == expected
        assert await here.forgeries() == []
        assert await tables_with_canaries(database) <= {"documents", "document_versions", "jobs"}
        assert await canaries_in_bodies(database, hosts_of(papers)) == []
        deleted = [row["canonical_url"] for row in await database.fetch(DELETED)]
        assert [url for url in deleted if is_of(hosts_of(papers), url)] == []
        assert not [visit for visit in here.web.visits.all() if visit.target in ACTING]


def hosts_of(papers: Sequence[Publisher]) -> set[str]:
    return {EMPLOYER.host, *(one.host for one in papers)}


async def tables_with_canaries(database: Database) -> set[str]:
    rows = await database.fetch(
        "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = 'public' and c.relkind = 'r' and c.relname !~ $1",
        f"^({ABOUT_IT})$",
    )
    found = set()
    for row in rows:
        table = row["relname"]
        if await database.fetchval(f'select exists (select 1 from "{table}" t where t::text ~ $1)', MARK.pattern):
            found.add(table)
    return found


async def canaries_in_bodies(database: Database, hosts: Collection[str]) -> list[str]:
    rows = await database.fetch("select url, body from raw_bodies")
    unpack = zstandard.ZstdDecompressor().decompress
    bodies = {row["url"]: unpack(row["body"], max_output_size=1 << 24).decode("utf-8", "replace") for row in rows}
    return [url for url, body in bodies.items() if is_of(hosts, url) and MARK.search(body)]
