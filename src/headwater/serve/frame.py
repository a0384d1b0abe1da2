"""The frame around every request: its id, the Host it names, the size of its body, and headers of every answer."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.accounts.tokens import TOKEN_IN_TEXT, without_tokens
from headwater.chance import new_id
from headwater.clock import Clock
from headwater.log import Logger
from headwater.masking import Mode, fault_in_words
from headwater.serve.access.visits import name_in
from headwater.serve.problems import ProblemDetails, fault, problem, response_of

REQUEST_ID = "x-request-id"
LARGEST_BODY_BYTES = 1_000_000
# For a whole body to arrive, from when it is first read: a client that is slower has to come again.
BODY_SECONDS = 60.0
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\[\]:@/\s]+)(?::[0-9]{0,5})?")
MOST_READ_OFF_BYTES, READ_OFF_SECONDS = 16_000_000, 5.0
# However it is spelled: `access_token` is the name of RFC 6750.
SECRET_PARAMETERS = frozenset({"access_token", "token", "api_key", "apikey", "authorization", "bearer", "password"})
PROTECTION: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class FrameRules:
    """`hosts`: names by which this server may be called. `larger_bodies`: bytes, by the beginning of a path."""

    hosts: frozenset[str]
    larger_bodies: Mapping[str, int]
    mode: Mode
    body_seconds: float = BODY_SECONDS

    def largest_body(self, path: str) -> int:
        fitting = [most for start, most in self.larger_bodies.items() if path.startswith(start)]
        return max(fitting, default=LARGEST_BODY_BYTES)


class Frame:
    """Outermost: also faults of our own end here, told without their message."""

    def __init__(self, app: ASGIApp, rules: FrameRules, log: Logger, clock: Clock) -> None:
        self._app = app
        self._rules = rules
        self._log = log
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, str(new_id()))
        scope.setdefault("state", {})["request_id"] = answer.request_id
        began = self._clock.monotonic()
        await self._answer(scope, receive, answer)
        # Reads are many, and change nothing.
        if scope["method"] not in ("GET", "HEAD"):
            self._log.info(
                "request_answered",
                method=scope["method"],
                path=without_tokens(scope["path"][:300]),
                status=answer.status,
                caller=name_in(scope),
                ms=round((self._clock.monotonic() - began) * 1000),
                request_id=answer.request_id,
            )

    async def _answer(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        headers = Headers(scope=scope)
        largest = self._rules.largest_body(scope["path"])
        if refusal := refusal_of(headers, self._rules.hosts, largest) or secret_in(scope["query_string"]):
            await read_off(receive)
            await answer.refuse(refusal, scope, receive)
            return
        try:
            await self._app(scope, _CountedBody(receive, largest, self._rules.body_seconds), answer)
        except Exception as error:  # noqa: BLE001 - the last place where a fault can be told
            self._log.error(
                "request_broke", error=fault_in_words(error, self._rules.mode), request_id=answer.request_id
            )
            await answer.refuse(fault(), scope, receive)


def refusal_of(headers: Headers, hosts: frozenset[str], largest: int) -> ProblemDetails | None:
    """Why a request is not even looked at. Pure."""
    if host_in(headers.get("host", "")) not in hosts:
        # A page that a browser loaded under another name must not reach us by it.
        return problem(421, "This server is not called by that name.", "Name it in the setting web.allowed_hosts.")
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > largest:
        return too_large(largest)
    return None


def secret_in(query: bytes) -> ProblemDetails | None:
    """Addresses stand in logs and histories: nobody proves anything by one. Pure."""
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    if not any(is_secret(name, value) for name, value in given):
        return None
    return problem(
        422,
        "A token does not belong into an address.",
        "Send it as Authorization: Bearer. If this one was real, revoke it: addresses are kept in logs.",
    )


def is_secret(name: str, value: str) -> bool:
    return name.strip().lower() in SECRET_PARAMETERS or bool(TOKEN_IN_TEXT.search(name + value))


def too_large(largest: int) -> ProblemDetails:
    return problem(413, f"The body is larger than {largest:,} bytes.", "Send it in parts.")


def host_in(header: str) -> str:
    """Without port, in small letters; empty where it is none."""
    found = HOST.fullmatch(header.strip().lower())
    return found["name"] if found else ""


async def read_off(receive: Receive) -> None:
    """The rest of a body that nobody wants: a client that is still sending would see a cut line, and no answer."""
    left = MOST_READ_OFF_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(READ_OFF_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


class _CountedBody:
    """The body of a request, counted as it comes; whoever reads it hears why it ends."""

    def __init__(self, receive: Receive, largest: int, seconds: float) -> None:
        self._receive = receive
        self._seconds = seconds
        self._largest = self._left = largest
        self._is_whole = False
        self._until: float | None = None

    async def __call__(self) -> Message:
        if self._is_whole:
            return await self._receive()
        # Not of each part: a byte a minute would last for ever.
        self._until = self._until or asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, f"The body did not arrive within {self._seconds:.0f} s.") from None
        self._is_whole = not message.get("more_body", False)
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            await read_off(self._receive)
            raise HTTPException(413, too_large(self._largest).detail)
        return message


class _Answer:
    """What is sent, with our headers in every answer that does not say otherwise."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self.request_id = request_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self.request_id
            for name, value in PROTECTION.items():
                headers.setdefault(name, value)
        await self._send(message)

    async def refuse(self, found: ProblemDetails, scope: Scope, receive: Receive) -> None:
        """An answer that has begun can only be cut off."""
        if not self.status:
            await response_of(found, self.request_id, {"connection": "close"})(scope, receive, self)


def names_of(bound: str, public_url: str, others: Sequence[str]) -> frozenset[str]:
    """By which this server may be called."""
    own = {"localhost", "127.0.0.1", "[::1]", f"[{bound}]" if ":" in bound else bound.lower()}
    public = host_in(public_url.partition("://")[2].partition("/")[0])
    return frozenset(name for name in (*own, public, *map(host_in, others)) if name)
