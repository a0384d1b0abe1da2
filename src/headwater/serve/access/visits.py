"""Around every request: who makes it, and what it changed. Within the frame, outside of all routes."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import orjson
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.accounts.audit import AuditLine, AuditLog, details_of, target_of
from headwater.clock import SystemClock
from headwater.discover.push.callbacks import PLACE
from headwater.errors import DependencyDown, HeadwaterError, QueryFailed, Refused, as_fields
from headwater.log import Logger
from headwater.serve.access.caller import Caller, NotIdentified, Proof
from headwater.serve.access.entrance import Entrance
from headwater.serve.problems import CHALLENGE, ProblemDetails, problem, response_of

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Of callers that showed nothing valid: a login is no larger.
LARGEST_UNKNOWN_BODY_BYTES = 10_000
# Of an answer that lasts: so often the caller is looked at again.
LOOKED_AT_SECONDS = 30.0
# Larger bodies are lists and files: the audit log says how large.
LARGEST_AUDITED_BODY_BYTES = 16_384
MOST_PARAMETERS = 100
FORM = re.compile(r"application/x-www-form-urlencoded\s*(;.*)?", re.IGNORECASE)


@dataclass(slots=True)
class WebVisit:
    """`caller` is None while nobody is known, and `refusal` says why. `claims`: whose login was refused.

    `only_reads`: it changes nothing, though it was sent by POST.
    """

    address: str
    caller: Caller | None = None
    refusal: HeadwaterError | None = None
    claims: str | None = None
    only_reads: bool = False

    def require_caller(self) -> Caller:
        if self.caller is None:
            raise self.refusal or NotIdentified("Nothing says who you are.")
        return self.caller


def visit_of(request: Request) -> WebVisit:
    visit: WebVisit = request.state.visit
    return visit


def name_in(scope: Scope) -> str:
    """Who made a request, for the log; empty while nobody is known."""
    visit: WebVisit | None = scope.get("state", {}).get("visit")
    return visit.caller.name if visit and visit.caller else ""


def action_of(route: object) -> str:
    """The name of an operation, for the description, the client and the audit log."""
    return route.name if isinstance(route, APIRoute) else "unknown"


class VisitOver(Exception):
    """The token was revoked, the login ended, or the role is another: in the middle of an answer."""


class Visits:
    def __init__(self, app: ASGIApp, entrance: Entrance, audit: AuditLog, log: Logger) -> None:
        self._clock = SystemClock()
        self._app = app
        self._entrance = entrance
        self._audit = audit
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"].startswith(PLACE):
            # A hub is known by the address that it was given, and what it brings is no caller's change.
            scope["state"]["visit"] = WebVisit(self._client_of(scope))
            await self._app(scope, receive, send)
            return
        visit = scope["state"]["visit"] = await self._visit(scope)
        body, answer = _SeenBody(receive, visit, is_form_in(scope)), self._while_known(scope, visit, send)
        if scope["method"] not in SAFE_METHODS:
            answer = self._noting(scope, visit, body, answer)
        try:
            await self._app(scope, body, answer)
        except* VisitOver:
            await send({"type": "http.response.body", "body": b""})

    def _while_known(self, scope: Scope, visit: WebVisit, send: Send) -> Send:
        """An answer that lasts, such as a stream, ends soon after its caller's leave."""
        looked_at = self._clock.monotonic()

        async def sent(message: Message) -> None:
            nonlocal looked_at
            if message.get("more_body") and self._clock.monotonic() - looked_at > LOOKED_AT_SECONDS:
                looked_at = self._clock.monotonic()
                now = await self._visit(scope)
                # While the database does not answer nobody can tell: it goes on.
                if now.caller != visit.caller and isinstance(now.refusal, Refused | None):
                    raise VisitOver
            await send(message)

        return sent

    def _noting(self, scope: Scope, visit: WebVisit, body: "_SeenBody", send: Send) -> Send:
        """What was changed is written down before it is answered."""
        is_cut = False

        async def noted(message: Message) -> None:
            nonlocal is_cut
            if message["type"] == "http.response.start" and is_noted(message["status"], visit):
                # To the end, whoever goes away meanwhile.
                is_cut = not await asyncio.shield(self._write(line_of(scope, visit, message["status"], body)))
                if is_cut:
                    await response_of(unwritten(), scope["state"]["request_id"])(scope, body, send)
            if not is_cut:
                await send(message)

        return noted

    async def _visit(self, scope: Scope) -> WebVisit:
        visit = WebVisit(self._client_of(scope))
        try:
            visit.caller = await self._entrance.identify(Headers(scope=scope), _peer_of(scope))
        except HeadwaterError as error:
            visit.refusal = error
        return visit

    def _client_of(self, scope: Scope) -> str:
        return self._entrance.proxies.client_of(Headers(scope=scope), _peer_of(scope))

    async def _write(self, line: AuditLine) -> bool:
        try:
            await self._audit.write(line)
        except (DependencyDown, QueryFailed) as error:
            # It was done and cannot be undone: the log has the line, and the caller is told.
            self._log.error(
                "audit_not_written",
                **as_fields(error),
                actor=line.actor,
                action=line.action,
                target=line.target,
                details=line.details,
                request_id=line.request_id,
            )
            return False
        return True


