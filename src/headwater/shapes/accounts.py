"""Users, tokens and lines of the audit log; none of them holds a secret."""

from dataclasses import asdict
from typing import Any

from headwater.accounts.audit import StoredLine
from headwater.accounts.tokens import ApiToken, NewToken
from headwater.accounts.users import User


def user_as_dict(one: User) -> dict[str, Any]:
    return asdict(one)


def token_as_dict(one: ApiToken) -> dict[str, Any]:
    return asdict(one)


def new_token_as_dict(one: NewToken) -> dict[str, Any]:
    """With the token itself: the only time that it is told."""
    return token_as_dict(one.token) | {"token": one.secret}


def audit_line_as_dict(one: StoredLine) -> dict[str, Any]:
    return {"id": one.id, "at": one.at} | {
        name: value for name, value in asdict(one).items() if name not in ("id", "at")
    }
