"""Values of users.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import NotRequired, TypedDict

from headwater.client.shapes.shared import Role


class NewUser(TypedDict):
    """Its fields:

    `name`: Small letters, digits, and . _ @ -
    `role`: viewer reads, operator changes data, admin all else.
    `password`: 12 letters or more, 1,024 bytes at most.
    """

    name: str
    role: NotRequired[Role]
    password: str


class SessionShape(TypedDict):
    """A login of a user.

    `address`: From where it was made.
    """

    id: str
    address: str
    created_at: str
    last_seen_at: str
    expires_at: str


class SessionList(TypedDict):
    sessions: list[SessionShape]


class UserChanges(TypedDict):
    """Fields that are not given stay as they are.

    `role`: A new role ends the user's logins.
    `is_disabled`: Whether it may not log in.
    `password`: A new password ends the user's logins.
    """

    role: NotRequired[Role | None]
    is_disabled: NotRequired[bool | None]
    password: NotRequired[str | None]


class UserShape(TypedDict):
    name: str
    role: Role
    is_disabled: bool
    created_by: str
    created_at: str
    password_changed_at: str
    last_login_at: str | None


class UserList(TypedDict):
    users: list[UserShape]
    cursor: str | None
