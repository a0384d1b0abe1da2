"""Redis: each change is added to a stream, or published on a channel, whose name is made of the record's fields."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from string import Formatter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

import orjson
from pydantic import AfterValidator, Field

from headwater.deliver.payload import event_of, in_parts, op_of
from headwater.deliver.records import DOCUMENT_FIELDS, JOB_FIELDS, Record
from headwater.deliver.secrets import comparable_address, has_port_in_range, is_secret_name, whole_address
from headwater.deliver.sink import (
    Accepted,
    Delivery,
    DeliveryOutcome,
    Fence,
    LeaseEnded,
    RecordRefused,
    SinkContext,
    SinkDown,
    SinkHome,
    SinkKind,
    SinkOptions,
)
from headwater.errors import SettingError, UrlRejected
from headwater.net.guard import BlockedAddress, OperatorGuard
from headwater.net.resolver import GuardedResolver
from headwater.urls.canonical import site_named

if TYPE_CHECKING:
    from redis.asyncio import Redis

UNKNOWN = "unknown"
TIMEOUT_SECONDS = 15.0
CONNECT_SECONDS = 5.0
# One pipeline: what a server has to hold in memory at once, and what is sent again after a lost answer.
PIPELINE_BYTES = 4 << 20
LONGEST_VALUE = 100
_SCHEMES = ("redis", "rediss", "unix")
_DEFAULT_PORT = 6379
# Other for each record: a stream or channel for each of them would have one message.
_NOT_FOR_NAMES = frozenset(
    {
        *("url", "canonical_url", "title", "text", "summary", "images", "metadata", "word_count", "quality"),
        "rights",
        *("published_at", "updated_at", "crawled_at", "first_seen_at", "changed_at", "fetched_at", "last_seen_at"),
        *("created_at", "apply_url", "page_url", "description_snippet", "raw_metadata", "application_window"),
        *("data_quality_issues", "data_quality_score", "deadline"),
    }
)
NAME_FIELDS = tuple(
    sorted({"kind", "source_id", "source_name", *DOCUMENT_FIELDS, *JOB_FIELDS} - _NOT_FOR_NAMES),
)
_NOT_IN_A_NAME = re.compile(r"[^\w.]+")
_GLOB = re.compile(r"([*?\[\]\\^])")


@dataclass(frozen=True, slots=True)
class NameTemplate:
    """Of streams or channels: texts, and after each the field that follows, if any."""

    parts: Sequence[tuple[str, str | None]]

    def name_of(self, fields: Mapping[str, Any]) -> str:
        return "".join(text + (slug(fields.get(name)) if name else "") for text, name in self.parts)

    @property
    def pattern(self) -> str:
        """All names that it makes, as Redis's own patterns have it."""
        return "".join(_GLOB.sub(r"\\\1", text) + ("*" if name else "") for text, name in self.parts)

    @property
    def has_fields(self) -> bool:
        return any(name for _, name in self.parts)


def slug(value: Any) -> str:
    """A value as part of a name: in lower case, `-` for what is no letter, digit, `_` or `.`; of a list the first."""
    if isinstance(value, list | tuple):
        value = value[0] if value else None
    if value is None:
        return UNKNOWN
    return _NOT_IN_A_NAME.sub("-", str(value).lower())[:LONGEST_VALUE].strip("-") or UNKNOWN


def parse_template(text: str) -> NameTemplate:
    """Raises ValueError."""
    try:
        pieces = list(Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"is no template: {error}; write one such as content:{{kind}}") from None
    for _, name, form, conversion in pieces:
        if form or conversion or (name is not None and name not in NAME_FIELDS):
            whole = (name or "") + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
            raise ValueError(f"has {{{whole}}}, which is none of the fields for names: {', '.join(NAME_FIELDS)}")
    if not pieces:
        raise ValueError("is empty; write one such as content:{kind}")
    return NameTemplate([(literal, name) for literal, name, _, _ in pieces])


def _template(value: str) -> str:
    parse_template(value)
    return value


def _address(value: str) -> str:
    if is_secret_name(value):
        return value
    parts = urlsplit(value)
    # Redis takes a password in the query, too.
    if parts.username or parts.password or "password" in parts.query:
        raise ValueError("holds a password: give file:/path or env:NAME, where the whole address stands")
    names_server = bool(parts.path if parts.scheme == "unix" else parts.hostname and has_port_in_range(parts))
    if parts.scheme not in _SCHEMES or not names_server:
        raise ValueError(
            "should be an address such as redis://localhost:6379/0, rediss:// for TLS, unix:///path of a socket, or "
            "file:/path or env:NAME where one stands"
        )
    if parts.scheme != "unix" and not _is_server(parts):
        raise ValueError("names a host or a port that cannot be")
    return value


