"""Logging in and out with name and password: the same for programs of pages and for forms."""

from starlette.requests import Request

from headwater.accounts.attempts import TooManyAttempts
from headwater.accounts.passwords import require_good_password
from headwater.accounts.sessions import Session
from headwater.accounts.users import UserChange
from headwater.errors import NotFound, UsageError
from headwater.serve.access.caller import Caller, NotIdentified, Proof
from headwater.serve.access.entrance import Entrance
from headwater.serve.access.visits import visit_of


async def begin_login(entrance: Entrance, request: Request, name: str, password: str) -> Session:
    """A login before it ends. Raises NotIdentified and TooManyAttempts."""
    visit = visit_of(request)
    try:
        session = await entrance.sessions.log_in(name, password, visit.address)
    except TooManyAttempts:
        # Once for each wait: whoever tries without end must not fill the log.
        if await entrance.sessions.is_news(name, visit.address):
            visit.caller, visit.claims = None, await _known_name(entrance, name)
        raise
    if session is None:
        visit.caller, visit.claims = None, await _known_name(entrance, name)
        raise NotIdentified("Name and password do not fit.", fix="Try again, or ask an admin for a new password.")
    # A cookie that was there before, whoever put it there, proves nothing from now on.
    if (before := await entrance.session_in(request.headers)) is not None:
        await entrance.sessions.end(before.secret)
    visit.caller = Caller(session.user, session.role, Proof.SESSION, session)
    return session


def cookie_of(entrance: Entrance, session: Session) -> str:
    """As a header."""
    return entrance.set_cookie(session.secret, round(entrance.web.session_lifetime.total_seconds()))


async def end_login(entrance: Entrance, caller: Caller, *, everywhere: bool = False) -> str:
    """The header that takes the cookie away; empty where there was no login to end."""
    if caller.session is None:
        return ""
    if everywhere:
        await entrance.sessions.end_all_of(caller.session.user)
    await entrance.sessions.end(caller.session.secret)
    return entrance.set_cookie("", 0)


async def change_own_password(
    entrance: Entrance, caller: Caller, request: Request, current: str, password: str
) -> None:
    """All logins of the caller end. Raises UsageError, and TooManyAttempts."""
    if caller.session is None:
        raise UsageError("Only people who logged in have a password.", fix="Log in first.")
    require_good_password(password)
    if await entrance.sessions.log_in(caller.name, current, visit_of(request).address) is None:
        raise UsageError("The password until now is another one.", fix="Try again, or ask an admin for a new one.")
    await entrance.users.change(caller.name, UserChange(password=password), caller.name)


async def _known_name(entrance: Entrance, name: str) -> str:
    """For the audit log: people type passwords where names belong, and those stand nowhere."""
    try:
        return (await entrance.users.read(name)).name
    except NotFound:
        return ""
