"""People who log in: made, listed, changed and removed. There is always an admin left."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.accounts.passwords import Passwords
from headwater.accounts.role import Role
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, Refused, UsageError

queries = load_queries("headwater.accounts")

NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,62}")


@dataclass(frozen=True, slots=True)
class User:
    name: str
    role: Role
    is_disabled: bool
    created_by: str
    created_at: datetime
    password_changed_at: datetime
    last_login_at: datetime | None


@dataclass(frozen=True, slots=True)
class UserChange:
    """None leaves it as it is."""

    role: Role | None = None
    is_disabled: bool | None = None
    password: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.role is None and self.is_disabled is None and self.password is None


def require_good_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise UsageError(
            "This name cannot be used.",
            fix="Give small letters, digits, and . _ @ - behind the first of them; 63 at most.",
        )


@dataclass(frozen=True, slots=True)
class UserStore:
    database: Database
    passwords: Passwords

    async def add(self, name: str, role: Role, password: str, by: str) -> User:
        require_good_name(name)
        hashed = await self.passwords.hash(password)
        async with self.database.transaction() as connection:
            if role is not Role.ADMIN and not await connection.fetch(queries.lock_admins):
                raise UsageError("There is no admin yet.", fix="Make an admin first; the next ones may be anything.")
            row = await connection.fetchrow(queries.add_user, name, role, hashed, by)
        if row is None:
            raise UsageError(f"There is a user {name!r} already.", fix="Take another name, or change that one.")
        return _user(row)

    async def read(self, name: str) -> User:
        row = await self.database.fetchrow(queries.read_user, name)
        if row is None:
            raise _unknown(name)
        return _user(row)

    async def list(self, limit: int, after: str = "") -> list[User]:
        return [_user(row) for row in await self.database.fetch(queries.list_users, after, limit)]

    async def change(self, name: str, change: UserChange, by: str) -> User:
        """Sessions end with the password, the role or the leave that they began with."""
        if change.is_empty:
            raise UsageError("Nothing is to be changed.", fix="Give a role, a password, or whether it is disabled.")
        hashed = None if change.password is None else await self.passwords.hash(change.password)
        async with self.database.transaction() as connection:
            before = await self._for_change(connection, name)
            loses = (change.role or Role.ADMIN) is not Role.ADMIN or change.is_disabled is True
            if loses:
                await self._require_another_admin(connection, before, by)
            row = await connection.fetchrow(queries.change_user, name, change.role, change.is_disabled, hashed)
            assert row is not None
            changed = _user(row)
            if hashed or changed.role is not before.role or changed.is_disabled:
                await connection.execute(queries.end_sessions_of, name)
        return changed

    async def remove(self, name: str, by: str) -> None:
        async with self.database.transaction() as connection:
            before = await self._for_change(connection, name)
            await self._require_another_admin(connection, before, by)
            await connection.execute(queries.remove_user, name)

    async def _for_change(self, connection: Connection, name: str) -> User:
        # Admins first, in one order: two admins who remove each other wait for each other.
        await connection.fetch(queries.lock_admins)
        row = await connection.fetchrow(queries.lock_user, name)
        if row is None:
            raise _unknown(name)
        return _user(row)

    async def _require_another_admin(self, connection: Connection, user: User, by: str) -> None:
        if user.name == by:
            raise Refused("This is your own account.", fix="Ask another admin to do it.")
        if user.role is not Role.ADMIN or user.is_disabled:
            return
        others = {row["name"] for row in await connection.fetch(queries.lock_admins)} - {user.name}
        if not others:
            raise Refused(f"{user.name} is the last admin.", fix="Make another admin first.")


def _unknown(name: str) -> NotFound:
    return NotFound(f"There is no user {name[:63]!r}.", fix="`headwater admin list` shows those there are.")


def _user(row: Mapping[str, Any]) -> User:
    told = {name: value for name, value in row.items() if name != "password_hash"}
    return User(**told | {"role": Role(told["role"])})
