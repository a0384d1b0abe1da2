"""Users, tokens and the audit log: page by page, and changed from the command line, which is audited as well."""

from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

from headwater.accounts.audit import LATEST, AuditFilter, AuditLine, AuditLog, StoredLine
from headwater.accounts.passwords import Passwords
from headwater.accounts.role import Role
from headwater.accounts.sessions import SessionInShort, Sessions
from headwater.accounts.tokens import ApiToken, NewToken, TokenStore, life_of
from headwater.accounts.users import User, UserChange, UserStore
from headwater.chance import new_id
from headwater.database.pool import Database
from headwater.reports.paging import ListPage, foreign_cursor, page_of
from headwater.services import Services

LATEST_TOKEN = (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))
COMMAND_LINE = "command line"


async def page_of_users(database: Database, limit: int, cursor: str | None) -> ListPage[User]:
    """By name."""
    found = await UserStore(database, Passwords()).list(limit + 1, cursor or "")
    return page_of(found, limit, lambda one: one.name)


async def page_of_tokens(database: Database, limit: int, cursor: str | None) -> ListPage[ApiToken]:
    """Newest first."""
    before = LATEST_TOKEN
    if cursor is not None:
        at, id_ = _place_in(cursor)
        before = at, _uuid_in(id_)
    found = await TokenStore(database).list(limit + 1, before)
    return page_of(found, limit, lambda one: f"{one.created_at.isoformat()}|{one.id}")


async def page_of_audit(
    database: Database, wanted: AuditFilter, limit: int, cursor: str | None
) -> ListPage[StoredLine]:
    """Newest first."""
    before = LATEST
    if cursor is not None:
        at, number = _place_in(cursor)
        before = at, _number_in(number)
    found = await AuditLog(database).read(wanted, limit + 1, before)
    return page_of(found, limit, lambda one: f"{one.at.isoformat()}|{one.id}")


def _place_in(cursor: str) -> tuple[datetime, str]:
    at, _, rest = cursor.partition("|")
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        raise foreign_cursor() from None
    if moment.tzinfo is None:
        raise foreign_cursor()
    return moment, rest


def _uuid_in(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise foreign_cursor() from None


def _number_in(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise foreign_cursor()
    return int(text)


async def make_token(services: Services, name: str, role: Role, expires: str, by: str) -> NewToken:
    life = life_of(expires)
    ends = services.clock.now() + life if life else None
    return await TokenStore(services.database).add(name, role, ends, by)


async def create_user(services: Services, name: str, role: Role, password: str) -> User:
    made = await _users(services).add(name, role, password, COMMAND_LINE)
    await _note(services, "add_user", f"/api/v1/users/{name}", {"role": role})
    return made


async def edit_user(services: Services, name: str, change: UserChange) -> User:
    changed = await _users(services).change(name, change, COMMAND_LINE)
    told = {"role": change.role, "is_disabled": change.is_disabled, "password": "***" if change.password else None}
    given = {field: value for field, value in told.items() if value is not None}
    await _note(services, "change_user", f"/api/v1/users/{name}", given)
    return changed


async def sessions_of_user(services: Services, name: str) -> list[SessionInShort]:
    """Raises NotFound."""
    user = await _users(services).read(name)
    return await _sessions(services).of_user(user.name)


async def end_logins(services: Services, name: str, id_: str | None) -> None:
    """One login of a user, or all. Raises NotFound."""
    user, sessions = await _users(services).read(name), _sessions(services)
    await (sessions.end_one(user.name, id_) if id_ else sessions.end_all_of(user.name))
    await _note(services, "end_session" if id_ else "end_sessions", f"/api/v1/users/{name}/sessions", {})


def _sessions(services: Services) -> Sessions:
    web = services.settings.web
    return Sessions(services.database, Passwords(services.figures), web.session_idle, web.session_lifetime)


async def delete_user(services: Services, name: str) -> None:
    await _users(services).remove(name, COMMAND_LINE)
    await _note(services, "remove_user", f"/api/v1/users/{name}", {})


async def create_token(services: Services, name: str, role: Role, expires: str) -> NewToken:
    made = await make_token(services, name, role, expires, COMMAND_LINE)
    await _note(services, "add_token", "/api/v1/tokens", {"name": name, "role": role, "expires": expires})
    return made


async def revoke_token(services: Services, name_or_id: str) -> ApiToken:
    tokens = TokenStore(services.database)
    revoked = await tokens.revoke((await tokens.called(name_or_id)).id)
    await _note(services, "revoke_token", f"/api/v1/tokens/{revoked.id}", {"name": revoked.name})
    return revoked


def _users(services: Services) -> UserStore:
    return UserStore(services.database, Passwords(services.figures))


async def _note(services: Services, action: str, target: str, body: Mapping[str, object]) -> None:
    """Whoever may run commands here may do everything: an admin."""
    line = AuditLine(
        COMMAND_LINE, Role.ADMIN, COMMAND_LINE, action, target, 200, str(new_id()), "", {"body": body} if body else {}
    )
    await AuditLog(services.database).write(line)
