"""Webhooks, verified at the receiving side by the reference package of their specification."""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from aiohttp import web
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from tests.clocks import ManualClock
from tests.integration.deliver.made import fence, made_key, removal, sink_context, upsert

from headwater.deliver.kinds import kind_named
from headwater.deliver.sink import Accepted, Delivery, DeliveryOutcome, LeaseEnded, RecordRefused, SinkDown
from headwater.deliver.sinks.webhook import KIND, LARGEST_BODY_BYTES, WebhookOptions
from headwater.record_kind import RecordKind

SECRET = "whsec_" + b64encode(b"a" * 32).decode()
NEXT_SECRET = "whsec_" + b64encode(b"b" * 32).decode()
SECRETS = {"env:HOOK": SECRET, "env:HOOK_NEXT": NEXT_SECRET}

Answering = Callable[["Message"], "web.Response"]


@dataclass
class Message:
    headers: dict[str, str]
    body: bytes
    target: str

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass
class Receiver:
    """Notes each request; `answer` decides what it says, `held` holds the answers back."""

    url: str = ""
    messages: list[Message] = field(default_factory=list)
    answer: Answering = lambda message: web.Response(status=204)
    held: asyncio.Event | None = None
    most_at_once: int = 0
    _open: int = 0

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        message = Message(headers, body, request.raw_path)
        self.messages.append(message)
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        try:
            if self.held:
                await self.held.wait()
            return self.answer(message)
        finally:
            self._open -= 1

    @property
    def ids(self) -> list[str]:
        return [message.id for message in self.messages]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    found = Receiver()
    app = web.Application(client_max_size=50 << 20)
    app.router.add_route("*", "/{tail:.*}", found.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert runner.addresses
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hooks/?room=4"
    yield found
    await runner.cleanup()


async def send(receiver: Receiver, *batch: Delivery, seconds: float = 60.0, **options: Any) -> list[DeliveryOutcome]:
    given = WebhookOptions(**({"url": receiver.url, "secret": "env:HOOK"} | options))
    async with sink_context(SECRETS) as context:
        sink = KIND.make(given, context)
        lease = fence(seconds=seconds)
        await sink.prepare(lease)
        outcomes = list(await sink.send(batch, lease))
        await sink.close()
        return outcomes


async def down(receiver: Receiver, *batch: Delivery, **options: Any) -> SinkDown:
    with pytest.raises(SinkDown) as caught:
        await send(receiver, *batch, **options)
    return caught.value


def answering(*statuses: int, **headers: str) -> Answering:
    """These, then 204."""
    left = list(statuses)
    return lambda message: web.Response(status=left.pop(0) if left else 204, text="because", headers=headers)


async def test_each_change_is_a_signed_request_in_order(receiver: Receiver) -> None:
    job = upsert("driver", 12, RecordKind.JOB)
    assert await send(receiver, upsert("a", 10), removal("b", 11), job) == [Accepted()] * 3
    contents = [Webhook(SECRET).verify(message.body, message.headers) for message in receiver.messages]
    assert [one["type"] for one in contents] == ["document.upsert", "document.remove", "job.upsert"]
    assert [one["position"] for one in contents] == [10, 11, 12]
    assert places(receiver) == ["orders:10", "orders:11", "orders:12"]
    assert contents[1]["data"] == {"id": made_key("b").id}
    assert contents[0]["data"]["title"] == "About a"
    assert contents[0]["timestamp"] == "2026-03-01T12:00:00Z"
    assert {message.target for message in receiver.messages} == {"/hooks/?room=4"}


async def test_another_secret_does_not_verify(receiver: Receiver) -> None:
    await send(receiver, upsert("a", 10))
    message = receiver.messages[0]
    with pytest.raises(WebhookVerificationError):
        Webhook(NEXT_SECRET).verify(message.body, message.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(message.body + b" ", message.headers)


async def test_while_a_secret_is_changed_both_verify(receiver: Receiver) -> None:
    await send(receiver, upsert("a", 10), secret="env:HOOK_NEXT", previous_secret="env:HOOK")
    message = receiver.messages[0]
    for secret in (SECRET, NEXT_SECRET):
        Webhook(secret).verify(message.body, message.headers)


async def test_a_message_that_is_sent_again_keeps_its_id_and_is_signed_anew(receiver: Receiver) -> None:
    receiver.answer = answering(503)
    clock = ManualClock(datetime.now(UTC) - timedelta(minutes=4))
    async with sink_context(SECRETS, clock) as context:
        sink = KIND.make(WebhookOptions(url=receiver.url, secret="env:HOOK"), context)
        with pytest.raises(SinkDown):
            await sink.send([upsert("a", 10)], fence(clock))
        clock.move(timedelta(minutes=4))
        assert await sink.send([upsert("a", 10)], fence(clock)) == [Accepted()]
    first, second = receiver.messages
    assert first.id == second.id
    assert first.id.startswith("orders:10:")
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 240
    Webhook(SECRET).verify(second.body, second.headers)


def places(receiver: Receiver) -> list[str]:
    """The beginnings of ids: the sink, and the position of the change."""
    return [":".join(one.split(":")[:2]) for one in receiver.ids]


async def test_a_later_try_that_says_something_else_is_another_message(receiver: Receiver) -> None:
    """A receiver that remembers ids would drop the removal of a record whose first acknowledgement was lost."""
    await send(receiver, upsert("a", 10))
    await send(receiver, removal("a", 10))
    assert len(set(receiver.ids)) == 2


async def test_records_from_the_archive_share_a_position_and_have_ids_of_their_own(receiver: Receiver) -> None:
    await send(receiver, upsert("z", 10))
    for name in ("a", "b"):
        await send(receiver, replace(upsert(name, 10), is_from_archive=True))
    assert places(receiver) == ["orders:10", "orders:archive", "orders:archive"]
    assert receiver.ids[1:] == [f"orders:archive:77:{made_key(name).id}" for name in ("a", "b")]


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refused_message_fails_alone(receiver: Receiver, status: int) -> None:
    receiver.answer = answering(204, status)
    outcomes = await send(receiver, upsert("a", 10), upsert("b", 11), upsert("c", 12))
    assert outcomes == [Accepted(), RecordRefused(f"status {status}: because"), Accepted()]


@pytest.mark.parametrize("status", [401, 403, 404, 409, 429, 500, 502, 503])
async def test_other_answers_hold_the_whole_sink_after_what_was_taken(receiver: Receiver, status: int) -> None:
    receiver.answer = answering(204, status)
    error = await down(receiver, upsert("a", 10), upsert("b", 11), upsert("c", 12))
    assert error.outcomes == (Accepted(),)
    assert not error.is_for_good
    assert str(status) in error.what
    assert places(receiver) == ["orders:10", "orders:11"]


async def test_a_redirect_is_no_success_and_not_followed(receiver: Receiver) -> None:
    receiver.answer = answering(307, Location="/elsewhere")
    error = await down(receiver, upsert("a", 10))
    assert "points to /elsewhere" in error.what
    assert len(receiver.messages) == 1


async def test_gone_is_for_good(receiver: Receiver) -> None:
    receiver.answer = answering(410)
    error = await down(receiver, upsert("a", 10))
    assert error.is_for_good
    assert error.fix


async def test_retry_after_is_obeyed_in_both_forms(receiver: Receiver) -> None:
    receiver.answer = answering(429, **{"Retry-After": "90"})
    assert (await down(receiver, upsert("a", 10))).retry_after == timedelta(seconds=90)
    until = datetime.now(UTC) + timedelta(hours=1)
    receiver.answer = answering(503, **{"Retry-After": format_datetime(until, usegmt=True)})
    wait = (await down(receiver, upsert("a", 10))).retry_after
    assert wait is not None
    assert timedelta(minutes=59) < wait <= timedelta(hours=1)


async def test_no_answer_in_time_is_down_with_what_was_taken(receiver: Receiver) -> None:
    receiver.held = asyncio.Event()
    async with sink_context(SECRETS, timeout=0.2) as context:
        sink = KIND.make(WebhookOptions(url=receiver.url, secret="env:HOOK"), context)
        with pytest.raises(SinkDown) as caught:
            await sink.send([upsert("a", 10)], fence())
    receiver.held.set()
    assert caught.value.outcomes == ()


async def test_nobody_there_is_down() -> None:
    receiver = Receiver("http://127.0.0.1:1/")
    assert "127.0.0.1:1" in (await down(receiver, upsert("a", 10))).what


async def test_metadata_of_a_cloud_is_never_asked() -> None:
    receiver = Receiver("http://169.254.169.254/latest/meta-data")
    assert "off limits" in (await down(receiver, upsert("a", 10))).what


async def test_what_was_taken_before_the_lease_ends_is_told(receiver: Receiver) -> None:
    clock = ManualClock(datetime.now(UTC))

    def answer_slowly(message: Message) -> web.Response:
        clock.move(timedelta(seconds=10))
        return web.Response()

    receiver.answer = answer_slowly
    async with sink_context(SECRETS, clock) as context:
        sink = KIND.make(WebhookOptions(url=receiver.url, secret="env:HOOK"), context)
        outcomes = await sink.send([upsert(str(number), number) for number in range(10)], fence(clock))
        assert outcomes == [Accepted()] * 5
        with pytest.raises(LeaseEnded):
            await sink.send([upsert("a", 10)], fence(clock, seconds=10))
    assert len(receiver.messages) == 5


async def test_several_at_once_answer_for_the_first_in_a_row_only(receiver: Receiver) -> None:
    def refuse_second(message: Message) -> web.Response:
        return web.Response(status=503 if message.id.startswith("orders:2:") else 200)

    receiver.answer = refuse_second
    batch = [upsert(str(number), number) for number in range(1, 9)]
    error = await down(receiver, *batch, concurrency=4)
    assert error.outcomes == (Accepted(),)
    assert sorted(places(receiver)) == [f"orders:{number}" for number in range(1, 5)]


async def test_as_many_as_asked_for_are_under_way(receiver: Receiver) -> None:
    receiver.held = asyncio.Event()
    batch = [upsert(str(number), number) for number in range(6)]
    sending = asyncio.create_task(send(receiver, *batch, concurrency=3))
    while receiver.most_at_once < 3:
        await asyncio.sleep(0.01)
    receiver.held.set()
    assert await sending == [Accepted()] * 6
    assert receiver.most_at_once == 3


async def test_without_the_text_a_message_stays_small(receiver: Receiver) -> None:
    huge: dict[str, Any] = {"metadata": {f"key{n}": "v" * 1_000 for n in range(100)}, "keywords": ["word"] * 10_000}
    await send(receiver, upsert("a", 10, text="x" * 1_000_000, **huge))
    message = receiver.messages[0]
    assert len(message.body) <= LARGEST_BODY_BYTES
    assert message.content["data"]["left_out"] == ["metadata", "keywords"]
    assert message.content["data"]["url"] == "https://daily.test/a"
    assert "text" not in message.content["data"]


async def test_with_the_text_it_is_whole(receiver: Receiver) -> None:
    await send(receiver, upsert("a", 10, text="x" * 1_000_000), include_text=True)
    assert len(receiver.messages[0].content["data"]["text"]) == 1_000_000


async def test_a_try_sends_a_signed_message(receiver: Receiver) -> None:
    async with sink_context(SECRETS) as context:
        sink = KIND.make(WebhookOptions(url=receiver.url, secret="env:HOOK"), context)
        assert KIND.test
        assert "took" in await KIND.test(sink, fence())
        Webhook(SECRET).verify(receiver.messages[0].body, receiver.messages[0].headers)
        receiver.answer = answering(422)
        with pytest.raises(SinkDown, match="refused"):
            await KIND.test(sink, fence())


async def test_the_address_may_stand_in_a_secret(receiver: Receiver) -> None:
    async with sink_context(SECRETS | {"file:/hook": receiver.url.replace("//", "//me:pass@")}) as context:
        sink = KIND.make(WebhookOptions(url="file:/hook", secret="env:HOOK"), context)
        assert await sink.send([upsert("a", 1)], fence()) == [Accepted()]
        assert receiver.messages[0].headers["authorization"].startswith("Basic ")
        receiver.answer = answering(500)
        with pytest.raises(SinkDown) as caught:
            await sink.send([upsert("a", 1)], fence())
        assert "pass" not in caught.value.what
        assert "hooks" not in caught.value.what


def test_it_is_found_by_its_type() -> None:
    assert kind_named("webhook") is KIND
