"""Sources through the API: listed, added, changed, stopped, as the command line does it."""

import asyncio
import json
from typing import Any
from urllib.parse import quote

import pytest
from tests.integration.serve.callers import ApiCaller, api_on, command_says

from headwater.database.pool import Database

FEED = "https://a.example/feed.xml"


async def added(api: ApiCaller, url: str, **fields: Any) -> Any:
    answer = await api.post("sources", {"url": url, **fields})
    assert answer.status == 201, answer.body
    return answer.json


async def ended(api: ApiCaller, answer: Any) -> Any:
    assert answer.status == 202, answer.body
    assert answer.headers["location"] == f"/api/v1/operations/{answer.json['id']}"
    while (told := (await api.get(answer.headers["location"])).json)["state"] == "running":
        await asyncio.sleep(0.01)
    return told


async def test_a_source_is_added_listed_shown_changed_and_deleted(api: ApiCaller, database_url: str) -> None:
    source = await added(api, "https://a.example/", name="Alpha", feed_url=FEED, tags=["north"], priority=7)
    assert (source["feed_url"], source["ingestion_mode"], source["enabled"]) == (FEED, "feed", True)
    listed = (await api.get("sources")).json
    assert [one["id"] for one in listed["sources"]] == [source["id"]]
    assert (listed["total"], listed["total_is_capped"], listed["cursor"]) == (1, False, None)
    for name in (source["id"], "Alpha", "a.example", quote("https://a.example/", safe="")):
        assert (await api.get(f"sources/{name}")).json["id"] == source["id"], name
    command = json.loads(await command_says(database_url, "sources", "show", source["id"], "--json"))
    shown = json.loads((await api.get(f"sources/{source['id']}")).body)
    assert {name: shown[name] for name in command} == command
    changed = await api.patch(f"sources/{source['id']}", {"priority": 3, "tags": None, "interval": "30m"})
    assert (changed.json["priority"], changed.json["tags"], changed.json["poll_every_seconds"]) == (3, [], 1800)
    removed = await api.delete(f"sources/{source['id']}")
    assert (removed.status, removed.body) == (204, b"")
    assert (await api.get("sources")).json["sources"] == []
    assert [one["id"] for one in (await api.get("sources?status=deleted")).json["sources"]] == [source["id"]]
    trail = (await api.get("events?kind=source_deleted")).json["events"]
    assert [one["actor"] for one in trail] == ["developer"]


async def test_an_answer_can_be_sent_back_with_one_change(api: ApiCaller, database: Database) -> None:
    source = await added(api, "https://a.example/", name="Alpha", feed_url=FEED)
    await database.execute("update channels set poll_interval = interval '10 minutes'")
    told = (await api.get(f"sources/{source['id']}")).json
    assert told["feed_poll_interval_minutes"] == 10
    await api.post(f"sources/{source['id']}/pause")
    told = (await api.get(f"sources/{source['id']}")).json
    sent = await api.put(f"sources/{source['id']}", told | {"name": "Beta"})
    assert sent.status == 200, sent.body
    assert (sent.json["name"], sent.json["poll_every_seconds"], sent.json["rate_limit_ms"]) == ("Beta", None, None)
    assert sent.json["status"] == "paused"
    event = (await api.get(f"sources/{source['id']}/events?kind=source_edited")).json["events"][0]
    assert list(event["details"]) == ["name"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "https://a.example/", "priority": 11}, "body.priority"),
        ({"url": "https://a.example/", "colour": "red"}, "body.colour"),
        ({"url": "https://a.example/", "name": "a\0b"}, "body"),
        ({"url": "https://a.example/", "selectors": {"article": {"title": "\ud800"}}}, "body"),
        ({"url": "https://a.example/", "max_pages": 2**70}, "body.max_pages"),
        ({"url": "https://a.example/", "rate_limit": "soon"}, ""),
        ({"url": "https://a.example/", "selectors": {"article": {"title": ">>"}}}, ""),
        ({"url": "ftp://a.example/"}, ""),
        ({"url": "x" * 3_000}, "body.url"),
        ({}, ""),
    ],
)
async def test_a_source_that_cannot_be_is_refused(api: ApiCaller, body: dict[str, Any], field: str) -> None:
    answer = await api.post("sources", json.dumps(body).encode())
    assert answer.status == 422, answer.body
    assert not field or answer.json["fields"][0]["field"].startswith(field)
    assert (await api.get("sources")).json["sources"] == []


