"""Webhooks as https://www.standardwebhooks.com has them: one signed request for each change, in order."""

import asyncio
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from hmac import digest
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import orjson
from pydantic import Field

from headwater.clock import Clock
from headwater.deliver.http import SinkAnswer, SinkClient
from headwater.deliver.payload import fields_of, op_of, trimmed
from headwater.deliver.records import Record
from headwater.deliver.secrets import SecretName, ServerAddress, whole_address
from headwater.deliver.sink import (
    Accepted,
    Delivery,
    DeliveryOutcome,
    Fence,
    RecordRefused,
    SinkContext,
    SinkDown,
    SinkKind,
    SinkOptions,
    Upsert,
)
from headwater.errors import SettingError
from headwater.net.caching import retry_after

# The specification asks for less than 20 kB; some receivers cut or refuse more.
LARGEST_BODY_BYTES = 20_000
WAITS = (
    # A receiver that restarts is back within a minute.
    *(timedelta(seconds=seconds) for seconds in (5, 15, 60)),
    timedelta(minutes=5),
    timedelta(minutes=30),
    *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
)
_KEY_PREFIX = "whsec_"
# The specification's least; shorter ones can be guessed.
_LEAST_KEY_BYTES = 24
_HOW_TO_MAKE_ONE = 'Make one: echo "whsec_$(openssl rand -base64 32)"'
# The receiver means this one message; every other answer but success is about the receiver itself.
_OF_ONE_MESSAGE = frozenset({400, 413, 422})
_GONE = 410


class WebhookOptions(SinkOptions):
    url: ServerAddress = Field(description="Where to send: an address, or env:NAME or file:/path where one stands.")
    secret: SecretName = Field(
        min_length=1, description="Where the signing secret (whsec_…) stands: env:NAME or file:/path."
    )
    previous_secret: SecretName = Field(
        "", description="While the secret is being changed: the old one. Each message is then signed with both."
    )
    include_text: bool = Field(
        False, description="Send the text of documents too; without it a message has less than 20 kB."
    )
    concurrency: int = Field(
        1, ge=1, le=16, description="Messages under way at once. Above 1 they may arrive out of order."
    )


@dataclass(frozen=True, slots=True)
class WebhookSink:
    name: str
    client: SinkClient
    target: str
    keys: Sequence[bytes]
    clock: Clock
    include_text: bool = False
    concurrency: int = 1

    def place_of(self, record: Record) -> str:
        return ""

    async def prepare(self, fence: Fence) -> None:
        """Nothing is asked beforehand: the first message tells whether the receiver is there."""

    async def send(self, batch: Sequence[Delivery], fence: Fence) -> Sequence[DeliveryOutcome]:
        """In groups of `concurrency`. What is known ends at the first message that was not taken."""
        outcomes: list[DeliveryOutcome] = []
        for start in range(0, len(batch), self.concurrency):
            if outcomes and fence.left <= self.client.timeout:
                # A slow receiver: what it took is noted, and the rest is sent under a longer lease.
                return outcomes
            fence.require(self.client.timeout)
            group = batch[start : start + self.concurrency]
            sending = (self._send_one(one, fence.batch_number) for one in group)
            answers = await asyncio.gather(*sending, return_exceptions=True)
            for answer in answers:
                if isinstance(answer, BaseException):
                    raise _with_outcomes(answer, outcomes)
                outcomes.append(answer)
        return outcomes

    async def close(self) -> None: ...

    async def send_test(self, fence: Fence) -> str:
        fence.require(self.client.timeout)
        now = self.clock.now()
        message = {"type": "sink.test", "timestamp": now, "data": {"sink": self.name}}
        body = orjson.dumps(message, option=orjson.OPT_UTC_Z)
        outcome = self._outcome(await self._post(f"{self.name}:test:{now.timestamp():.0f}", body))
        if isinstance(outcome, RecordRefused):
            raise SinkDown(f"{self.client.address} refused a message of the type sink.test: {outcome.why}")
        return f"{self.client.address} took a signed message of the type sink.test."

    async def _send_one(self, delivery: Delivery, batch_number: int) -> DeliveryOutcome:
        body = body_of(delivery, self.clock.now(), include_text=self.include_text)
        return self._outcome(await self._post(message_id(self.name, delivery, batch_number), body))

    async def _post(self, identity: str, body: bytes) -> SinkAnswer:
        # Of the attempt: a receiver refuses what is older than some minutes, as somebody may have kept it.
        timestamp = int(self.clock.now().timestamp())
        headers = {
            "Content-Type": "application/json",
            "webhook-id": identity,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join(signature(key, identity, timestamp, body) for key in self.keys),
        }
        return await self.client.request("POST", self.target, body, headers)

    def _outcome(self, answer: SinkAnswer) -> DeliveryOutcome:
        if answer.is_success:
            return Accepted()
        if answer.status in _OF_ONE_MESSAGE:
            return RecordRefused(f"status {answer.status}: {answer.text}".removesuffix(": "))
        raise SinkDown(
            _why_down(self.client.address, answer),
            fix=_fix(answer),
            retry_after=retry_after(answer.headers.get("Retry-After", ""), self.clock.now()),
            is_for_good=answer.status == _GONE,
        )


