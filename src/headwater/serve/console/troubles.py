"""Errors as pages: what happened, and the way on. Who is not known is asked to log in."""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from headwater.serve.access.visits import SAFE_METHODS, visit_of
from headwater.serve.console.components import way_on
from headwater.serve.console.shell import PAGE_HEADERS, brand, document
from headwater.serve.console.shown import cut
from headwater.serve.console.visit import SEE_OTHER, theme_of
from headwater.serve.pages.markup import Markup, element
from headwater.serve.problems import ProblemDetails

PLACES = ("/console", "/login", "/logout", "/crawler")
# Read by programs as well: a person is one who takes a page for an answer.
FOR_BOTH = "/api/docs"
NOT_IDENTIFIED = 401


def is_page(path: str, accepted: str) -> bool:
    """Whether a person asks by a browser, not a program. `accepted`: the kinds of answer that are taken."""
    if path == FOR_BOTH:
        return "text/html" in accepted
    return path == "/" or any(path == place or path.startswith(f"{place}/") for place in PLACES)


def page_of_problem(request: Request, found: ProblemDetails, headers: dict[str, str]) -> Response:
    if found.status == NOT_IDENTIFIED and request.url.path != "/login":
        visit_of(request).only_reads = True
        return RedirectResponse(login_path(request), SEE_OTHER)
    body = problem_page(found, request.state.request_id, theme_of(request))
    return HTMLResponse(body, found.status, {**PAGE_HEADERS, **headers})


def login_path(request: Request) -> str:
    """Back to where somebody wanted to go; after a form that was sent, to the beginning."""
    if request.method not in SAFE_METHODS:
        return "/login"
    query = f"?{request.url.query}" if request.url.query else ""
    return f"/login?next={quote(request.url.path + query, safe='')}"


def problem_page(found: ProblemDetails, request_id: str, theme: str) -> Markup:
    """Pure."""
    fields = [element("li", element("code", one.field), f" {cut(one.problem)}") for one in found.fields]
    told = element(
        "main",
        brand(),
        element("h1", found.title),
        element("p", cut(found.detail, 600), class_="lead"),
        element("p", way_on(found.fix, 600)) if found.fix else "",
        element("ul", *fields) if fields else "",
        element("p", element("a", "To the overview", href="/console"), class_="buttons"),
        element("p", f"Request {request_id}", class_="note"),
        id="content",
    )
    return document(found.title, told, theme=theme, class_="alone")
