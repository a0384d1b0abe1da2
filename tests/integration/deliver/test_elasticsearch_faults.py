"""The sink elasticsearch and a server in trouble: a strict stand-in that fails in the ways that real ones do."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import orjson
import pytest
from aiohttp import web
from tests.search_records import document, open_sink, removal, right_to_send, upsert

from headwater.deliver.sink import Accepted, DeliveryOutcome, LeaseEnded, RecordRefused, SinkDown, Upsert
from headwater.deliver.sinks.elasticsearch import KIND, ElasticsearchSink

OK = Accepted()


class StandIn:
    """Keeps documents by index, id and external version; whatever it was not made for is an error of the test.

    `trouble` comes before a bulk request is read, `item_trouble` before one of its items.
    """

    def __init__(self) -> None:
        self.documents: dict[tuple[str, str], tuple[int, Any]] = {}
        self.indexes: dict[str, Any] = {}
        self.templates: dict[str, Any] = {}
        self.requests: list[str] = []
        self.bulk_sizes: list[int] = []
        self.authorization: str | None = None
        self.trouble: Callable[[list[Any]], web.Response | None] = lambda items: None
        self.item_trouble: Callable[[str], tuple[int, str] | None] = lambda index: None
        self.is_cut_after_applying = False
        self.delay = 0.0
        self.index_trouble: web.Response | None = None

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path}")
        self.authorization = request.headers.get("Authorization")
        if request.path.startswith("/_index_template/"):
            return await self._template(request, request.path.removeprefix("/_index_template/"))
        if request.path == "/":
            return web.json_response({"cluster_name": "search", "version": {"number": "9.1.0"}})
        if request.path == "/_bulk" and request.method == "POST":
            return await self._bulk(request)
        index = request.path.removeprefix("/")
        assert "/" not in index, f"an unexpected request: {request.method} {request.path}"
        if request.method == "GET":
            found = {name: {"mappings": self.indexes[name]} for name in index.split(",") if name in self.indexes}
            return web.json_response(found)
        assert request.method == "PUT"
        if self.index_trouble is not None:
            return self.index_trouble
        self.indexes[index] = (await request.json())["mappings"]
        return web.json_response({"acknowledged": True, "index": index})

    def empty(self) -> None:
        """As a server that was set up anew."""
        self.documents.clear()
        self.indexes.clear()
        self.templates.clear()

    async def _template(self, request: web.Request, names: str) -> web.StreamResponse:
        if request.method == "PUT":
            self.templates[names] = await request.json()
            return web.json_response({"acknowledged": True})
        found = [{"name": name, "index_template": one} for name, one in self.templates.items()]
        return web.json_response({"index_templates": found}, status=200 if found else 404)

    async def _bulk(self, request: web.Request) -> web.StreamResponse:
        assert request.content_type == "application/x-ndjson"
        body = await request.read()
        assert body.endswith(b"\n")
        lines = [orjson.loads(line) for line in body.splitlines()]
        operations = []
        while lines:
            [(name, about)] = lines.pop(0).items()
            operations.append((name, about, lines.pop(0) if name == "index" else None))
        self.bulk_sizes.append(len(operations))
        await asyncio.sleep(self.delay)
        if trouble := self.trouble(operations):
            return trouble
        items = [{name: self._apply(name, about, document)} for name, about, document in operations]
        if self.is_cut_after_applying:
            assert request.transport
            request.transport.close()
        return web.json_response({"items": items})

    def _apply(self, name: str, about: dict[str, Any], document: Any) -> dict[str, Any]:
        assert about["version_type"] == "external"
        key = (about["_index"], about["_id"])
        if trouble := self.item_trouble(about["_index"]):
            return {"status": trouble[0], "error": {"type": trouble[1], "reason": "said the server"}}
        held = self.documents.get(key)
        if held and held[0] >= about["version"]:
            return {"status": 409, "error": {"type": "version_conflict_engine_exception", "reason": "older"}}
        self.documents[key] = (about["version"], document)
        if name == "delete":
            return {"status": 200 if held and held[1] else 404}
        return {"status": 200 if held else 201}


@pytest.fixture
def stand_in() -> StandIn:
    return StandIn()


@asynccontextmanager
async def sink_to(stand_in: StandIn, timeout: float = 15.0, **options: Any) -> AsyncIterator[ElasticsearchSink]:
    app = web.Application(client_max_size=100_000_000)
    app.router.add_route("*", "/{path:.*}", stand_in.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        async with open_sink(f"http://127.0.0.1:{runner.addresses[0][1]}", timeout=timeout, **options) as sink:
            yield sink
    finally:
        await runner.cleanup()


async def send_some(sink: ElasticsearchSink, count: int = 4, position: int = 1) -> Sequence[DeliveryOutcome]:
    await sink.prepare(right_to_send())
    batch = [upsert(sink, document(f"https://daily.test/{number}"), position) for number in range(count)]
    return await sink.send(batch, right_to_send(batch_number=position))


def answering(status: int, **headers: str) -> Callable[[list[Any]], web.Response]:
    error = {"error": {"type": "trouble", "reason": "said the server"}, "status": status}
    return lambda items: web.json_response(error, status=status, headers=headers)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 502, 503])
async def test_a_server_that_refuses_the_whole_request_is_down(stand_in: StandIn, status: int) -> None:
    stand_in.trouble = answering(status)
    async with sink_to(stand_in) as sink:
        with pytest.raises(SinkDown, match=f"answered {status}: trouble: said the server") as down:
            await send_some(sink)
    assert down.value.outcomes == ()
    assert not down.value.is_for_good


async def test_retry_after_of_the_server_is_handed_on(stand_in: StandIn) -> None:
    stand_in.trouble = answering(429, **{"Retry-After": "120"})
    async with sink_to(stand_in) as sink:
        with pytest.raises(SinkDown) as down:
            await send_some(sink)
    assert down.value.retry_after == timedelta(minutes=2)


async def test_items_that_are_refused_fail_alone_with_the_servers_words(stand_in: StandIn) -> None:
    troubles = iter([None, (429, "es_rejected_execution_exception"), (503, "unavailable_shards_exception"), None])
    stand_in.item_trouble = lambda index: next(troubles)
    async with sink_to(stand_in) as sink:
        outcomes = await send_some(sink)
    assert outcomes == [
        OK,
        RecordRefused("429: es_rejected_execution_exception: said the server"),
        RecordRefused("503: unavailable_shards_exception: said the server"),
        OK,
    ]


async def test_a_server_that_has_enough_of_every_item_is_down(stand_in: StandIn) -> None:
    stand_in.item_trouble = lambda index: (429, "cluster_block_exception")
    async with sink_to(stand_in) as sink:
        with pytest.raises(SinkDown, match="takes no record now: cluster_block_exception"):
            await send_some(sink)


async def test_what_was_accepted_before_it_went_down_is_known(stand_in: StandIn) -> None:
    stand_in.trouble = lambda items: answering(503)(items) if len(stand_in.bulk_sizes) == 3 else None
    async with sink_to(stand_in, request_bytes=10_000) as sink:
        await sink.prepare(right_to_send())
        batch = [upsert(sink, document(f"https://daily.test/{number}", html="x" * 6_000), 1) for number in range(4)]
        with pytest.raises(SinkDown) as down:
            await sink.send(batch, right_to_send())
    assert down.value.outcomes == (OK, OK)


async def test_a_lost_answer_is_made_good_by_sending_again(stand_in: StandIn) -> None:
    stand_in.is_cut_after_applying = True
    async with sink_to(stand_in) as sink:
        with pytest.raises(SinkDown):
            await send_some(sink)
        assert len(stand_in.documents) == 4
        stand_in.is_cut_after_applying = False
        assert await send_some(sink) == [OK] * 4


async def test_a_server_that_is_too_slow_is_down(stand_in: StandIn) -> None:
    stand_in.delay = 5
    async with sink_to(stand_in, timeout=0.3) as sink:
        with pytest.raises(SinkDown, match=r"did not answer within 0\.3 seconds\."):
            await send_some(sink)


async def test_a_server_that_moved_says_where_without_secrets(stand_in: StandIn) -> None:
    where = "https://me:hunter2@search.example.org/new?key=hunter2"
    stand_in.trouble = lambda _: web.Response(status=302, text="<html>Found</html>", headers={"Location": where})
    async with sink_to(stand_in) as sink:
        with pytest.raises(SinkDown) as caught:
            await send_some(sink)
    assert caught.value.what.endswith(
        " answered 302 and points to https://search.example.org/new; redirects are not followed."
    )
    assert caught.value.fix == "Name the address where it is now."


async def test_nothing_is_sent_when_the_lease_ends_before_the_answer_would_come(stand_in: StandIn) -> None:
    async with sink_to(stand_in) as sink:
        await sink.prepare(right_to_send())
        with pytest.raises(LeaseEnded):
            await sink.send([upsert(sink, document(), 1)], right_to_send(seconds=14))
    assert not stand_in.bulk_sizes


async def test_a_batch_that_outlasts_the_lease_keeps_what_it_did(stand_in: StandIn) -> None:
    stand_in.delay = 0.3
    async with sink_to(stand_in, request_bytes=10_000) as sink:
        await sink.prepare(right_to_send())
        batch = [upsert(sink, document(f"https://daily.test/{number}", html="x" * 9_000), 1) for number in range(9)]
        with pytest.raises(SinkDown) as down:
            await sink.send(batch, right_to_send(seconds=15.9))
    assert 1 <= len(down.value.outcomes) < 9
    assert set(down.value.outcomes) == {OK}


async def test_a_request_that_is_too_large_is_sent_in_halves(stand_in: StandIn) -> None:
    stand_in.trouble = lambda items: answering(413)(items) if len(items) > 2 else None
    async with sink_to(stand_in) as sink:
        assert await send_some(sink, 7) == [OK] * 7
    assert len(stand_in.documents) == 7


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_one_record_that_spoils_a_request_is_found(stand_in: StandIn, status: int) -> None:
    spoilt = document("https://daily.test/5").id
    stand_in.trouble = lambda items: (
        answering(status)(items) if spoilt in {about["_id"] for _, about, _ in items} else None
    )
    async with sink_to(stand_in) as sink:
        outcomes = await send_some(sink, 8)
    assert outcomes[5] == RecordRefused(f"{status}: trouble: said the server")
    assert [one for number, one in enumerate(outcomes) if number != 5] == [OK] * 7


async def test_a_batch_is_cut_by_the_bytes_of_a_request(stand_in: StandIn) -> None:
    async with sink_to(stand_in, request_bytes=20_000) as sink:
        await sink.prepare(right_to_send())
        batch = [upsert(sink, document(f"https://daily.test/{number}", html="x" * 5_000), 1) for number in range(7)]
        assert await sink.send(batch, right_to_send()) == [OK] * 7
    assert stand_in.bulk_sizes == [2, 2, 2, 1]


async def test_an_index_that_cannot_be_made_holds_up_its_own_records_only(stand_in: StandIn) -> None:
    refusal = {"error": {"type": "validation_exception", "reason": "too many shards"}}
    async with sink_to(stand_in) as sink:
        assert await send_some(sink, 1) == [OK]
        stand_in.index_trouble = web.json_response(refusal, status=400)
        other = Upsert(document("https://other.test/"), 2, "other_raw_content")
        outcomes = await sink.send([other, upsert(sink, document(), 2)], right_to_send(batch_number=2))
    assert outcomes == [
        RecordRefused("The index 'other_raw_content' cannot be made: validation_exception: too many shards"),
        OK,
    ]


async def test_an_answer_that_is_no_answer_of_a_search_server_means_down(stand_in: StandIn) -> None:
    for body in (b"<html>", b"[]", b"{}", b'{"items": []}'):
        stand_in.trouble = lambda items, body=body: web.Response(body=body)  # type: ignore[misc]
        async with sink_to(stand_in) as sink:
            with pytest.raises(SinkDown):
                await send_some(sink)


async def test_a_record_that_is_no_json_is_parked_at_once(stand_in: StandIn) -> None:
    async with sink_to(stand_in) as sink:
        await sink.prepare(right_to_send())
        bad = document("https://daily.test/odd", title=object())
        outcomes = await sink.send([upsert(sink, bad, 1), upsert(sink, document(), 1)], right_to_send())
    assert isinstance(outcomes[0], RecordRefused)
    assert outcomes[0].is_final
    assert outcomes[1] == OK


async def test_places_are_asked_for_once_and_made_once(stand_in: StandIn) -> None:
    async with sink_to(stand_in) as sink:
        await send_some(sink)
        await sink.send([upsert(sink, document(), 2), removal(sink, document(), 3)], right_to_send(batch_number=2))
    assert stand_in.requests == [
        "GET /_index_template/headwater_raw_content",
        "PUT /_index_template/headwater_raw_content",
        "GET /the_daily_test_raw_content",
        "PUT /the_daily_test_raw_content",
        "POST /_bulk",
        "POST /_bulk",
    ]


@pytest.mark.parametrize(
    ("options", "header"),
    [
        ({"api_key": "env:KEY"}, "ApiKey the-key"),
        (
            {"username": "me", "password": "env:PASSWORD"},
            f"Basic {b64encode(b'me:the-password').decode()}",
        ),
        ({}, None),
    ],
)
async def test_secrets_are_sent_as_the_server_expects_them(
    stand_in: StandIn, options: dict[str, Any], header: str | None
) -> None:
    async with sink_to(stand_in, **options) as sink:
        await sink.prepare(right_to_send())
    assert stand_in.authorization == header


async def test_the_server_and_the_layout_are_named_when_a_sink_is_tried(stand_in: StandIn) -> None:
    async with sink_to(stand_in, layout="documents") as sink:
        assert KIND.test
        said = await KIND.test(sink, right_to_send())
    assert said.startswith("Elasticsearch 9.1.0, cluster 'search', answers at http://127.0.0.1:")
    assert said.endswith("; layout documents.")


async def test_a_server_that_is_away_is_down() -> None:
    async with open_sink("http://127.0.0.1:9") as sink:
        with pytest.raises(SinkDown, match=r"^http://127\.0\.0\.1:9 cannot be reached: the connection was refused\.\n"):
            await sink.prepare(right_to_send())
