"""The web application: routes, what they share, and how errors are told."""

from collections.abc import Callable

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from headwater import __version__
from headwater.accounts.audit import AuditLog
from headwater.discover.push.callbacks import PLACE
from headwater.errors import HeadwaterError
from headwater.masking import Mode
from headwater.serve import hubs as callbacks
from headwater.serve import key_directory, shared
from headwater.serve.access.visits import Visits
from headwater.serve.agents import route as agents
from headwater.serve.api import (
    access,
    audit,
    changes,
    channels,
    crawl,
    description,
    documents,
    events,
    explain,
    frontier,
    health,
    hosts,
    jobs,
    older,
    operations,
    runs,
    search,
    sinks,
    source_bulk,
    source_exchange,
    source_parts,
    source_trying,
    sources,
    stats,
    stream,
    takedowns,
    templates,
    tokens,
    users,
    verifying,
    views,
    workers,
)
from headwater.serve.api.source_exchange import LARGEST_IMPORT_BYTES
from headwater.serve.console import crawl_page, entering, overview, problems_list, site_owners, style_page
from headwater.serve.console.routes import PAGE_ROUTERS
from headwater.serve.console.source_routes import SOURCE_ROUTERS
from headwater.serve.console.troubles import is_page, page_of_problem
from headwater.serve.etags import Revalidation
from headwater.serve.frame import Frame, FrameRules, names_of
from headwater.serve.hubs import LARGEST_PUSH_BYTES
from headwater.serve.known_query import refuse_unknown
from headwater.serve.large_bodies import LargeBodies
from headwater.serve.openapi import describe
from headwater.serve.pages import routes as pages
from headwater.serve.pages import static
from headwater.serve.problems import (
    ProblemDetails,
    fault,
    headers_of,
    problem_of,
    problem_of_fields,
    problem_of_http,
    response_of,
)
from headwater.serve.shared import Shared
from headwater.serve.ways import in_http

ROUTERS: tuple[APIRouter, ...] = (
    access.router,
    agents.router,
    audit.router,
    callbacks.router,
    changes.router,
    channels.router,
    crawl.router,
    crawl_page.router,
    description.router,
    documents.router,
    entering.router,
    events.router,
    explain.router,
    frontier.router,
    health.router,
    hosts.router,
    jobs.router,
    key_directory.router,
    older.router,
    operations.router,
    overview.router,
    pages.router,
    problems_list.router,
    runs.router,
    search.router,
    sinks.router,
    site_owners.router,
    source_bulk.router,
    source_exchange.router,
    source_parts.router,
    source_trying.router,
    # Behind those: the name of a source in its routes may hold any slash.
    sources.router,
    static.router,
    stats.router,
    stream.router,
    style_page.router,
    takedowns.router,
    templates.router,
    tokens.router,
    users.router,
    verifying.router,
    views.router,
    workers.router,
    *PAGE_ROUTERS,
    *SOURCE_ROUTERS,
)
# Bytes that a body may have, where that is more than usual.
LARGER_BODIES = {
    "/api/v1/frontier/submit/bulk": 10_000_000,
    "/api/v1/sources/import": LARGEST_IMPORT_BYTES,
    PLACE: LARGEST_PUSH_BYTES,
    # A form writes a list in up to three times its length.
    "/console/sources/import": LARGEST_IMPORT_BYTES,
}
GZIP_FROM_BYTES = 1_000


def make_app(parts: Shared) -> ASGIApp:
    settings, services = parts.services.settings, parts.services
    app = described_app()
    shared.attach(app, parts)
    tell_errors(app, settings.service.mode)
    web = settings.web
    rules = FrameRules(names_of(web.host, web.public_url, web.allowed_hosts), LARGER_BODIES, settings.service.mode)
    inside = LargeBodies(GZipMiddleware(Revalidation(app), GZIP_FROM_BYTES))
    visits = Visits(inside, parts.entrance, AuditLog(services.database), services.log)
    return Frame(visits, rules, services.log, services.clock)


def described_app() -> FastAPI:
    """All routes with their description, and nothing that they need to answer."""
    app = FastAPI(title="Headwater", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    for route in every_route():
        refuse_unknown(route)
        app.router.routes.append(route)
    describe(app)
    return app


def every_route() -> list[APIRoute]:
    """All that is served, whoever may call it."""
    return [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]


def tell_errors(app: FastAPI, mode: Mode) -> None:
    def telling(kind: type[Exception], made: Callable[..., ProblemDetails]) -> None:
        async def tell(request: Request, error: Exception) -> Response:
            found, headers = made(error), headers_of(error)
            if is_page(request.url.path, request.headers.get("accept", "")):
                return page_of_problem(request, found, dict(headers))
            found.fix = in_http(found.fix)
            return response_of(found, request.state.request_id, headers)

        app.add_exception_handler(kind, tell)

    telling(HeadwaterError, lambda error: problem_of(error, mode))
    telling(RequestValidationError, problem_of_fields)
    telling(HTTPException, problem_of_http)
    # It is told here, and goes on to the frame, which logs it.
    telling(Exception, lambda _error: fault())
