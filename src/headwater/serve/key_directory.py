"""The keys that our requests are signed with, where verifiers look for them."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from headwater.net.signing import DIRECTORY_PLACE, DIRECTORY_TYPE
from headwater.serve.access.gate import open_to_all
from headwater.serve.shared import parts_of

router = APIRouter(include_in_schema=False)

NOT_HERE = "There are no keys here.\n"


@router.get(DIRECTORY_PLACE, dependencies=[open_to_all])
async def published_keys(request: Request) -> Response:
    """Our public keys, each with the proof that we hold it; 404 where there are none."""
    found = parts_of(request).published_keys.now()
    if found is None:
        return Response(NOT_HERE, 404, media_type="text/plain")
    return Response(found.body, headers=dict(found.headers), media_type=DIRECTORY_TYPE)
