"""/api/v1/login, /logout and /me: who asks."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from headwater.accounts.passwords import MOST_BYTES
from headwater.accounts.role import Role
from headwater.serve.access.caller import Caller, Proof
from headwater.serve.access.gate import Viewer, open_to_all
from headwater.serve.access.logins import begin_login, change_own_password, cookie_of, end_login
from headwater.serve.access.visits import visit_of
from headwater.serve.api.users import Password
from headwater.serve.problems import MEDIA_TYPE, ProblemDetails
from headwater.serve.shared import Entered

router = APIRouter(prefix="/api/v1", tags=["access"])

TOO_MANY: dict[int | str, dict[str, Any]] = {
    429: {
        "description": "Too many logins failed; Retry-After says how many seconds to wait.",
        "model": ProblemDetails,
        "content": {MEDIA_TYPE: {}},
    }
}


class Login(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=63, examples=["ann"])
    password: str = Field(min_length=1, max_length=MOST_BYTES)


class NewPassword(BaseModel):
    model_config = ConfigDict(extra="forbid")

    current_password: str = Field(min_length=1, max_length=MOST_BYTES, description="The password until now.")
    password: Password


class MeShape(BaseModel):
    """Who asks, and what it may do."""

    name: str
    role: Role
    proof: Proof = Field(description="How the caller showed who it is.")
    csrf_token: str | None = Field(description="To be sent as X-CSRF-Token with every change that a session makes.")
    expires_at: datetime | None = Field(description="When the login ends at the latest.")


@router.post("/login", dependencies=[open_to_all], responses=TOO_MANY)
async def log_in(entrance: Entered, request: Request, response: Response, wanted: Login) -> MeShape:
    """Log in with name and password; the answer sets a cookie, and tells the token against forged requests.

    A login before it ends. Programs use tokens instead.
    """
    session = await begin_login(entrance, request, wanted.name, wanted.password)
    response.headers["set-cookie"] = cookie_of(entrance, session)
    return _me(visit_of(request).require_caller())


@router.post("/logout", status_code=204)
async def log_out(
    caller: Viewer,
    entrance: Entered,
    response: Response,
    everywhere: Annotated[bool, Query(description="End all logins of this person.")] = False,
) -> None:
    """End this login, or all of this person. A caller without a login has nothing to end."""
    if cookie := await end_login(entrance, caller, everywhere=everywhere):
        response.headers["set-cookie"] = cookie


@router.get("/me")
async def show_me(caller: Viewer) -> MeShape:
    """Show who asks: name, role, and the token against forged requests of a session."""
    return _me(caller)


@router.post("/me/password", status_code=204, responses=TOO_MANY)
async def change_password(caller: Viewer, entrance: Entered, request: Request, wanted: NewPassword) -> None:
    """Give yourself another password; all your logins end. For people who logged in here."""
    await change_own_password(entrance, caller, request, wanted.current_password, wanted.password)


def _me(caller: Caller) -> MeShape:
    session = caller.session
    return MeShape(
        name=caller.name,
        role=caller.role,
        proof=caller.proof,
        csrf_token=session.csrf_token if session else None,
        expires_at=session.expires_at if session else None,
    )
