"""Sinks through the API: added by admins, looked after by operators, secrets by name only."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.archive.shelf import LONG, Shelf
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.serve.callers import ApiCaller, api_on, command, ended

from headwater.database.pool import Database

HOOK = {"name": "hook", "type": "webhook", "options": {"url": "http://127.0.0.1:1/", "secret": "env:NOT_THERE"}}


@pytest.fixture
async def api(database_url: str, database: Database, tmp_path: Path) -> AsyncIterator[ApiCaller]:
    async with api_on(database_url, {"service.data_dir": str(tmp_path)}) as caller:
        yield caller


async def test_a_sink_is_added_looked_after_compared_and_removed(
    api: ApiCaller, database_url: str, tmp_path: Path
) -> None:
    await Delivering(api.services.database).source()
    await Shelf(api.services.database).keep("https://a.example/1", LONG)
    added = await api.post("sinks", {"name": "files", "type": "jsonl", "options": {"compression": "gzip"}})
    assert added.status == 201, added.body
    assert (added.json["name"], added.json["is_filled"], added.json["trouble"]) == ("files", False, None)
    shown = (await api.get("sinks/files")).json
    assert (shown["options"], shown["state"], shown["failed_records"]) == ({"compression": "gzip"}, "active", [])
    assert shown["forgets_not"]
    listed = (await api.get("sinks")).json
    assert [one["name"] for one in listed["sinks"]] == ["files"]
    assert await command(database_url, "sinks", "list") == listed
    assert await command(database_url, "sinks", "show", "files") == shown
    assert await command(database_url, "sinks", "types") == (await api.get("sinks/types")).json

    assert "files" in (await api.post("sinks/files/test")).json["name"]
    paused = await api.post("sinks/files/pause", {"reason": "a holiday"})
    assert paused.json == {"name": "files", "state": "paused"}
    assert (await api.get("sinks/files")).json["state_reason"] == "a holiday"
    assert (await api.post("sinks/files/resume")).json["state"] == "active"
    assert (await api.post("sinks/files/retry")).json == {"name": "files", "state": "active", "retried": 0}

    asked = await api.post("sinks/files/rebuild")
    assert (asked.status, "Every record is sent as an event once more." in asked.json["detail"]) == (422, True)
    assert (await api.get("sinks/files")).json["backfill_reason"] is None
    rebuilt = (await api.post("sinks/files/rebuild", {"confirm": True})).json
    assert rebuilt["costs"] == ["Every record is sent as an event once more."]
    assert (await api.get("sinks/files")).json["backfill_reason"]

    compared = await ended(api, await api.post("sinks/files/verify"))
    assert (compared["state"], compared["result"]["name"], compared["result"]["expected"]) == ("done", "files", 1)
    assert (await api.delete("sinks/files")).status == 204
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/test"), ("POST", "/pause"), ("POST", "/verify")):
        assert (await api.ask(method, f"sinks/files{path}")).status == 404


async def test_a_sink_that_does_not_answer_is_added_with_its_trouble(api: ApiCaller) -> None:
    added = await api.post("sinks", HOOK)
    assert (added.status, "NOT_THERE" in added.json["trouble"]["what"]) == (201, True)
    assert (await api.post("sinks/hook/test")).status == 422
    assert (await api.post("sinks", HOOK)).status == 422


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"options": {"url": "http://169.254.169.254/latest", "secret": "env:X"}}, 403),
        ({"options": {"url": "http://metadata.google.internal/", "secret": "env:X"}}, 403),
        ({"options": {"url": "http://[fd00:ec2::254]/", "secret": "env:X"}}, 403),
        ({"options": {"url": "http://100.100.100.200/", "secret": "env:X"}}, 403),
        ({"type": "redis", "options": {"url": "redis://169.254.169.254:6379/0"}}, 403),
        ({"type": "redis", "options": {"url": "redis://a.example:x"}}, 422),
        ({"type": "redis", "options": {"url": "redis://\u202e"}}, 422),
        ({"type": "jsonl", "options": {"folder": "a\0b"}}, 422),
        ({"type": "jsonl", "options": {"folder": "/etc"}}, 403),
        ({"type": "jsonl", "options": {"folder": "sinks/../../elsewhere"}}, 403),
        ({"options": {"url": "http://127.0.0.1:1/", "secret": "whsec_canary"}}, 422),
        ({"options": {"url": "http://me:canary@127.0.0.1:1/", "secret": "env:X"}}, 422),
        ({"options": {"url": "http://127.0.0.1:1/", "secret": "setting:database.url"}}, 422),
        ({"options": {"url": "http://127.0.0.1:1/", "secret": "env:X", "colour": "red"}}, 422),
        ({"type": "telepathy"}, 404),
        ({"name": "../x"}, 422),
        ({"name": "x" * 64}, 422),
        ({"view": "nothing"}, 404),
        ({"options": {str(n): "x" for n in range(51)}}, 422),
    ],
)
async def test_what_a_sink_may_not_be_is_refused(api: ApiCaller, changes: dict[str, Any], status: int) -> None:
    answer = await api.post("sinks", HOOK | changes)
    assert answer.status == status, answer.body
    assert b"canary" not in answer.body
    assert (await api.get("sinks")).json["sinks"] == []


async def test_a_folder_below_the_data_folder_may_be_named(api: ApiCaller, tmp_path: Path) -> None:
    folder = str(tmp_path / "sinks" / "mine")
    added = await api.post("sinks", {"name": "files", "type": "jsonl", "options": {"folder": folder}})
    assert added.status == 201, added.body