def _is_server(parts: SplitResult) -> bool:
    try:
        _ = parts.port, site_named(f"[{parts.hostname}]" if ":" in str(parts.hostname) else str(parts.hostname))
    except (ValueError, UrlRejected):
        return False
    return True


class RedisOptions(SinkOptions):
    url: Annotated[str, AfterValidator(_address)] = Field(
        description="The server: redis://host:6379/0, rediss:// with TLS, unix:///path of a socket, or env:NAME or "
        "file:/path where such an address stands. A password is only taken from there."
    )
    mode: Literal["stream", "publish"] = Field(
        "stream",
        description="stream keeps messages until max_length pushes them out; publish reaches only those who listen.",
    )
    name: Annotated[str, AfterValidator(_template)] = Field(
        "content:{kind}",
        description="Name of the stream or channel, with fields of the record in braces, such as "
        "jobs:type:{contract_type}. A missing value is 'unknown', a list stands for its first value.",
    )
    max_length: int = Field(
        100_000, ge=0, description="Messages that a stream keeps, about; 0 keeps all, until the server is full."
    )
    include_text: bool = Field(False, description="Send the text of documents too.")


@dataclass(slots=True)
class RedisSink:
    options: RedisOptions
    template: NameTemplate
    address: str = field(repr=False)
    guard: OperatorGuard = field(default_factory=OperatorGuard)
    timeout: float = TIMEOUT_SECONDS
    _client: "Redis | None" = field(default=None, init=False, repr=False)

    def place_of(self, record: Record) -> str:
        """The name, so that a removal goes where the record went."""
        return self.template.name_of(record.fields)

    async def prepare(self, fence: Fence) -> None:
        fence.require(self.timeout)
        with _errors_as_down(self.where):
            async with asyncio.timeout(self.timeout):
                self._client = await self._connected()

    async def send(self, batch: Sequence[Delivery], fence: Fence) -> Sequence[DeliveryOutcome]:
        """In pipelines. The answers up to the first that is about the server itself count."""
        outcomes: list[DeliveryOutcome] = []
        made = (self._message(delivery) for delivery in batch)
        for messages in in_parts(made, lambda one: len(one.fields["payload"]), PIPELINE_BYTES):
            try:
                fence.require(self.timeout)
                self._note(await self._run(messages), outcomes)
            except LeaseEnded:
                if outcomes:
                    return outcomes
                raise
            except SinkDown as down:
                down.outcomes = tuple(outcomes)
                raise
        return outcomes

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def describe(self, fence: Fence) -> str:
        if self._client is None:
            await self.prepare(fence)
        pattern = self.template.pattern
        with _errors_as_down(self.where):
            async with asyncio.timeout(self.timeout):
                found = f"Redis {(await self.client.info('server'))['redis_version']} answers."
                if self.options.mode == "stream":
                    length = self.options.max_length
                    kept = f"about {length:,} messages" if length else "all messages"
                    return f"{found} Each stream named {pattern} keeps {kept}."
                channels = await self.client.pubsub_channels(pattern)
                listening = sum(count for _, count in await self.client.pubsub_numsub(*channels)) if channels else 0
                by_pattern = await self.client.pubsub_numpat()
        return (
            f"{found} {listening} subscribers listen on channels named {pattern}, and {by_pattern} patterns are "
            "subscribed to on the server. What is published while nobody listens is lost: mode=stream keeps it."
        )

    @property
    def client(self) -> "Redis":
        assert self._client is not None, "prepare comes first"
        return self._client

    @property
    def where(self) -> str:
        """Without secrets, for people."""
        parts = urlsplit(self.address)
        return parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or _DEFAULT_PORT}"

    async def _connected(self) -> "Redis":
        """At the first of the server's addresses that answers, all of which have passed the guard."""
        trouble: BaseException | None = None
        for host in await self._checked_hosts():
            client = _client(self.address, host)
            try:
                await client.ping()
            except BaseException as error:
                await client.aclose()
                if not _is_unreachable(error):
                    raise
                trouble = error
            else:
                return client
        assert trouble is not None
        raise trouble

    async def _checked_hosts(self) -> list[str]:
        parts = urlsplit(self.address)
        if parts.scheme == "unix":
            return [""]
        host, port = str(parts.hostname), parts.port or _DEFAULT_PORT
        if _is_literal(host):
            self.guard.check(host, port)
            return [host]
        resolver = GuardedResolver(self.guard, CONNECT_SECONDS)
        try:
            found = [place["host"] for place in await resolver.resolve(host, port)]
        finally:
            await resolver.close()
        # A certificate is for the name. No metadata service has one, should the name lead elsewhere a moment later.
        return [host] if parts.scheme == "rediss" else found

    def _message(self, delivery: Delivery) -> "_Message":
        payload = orjson.dumps(event_of(delivery, with_text=self.options.include_text), option=orjson.OPT_UTC_Z)
        name = delivery.place or self.template.name_of({"kind": str(delivery.key.kind)})
        return _Message(
            name, {"position": delivery.position, "id": delivery.key.id, "op": op_of(delivery), "payload": payload}
        )

    async def _run(self, messages: Sequence["_Message"]) -> list[Any]:
        """Not a transaction: one message that fails does not take the others with it."""
        pipeline = self.client.pipeline(transaction=False)
        for message in messages:
            if self.options.mode == "publish":
                pipeline.publish(message.name, message.fields["payload"])
            else:
                pipeline.xadd(message.name, message.fields, maxlen=self.options.max_length or None, approximate=True)
        with _errors_as_down(self.where):
            async with asyncio.timeout(self.timeout):
                return list(await pipeline.execute(raise_on_error=False))

    def _note(self, answers: Sequence[Any], outcomes: list[DeliveryOutcome]) -> None:
        for answer in answers:
            if not isinstance(answer, Exception):
                outcomes.append(Accepted())
            elif str(answer).startswith("WRONGTYPE") and self.template.has_fields:
                outcomes.append(RecordRefused(f"The stream's name belongs to something else: {answer}"))
            else:
                with _errors_as_down(self.where):
                    raise answer


