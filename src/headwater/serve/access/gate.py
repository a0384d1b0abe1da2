"""Each route says who may call it, by the type of a parameter: `Viewer`, `Operator`, `Admin`; or by `open_to_all`."""

from typing import Annotated

from fastapi import Depends, Request

from headwater.accounts.role import Role
from headwater.errors import Refused
from headwater.serve.access.caller import Caller, Proof
from headwater.serve.access.origins import require_genuine, require_same_origin
from headwater.serve.access.visits import SAFE_METHODS, visit_of


class Allowed:
    """A dependency: the caller, if its role suffices. `role` None is for everybody, known or not."""

    def __init__(self, role: Role | None) -> None:
        self.role = role

    async def __call__(self, request: Request) -> Caller | None:
        if self.role is None:
            # A page of another site must not log a person in, either.
            if request.method not in SAFE_METHODS:
                require_same_origin(request, public_url_of(request))
            return None
        caller = await identify(request)
        if not caller.role.includes(self.role):
            raise Refused(
                f"{caller.name} is a {caller.role} and may not do this.",
                fix=f"It needs the role {self.role}: ask an admin for a token or a login with it.",
            )
        return caller


async def identify(request: Request) -> Caller:
    """Raises NotIdentified, and Refused for a request that another site's page made in the name of a person."""
    caller = visit_of(request).require_caller()
    # A token is sent by a program on purpose, never by a browser on its own.
    if request.method not in SAFE_METHODS and caller.proof is not Proof.TOKEN:
        await require_genuine(request, caller, public_url_of(request))
    return caller


def public_url_of(request: Request) -> str:
    public_url: str = request.app.state.parts.services.settings.web.public_url
    return public_url


open_to_all = Depends(Allowed(None))
Viewer = Annotated[Caller, Depends(Allowed(Role.VIEWER))]
Operator = Annotated[Caller, Depends(Allowed(Role.OPERATOR))]
Admin = Annotated[Caller, Depends(Allowed(Role.ADMIN))]
