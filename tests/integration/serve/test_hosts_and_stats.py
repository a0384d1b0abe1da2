"""Hosts, templates, how things stand, problems, the schedule, runs, events and explanations, as commands tell them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from tests.integration.serve.callers import ApiCaller, command_says

from headwater.database.pool import Database
from headwater.sources.store import Event, Level, record


async def pages_of(api: ApiCaller, path: str, name: str) -> list[Any]:
    """All that a list holds, page by page."""
    seen: list[Any] = []
    cursor = ""
    while cursor is not None:
        page = (await api.get(f"{path}{f'&cursor={quote(cursor)}' if cursor else ''}")).json
        seen += page[name]
        cursor = page["cursor"]
    return seen


@pytest.mark.parametrize(
    ("path", "words", "changing"),
    [
        ("stats", ("status",), {"now", "operations"}),
        ("problems", ("problems",), {"looked_at", "problems"}),
        ("hosts", ("hosts", "list"), set()),
        ("url-rules", ("hosts", "rules", "list"), set()),
        ("templates", ("templates", "list"), set()),
        ("explain?source=Alpha", ("explain", "Alpha"), {"problems"}),
        ("explain?url=https%3A%2F%2Fb.example%2F1", ("explain", "https://b.example/1"), set()),
    ],
)
async def test_the_answer_is_that_of_the_command(
    api: ApiCaller, database_url: str, path: str, words: tuple[str, ...], changing: set[str]
) -> None:
    await api.post("sources", {"url": "https://a.example/", "name": "Alpha", "feed_url": "https://a.example/f"})
    await api.put("hosts/a.example/policy", {"max_pages": 5})
    await api.put("hosts/a.example/rules", {"strip": ["sid"]})
    command = json.loads(await command_says(database_url, *words, "--json"))
    said = await api.get(path)
    assert b'+00:00"' not in said.body, "one form of times"
    answer = json.loads(said.body)
    for told in (command, answer):
        for name in changing:
            del told[name]
    assert answer == command


async def test_the_schedule_tells_what_is_polled_next(api: ApiCaller) -> None:
    for letter in "ab":
        await api.post("sources", {"url": f"https://{letter}.example/", "feed_url": f"https://{letter}.example/f"})
    whole = (await api.get("schedule")).json
    assert {one["source"] for one in whole["schedule"]} == {"a.example", "b.example"}
    assert not whole["schedule_is_cut"]
    cut = (await api.get("schedule?limit=1")).json
    assert (len(cut["schedule"]), cut["schedule_is_cut"]) == (1, True)
    assert (await api.get("crawl/status")).json["due_count"] == 2
    polled = await api.post("crawl/run", {"sources": ["a.example", "b.example"]})
    assert polled.json["queued"] == 2


async def test_runs_are_found_by_source_status_and_time(api: ApiCaller, database: Database) -> None:
    source = (await api.post("sources", {"url": "https://a.example/", "feed_url": "https://a.example/f"})).json
    now = datetime.now(UTC)
    insert = """
        insert into runs (at, id, source_id, channel_id, kind, trigger, status, requests, found, inserted, updated,
                          skipped, errors, duration_ms, message)
        values ($1, gen_random_uuid(), $2, $3, 'feed', 'schedule', $4, 1, 1, 1, 0, 0, 0, 10, 'as told')"""
    channel = source["channels"][0]["id"]
    for n in range(7):
        await database.execute(
            insert, now - timedelta(minutes=n // 2), source["id"], channel, "fail" if n % 3 else "ok"
        )
    every = await pages_of(api, "runs?limit=2", "runs")
    assert len({one["id"] for one in every}) == len(every) == 7
    assert [one["at"] for one in every] == sorted((one["at"] for one in every), reverse=True)
    assert len(await pages_of(api, "runs?limit=2&status=fail", "runs")) == 4
    since = quote((now - timedelta(seconds=90)).isoformat())
    assert len((await api.get(f"runs?since={since}")).json["runs"]) == 4
    assert len((await api.get("sources/a.example/runs?status=ok")).json["runs"]) == 3
    for wrong in ("status=bad", "since=yesterday", "since=2026-01-01T00:00:00", "cursor=x", "source=nobody"):
        assert (await api.get(f"runs?{wrong}")).status in (404, 422), wrong
    far = quote("0001-01-01T00:00:00+23:00")
    assert (await api.get(f"runs?since={far}")).status == 422
    assert (await api.get(f"runs?cursor={far}/{source['id']}")).status == 422


async def test_the_trail_is_read_by_what_happened(api: ApiCaller, database: Database) -> None:
    source = (await api.post("sources", {"url": "https://a.example/"})).json
    await database.execute("truncate events")
    for n in range(5):
        level = Level.WARN if n == 3 else Level.INFO
        await record(database, Event(f"kind_{n % 2}", f"event {n}", source["id"], level=level, actor="ann"))
    every = await pages_of(api, "events?limit=2", "events")
    assert [one["message"] for one in every] == [f"event {n}" for n in (4, 3, 2, 1, 0)]
    assert [one["message"] for one in await pages_of(api, "events?limit=1&kind=kind_1", "events")] == [
        "event 3",
        "event 1",
    ]
    assert len((await api.get("events?level=warn&actor=ann")).json["events"]) == 1
    assert (await api.get("events?actor=ben")).json == {"events": [], "cursor": None}
    tomorrow = quote((datetime.now(UTC) + timedelta(days=1)).isoformat())
    assert (await api.get(f"events?since={tomorrow}")).json == {"events": [], "cursor": None}
    assert len((await api.get("sources/a.example/events?limit=3")).json["events"]) == 3
    for wrong in ("cursor=x", "cursor=99999999999999999999", "cursor=%C2%B2", "level=loud", "kind=%00"):
        assert (await api.get(f"events?{wrong}")).status == 422, wrong


async def test_rules_and_templates_of_a_host_are_changed(api: ApiCaller) -> None:
    usual = (await api.get("hosts/a.example/rules")).json
    assert usual == {"host": "a.example", "keep_slash": False, "keep": [], "strip": [], "is_applied": True}
    changed = (await api.put("hosts/a.example/rules", {"keep_slash": True, "strip": ["sid"]})).json
    assert (changed["keep_slash"], changed["strip"]) == (True, ["sid"])
    assert (await api.put("hosts/a.example/rules", {"strip": ["a b"]})).status == 422
    assert (await api.delete("hosts/a.example/rules")).json["strip"] == []
    assert (await api.delete("hosts/a.example/rules")).status == 404
    for method, path in (("GET", ""), ("POST", "/relearn"), ("DELETE", "")):
        assert (await api.ask(method, f"templates/a.example{path}")).status == 404
    assert (await api.get("explain")).status == 422
    assert (await api.get("explain?url=a&source=b")).status == 422
