"""Logins of people: a cookie whose hash is a row, until it is idle, old, or ended."""

import hmac
import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta

from headwater.accounts.attempts import Attempts
from headwater.accounts.passwords import Passwords
from headwater.accounts.role import Role
from headwater.accounts.tokens import hash_of
from headwater.chance import new_secret
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound

queries = load_queries("headwater.accounts")

SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
# Of one person at once; the oldest end.
MOST_SESSIONS = 50


@dataclass(frozen=True, slots=True)
class Session:
    """`secret` is the value of the cookie."""

    secret: str
    user: str
    role: Role
    expires_at: datetime

    def __repr__(self) -> str:
        return f"Session({self.user})"

    @property
    def id(self) -> str:
        """As `SessionInShort` has it."""
        return hash_of(self.secret)[:16].hex()

    @property
    def csrf_token(self) -> str:
        """Made of the cookie's value, which no page of another site can read."""
        made = hmac.digest(self.secret.encode(), b"headwater csrf token", "sha256")
        return urlsafe_b64encode(made).decode().rstrip("=")

    def is_own(self, csrf_token: str) -> bool:
        return hmac.compare_digest(self.csrf_token.encode(), csrf_token.encode(errors="replace"))


@dataclass(frozen=True, slots=True)
class SessionInShort:
    """A login as people see it. `id` is made of the hash, and tells nothing of the cookie."""

    id: str
    address: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Sessions:
    """`idle` and `life`: how long a session holds without a request, and at most."""

    database: Database
    passwords: Passwords
    idle: timedelta
    life: timedelta

    async def log_in(self, name: str, password: str, address: str) -> Session | None:
        """None where name and password do not fit, or the user is disabled. Raises TooManyAttempts."""
        attempts = Attempts(self.database)
        await attempts.begin(name, address)
        row = await self.database.fetchrow(queries.read_user, name)
        if not await self.passwords.fits(password, row["password_hash"] if row else None):
            return None
        assert row is not None
        secret = new_secret()
        expires_at = await self.database.fetchval(
            queries.begin_session, hash_of(secret), name, row["password_hash"], address, self.life
        )
        if expires_at is None:
            return None
        await attempts.succeed(name, address)
        await self._note_login(name, password, row["password_hash"])
        return Session(secret, name, Role(row["role"]), expires_at)

    async def _note_login(self, name: str, password: str, known: str) -> None:
        renewed = await self.passwords.hash_again(password) if self.passwords.is_outdated(known) else None
        async with self.database.transaction() as connection:
            await connection.execute(queries.note_login, name, known, renewed)
            await connection.execute(queries.drop_oldest_sessions, name, MOST_SESSIONS)

    async def shown(self, secret: str) -> Session | None:
        """The one whose cookie a caller showed, if it holds; that it was seen is noted."""
        if not SECRET.fullmatch(secret):
            return None
        row = await self.database.fetchrow(queries.session_shown, hash_of(secret), self.idle)
        if row is None:
            return None
        if row["is_to_be_noted"]:
            await self.database.execute(queries.note_session_seen, hash_of(secret))
        return Session(secret, row["name"], Role(row["role"]), row["expires_at"])

    async def end(self, secret: str) -> None:
        await self.database.execute(queries.end_session, hash_of(secret))

    async def of_user(self, user: str) -> list[SessionInShort]:
        """Those that hold, the latest first."""
        rows = await self.database.fetch(queries.list_sessions_of, user, self.idle, MOST_SESSIONS)
        return [SessionInShort(**row) for row in rows]

    async def end_one(self, user: str, id_: str) -> None:
        """Raises NotFound."""
        if not await self.database.fetchval(queries.end_session_called, user, id_):
            raise NotFound(f"{user} has no such login.", fix="It may have ended by itself.")

    async def is_news(self, name: str, address: str) -> bool:
        return await Attempts(self.database).is_news(name, address)

    async def end_all_of(self, user: str) -> None:
        await self.database.execute(queries.end_sessions_of, user)

    async def forget(self) -> None:
        await self.database.execute(queries.forget_sessions, self.idle)
