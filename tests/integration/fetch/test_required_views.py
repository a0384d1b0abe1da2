"""The views that keep the required names have the required columns, with what really holds."""

from datetime import timedelta
from typing import Any

import pytest
from tests.integration.fetch.conftest import QUICK, Path, SmallSite, robots

from headwater.politeness.hosts import HostPolicy, clear_policy, read_host, set_policy
from headwater.simweb.message import Page
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile, SourceKind
from headwater.sources.store import NewChannel, add_channel, store_source
from headwater.urls.canonical import canonicalise

RULES = "User-agent: *\nDisallow: /private\nDisallow:\nAllow: /private/open\nCrawl-delay: 2\n"


async def row_of(path: Path, view: str, host: str = "a.test") -> dict[str, Any]:
    row = await path.database.fetchrow(f"select * from {view} where host = $1", host)
    assert row is not None
    return dict(row)


COLUMNS = {
    "host_state": """
        host last_fetch_at min_delay_ms robots_txt robots_fetched_at robots_ttl_hours created_at updated_at""",
    "domain_policies": """
        host max_concurrency min_request_interval_ms max_pages max_kb_per_page allow_js last_seen_status updated_at""",
    "robots_cache": "host robots_txt fetched_at crawl_delay_ms disallow",
    "crawl_sources": """
        id org_name careers_url source_type org_type status crawl_frequency_days next_run_at last_crawled_at
        last_crawl_status last_crawl_message consecutive_failures consecutive_nochange parser_hint time_window
        created_at updated_at""",
    "feed_state": """
        source_id feed_url last_polled_at last_etag last_modified last_item_count consecutive_errors last_error
        created_at updated_at""",
    "crawl_logs": "id source_id ran_at duration_ms found inserted updated skipped status message",
    "crawl_locks": "source_id locked_at",
    "source_pages": "id source_id url status depth error created_at updated_at",
}


@pytest.mark.parametrize(("view", "columns"), COLUMNS.items(), ids=COLUMNS)
async def test_every_required_column_is_there(path: Path, view: str, columns: str) -> None:
    rows = await path.database.fetch("select column_name from information_schema.columns where table_name = $1", view)
    assert not set(columns.split()) - {row["column_name"] for row in rows}


async def test_a_host_shows_its_robots_and_its_times(path: Path, sites: dict[str, SmallSite]) -> None:
    sites["a.test"].pages["/robots.txt"] = robots(RULES)
    await path.fetch("http://a.test/one")
    told = await row_of(path, "host_state")
    assert told["robots_txt"] == RULES
    assert (told["min_delay_ms"], told["robots_ttl_hours"]) == (2000, 24)
    assert told["created_at"] <= told["robots_fetched_at"] <= told["updated_at"]
    assert told["last_fetch_at"] <= told["updated_at"]


async def test_robots_txt_is_kept_with_the_paths_it_forbids_us(path: Path, sites: dict[str, SmallSite]) -> None:
    sites["a.test"].pages["/robots.txt"] = robots(RULES + "\nUser-agent: other\nDisallow: /theirs\n")
    await path.fetch("http://a.test/one")
    told = await row_of(path, "robots_cache")
    assert told["disallow"] == ["/private"]
    assert told["crawl_delay_ms"] == 2000
    assert told["fetched_at"] is not None


async def test_a_robots_txt_that_is_no_text_does_not_break_the_views(path: Path, sites: dict[str, SmallSite]) -> None:
    sites["a.test"].pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /\xff\x00x\n", "text/plain")
    await path.fetch("http://a.test/one")
    assert "Disallow: /" in (await row_of(path, "robots_cache"))["robots_txt"]
    assert "Disallow: /" in (await row_of(path, "host_state"))["robots_txt"]


