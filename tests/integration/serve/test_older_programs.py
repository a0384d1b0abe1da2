"""Programs of the systems before this one: their addresses, fields and answers, as they know them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.integration.cli.desk import Served, served
from tests.integration.serve.callers import ApiCaller, api_on

from headwater.database.pool import Database
from headwater.simweb.message import Page

OLDER_FIELDS = {
    *("id", "name", "url", "rate_limit", "max_depth", "time", "selectors", "enabled", "feed_url", "sitemap_url"),
    *("ingestion_mode", "feed_poll_interval_minutes", "feed_disabled_at", "feed_disable_reason"),
    *("allow_source_discovery", "identity_key", "extraction_profile", "template_hint", "render_mode", "type"),
    *("indigenous_region", "disabled_at", "disable_reason", "data_format", "update_frequency", "license_type"),
    *("attribution_text", "created_at", "updated_at", "allowed_domains", "start_urls", "article_url_patterns"),
}
JOB_FIELDS = {
    *("org_name", "careers_url", "source_type", "status", "crawl_frequency_days", "next_run_at", "last_crawled_at"),
    *("last_crawl_status", "last_crawl_message", "org_type", "parser_hint", "time_window", "consecutive_failures"),
}
POLICY = {
    "max_concurrency": 2,
    "min_request_interval_ms": 5_000,
    "max_pages": 7,
    "max_kb_per_page": 512,
    "allow_js": False,
}


@pytest.fixture
def site() -> Iterator[Served]:
    with served() as serving:
        items = "".join(
            f"<item><title>Water Engineer {n}</title><link>{serving.url}/jobs/{n}</link>"
            f"<description>Location: Kampala, Uganda. Apply by 30 December 2026.</description></item>"
            for n in range(5)
        )
        feed = f"<rss version='2.0'><channel><title>Jobs</title>{items}</channel></rss>".encode()
        serving.pages["/feed.xml"] = Page(feed, "text/xml")
        serving.pages["/"] = Page(
            b"<html><title>Works</title><link rel=alternate type='application/rss+xml' href='/feed.xml'>", "text/html"
        )
        yield serving


@pytest.fixture
async def reaching(database_url: str, database: Database, site: Served) -> AsyncIterator[ApiCaller]:
    async with api_on(database_url, site.settings) as caller:
        yield caller


async def test_a_source_is_told_in_their_words(api: ApiCaller) -> None:
    said = {
        "name": "Harbour News",
        "url": "https://harbour.example/",
        "rate_limit": "2s",
        "max_depth": 3,
        "time": ["11:45", "23:45"],
        "selectors": {"article": {"title": "h1", "body": "article > div"}, "list": {}, "page": {}},
        "enabled": True,
        "feed_url": "https://harbour.example/feed.xml",
        "sitemap_url": None,
        "ingestion_mode": "feed",
        "feed_poll_interval_minutes": 20,
        "allow_source_discovery": False,
        "identity_key": "harbour-1",
        "render_mode": "static",
        "type": "community",
        "license_type": "CC-BY",
    }
    answer = await api.post("sources", said)
    assert answer.status == 201, answer.body
    source = answer.json
    assert source.keys() >= OLDER_FIELDS | JOB_FIELDS
    same = ("name", "url", "rate_limit", "max_depth", "enabled", "feed_url", "feed_poll_interval_minutes", "type")
    assert {name: source[name] for name in same} == {name: said[name] for name in same}
    assert source["selectors"] == {"article": {"title": "h1", "body": "article > div"}}
    assert (source["tags"], source["license_type"]) == (["community"], None)
    found = await api.get("sources/by-identity?identity_key=harbour-1")
    assert found.json["id"] == source["id"]
    assert (await api.get("sources/by-identity?identity_key=nobody")).status == 404
    edited = await api.put(f"sources/{source['id']}", source | {"rate_limit": 5, "enabled": False, "type": "mining"})
    assert (edited.json["rate_limit"], edited.json["enabled"], edited.json["status"]) == ("5s", False, "paused")
    assert set(edited.json["tags"]) == {"community", "mining"}
    numbers = await api.post("sources", {"name": "B", "url": "https://b.example", "rate_limit": 10, "enabled": False})
    assert (numbers.json["rate_limit"], numbers.json["status"]) == ("10s", "paused")
    moved = await api.put(f"sources/{source['id']}", {"url": "https://elsewhere.example/"})
    assert (moved.status, moved.json["error"]["code"]) == (422, "invalid")


async def test_their_addresses_of_policies_and_robots(api: ApiCaller, database: Database) -> None:
    assert (await api.get("/admin/domain_policies/a.example")).status == 404
    set_ = await api.post("/admin/domain_policies/a.example", POLICY)
    assert set_.status == 200, set_.body
    assert set_.json.items() >= POLICY.items()
    assert (set_.json["effective_delay_ms"], set_.json["decided_by"]) == (5_000, "host policy")
    partly = (await api.post("/admin/domain_policies/a.example", {"max_pages": 9})).json
    assert partly.items() >= (POLICY | {"max_pages": 9}).items()
    assert (await api.get("hosts/a.example/policy")).json == partly
    cleared = (await api.delete("hosts/a.example/policy")).json
    usual = {"max_concurrency": 1, "min_request_interval_ms": 1_000, "max_pages": 10, "max_kb_per_page": 10_240}
    assert cleared.items() >= usual.items()
    row = await database.fetchrow("select * from domain_policies where host = 'a.example'")
    assert row is not None
    assert {name: row[name] for name in usual} == usual
    for wrong in ({}, {"max_pages": -1}, {"max_concurrency": 2**60}, {"colour": 1}):
        assert (await api.post("/admin/domain_policies/a.example", wrong)).status == 422
    assert (await api.get("/admin/robots/a.example")).status == 404
    assert (await api.get("hosts/%00")).status == 422


async def test_a_source_is_tried_polled_and_logged(reaching: ApiCaller, site: Served) -> None:
    api = reaching
    source = await api.post(
        "sources", {"org_name": "Works", "careers_url": site.url, "feed_url": f"{site.url}/feed.xml", "kind": "jobs"}
    )
    assert source.status == 201, source.body
    id_ = source.json["id"]
    tested = await api.post(f"/admin/sources/{id_}/test")
    assert (tested.status, tested.json["status"], tested.json["channels"][0]["problem"]) == (200, 200, None)
    assert tested.json["size"] > 100
    extracted = await api.post(f"/admin/sources/{id_}/simulate_extract")
    assert [one["title"] for one in extracted.json["jobs"]] == [f"Water Engineer {n}" for n in range(3)]
    status = (await api.get("/admin/crawl/status")).json
    assert status.items() >= {"running": False, "pool": {"global": 3}, "due_count": 1, "locked": 0}.items()
    assert "in_flight" in status
    assert (await api.post("/admin/crawl/run", {"source_id": id_})).json["channels"] == 1
    due = (await api.post("/admin/crawl/run_due")).json
    assert due["queued"] == 1
    while (done := (await api.get(f"operations/{due['operation_id']}")).json)["state"] == "running":
        await asyncio.sleep(0.05)
    assert (done["state"], done["result"]["polled"]) == ("done", 1)
    (log,) = (await api.get(f"/admin/crawl/logs?source_id={id_}&limit=20")).json["logs"]
    assert {"id", "ran_at", "duration_ms", "found", "inserted", "updated", "skipped", "status", "message"} <= log.keys()
    assert (log["source_id"], log["status"], log["found"]) == (id_, "ok", 5)
    assert (await api.get("/admin/robots/127.0.0.2")).json["robots_txt"] == ""
    pages = (await api.get(f"/sources/{id_}/pages")).json
    assert pages["meta"]["count"] == len(pages["data"])
    expected = {"id", "source_id", "url", "status", "depth", "error", "created_at", "updated_at"}
    assert all(expected <= page.keys() for page in pages["data"])
    patched = await api.patch(f"/admin/sources/{id_}", {"crawl_frequency_days": 3, "time_window": "22:00-05:00"})
    assert (patched.json["crawl_frequency_days"], patched.json["time_window"]) == (3, "22:00-05:00")
    assert (await api.delete(f"/admin/sources/{id_}")).status == 204


async def test_a_site_is_looked_at_before_it_is_followed(reaching: ApiCaller, site: Served) -> None:
    api = reaching
    seen = (await api.post("sources/test-crawl", {"url": site.url})).json
    assert (seen["followed"], seen["feed_url"]) == (True, f"{site.url}/feed.xml")
    assert [one["title"] for one in seen["channels"][0]["items"]][:1] == ["Water Engineer 0"]
    told: Any = (await api.post("sources/fetch-metadata", {"url": site.url})).json
    assert (told["name"], told["feed_url"]) == ("Jobs", f"{site.url}/feed.xml")
    nowhere = (await api.post("sources/test-crawl", {"url": "https://no-such-name.invalid/"})).json
    assert (nowhere["followed"], nowhere["against"]) == (False, "no_such_host")
    assert (await api.get("sources")).json["total"] == 0
    begun = await api.post("sources?look=true", {"url": site.url})
    assert begun.status == 202
    while (done := (await api.get(begun.headers["location"])).json)["state"] == "running":
        await asyncio.sleep(0.05)
    assert (done["state"], done["result"]["url"]) == ("done", f"{site.url}/")
    assert (await api.get(f"sources/{done['result']['id']}")).json["feed_url"] == f"{site.url}/feed.xml"
