"""Parameters of addresses: one that nobody knows is refused, since a filter with a slip in its name would find all."""

from difflib import get_close_matches
from urllib.parse import parse_qsl

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.errors import UsageError

# Addresses of the API, older ones not among them: programs of those days may send more.
STRICT = "/api/v1/"
MOST_NAMES = 100


def refuse_unknown(route: APIRoute) -> None:
    """From now on, of a route of the API."""
    if route.path.startswith(STRICT) and not isinstance(route.app, KnownQuery):
        route.app = KnownQuery(route.app, frozenset(names_in(route.dependant)))


def names_in(dependant: Dependant) -> set[str]:
    """Its own, and those of what it depends on."""
    own = {one.alias for one in dependant.query_params}
    return own.union(*map(names_in, dependant.dependencies))


class KnownQuery:
    def __init__(self, app: ASGIApp, known: frozenset[str]) -> None:
        self._app = app
        self._known = known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["query_string"]:
            require_known(scope["query_string"].decode("latin-1"), self._known)
        await self._app(scope, receive, send)


def require_known(query: str, known: frozenset[str]) -> None:
    """Raises UsageError. Pure."""
    try:
        given = [name for name, _ in parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_NAMES)]
    except ValueError:
        raise UsageError(f"More than {MOST_NAMES} parameters are too many.") from None
    if unknown := next((name for name in given if name not in known), None):
        near = get_close_matches(unknown[:60], known, 1)
        fix = f"{near[0]} is known." if near else f"Those known: {', '.join(sorted(known)) or 'none'}."
        raise UsageError(f"There is no parameter {unknown[:60]!r} here.", fix=fix)
