"""/, /login, /logout and the choice of colours."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from headwater.accounts.attempts import TooManyAttempts
from headwater.accounts.passwords import MOST_BYTES
from headwater.errors import UsageError
from headwater.serve.access.caller import NotIdentified
from headwater.serve.access.gate import Viewer, open_to_all
from headwater.serve.access.logins import begin_login, cookie_of, end_login
from headwater.serve.access.visits import visit_of
from headwater.serve.console.forms import Fields, button, error_summary, form, hidden, text_field
from headwater.serve.console.shell import PAGE_HEADERS, brand, document
from headwater.serve.console.visit import SEE_OTHER, THEME_COOKIE, THEMES, local_path, see_other, theme_of
from headwater.serve.pages.markup import Markup, element
from headwater.serve.shared import Entered

router = APIRouter(include_in_schema=False)

HOME = "/console"
LONGEST_NAME = 63
YEAR_SECONDS = 31_536_000
Next = Annotated[str, Query(max_length=2_000)]


@router.get("/", dependencies=[open_to_all])
async def go_to_console() -> RedirectResponse:
    """To the overview."""
    return RedirectResponse(HOME, SEE_OTHER)


@router.get("/login", dependencies=[open_to_all])
async def login_page(request: Request, next: Next = HOME) -> Response:  # noqa: A002 - its name in addresses
    """Ask for name and password; a person who is known goes on."""
    if visit_of(request).caller is not None:
        return RedirectResponse(local_path(next, HOME), SEE_OTHER)
    return _answer(login_form(local_path(next, HOME)), request)


@router.post("/login", dependencies=[open_to_all])
async def send_login(entrance: Entered, request: Request, fields: Fields) -> Response:
    """Log in; what a person typed wrong is asked again, never shown."""
    wanted, name, password = local_path(fields.get("next"), HOME), fields.get("name"), fields.get("password")
    try:
        if not 0 < len(name) <= LONGEST_NAME or not 0 < len(password.encode()) <= MOST_BYTES:
            raise UsageError("Name and password do not fit.")
        session = await begin_login(entrance, request, name, password)
    except TooManyAttempts as error:
        return _answer(login_form(wanted, f"{error.what} {error.fix}"), request, 429)
    except (NotIdentified, UsageError) as error:
        return _answer(login_form(wanted, error.what), request, 401)
    return RedirectResponse(wanted, SEE_OTHER, {"set-cookie": cookie_of(entrance, session)})


@router.post("/logout")
async def send_logout(caller: Viewer, entrance: Entered) -> Response:
    """End this login."""
    cookie = await end_login(entrance, caller)
    return RedirectResponse("/login", SEE_OTHER, {"set-cookie": cookie} if cookie else None)


@router.post("/console/theme")
async def choose_theme(caller: Viewer, request: Request, fields: Fields) -> Response:
    """Light or dark, for this browser."""
    visit_of(request).only_reads = True
    answer = see_other(local_path(fields.get("next"), HOME))
    if fields.get("theme") in THEMES:
        answer.set_cookie(THEME_COOKIE, fields.get("theme"), YEAR_SECONDS, httponly=True, samesite="lax")
    return answer


def login_form(wanted: str, wrong: str = "") -> Markup:
    """Pure."""
    asked = form(
        "/login",
        "",
        hidden("next", wanted),
        text_field(
            "name",
            "Name",
            required="required",
            maxlength=str(LONGEST_NAME),
            autocomplete="username",
            autofocus="autofocus",
        ),
        text_field(
            "password",
            "Password",
            type="password",
            required="required",
            maxlength=str(MOST_BYTES),
            autocomplete="current-password",
        ),
        button("Log in", kind="primary"),
    )
    wrong_told = error_summary(wrong) if wrong else ""
    lost = element(
        "p",
        "No account, or a lost password: ask an admin. On the server: ",
        element("code", "headwater admin create NAME"),
        class_="note",
    )
    return element("main", brand(), element("h1", "Log in"), wrong_told, asked, lost, id="content")


def _answer(main: Markup, request: Request, status: int = 200) -> HTMLResponse:
    made = document("Log in", main, theme=theme_of(request), class_="alone")
    return HTMLResponse(made, status, dict(PAGE_HEADERS))
