"""Calls about users.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator
from typing import Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.users import NewUser, SessionList, UserChanges, UserList, UserShape


class UsersCalls(Connection):
    """A part of the client."""

    def list_users(self, *, limit: int | None = None, cursor: str | None = None) -> UserList:
        """List the people who may log in, by name.

        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: admin.
        """
        told: UserList = self._ask("GET", "/api/v1/users", query={"limit": limit, "cursor": cursor})
        return told

    def iter_users(self, *, limit: int | None = None) -> Iterator[UserShape]:
        """Each of `list_users`, page by page."""
        return self._each("users", lambda cursor: self.list_users(limit=limit, cursor=cursor))

    def add_user(self, **fields: Unpack[NewUser]) -> UserShape:
        """Let a person log in. The first one has to be an admin; from then on everybody has to log in.

        Role: admin.
        """
        told: UserShape = self._ask("POST", "/api/v1/users", body=fields)
        return told

    def change_user(self, name: str, /, **fields: Unpack[UserChanges]) -> UserShape:
        """Change a user's role or password, disable or enable it.

        Nobody takes the role of an admin from themselves, and one admin is always left.

        `name`: The user's name.
        Role: admin.
        """
        told: UserShape = self._ask("PATCH", f"/api/v1/users/{in_path(name)}", body=fields)
        return told

    def remove_user(self, name: str, /) -> None:
        """Remove a user with all its logins; not yourself, and not the last admin.

        `name`: The user's name.
        Role: admin.
        """
        self._ask("DELETE", f"/api/v1/users/{in_path(name)}")

    def list_sessions(self, name: str, /) -> SessionList:
        """List the logins of a user that hold, the latest first.

        `name`: The user's name.
        Role: admin.
        """
        told: SessionList = self._ask("GET", f"/api/v1/users/{in_path(name)}/sessions")
        return told

    def end_sessions(self, name: str, /) -> None:
        """End all logins of a user.

        `name`: The user's name.
        Role: admin.
        """
        self._ask("DELETE", f"/api/v1/users/{in_path(name)}/sessions")

    def end_session(self, name: str, id_: str, /) -> None:
        """End one login of a user.

        `name`: The user's name.
        `id_`: Of a login.
        Role: admin.
        """
        self._ask("DELETE", f"/api/v1/users/{in_path(name)}/sessions/{in_path(id_)}")