class _Message(NamedTuple):
    """`fields` as a stream has them; a channel gets the payload alone. Position and id tell what was sent before."""

    name: str
    fields: dict[Any, Any]


@contextmanager
def _errors_as_down(where: str) -> Iterator[None]:
    from redis.exceptions import RedisError

    try:
        yield
    except BlockedAddress as error:
        raise SinkDown(f"Redis at {where} is never asked: {error.reason}.", fix="Name another server.") from error
    except TimeoutError as error:
        raise SinkDown(f"Redis at {where} did not answer in time.") from error
    except (RedisError, OSError) as error:
        raise SinkDown(f"Redis at {where} takes nothing: {error}", fix=_fix(error)) from error


def _fix(error: Exception) -> str:
    from redis import exceptions as told

    fixes = {
        told.AuthenticationError: "Give the address with its user and password as env:NAME or file:/path.",
        told.NoPermissionError: "Let its user run XADD, PUBLISH, PING, INFO and PUBSUB.",
        told.OutOfMemoryError: "Raise maxmemory there, or lower the option max_length.",
        told.ReadOnlyError: "It is a replica: name its primary.",
        told.MovedError: "It is part of a cluster: name a server of its own.",
    }
    return next((fix for kind, fix in fixes.items() if isinstance(error, kind)), "")


def _is_unreachable(error: BaseException) -> bool:
    from redis.exceptions import AuthenticationError, BusyLoadingError
    from redis.exceptions import ConnectionError as Broken

    return isinstance(error, Broken | OSError) and not isinstance(error, AuthenticationError | BusyLoadingError)


def _client(address: str, host: str) -> "Redis":
    from redis.asyncio import ConnectionPool, Redis
    from redis.asyncio.connection import SSLConnection, parse_url
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    given: dict[str, Any] = dict(parse_url(address))
    if host:
        given["host"] = host
    if given.get("connection_class") is SSLConnection:
        given.setdefault("ssl_check_hostname", True)
    pool = ConnectionPool(
        **given
        | {
            "socket_timeout": TIMEOUT_SECONDS,
            "socket_connect_timeout": CONNECT_SECONDS,
            # Older servers and proxies know no other, and nothing here needs more.
            "protocol": 2,
            # Whether to send again is for the lease to say, and for nobody beneath it.
            "retry": Retry(NoBackoff(), 0),
        }
    )
    return Redis.from_pool(pool)


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _made(options: RedisOptions, context: SinkContext) -> RedisSink:
    if find_spec("redis") is None:
        raise SettingError(
            "A sink of the type 'redis' needs the package redis, which is not installed.",
            fix="Install it: pip install 'headwater[redis]'",
        )
    address = whole_address(options.url, context.secret)
    if urlsplit(address).scheme not in _SCHEMES:
        raise SettingError(
            f"The secret {options.url} is no address of a Redis server.",
            fix="Write redis://user:password@host:6379/0 there.",
        )
    return RedisSink(options, parse_template(options.name), address)


async def _test(sink: Any, fence: Fence) -> str:
    assert isinstance(sink, RedisSink)
    return await sink.describe(fence)


KIND = SinkKind(
    "redis",
    "a stream or a channel of Redis for changes",
    RedisOptions,
    _made,
    is_events=True,
    homes=lambda options: (SinkHome(comparable_address(options.url), f"{options.mode} {options.name}"),),
    forgets_not="its streams keep what was added, and subscribers what they heard; removals are messages of their own",
    test=_test,
)
