"""`If-Match`: a change that was made from an older edition is refused, and changes nothing."""

import asyncio
from typing import Any

import pytest
from tests.integration.serve.callers import ApiCaller, Reply

OLD = 'W/"0123456789abcdef.0"'


async def a_source(api: ApiCaller) -> str:
    answer = await api.post(
        "sources", {"url": "https://a.example/", "name": "Alpha", "feed_url": "https://a.example/f"}
    )
    return f"sources/{answer.json['id']}"


async def a_view(api: ApiCaller) -> str:
    await api.post("views", {"name": "boats", "query": "ferry"})
    return "views/boats"


async def a_policy(api: ApiCaller) -> str:
    assert (await api.put("hosts/a.example/policy", {"burst": 2})).status == 200
    return "hosts/a.example/policy"


async def a_sink(api: ApiCaller) -> str:
    assert (await api.post("sinks", {"name": "lines", "type": "jsonl"})).status == 201
    return "sinks/lines"


CHANGES = {
    a_source: ("PATCH", {"priority": 8}),
    a_view: ("PATCH", {"query": "harbour"}),
    a_policy: ("PUT", {"max_pages": 8}),
}


def require_refused(answer: Reply) -> None:
    assert answer.status == 412, answer.body
    assert answer.json["type"] == "urn:headwater:problem:outdated"
    assert "was changed since it was read" in answer.json["detail"]
    assert answer.json["fix"] == "Read it again, and save what you still want."


@pytest.mark.parametrize("make", list(CHANGES))
async def test_of_two_changes_made_from_one_answer_the_second_is_refused(api: ApiCaller, make: Any) -> None:
    path = await make(api)
    method, body = CHANGES[make]
    read = await api.get(path)
    first = await api.ask(method, path, body, if_match=read.headers["etag"])
    assert first.status == 200, first.body
    require_refused(await api.ask(method, path, body, if_match=read.headers["etag"]))
    require_refused(await api.delete(path, if_match=read.headers["etag"]))
    assert (await api.ask(method, path, body, if_match=first.headers["etag"])).status == 200
    assert (await api.ask(method, path, body, if_match=f'"{first.json["edition"]}"')).status == 200
    assert (await api.ask(method, path, body, if_match="*")).status == 200
    assert (await api.ask(method, path, body)).status == 200
    assert (await api.delete(path, if_match=(await api.get(path)).headers["etag"])).status in (200, 204)


async def test_of_two_changes_at_once_one_is_refused(api: ApiCaller) -> None:
    path = await a_source(api)
    tag = (await api.get(path)).headers["etag"]
    answers = await asyncio.gather(*(api.patch(path, {"priority": one}, if_match=tag) for one in (2, 3, 4, 6)))
    assert sorted(one.status for one in answers) == [200, 412, 412, 412]


async def test_a_sink_is_removed_only_as_it_was_read(api: ApiCaller) -> None:
    path = await a_sink(api)
    tag = (await api.get(path)).headers["etag"]
    await api.post(f"{path}/pause")
    require_refused(await api.delete(path, if_match=tag))
    assert (await api.delete(path, if_match=(await api.get(path)).headers["etag"])).status == 204


async def test_a_poll_makes_no_new_edition_and_another_answer(api: ApiCaller) -> None:
    path = await a_source(api)
    before = (await api.get(path)).headers["etag"]
    await api.services.database.execute("update sources set last_run_at = now(), last_run_status = 'ok'")
    await api.services.database.execute("update channels set last_polled_at = now(), next_poll_at = now()")
    after = (await api.get(path, if_none_match=before)).headers["etag"]
    assert before != after
    assert before.partition(".")[0] == after.partition(".")[0]
    assert (await api.get(path, if_none_match=after)).status == 304
    assert (await api.patch(path, {"priority": 8}, if_match=before)).status == 200


async def test_the_refusal_says_who_changed_what(api: ApiCaller) -> None:
    path = await a_source(api)
    await api.patch(path, {"priority": 8, "tags": ["north"]})
    said = (await api.patch(path, {"priority": 2}, if_match=OLD)).json["detail"]
    assert "Alpha edited: " in said
    assert "priority" in said
    assert "by developer at " in said
    assert (await api.get(path)).json["priority"] == 8


async def test_a_condition_that_is_none_is_told(api: ApiCaller) -> None:
    path = await a_source(api)
    assert (await api.patch(path, {"priority": 8}, if_match='"' + "x" * 3_000 + '"')).status == 422
    require_refused(await api.patch(path, {"priority": 8}, if_match=""))