def _peer_of(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else ""


def unwritten() -> ProblemDetails:
    return problem(
        503, "It was done, and could not be written into the audit log.", "Look before you ask for it again."
    )


def is_noted(status: int, visit: WebVisit) -> bool:
    return (status < 400 and not visit.only_reads) or (status in (401, 429) and visit.claims is not None)


def line_of(scope: Scope, visit: WebVisit, status: int, body: "_SeenBody") -> AuditLine:
    caller = visit.caller
    asked = {"body": body.fields, "query": query_of(scope)} if status < 400 else {}
    return AuditLine(
        actor=caller.name if caller else visit.claims or "unknown",
        role=caller.role if caller else None,
        proof=caller.proof if caller else Proof.NONE,
        action=action_of(scope.get("route")),
        target=target_of(scope["path"]),
        status=status,
        request_id=scope["state"]["request_id"],
        address=visit.address,
        details=details_of(asked),
    )


def form_in(body: bytes) -> dict[str, str | list[str]]:
    """Without what only proves that a page of ours made it. Raises ValueError."""
    given: dict[str, list[str]] = {}
    for name, value in parse_qsl(body.decode(), max_num_fields=MOST_PARAMETERS * 10):
        given.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in given.items() if name != "csrf_token"}


def is_form_in(scope: Scope) -> bool:
    return bool(FORM.fullmatch(Headers(scope=scope).get("content-type", "")))


def query_of(scope: Scope) -> dict[str, str]:
    try:
        return dict(parse_qsl(scope["query_string"].decode("latin-1"), max_num_fields=MOST_PARAMETERS))
    except ValueError:
        return {"left_out": f"more than {MOST_PARAMETERS}"}


@dataclass(slots=True)
class _SeenBody:
    """The body as it passes: its beginning is kept for the audit log, and of unknown callers little is taken."""

    receive: Receive
    visit: WebVisit
    is_form: bool = False
    size: int = 0
    kept: bytearray = field(default_factory=bytearray)

    async def __call__(self) -> Message:
        message = await self.receive()
        part = message.get("body", b"")
        self.size += len(part)
        if self.size <= LARGEST_AUDITED_BODY_BYTES:
            self.kept += part
        if self.visit.caller is None and self.size > LARGEST_UNKNOWN_BODY_BYTES:
            why = self.visit.refusal
            raise HTTPException(401, why.what if why else "Nothing says who you are.", CHALLENGE)
        return message

    @property
    def fields(self) -> Any:
        if self.size > LARGEST_AUDITED_BODY_BYTES:
            return {"left_out": f"{self.size:,} bytes"}
        try:
            if self.is_form:
                return form_in(bytes(self.kept))
            return orjson.loads(bytes(self.kept)) if self.kept else {}
        except ValueError:
            return {"left_out": f"{self.size:,} bytes"}
