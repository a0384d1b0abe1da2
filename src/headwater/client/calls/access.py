"""Calls about access.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Unpack

from headwater.client.connection import Connection
from headwater.client.shapes.access import Login, MeShape, NewPassword


class AccessCalls(Connection):
    """A part of the client."""

    def log_in(self, **fields: Unpack[Login]) -> MeShape:
        """Log in with name and password; the answer sets a cookie, and tells the token against forged requests.

        A login before it ends. Programs use tokens instead.

        Role: everybody.
        """
        told: MeShape = self._ask("POST", "/api/v1/login", body=fields)
        return told

    def log_out(self, *, everywhere: bool | None = None) -> None:
        """End this login, or all of this person. A caller without a login has nothing to end.

        `everywhere`: End all logins of this person.
        Role: viewer.
        """
        self._ask("POST", "/api/v1/logout", query={"everywhere": everywhere})

    def show_me(self) -> MeShape:
        """Show who asks: name, role, and the token against forged requests of a session.

        Role: viewer.
        """
        told: MeShape = self._ask("GET", "/api/v1/me")
        return told

    def change_password(self, **fields: Unpack[NewPassword]) -> None:
        """Give yourself another password; all your logins end. For people who logged in here.

        Role: viewer.
        """
        self._ask("POST", "/api/v1/me/password", body=fields)
