"""The queue of URLs through the API: as `headwater frontier` shows it, and as systems before this one ask for it."""

from typing import Any
from uuid import uuid4

import orjson
import pytest
from tests.integration.archive.shelf import SOURCE
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.serve.callers import ApiCaller, command, ended, every_item

URL = "https://a.example/story"


async def queued(api: ApiCaller, *urls: str, **more: Any) -> Any:
    answer = await api.post("frontier/submit/bulk", {"urls": list(urls), **more})
    assert answer.status == 200, answer.body
    return answer.json


async def every_page(api: ApiCaller, path: str) -> list[str]:
    return [one["url"] for one in await every_item(api, path, "urls")]


async def test_a_url_is_submitted_shown_retried_and_forgotten(api: ApiCaller) -> None:
    added = await api.post("frontier/submit", {"url": URL, "priority": 9}, idempotency_key="once")
    assert added.status == 201
    entry = added.json
    assert (entry["outcome"], entry["priority"], entry["origin"], entry["status"]) == ("queued", 9, "manual", "pending")
    again = await api.post("frontier/submit", {"url": URL, "priority": 9}, idempotency_key="once")
    assert (again.body, again.headers["idempotency-replayed"]) == (added.body, "true")
    assert (await api.post("frontier/submit", {"url": URL})).json["outcome"] == "duplicate"

    shown = (await api.get(f"frontier/{entry['id']}")).json
    assert shown.items() <= entry.items()
    # Under the names that systems before this one know.
    assert {"url_hash", "fetch_count", "content_hash", "etag", "last_modified", "created_at", "updated_at"} <= set(
        shown
    )
    assert len(shown["url_hash"]) == 64

    await api.services.database.execute("update url_frontier set status = 'dead', reason = 'gone'")
    retried = await api.post(f"frontier/{entry['id']}/retry")
    assert (retried.status, retried.json["status"], retried.json["reason"]) == (200, "pending", None)
    assert (await api.delete(f"frontier/{entry['id']}")).status == 204
    for method in ("GET", "DELETE"):
        assert (await api.ask(method, f"frontier/{entry['id']}")).status == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"url": "ftp://a.example/"}, 422),
        ({"url": "https://a.example/\\x"}, 422),
        ({"url": URL, "priority": 11}, 422),
        ({"url": URL, "priority": 2**63}, 422),
        ({"url": URL, "origin": "magic"}, 422),
        ({"url": URL, "colour": "red"}, 422),
        ({"url": URL, "source_id": "nobody"}, 404),
        ({"url": URL, "source_id": "a\0b"}, 404),
        ({"url": "https://a.example/login?action=logout", "origin": "spider"}, 422),
        ({}, 422),
    ],
)
async def test_what_is_never_fetched_is_refused_with_a_sentence(api: ApiCaller, body: Any, status: int) -> None:
    answer = await api.post("frontier/submit", body)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json["detail"]


async def test_many_urls_are_answered_one_by_one(api: ApiCaller) -> None:
    await Delivering(api.services.database).source("Gazette")
    told = await queued(api, URL, URL, "nonsense", source_id=str(SOURCE))
    assert [(one["outcome"], one["reason"]) for one in told["answers"]] == [
        ("queued", ""),
        ("duplicate", ""),
        ("rejected", "no_host"),
    ]
    assert told["counts"] == {"queued": 1, "duplicate": 1, "rejected": 1}
    items = {"items": [{"url": "https://b.example/", "priority": 10}], "source_id": "Gazette"}
    assert (await api.post("frontier/submit/bulk", items)).json["answers"][0]["outcome"] == "queued"
    # Larger than other bodies may be, and as many as there may be.
    most = [f"https://c{n % 50}.example/{'x' * 150}/{n}" for n in range(10_000)]
    assert (await queued(api, *most))["counts"] == {"queued": 10_000}
    bad: list[Any] = [{"urls": [*most, URL]}, {"urls": []}, {}, {"urls": [1]}]
    for refused in bad:
        assert (await api.post("frontier/submit/bulk", refused)).status == 422
    assert (await api.post("frontier/submit/bulk", b"x" * 10_000_001)).status == 413


async def test_lists_meet_each_url_once_by_cursor_and_by_offset(api: ApiCaller, database_url: str) -> None:
    urls = [f"https://h{n % 3}.example/{n}" for n in range(25)]
    await queued(api, *urls)
    assert sorted(await every_page(api, "frontier?limit=7")) == sorted(urls)
    by_offset = [(await api.get(f"frontier?limit=10&offset={n}")).json for n in (0, 10, 20, 30)]
    assert sorted(one["url"] for page in by_offset for one in page["urls"]) == sorted(urls)
    assert {(page["total"], page["total_is_capped"]) for page in by_offset} == {(25, False)}
    # A page that was reached by an offset goes on by its cursor.
    rest = await every_page(api, f"frontier?limit=10&cursor={by_offset[1]['cursor']}")
    assert len(rest) == 5

    here = (await api.get("frontier?host=h1.example&limit=50")).json
    assert (here["total"], len(here["urls"]), here["total_is_capped"]) == (8, 8, False)
    for name in ("prefix", "search"):
        page = (await api.get(f"frontier?{name}=https://h2.example/1")).json
        assert {one["url"] for one in page["urls"]} == {one for one in urls if one.startswith("https://h2.example/1")}
    assert (await api.get("frontier?status=dead")).json["total"] == 0

    said = await command(database_url, "frontier", "list", "--limit", "50")
    listed = (await api.get("frontier?limit=50")).json["urls"]
    assert [one["id"] for one in said["entries"]] == [one["id"] for one in listed]
    assert said["entries"][0].keys() == listed[0].keys()


