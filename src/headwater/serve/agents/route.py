"""/mcp: the tools over streamable HTTP. Each request stands alone, so that any process of the web role answers it."""

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from headwater.accounts.role import Role
from headwater.serve.access.caller import Caller
from headwater.serve.access.gate import Viewer
from headwater.serve.access.visits import WebVisit, visit_of
from headwater.serve.agents.server import server_for
from headwater.serve.agents.tools import AgentSession
from headwater.serve.shared import Installed
from headwater.services import Services

if TYPE_CHECKING:
    from mcp.server import Server

router = APIRouter(include_in_schema=False)


@router.post("/mcp")
async def mcp(caller: Viewer, services: Installed, request: Request) -> Response:
    """One message of an agent. The caller's role decides which tools there are."""
    # Read here, where a body that is too large or too slow is told as everywhere.
    body = await request.body()
    return Exchange(server_for(session_of(caller, services, visit_of(request))), body)


def session_of(caller: Caller, services: Services, visit: WebVisit) -> AgentSession:
    """Only what changes something is a line of the audit log."""
    visit.only_reads = True

    def note_change() -> None:
        visit.only_reads = False

    return AgentSession(services, caller.name, caller.role.includes(Role.OPERATOR), note_change)


class Exchange(Response):
    """A message answered by the SDK: without a session, as one JSON document. Host and Origin were looked at before."""

    def __init__(self, server: "Server[Any]", message: bytes) -> None:
        self._server = server
        self._message = message
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(self._server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, _BodyRead(self._message, receive), send)


class _BodyRead:
    """A body that was read before; what comes behind it is the end of the connection."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}
