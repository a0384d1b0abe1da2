"""The API's description for programs."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from headwater.serve.access.gate import Viewer

router = APIRouter(include_in_schema=False)


@router.get("/api/v1/openapi.json")
async def openapi(caller: Viewer, request: Request) -> JSONResponse:
    """The description of the API, OpenAPI 3.1."""
    described: dict[str, Any] = request.app.openapi()
    return JSONResponse(described)