async def test_a_host_is_listed_by_urgency_and_by_time(api: ApiCaller) -> None:
    items = [{"url": f"https://a.example/{n}", "priority": n % 10 + 1} for n in range(30)]
    await api.post("frontier/submit/bulk", {"items": items})
    await api.services.database.execute(
        "update url_frontier set next_fetch_at = now() - make_interval(mins => substring(url from '\\d+$')::int)"
    )
    by_priority = await every_page(api, "frontier?host=a.example&sort_by=priority&limit=7")
    assert by_priority[:6] == [f"https://a.example/{n}" for n in (29, 19, 9, 28, 18, 8)]
    assert len(set(by_priority)) == len(by_priority) == 30
    by_time = await every_page(api, "frontier?host=a.example&sort_by=next_fetch_at&status=pending&limit=7")
    assert by_time == [f"https://a.example/{n}" for n in reversed(range(30))]
    skipped = (await api.get("frontier?host=a.example&sort_by=next_fetch_at&limit=5&offset=20")).json["urls"]
    assert [one["url"] for one in skipped] == by_time[20:25]
    assert (await api.get("frontier?host=a.example&sort_by=priority&status=failed")).json["urls"] == []


@pytest.mark.parametrize(
    "query",
    [
        "sort_by=created_at&host=a.example",
        "sort_by=priority",
        "sort_by=priority&host=a.example&status=dead",
        "sort_by=priority&host=a.example&cursor=next_fetch_at|1|2026-01-01T00:00:00+00:00|00",
        "sort_by=priority&host=a.example&cursor=priority|99|x|y",
        "sort_by=priority&host=a.example&cursor=priority|5|9999-12-31T23:59:59-23:59|00",
        "offset=10001",
        "offset=-1",
        "offset=99999999999999999999",
        "limit=0",
        "limit=1001",
        "status=lost",
        "cursor=zz",
        "prefix=%00",
        "host=%00",
    ],
)
async def test_a_list_that_cannot_be_had_is_refused(api: ApiCaller, query: str) -> None:
    answer = await api.get(f"frontier?{query}")
    assert answer.status == 422, answer.body


async def test_offsets_too_far_name_the_cursor(api: ApiCaller) -> None:
    assert "cursor" in (await api.get("frontier?offset=10001")).json["fix"]
    assert "index" in (await api.get("frontier?sort_by=created_at")).json["detail"]


async def test_counts_are_told_by_status_and_source(api: ApiCaller, database_url: str) -> None:
    await queued(api, "https://a.example/1", "https://a.example/2", "https://b.example/1")
    await api.services.database.execute(
        "update url_frontier set status = 'dead', reason = 'gone' where host = 'b.example'"
    )
    told = (await api.get("frontier/stats")).json
    assert (told["total_pending"], told["total_fetching"], told["total_fetched"]) == (3, 0, 0)
    assert told["by_status"]["pending"] == told["total_pending"]
    (counts,) = told["by_source"].values()
    assert counts == {"pending": 3}
    assert told["hosts"]["open"] >= 1
    assert told["oldest_due_at"]
    said = await command(database_url, "frontier", "stats")
    assert said.items() <= told.items()
    assert (await api.get("frontier/stats?cursor=x")).status == 422


async def test_all_urls_of_a_status_are_queued_again(api: ApiCaller) -> None:
    database = api.services.database
    await queued(api, *(f"https://a.example/{n}" for n in range(5)), "https://b.example/1", "https://c.example/1")
    for host in ("b.example", "c.example"):
        await database.execute("update url_frontier set status = 'dead', reason = 'gone' where host = $1", host)
    await database.execute("update url_frontier set status = 'dead', reason = 'max_retries' where host = 'a.example'")
    await api.post("takedowns", {"domain_or_url": "b.example"})
    begun = await api.post("frontier/retry", {"status": "dead", "reason": "max_retries", "host": "a.example"})
    assert (await ended(api, begun))["result"] == {"retried": 5}
    # What is taken down stays dead.
    begun = await api.post("frontier/retry", {"status": "dead"})
    assert (await ended(api, begun))["result"] == {"retried": 1}
    assert {one["url"] for one in (await api.get("frontier?status=dead")).json["urls"]} == {"https://b.example/1"}
    failed = await ended(api, await api.post("frontier/retry", {"status": "fetched"}))
    assert (failed["state"], failed["problem"]["status"]) == ("failed", 422)
    for refused in ({"status": "pending"}, {}, {"status": "dead", "colour": "red"}, {"status": "dead", "host": 1}):
        assert (await api.post("frontier/retry", refused)).status == 422


async def test_an_id_of_nobody_is_not_found(api: ApiCaller) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/retry")):
        assert (await api.ask(method, f"frontier/{uuid4()}{path}")).status == 404
        for bad in ("x", "%00", "1", "..%2f..", "9" * 40):
            assert (await api.ask(method, f"frontier/{bad}{path}")).status in (404, 422)


async def test_a_key_that_is_kept_answers_a_submission_whose_answer_was_lost(api: ApiCaller) -> None:
    body = orjson.dumps({"urls": [URL]})
    first = await api.post("frontier/submit/bulk", body, idempotency_key="k")
    again = await api.post("frontier/submit/bulk", body, idempotency_key="k")
    assert (first.json["counts"], again.json["counts"]) == ({"queued": 1}, {"queued": 1})
    other = await api.post("frontier/submit/bulk", {"urls": ["https://b.example/"]}, idempotency_key="k")
    assert other.status == 422
