"""/console/account: what one may do about oneself: where one is logged in, an end to it, another password."""

from typing import NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from headwater.accounts.passwords import MOST_BYTES
from headwater.accounts.sessions import Session
from headwater.errors import HeadwaterError, UsageError
from headwater.serve.access.caller import Caller, Proof
from headwater.serve.access.gate import Viewer
from headwater.serve.access.logins import change_own_password, end_login
from headwater.serve.console.components import empty_state, facts, panel, way_on
from headwater.serve.console.forms import Fields, action_button, button, confirm_form, error_summary, form, text_field
from headwater.serve.console.logins_table import logins_table
from headwater.serve.console.shell import ACCOUNT, PageBody
from headwater.serve.console.shown import moment
from headwater.serve.console.visit import SEE_OTHER, PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import Entered

router = APIRouter(include_in_schema=False)

END, EVERYWHERE, PASSWORD = f"{ACCOUNT}/end-session", f"{ACCOUNT}/log-out-everywhere", f"{ACCOUNT}/password"
PROOFS = {
    Proof.DEVELOPMENT: "nobody has to log in here: development mode, on this machine alone",
    Proof.TOKEN: "by a token",
    Proof.PROXY: "by the proxy in front, which ends the login as well",
    Proof.SESSION: "by name and password",
}


class WrongPassword(NamedTuple):
    says: str
    fix: str


@router.get(ACCOUNT)
async def account_page(caller: Viewer, visit: Visited, entrance: Entered) -> HTMLResponse:
    """Show who asks, and where else this person is logged in."""
    return await visit.page(await _account(caller, visit, entrance))


async def _account(caller: Caller, visit: PageVisit, entrance: Entered, wrong: WrongPassword | None = None) -> PageBody:
    known = [("Name", caller.name), ("Role", Markup(str(caller.role))), ("Known", PROOFS.get(caller.proof, ""))]
    if caller.session is None:
        none = empty_state("There is no login to end.")
        return PageBody("Your account", joined(panel("You", facts(known)), panel("Logins", none)))
    known.append(("This login ends", moment(caller.session.expires_at, visit.now)))
    found = await entrance.sessions.of_user(caller.name)
    listed = logins_table(visit, found, caller.session.id, END)
    every = action_button(EVERYWHERE, visit.csrf_token, "Log out everywhere", kind="danger")
    main = joined(
        panel("You", facts(known)), panel("Logins", listed, actions=every, id_="logins"), _password(visit, wrong)
    )
    return PageBody("Your account", main, "Where you are logged in, and your password.")


def _password(visit: PageVisit, wrong: WrongPassword | None) -> Markup:
    most = {"type": "password", "required": "required", "maxlength": str(MOST_BYTES)}
    asked = form(
        PASSWORD,
        visit.csrf_token,
        error_summary(wrong.says, way_on(wrong.fix)) if wrong else "",
        text_field("current_password", "Password until now", autocomplete="current-password", **most),
        text_field("password", "New password", autocomplete="new-password", hint="All your logins end.", **most),
        element("div", button("Change it", kind="primary"), class_="buttons"),
        class_="form",
    )
    return panel("Another password", asked)


def _session_of(caller: Caller) -> Session:
    if caller.session is None:
        raise UsageError("There is no login to end.", fix="Only people who logged in here have one.")
    return caller.session


@router.post(END)
async def end_own_session(caller: Viewer, visit: Visited, entrance: Entered, fields: Fields) -> Response:
    """End one login of your own."""
    own = _session_of(caller)
    if fields.get("id") == own.id:
        cookie = await end_login(entrance, caller)
        return RedirectResponse("/login", SEE_OTHER, {"set-cookie": cookie})
    await entrance.sessions.end_one(own.user, fields.get("id"))
    return see_other(ACCOUNT, "The login has ended.")


@router.post(EVERYWHERE)
async def log_out_everywhere(caller: Viewer, visit: Visited, entrance: Entered, fields: Fields) -> Response:
    """End all your logins, this one too."""
    count = len(await entrance.sessions.of_user(_session_of(caller).user))
    if not fields.is_confirmed:
        fact = f"{count:,} {'login ends' if count == 1 else 'logins end'}, this one too. Tokens of programs stay."
        asked = confirm_form(EVERYWHERE, visit.csrf_token, [], fact, verb="Log out everywhere", back=ACCOUNT)
        return await visit.page(PageBody("Log out everywhere?", asked))
    cookie = await end_login(entrance, caller, everywhere=True)
    return RedirectResponse("/login", SEE_OTHER, {"set-cookie": cookie})


@router.post(PASSWORD)
async def change_own_password_by_form(
    caller: Viewer, visit: Visited, entrance: Entered, request: Request, fields: Fields
) -> Response:
    """Give yourself another password."""
    try:
        await change_own_password(entrance, caller, request, fields.get("current_password"), fields.get("password"))
    except HeadwaterError as error:
        body = await _account(caller, visit, entrance, WrongPassword(error.what, error.fix))
        return await visit.page(body, status=422)
    return RedirectResponse("/login", SEE_OTHER, {"set-cookie": entrance.set_cookie("", 0)})
