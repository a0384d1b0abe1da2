"""Pages of the web role."""

from html import escape

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import HTMLResponse

from headwater.serve.access.gate import Viewer
from headwater.serve.frame import host_in
from headwater.serve.pages.api_docs import docs_page
from headwater.serve.pages.layout import answer_with
from headwater.serve.shared import Installed

router = APIRouter(include_in_schema=False)

# In the page that is kept: each answer has the address by which its reader came.
ANY_BASE = "https://headwater.invalid"


@router.get("/api/docs")
async def api_docs(caller: Viewer, services: Installed, request: Request) -> HTMLResponse:
    """The API for people: how to call it, and every operation with an example."""
    base = services.settings.web.public_url.rstrip("/") or base_of(request)
    return answer_with(_kept_page(request.app).replace(ANY_BASE, escape(base)))


def base_of(request: Request) -> str:
    """As the request names it; its host is one of ours, and its port a number."""
    named = request.headers.get("host", "")
    host = host_in(named)
    port = named.strip()[len(host) :].removeprefix(":")
    return f"{request.url.scheme}://{host}:{port}" if port.isdecimal() else f"{request.url.scheme}://{host}"


def _kept_page(app: FastAPI) -> str:
    """Made once: that takes a moment, and it does not change."""
    if not hasattr(app.state, "docs_page"):
        app.state.docs_page = str(docs_page(app.openapi(), ANY_BASE))
    made: str = app.state.docs_page
    return made
