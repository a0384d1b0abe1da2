"""Tokens of programs: 256 bits, shown once, kept as their hash alone."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.accounts.role import Role
from headwater.accounts.users import require_good_name
from headwater.chance import new_id, new_secret
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UsageError
from headwater.settings.durations import parse_span

queries = load_queries("headwater.accounts")

# So that people, and programs that look for lost secrets, know one when they see it.
MARK = "hw_"
TOKEN = re.compile(MARK + r"[A-Za-z0-9_-]{43}")
# Anything that may be one, or most of one, in a text.
TOKEN_IN_TEXT = re.compile(MARK + r"[A-Za-z0-9_-]{20,}")
SHOWN_LETTERS = len(MARK) + 6
USUAL_LIFE = "90d"
NEVER = "never"


@dataclass(frozen=True, slots=True)
class ApiToken:
    id: UUID
    name: str
    prefix: str
    role: Role
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewToken:
    """`secret` is the token itself: told to the one who asked for it, and to nobody again."""

    token: ApiToken
    secret: str

    def __repr__(self) -> str:
        return f"NewToken({self.token.name})"


def hash_of(secret: str) -> bytes:
    """Not slow, as for passwords: nobody guesses 256 bits."""
    return hashlib.sha256(secret.encode()).digest()


def without_tokens(text: str) -> str:
    return TOKEN_IN_TEXT.sub(f"{MARK}***", text)


def life_of(text: str) -> timedelta | None:
    """`90d`, `1y`; None for `never`."""
    if text.strip().lower() == NEVER:
        return None
    try:
        life = parse_span(text)
    except ValueError:
        life = timedelta()
    if not timedelta(minutes=1) <= life <= timedelta(days=3_650):
        raise UsageError("The token cannot expire then.", fix="Write it as 90d, 8w or 1y, or `never`.")
    return life


@dataclass(frozen=True, slots=True)
class TokenStore:
    database: Database

    async def add(self, name: str, role: Role, expires_at: datetime | None, by: str) -> NewToken:
        require_good_name(name)
        secret = MARK + new_secret()
        row = await self.database.fetchrow(
            *queries.add_token(
                id=new_id(),
                name=name,
                hash=hash_of(secret),
                prefix=secret[:SHOWN_LETTERS],
                role=role,
                created_by=by,
                expires_at=expires_at,
            )
        )
        if row is None:
            raise UsageError(f"There is a token {name!r} already.", fix="Take another name, or revoke that one.")
        return NewToken(_token(row), secret)

    async def shown(self, secret: str) -> ApiToken | None:
        """The token that a caller showed, if it holds; its use is noted."""
        if not TOKEN.fullmatch(secret):
            return None
        row = await self.database.fetchrow(queries.token_shown, hash_of(secret))
        if row is None:
            return None
        if row["is_to_be_noted"]:
            await self.database.execute(queries.note_token_used, row["id"])
        return _token(row)

    async def list(self, limit: int, before: tuple[datetime, UUID]) -> list[ApiToken]:
        """Newest first, revoked ones among them."""
        return [_token(row) for row in await self.database.fetch(queries.list_tokens, *before, limit)]

    async def called(self, name_or_id: str) -> ApiToken:
        """The one that holds of this name or id."""
        rows = await self.database.fetch(queries.tokens_called, name_or_id)
        if not rows:
            raise _unknown()
        return _token(rows[0])

    async def revoke(self, id_: UUID) -> ApiToken:
        row = await self.database.fetchrow(queries.revoke_token, id_)
        if row is None:
            raise _unknown()
        return _token(row)


def _unknown() -> NotFound:
    """Without the word that was typed: it may be the token itself."""
    return NotFound("There is no such token that holds.", fix="`headwater admin token list` shows those there are.")


def _token(row: Mapping[str, Any]) -> ApiToken:
    told = {name: value for name, value in row.items() if name not in ("hash", "is_to_be_noted")}
    return ApiToken(**told | {"role": Role(told["role"])})