async def test_a_request_that_is_sent_again_adds_nothing(api: ApiCaller) -> None:
    body = {"url": "https://a.example/"}
    first = await api.post("sources", body, idempotency_key="k1")
    again = await api.post("sources", body, idempotency_key="k1")
    assert (first.status, again.status, again.json["id"]) == (201, 201, first.json["id"])
    assert again.headers["idempotency-replayed"] == "true"
    twice = await api.post("sources", body)
    assert (twice.status, twice.json["detail"]) == (422, "There is a source for https://a.example/ already.")


async def test_pages_meet_each_source_once_by_cursor_and_by_offset(api: ApiCaller, database: Database) -> None:
    for letter in "dbeca":
        await added(api, f"https://{letter}.example/", name=f"Paper {letter}")
    seen, cursor = [], ""
    while cursor is not None:
        page = (await api.get(f"sources?limit=2&text=paper{f'&cursor={cursor}' if cursor else ''}")).json
        seen += [one["name"][-1] for one in page["sources"]]
        cursor = page["cursor"]
    assert "".join(seen) == "abcde"
    orders = {"name": "abcde", "url": "abcde", "created_at": "dbeca", "enabled": "abcde"}
    for order, letters in orders.items():
        for way, wanted in (("asc", letters), ("desc", letters[::-1])):
            found = ""
            for offset in (0, 2, 4, 6):
                query = f"sources?sort_by={order}&sort_order={way}&limit=2&offset={offset}"
                found += "".join(one["name"][-1] for one in (await api.get(query)).json["sources"])
            assert found == wanted, (order, way)
    await api.post("sources/a.example/pause")
    enabled = (await api.get("sources?sort_by=enabled&sort_order=desc&limit=10")).json["sources"]
    assert [one["enabled"] for one in enabled] == [True] * 4 + [False]
    assert (await api.get("sources?feed_active=true")).json["total"] == 0


@pytest.mark.parametrize(
    "query",
    [
        *("cursor=nonsense", "offset=10001", "offset=-1", "limit=0", "limit=1001", "sort_by=colour", "status=sleeping"),
        *("tag=%00", "offset=0&cursor=a", "sort_by=url&status=failing", "limit=99999999999999999999999", "kind=x"),
    ],
)
async def test_a_list_that_cannot_be_is_refused(api: ApiCaller, query: str) -> None:
    answer = await api.get(f"sources?{query}")
    assert answer.status == 422, answer.body
    assert answer.headers["content-type"] == "application/problem+json"


async def test_sources_are_stopped_and_started(api: ApiCaller) -> None:
    source = await added(api, "https://a.example/", name="Alpha", feed_url=FEED)
    paused = (await api.post("sources/Alpha/pause", {"reason": "too loud"})).json
    assert (paused["status"], paused["status_reason"], paused["enabled"]) == ("paused", "too loud", False)
    refused = await api.post("sources/Alpha/run")
    assert (refused.status, refused.json["detail"]) == (403, "Alpha is paused (too loud): nothing of it is polled.")
    assert (await api.post("sources/Alpha/resume")).json["status"] == "active"
    assert (await api.patch("sources/Alpha/disable")).json["disabled_at"]
    assert (await api.patch("sources/Alpha/enable")).json["disabled_at"] is None
    off = (await api.patch("sources/Alpha/feed-disable", {"reason": "404 for a week"})).json
    assert (off["feed_disable_reason"], off["feed_url"]) == ("404 for a week", None)
    assert off["feed_disabled_at"]
    on = (await api.patch("sources/Alpha/feed-enable")).json
    assert (on["feed_disabled_at"], on["feed_url"]) == (None, FEED)
    polled = (await api.post("sources/Alpha/run")).json
    assert polled == {"source_id": source["id"], "name": "Alpha", "channels": 1, "why_not": None}
    channels = (await api.get("sources/Alpha/channels")).json
    assert channels == (await api.get("channels?source=Alpha")).json
    assert channels["channels"][0]["next_reason"] == "a person asked"
    one = channels["channels"][0]
    assert (await api.get(f"channels/{one['id']}")).json == one
    assert (await api.get("sources/Alpha/runs")).json == {"runs": [], "cursor": None}
    for path in ("sources/nobody", "sources/nobody/channels", f"channels/{source['id']}", "channels?source=nobody"):
        assert (await api.get(path)).status == 404, path
    assert (await api.get("channels/none")).status == 422


