"""/console: how everything is, and what needs a person."""

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from headwater.serve.access.gate import Viewer
from headwater.serve.console.components import empty_state
from headwater.serve.console.shell import PageBody
from headwater.serve.console.visit import Visited

router = APIRouter(include_in_schema=False)


@router.get("/console")
async def overview_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """The home page."""
    return await visit.page(PageBody("Overview", empty_state("Nothing yet.")))
