"""Every route says who may call it."""

import pytest
from fastapi.routing import APIRoute
from tests.integration.serve.callers import ApiCaller

from headwater.serve.access.visits import action_of
from headwater.serve.app import every_route
from headwater.serve.openapi import role_of

ROUTES = every_route()


def methods_of(route: APIRoute) -> set[str]:
    return route.methods or set()


# Open to everybody; each with its reason.
OPEN = {
    "/healthz": "load balancers ask it, and it tells nothing",
    "/static/{name}": "stylesheets, the same for everybody",
    "/api/v1/login": "who logs in is not known before",
    "/push/{token}": "hubs; the address itself is the secret, and what they bring is signed",
    "/login": "the same by a form",
    "/crawler": "for owners of sites, under a public address only; what they ask is a row that a person decides",
    "/.well-known/http-message-signatures-directory": "public keys: servers that check our signatures ask for them",
    "/": "leads to the console, and tells nothing",
}
# Changes that a viewer may make: of nothing but its own login.
OWN = {
    *("/api/v1/logout", "/api/v1/me/password", "/logout", "/console/theme"),
    *("/console/account/end-session", "/console/account/log-out-everywhere", "/console/account/password"),
}
# Asked by POST, and open to readers; each with its reason.
READ_BY_POST = {"/mcp": "a message of an agent; the tools that change something are offered to operators only"}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{min(methods_of(route))} {route.path}")
def test_a_route_says_who_may_call_it(route: APIRoute) -> None:
    role = role_of(route)
    assert (role == "everybody") == (route.path in OPEN)
    changes = bool(methods_of(route) - {"GET", "HEAD"})
    assert not changes or role in ("operator", "admin") or route.path in {*OPEN, *OWN, *READ_BY_POST}


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [action_of(route) for route in ROUTES]
    assert sorted(names) == sorted(set(names))


async def test_the_description_names_every_route_and_its_role(api: ApiCaller) -> None:
    described = (await api.get("openapi.json")).json
    for route in ROUTES:
        if route.include_in_schema:
            for method in methods_of(route):
                told = described["paths"][route.path_format][method.lower()]
                assert told["x-role"] == role_of(route)
                assert told["summary"]
                assert told["description"]