def message_id(sink: str, delivery: Delivery, batch_number: int) -> str:
    """A change of the log has the same id whenever the same is said of it again.

    A record is sent as it is now: a later try may have another version, or remove it, and is another message. A record
    from the archive has no position of its own, and may be sent, removed and sent again while the log stands still: it
    has an id for each batch.
    """
    if delivery.is_from_archive:
        return f"{sink}:archive:{batch_number}:{delivery.key.id}"
    return f"{sink}:{delivery.position}:{delivery.version}:{op_of(delivery)}"


def body_of(delivery: Delivery, now: datetime, *, include_text: bool) -> bytes:
    message: dict[str, Any] = {
        "type": f"{delivery.key.kind}.{op_of(delivery)}",
        "timestamp": _changed_at(delivery) or now,
        "position": delivery.position,
        "data": {},
    }
    if not isinstance(delivery, Upsert):
        message["data"] = {"id": delivery.key.id}
    elif include_text:
        message["data"] = fields_of(delivery.record, with_text=True)
    else:
        room = LARGEST_BODY_BYTES - len(orjson.dumps(message, option=orjson.OPT_UTC_Z))
        message["data"] = trimmed(fields_of(delivery.record, with_text=False), room)
    return orjson.dumps(message, option=orjson.OPT_UTC_Z)


def _changed_at(delivery: Delivery) -> Any:
    """When it happened, where that is known; a removal is only known by its position."""
    if not isinstance(delivery, Upsert):
        return None
    return delivery.record.fields.get("changed_at") or delivery.record.fields.get("updated_at")


def signature(key: bytes, identity: str, timestamp: int, body: bytes) -> str:
    signed = f"{identity}.{timestamp}.".encode() + body
    return f"v1,{b64encode(digest(key, signed, sha256)).decode()}"


def signing_key(name: str, secret: str) -> bytes:
    """Raises SettingError with the secret's name, never with the secret."""
    try:
        key = b64decode(secret.removeprefix(_KEY_PREFIX), validate=True)
    except (Base64Error, ValueError):
        key = b""
    if not secret.startswith(_KEY_PREFIX) or not key:
        raise SettingError(
            f"The secret {name} cannot sign webhooks: it is not whsec_ and base64 after it.", fix=_HOW_TO_MAKE_ONE
        )
    if len(key) < _LEAST_KEY_BYTES:
        raise SettingError(
            f"The secret {name} cannot sign webhooks: {len(key)} bytes can be guessed, {_LEAST_KEY_BYTES} are the "
            "least.",
            fix=_HOW_TO_MAKE_ONE,
        )
    return key


def _why_down(address: str, answer: SinkAnswer) -> str:
    if answer.status == _GONE:
        return f"{address} answered 410: it wants no more webhooks."
    said = " ".join(answer.text.split())[:200]
    return f"{address} answered {answer.status}{f': {said}' if said else ''}."


def _fix(answer: SinkAnswer) -> str:
    if answer.status == _GONE:
        return "Ask its owner for another address, or remove the sink."
    if answer.status == 404:
        return "Name the address where it is now."
    if answer.status in (401, 403):
        return "See that its secret there is the same as here."
    return ""


def _with_outcomes(error: BaseException, outcomes: Sequence[DeliveryOutcome]) -> BaseException:
    if isinstance(error, SinkDown):
        error.outcomes = tuple(outcomes)
    return error


def _made(options: WebhookOptions, context: SinkContext) -> WebhookSink:
    parts = urlsplit(whole_address(options.url, context.secret))
    names = [name for name in (options.secret, options.previous_secret) if name]
    return WebhookSink(
        context.name,
        context.client(urlunsplit((parts.scheme, parts.netloc, "", "", ""))),
        urlunsplit(("", "", parts.path or "/", parts.query, "")),
        [signing_key(name, context.secret(name)) for name in names],
        context.clock,
        options.include_text,
        options.concurrency,
    )


async def _test(sink: Any, fence: Fence) -> str:
    assert isinstance(sink, WebhookSink)
    return await sink.send_test(fence)


KIND = SinkKind(
    "webhook",
    "a signed request for each change (Standard Webhooks)",
    WebhookOptions,
    _made,
    batch=100,
    is_events=True,
    forgets_not="its receiver keeps what it was sent, and is told of removals by messages of their own",
    waits=WAITS,
    test=_test,
)
