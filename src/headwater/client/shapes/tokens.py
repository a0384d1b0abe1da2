"""Values of tokens.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import NotRequired, TypedDict

from headwater.client.shapes.shared import Role


class NewTokenShape(TypedDict):
    """Its fields:

    `prefix`: Its first letters, to know it again.
    `expires_at`: Nothing: never.
    `last_used_at`: To the minute.
    `token`: The token itself. It is told now and never again.
    """

    id: str
    name: str
    prefix: str
    role: Role
    created_by: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    token: str


class TokenRequest(TypedDict):
    """Its fields:

    `name`: Small letters, digits, and . _ @ -
    `role`: What it may do.
    `expires`: After how long: `90d`, `8w`, `1y`, or `never`.
    """

    name: str
    role: NotRequired[Role]
    expires: NotRequired[str]


class TokenShape(TypedDict):
    """Its fields:

    `prefix`: Its first letters, to know it again.
    `expires_at`: Nothing: never.
    `last_used_at`: To the minute.
    """

    id: str
    name: str
    prefix: str
    role: Role
    created_by: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class TokenList(TypedDict):
    tokens: list[TokenShape]
    cursor: str | None