async def test_a_host_with_two_origins_is_one_row(path: Path) -> None:
    await path.fetch("http://a.test/one")
    copied = "insert into robots (bucket, host, scheme, port, access, fetched_at, expires_at, crawl_delay_ms) "
    values = "select bucket, host, 'https', 443, access, fetched_at, expires_at, 7000 from robots"
    await path.database.execute(copied + values)
    rows = await path.database.fetch("select crawl_delay_ms from robots_cache where host = 'a.test'")
    assert [row["crawl_delay_ms"] for row in rows] == [7000]
    assert len(await path.database.fetch("select 1 from host_state where host = 'a.test'")) == 1


async def test_a_policy_shows_what_holds_where_nobody_set_anything(path: Path) -> None:
    await path.queue("http://a.test/one")
    told = await row_of(path, "domain_policies")
    assert told.pop("updated_at") is not None
    assert told == {
        "host": "a.test",
        "max_concurrency": 1,
        "min_request_interval_ms": 50,
        "max_pages": 10,
        "max_kb_per_page": 10_240,
        "allow_js": False,
        "last_seen_status": None,
    }
    serves_jobs = "insert into host_policies (bucket, host, serves_jobs) select bucket, host, true from hosts"
    await path.database.execute(serves_jobs)
    assert (await row_of(path, "domain_policies"))["max_kb_per_page"] == 1024
    assert (await row_of(path, "host_state"))["robots_ttl_hours"] == 12


async def test_setting_one_field_of_a_policy_leaves_the_others(path: Path) -> None:
    await set_policy(path.database, "a.test", HostPolicy(2, 400, 3, 7, 512, allow_js=True), QUICK)
    await set_policy(path.database, "a.test", HostPolicy(max_pages=9), QUICK)
    told = await row_of(path, "domain_policies")
    names = ("max_concurrency", "min_request_interval_ms", "max_pages", "max_kb_per_page", "allow_js")
    assert [told[name] for name in names] == [2, 400, 9, 512, True]
    host = await read_host(path.database, "a.test")
    assert (host["delay_ms"], host["max_concurrency"], host["burst"]) == (400, 2, 3)
    await set_policy(path.database, "a.test", HostPolicy(allow_js=False), QUICK)
    assert (await row_of(path, "domain_policies"))["allow_js"] is False


async def test_a_cleared_policy_is_the_default_again(path: Path) -> None:
    await set_policy(path.database, "a.test", HostPolicy(2, 400, 3, 7, 512, allow_js=True), QUICK)
    await clear_policy(path.database, "a.test", QUICK)
    host = await read_host(path.database, "a.test")
    assert (host["delay_ms"], host["max_concurrency"], host["burst"]) == (50, 1, 1)
    assert (await row_of(path, "domain_policies"))["max_pages"] == 10


@pytest.mark.parametrize(
    ("kind", "named"), [(ChannelKind.FEED, "rss"), (ChannelKind.API, "api"), (ChannelKind.LISTING, "html")]
)
async def test_a_source_is_shown_by_the_names_of_a_job_crawler(path: Path, kind: ChannelKind, named: str) -> None:
    profile = Profile("https://board.test/jobs", name="Board", kind=SourceKind.JOBS, org_type="ingo")
    async with path.database.transaction() as connection:
        source = await store_source(connection, profile, "a person")
        await add_channel(connection, source, NewChannel(kind, canonicalise("https://board.test/list")), "a person")
    await path.database.execute(
        "update channels set nochange_count = 4, next_poll_at = now() + $1 where source_id = $2",
        timedelta(hours=5),
        source,
    )
    told = await path.database.fetchrow("select * from crawl_sources where id = $1", source)
    assert told is not None
    assert (told["org_name"], told["careers_url"], told["source_type"]) == ("Board", profile.url, named)
    assert (told["crawl_frequency_days"], told["consecutive_nochange"], told["status"]) == (2, 4, "active")
    due = await path.database.fetchval("select next_poll_at from channels where source_id = $1", source)
    assert told["next_run_at"] == due
