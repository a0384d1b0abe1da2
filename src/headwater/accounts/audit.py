"""The audit log: who changed what through the web role, without secrets. Written, read, and forgotten after a time."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from headwater.accounts.role import Role
from headwater.accounts.tokens import without_tokens
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.storable import cut_text, storable

queries = load_queries("headwater.accounts")

MASK = "***"
# More than a log hides: an audit log is read by many and kept for long.
SECRET_NAME = re.compile(
    r"pass|secret|token|auth(?!ors?(?:_|$))|cookie|credential|signature|bearer|(?:^|[_.-])(?:api)?key$|apikey",
    re.IGNORECASE,
)
USERINFO = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]{0,30}://)[^/@\s]{0,1000}@", re.IGNORECASE)
# `?api_key=…` in an address.
IN_QUERY = re.compile(
    r"(?P<name>[?&;][\w.-]{0,60}(?:pass|secret|token|auth|key|sig)[\w.-]{0,60}=)[^&#\s]+", re.IGNORECASE
)
MOST_FIELDS, LONGEST_TEXT, DEEPEST = 50, 200, 4
LARGEST_DETAILS_BYTES = 8_000
LONGEST_TARGET = 500
FORGOTTEN_AT_ONCE = 5_000
LATEST = (datetime.max.replace(tzinfo=UTC), 2**63 - 1)
EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AuditLine:
    """`role` is None where nobody showed who it is: a login that was refused."""

    actor: str
    role: Role | None
    proof: str
    action: str
    target: str
    status: int
    request_id: str
    address: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredLine(AuditLine):
    id: int = 0
    at: datetime = EARLIEST


@dataclass(frozen=True, slots=True)
class AuditFilter:
    actor: str | None = None
    action: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditLog:
    database: Database

    async def write(self, line: AuditLine) -> None:
        await self.database.execute(*queries.write_audit(**asdict(line)))

    async def read(self, wanted: AuditFilter, limit: int, before: tuple[datetime, int] = LATEST) -> list[StoredLine]:
        """Newest first; each filter by an index of its own."""
        values = (*before, wanted.since or EARLIEST, limit)
        match wanted:
            case AuditFilter(actor=None, action=None):
                rows = await self.database.fetch(queries.audit_page, *values)
            case AuditFilter(action=None):
                rows = await self.database.fetch(queries.audit_page_of_actor, *values, wanted.actor)
            case AuditFilter(actor=None):
                rows = await self.database.fetch(queries.audit_page_of_action, *values, wanted.action)
            case _:
                rows = await self.database.fetch(queries.audit_page_of_both, *values, wanted.actor, wanted.action)
        return [StoredLine(**dict(row)) for row in rows]

    async def forget(self, days: int) -> None:
        """Some at a time, each in a statement of its own."""
        while await self.database.execute(queries.forget_audit, days, FORGOTTEN_AT_ONCE) != "DELETE 0":
            pass


def target_of(path: str) -> str:
    """The path that was asked for, fit to be kept."""
    return cut_text(without_tokens(storable(path)), LONGEST_TARGET)


def details_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for: its secrets masked, its texts cut, and no larger than a line should be."""
    shown = {name: _shown(name, value, 0) for name, value in given.items() if value}
    size = len(orjson.dumps(shown))
    return shown if size <= LARGEST_DETAILS_BYTES else {"left_out": f"{size:,} bytes"}


def _shown(name: str, value: Any, depth: int) -> Any:
    if SECRET_NAME.search(name) and not isinstance(value, bool | None):
        return MASK
    match value:
        case str():
            return _text(value, depth)
        case dict() if depth < DEEPEST:
            few = list(value.items())[:MOST_FIELDS]
            return {_text(str(key), DEEPEST): _shown(str(key), inner, depth + 1) for key, inner in few}
        case list() if depth < DEEPEST:
            return [_shown("", inner, depth + 1) for inner in value[:MOST_FIELDS]]
        case bool() | int() | float() | None:
            return value
    return "…"


def _text(text: str, depth: int) -> Any:
    if text.lstrip()[:1] in ("{", "[") and depth < DEEPEST:
        # A recipe is JSON inside of JSON.
        try:
            return _shown("", orjson.loads(text), depth + 1)
        except orjson.JSONDecodeError:
            pass
    masked = IN_QUERY.sub(rf"\g<name>{MASK}", USERINFO.sub(rf"\g<scheme>{MASK}@", without_tokens(storable(text))))
    return cut_text(masked, LONGEST_TEXT)
