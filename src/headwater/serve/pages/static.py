"""/static: stylesheets and the script of the pages. They are the same for everybody, and tell nothing."""

from functools import cache
from importlib.resources import files
from typing import Annotated

import xxhash
from fastapi import APIRouter, Path
from starlette.responses import Response

from headwater.errors import NotFound
from headwater.serve.access.gate import open_to_all

router = APIRouter(include_in_schema=False)

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@cache
def static_files() -> dict[str, bytes]:
    """All that there are, by name: no name leads out of their folder."""
    folder = files("headwater.serve.pages").joinpath("static")
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name.endswith(tuple(TYPES))}


@cache
def address_of_file(name: str) -> str:
    """With a sign of its contents, so that a browser keeps it until another version is installed."""
    return f"/static/{name}?v={xxhash.xxh3_64_hexdigest(static_files()[name])}"


@router.get("/static/{name}", dependencies=[open_to_all])
async def static_file(name: Annotated[str, Path(max_length=100)]) -> Response:
    """A file that pages load."""
    body = static_files().get(name)
    if body is None:
        raise NotFound("There is no such file.")
    kind = TYPES[name[name.rindex(".") :]]
    return Response(body, headers={"cache-control": "public, max-age=31536000, immutable"}, media_type=kind)
