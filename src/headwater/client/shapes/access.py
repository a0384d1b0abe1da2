"""Values of access.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Literal, TypedDict

from headwater.client.shapes.shared import Role


class Login(TypedDict):
    name: str
    password: str


class NewPassword(TypedDict):
    """Its fields:

    `current_password`: The password until now.
    `password`: 12 letters or more, 1,024 bytes at most.
    """

    current_password: str
    password: str


Proof = Literal["development", "token", "session", "proxy", "none"]


class MeShape(TypedDict):
    """Who asks, and what it may do.

    `proof`: How the caller showed who it is.
    `csrf_token`: To be sent as X-CSRF-Token with every change that a session makes.
    `expires_at`: When the login ends at the latest.
    """

    name: str
    role: Role
    proof: Proof
    csrf_token: str | None
    expires_at: str | None
