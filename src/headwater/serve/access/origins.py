"""Whether a browser sent a request for a page of ours. Programs that are no browsers send neither header."""

from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request

from headwater.errors import Refused
from headwater.serve.access.caller import Caller
from headwater.serve.access.visits import FORM

CSRF_HEADER, CSRF_FIELD = "x-csrf-token", "csrf_token"
MOST_FIELDS = 1_000


async def require_genuine(request: Request, caller: Caller, public_url: str) -> None:
    """For a request that changes something, made by a browser in the name of a person."""
    require_same_origin(request, public_url)
    if caller.session is None:
        return
    # A browser that keeps a cookie of ours says where a request comes from: silence is no proof.
    if "origin" not in request.headers and "sec-fetch-site" not in request.headers:
        raise Refused("The request does not say which page made it.", fix="Send Origin, or use a token.")
    if not caller.session.is_own(await _csrf_token_in(request)):
        raise Refused(
            "The CSRF token is missing or of another session.",
            fix="Send the csrf_token of GET /api/v1/me as the header X-CSRF-Token.",
        )


async def _csrf_token_in(request: Request) -> str:
    token = request.headers.get(CSRF_HEADER, "")
    if token or not FORM.fullmatch(request.headers.get("content-type", "")):
        return token
    try:
        fields = parse_qsl((await request.body()).decode(), max_num_fields=MOST_FIELDS)
    except ValueError:
        return ""
    return next((value for name, value in fields if name == CSRF_FIELD), "")


def require_same_origin(request: Request, public_url: str = "") -> None:
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        raise Refused("A page of another site made this request.", fix="Make it from a page of this address.")
    origin = request.headers.get("origin")
    if origin is not None and not is_own_origin(origin, request.headers.get("host", ""), public_url):
        raise Refused("The Origin of this request is another site.", fix="Make it from a page of this address.")


def is_own_origin(origin: str, host: str, public_url: str) -> bool:
    """By the name it was called by, or its public one; and that one by its own scheme. Pure."""
    try:
        said, public = urlsplit(origin.lower()), urlsplit(public_url.lower())
    except ValueError:
        return False
    if public.netloc and said.netloc == public.netloc:
        return said.scheme == public.scheme
    return said.scheme in ("http", "https") and said.netloc == host.lower()