async def test_a_batch_tells_what_became_of_each(api: ApiCaller) -> None:
    await added(api, "https://a.example/")
    sources = [
        {"url": "https://a.example/"},
        {"url": "https://b.example/", "name": "B"},
        {"url": "no"},
        {"max_depth": "x"},
    ]
    answer = (await api.post("sources/batch", {"sources": sources})).json
    assert [one["outcome"] for one in answer["results"]] == ["known", "added", "failed", "failed"]
    assert (answer["added"], answer["known"], answer["failed"]) == (1, 1, 2)


async def test_many_sources_are_changed_at_once_each_with_its_outcome(api: ApiCaller) -> None:
    for letter in "abc":
        await added(api, f"https://{letter}.example/", name=f"Paper {letter}", feed_url=f"https://{letter}.example/f")
    named = {"action": "pause", "ids": ["a.example", "nobody"], "reason": "quiet"}
    paused = await ended(api, await api.post("sources/bulk", named))
    assert (paused["state"], paused["done"], paused["total"]) == ("done", 2, 2)
    assert [one["outcome"] for one in paused["result"]["outcomes"]] == ["done", "failed"]
    tagged = await ended(api, await api.post("sources/bulk", {"action": "tag", "filter": {}, "tags": ["north"]}))
    assert tagged["result"]["done"] == 3
    for action in ("run", "clear_errors", "resume", "set_interval"):
        asked = {"action": action, "filter": {"tag": "north"}, "interval": "1h"}
        told = await ended(api, await api.post("sources/bulk", asked))
        assert told["result"]["done"] + told["result"].get("skipped", 0) == 3, action
    assert {one["poll_every_seconds"] for one in (await api.get("sources")).json["sources"]} == {3600}
    gone = await ended(api, await api.post("sources/bulk", {"action": "delete", "filter": {"text": "paper b"}}))
    assert gone["result"]["done"] == 1
    assert (await api.get("sources")).json["total"] == 2
    for wrong in (
        {"action": "run"},
        {"action": "tag", "ids": []},
        {"action": "burn", "ids": []},
        {"action": "run", "ids": [], "filter": {}},
    ):
        assert (await api.post("sources/bulk", wrong)).status == 422


@pytest.mark.parametrize("as_format", ["opml", "csv", "jsonl", "urls"])
async def test_an_exported_list_is_imported_again(api: ApiCaller, database_url: str, as_format: str) -> None:
    await added(api, "https://a.example/", name="Alpha", feed_url=FEED, tags=["north"])
    listed = await api.get(f"sources/export?format={as_format}")
    assert listed.body == await command_says(database_url, "sources", "export", "--format", as_format)
    assert "attachment" in listed.headers["content-disposition"]
    known = await ended(api, await api.post(f"sources/import?format={as_format}", listed.body, idempotency_key="k"))
    assert (known["result"]["known"], known["result"]["added"]) == (1, 0)
    again = await api.post(f"sources/import?format={as_format}", listed.body, idempotency_key="k")
    assert (again.status, again.json["id"]) == (202, known["id"])
    await api.delete("sources/a.example")
    dry = await ended(api, await api.post("sources/import?dry_run=true", listed.body))
    assert (dry["result"]["added"], (await api.get("sources")).json["total"]) == (1, 0)
    back = await ended(api, await api.post(f"sources/import?format={as_format}", listed.body))
    assert back["result"]["added"] == 1


async def test_a_list_that_is_none_is_told(api: ApiCaller) -> None:
    assert (await api.post("sources/import", b"  ")).status == 422
    binary = await ended(api, await api.post("sources/import", b"PK\x03\x04 a workbook"))
    assert (binary["state"], binary["problem"]["detail"]) == (
        "failed",
        "The file is a zip archive, as Excel workbooks are.",
    )
    mixed = await ended(api, await api.post("sources/import", b"https://a.example/\nnonsense\n"))
    assert (mixed["result"]["added"], mixed["result"]["invalid_count"]) == (1, 1)


async def test_sources_are_public_where_the_setting_says_so(database_url: str, api: ApiCaller) -> None:
    await added(api, "https://a.example/", name="Alpha", kind="jobs", parser_hint="li.job")
    assert (await api.get("sources/Alpha")).json["parser_hint"] == "li.job"
    async with api_on(database_url, {"web.public_sources": "true"}) as everybody:
        assert (await everybody.get("sources")).json["sources"][0]["parser_hint"] is None
        assert (await everybody.get("sources/Alpha")).json["parser_hint"] is None
