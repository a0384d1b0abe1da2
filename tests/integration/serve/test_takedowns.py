"""Takedowns through the API: they hold at once, and say what they cover."""

import pytest
from tests.integration.archive.shelf import LONG, Shelf, key_of
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.serve.callers import ApiCaller, command, ended, every_item

A = "https://a.example/members/1"


async def test_a_takedown_withdraws_what_stands_and_is_lifted(api: ApiCaller, database_url: str) -> None:
    await Delivering(api.services.database).source()
    await Shelf(api.services.database).keep(A, LONG)
    await api.post("frontier/submit", {"url": A})
    begun = await api.post("takedowns", {"domain_or_url": "https://a.example/members", "reason": "its owner asked"})
    assert begun.json["covers"].startswith("https://a.example/members and all below it")
    done = await ended(api, begun)
    assert (done["state"], done["result"]["documents"], done["result"]["entries"]) == ("done", 1, 1)
    assert (await api.post("frontier/submit", {"url": A})).status == 403
    shown = (await api.get("takedowns/https%3A%2F%2Fa.example%2Fmembers")).json
    assert (shown["reason"], shown["sinks"], bool(shown["swept_at"])) == ("its owner asked", [], True)
    assert await command(database_url, "takedown", "show", "https://a.example/members") == shown
    await ended(api, await api.post("takedowns", {"domain_or_url": "b.example:8080"}))
    listed = await every_item(api, "takedowns?limit=1", "takedowns")
    assert [one["domain_or_url"] for one in listed] == ["b.example:8080", "https://a.example/members"]
    assert (await command(database_url, "takedown", "list"))["takedowns"] == listed
    assert (await api.delete("takedowns/https%3A%2F%2Fa.example%2Fmembers")).status == 204
    assert (await api.get("takedowns/https%3A%2F%2Fa.example%2Fmembers")).status == 404
    assert (await api.post("frontier/submit", {"url": A})).status == 201
    deleted = (await api.get(f"documents/{key_of(A).url_hash.hex()}")).json
    assert deleted["deleted_reason"] == "takedown"


async def test_a_whole_site_with_documents_is_counted_and_confirmed_first(api: ApiCaller) -> None:
    await Delivering(api.services.database).source()
    await Shelf(api.services.database).keep(A, LONG)
    await api.post("frontier/submit", {"url": A})
    reach = (await api.get("takedown-reach?domain_or_url=a.example")).json
    assert (reach["documents"], reach["queued_urls"], reach["wants_confirmation"]) == (1, 1, True)
    assert reach["covers"] == "a.example with all its subdomains and ports"
    asked = await api.post("takedowns", {"domain_or_url": "a.example"})
    assert asked.status == 422
    assert asked.json["detail"] == "Take a.example down? 1 document and 1 queued URL would be removed."
    assert "confirm" in asked.json["fix"]
    assert (await api.get("takedowns")).json["takedowns"] == []
    assert (await api.get("documents")).json["documents"] != []
    done = await ended(api, await api.post("takedowns", {"domain_or_url": "a.example", "confirm": True}))
    assert done["result"]["documents"] == 1
    assert (await api.get("takedown-reach?domain_or_url=https://a.example/members")).json["wants_confirmation"] is False


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"domain_or_url": ""},
        {"domain_or_url": "x" * 3_000},
        {"domain_or_url": "a b"},
        {"domain_or_url": "a\0.b"},
        {"domain_or_url": "a.example", "reason": "x\0"},
        {"domain_or_url": "a.example", "by": "me"},
    ],
)
async def test_what_is_no_place_is_refused(api: ApiCaller, body: dict[str, str]) -> None:
    assert (await api.post("takedowns", body)).status == 422
    assert (await api.get("takedowns")).json["takedowns"] == []


@pytest.mark.parametrize("path", ["nobody.example", "%00", "a%20b", "https%3A%2F%2F%00"])
async def test_a_takedown_of_nothing_is_not_found(api: ApiCaller, path: str) -> None:
    for method in ("GET", "DELETE"):
        assert (await api.ask(method, f"takedowns/{path}")).status in (404, 422)


async def test_a_program_is_told_the_operation_and_a_person_the_page(api: ApiCaller) -> None:
    assert (await api.get("takedowns/nobody.example")).json["fix"] == "See what is: GET /api/v1/takedowns"
    page = (await api.get("/console/settings/takedowns/one?name=nobody.example")).body
    assert b'<a href="/console/settings/takedowns">See what is</a>' in page
