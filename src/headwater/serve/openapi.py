"""The description of the API, OpenAPI 3.1: what FastAPI knows of the routes, and what every route shares."""

from typing import Any, get_args

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from headwater.serve.access.gate import Allowed
from headwater.serve.access.visits import action_of
from headwater.serve.editions import HEADER as CONDITION
from headwater.serve.editions import IfMatch
from headwater.serve.idempotency import HEADER
from headwater.serve.problems import MEDIA_TYPE, ProblemDetails
from headwater.serve.shared import OnceOnly

SUMMARY = (
    "Feed-first, polite web ingestion: sources, the queue of URLs, documents, vacancies, views, sinks and changes."
)
TROUBLES = {
    "401": "Nothing, or nothing valid, says who asks.",
    "403": "The caller's role does not allow it, or a policy forbids it.",
    "404": "The named thing does not exist.",
    "409": "Another process holds it, or the same request is under way.",
    "413": "The body is too large.",
    "422": "The request cannot be carried out as it was made.",
    "429": "Too many requests of this kind are under way.",
    "503": "The database, or another service that is needed, does not answer.",
}
SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "For programs: a token of POST /api/v1/tokens."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-headwater",
        "description": "For people: the cookie of POST /api/v1/login. Changes need the header X-CSRF-Token as well, "
        "with the `csrf_token` of GET /api/v1/me. On this machine without https the cookie is called `headwater`.",
    },
}
# What a route depends on whose answers are kept.
KEEPS_ANSWERS = get_args(OnceOnly)[1].dependency
IDEMPOTENCY_KEY = {
    "name": HEADER.title(),
    "in": "header",
    "required": False,
    "description": "1 to 200 visible ASCII signs. The same request with the same key is answered, and not done, again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}


# What a route depends on that refuses to change something newer.
IS_CONDITIONAL = get_args(IfMatch)[1].dependency
IF_MATCH = {
    "name": CONDITION.title(),
    "in": "header",
    "required": False,
    "description": "The ETag or the `edition` of what this change was made from: over a newer one it is refused, 412.",
    "schema": {"type": "string", "maxLength": 2000},
}


def describe(app: FastAPI) -> None:
    """Set how the app tells its description; it is made once, when it is first asked for."""

    def description() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = _description(app)
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]


def _description(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(
        title=app.title, version=app.version, summary=SUMMARY, routes=app.routes, openapi_version="3.1.0"
    )
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    problem = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= problem.pop("$defs", {}) | {"ProblemDetails": problem}
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    components["securitySchemes"] = SCHEMES
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            _describe_route(route, made["paths"][route.path_format])
    return made


def _describe_route(route: APIRoute, path: dict[str, Any]) -> None:
    role = role_of(route)
    for method in (method.lower() for method in route.methods or ()):
        operation = path[method]
        for status, told in TROUBLES.items():
            operation["responses"][status] = {
                "description": told,
                "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
            }
        operation["summary"] = operation.get("description", "").partition("\n")[0]
        # By which programs call it: the client has a method for each.
        if any(one.call is KEEPS_ANSWERS for one in route.dependant.dependencies):
            operation.setdefault("parameters", []).append(IDEMPOTENCY_KEY)
        if any(one.call is IS_CONDITIONAL for one in route.dependant.dependencies):
            operation.setdefault("parameters", []).append(IF_MATCH)
            operation["responses"]["412"] = {
                "description": "It was changed since it was read.",
                "content": operation["responses"]["422"]["content"],
            }
        operation["x-role"] = role
        operation["operationId"] = action_of(route)
        operation["security"] = [{"token": []}, {"session": []}] if role != "everybody" else []
        operation["responses"]["401"]["headers"] = {
            "WWW-Authenticate": {"description": "How to show it.", "schema": {"type": "string"}}
        }


def role_of(route: APIRoute) -> str:
    """Who may call it; raises LookupError for a route that does not say."""
    for dependency in route.dependant.dependencies:
        if isinstance(dependency.call, Allowed):
            return str(dependency.call.role or "everybody")
    raise LookupError(f"{route.path} does not say who may call it")
