"""What the driver raises, in our own words: which trouble is a lost database and which a refused statement."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, unquote

import asyncpg

from headwater.errors import DatabaseDown, QueryFailed, SettingError

PASSWORD_BEFORE_HOST = re.compile(r"(://[^:@/?]*):.*@", re.DOTALL)
PASSWORD_AS_PARAMETER = re.compile(r"((?:^|[?&\s])(?:ssl)?password\s*=\s*)('(?:[^'\\]|\\.)*'|[^&]*)", re.IGNORECASE)

AUTHORITY = re.compile(r"[^/?#]*")
_PLACE = r"(?:[^:@,\[\]]*|\[[0-9A-Fa-f:.%]*\])(?::\d*)?"
PLACES = re.compile(rf"{_PLACE}(?:,{_PLACE})*")
ESCAPE = re.compile(r"(%[0-9A-Fa-f]{2})")

LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.DatabaseDroppedError,
    asyncpg.TooManyConnectionsError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
# The driver has one class for a connection that went away under us and for our own mistakes.
LOST_SIGNS = ("closed", "closing", "released back to the pool")


def with_escapes(dsn: str) -> str:
    """The address with user and password spelt as URLs demand: people write a `/` or an `@` as it is."""
    scheme, separator, rest = dsn.partition("://")
    length = _length_of_userinfo(rest)
    if not separator or not length:
        return dsn
    user, colon, password = rest[:length].partition(":")
    return f"{scheme}://{_escaped(user)}{colon}{_escaped(password)}{rest[length:]}"


def with_schema(dsn: str, schema: str) -> str:
    """The address of a schema: driver and psql find its tables with it, and no others."""
    start, mark, query = dsn.partition("?")
    said = [] if not mark else [pair.partition("=") for pair in query.split("&") if pair]
    options = [unquote(value) for name, _, value in said if name == "options"][-1:]
    path = quote(" ".join([*options, f"-csearch_path={schema}"]), safe="")
    others = ["".join(pair) for pair in said if pair[0] != "options"]
    return f"{start}?{'&'.join([*others, f'options={path}'])}"


def _length_of_userinfo(rest: str) -> int:
    """What stands before the `@` of a host: the last of all, unless the address reads well without it."""
    authority = AUTHORITY.match(rest)
    assert authority is not None
    path = rest[authority.end() :].partition("?")[0]
    userinfo, _, place = authority[0].rpartition("@")
    reads_well = PLACES.fullmatch(place) is not None and "@" not in path
    return len(userinfo) if reads_well else max(rest.rfind("@"), 0)


def _escaped(text: str) -> str:
    """What is escaped already stays: a `%` is meant as itself only where no escape follows."""
    return "".join(piece if ESCAPE.fullmatch(piece) else quote(piece, safe="") for piece in ESCAPE.split(text))


def mask_dsn(dsn: str) -> str:
    """The address without its password, for people and logs. Rather hides too much than too little."""
    return PASSWORD_AS_PARAMETER.sub(r"\1***", PASSWORD_BEFORE_HOST.sub(r"\1:***@", dsn))


@contextmanager
def connecting(address: str) -> Iterator[None]:
    """As `translated`, for the way in: there a refused statement means that we are not let in."""
    try:
        with translated(address), _understanding(address):
            yield
    except QueryFailed as refused:
        raise DatabaseDown(
            f"The database {address} does not let us in: {refused.__cause__}.",
            fix="Check the user, the password and the name of the database.",
        ) from refused.__cause__


@contextmanager
def _understanding(address: str) -> Iterator[None]:
    try:
        yield
    except ValueError:
        # Without the cause: a password with a stray slash would be quoted in it as a port.
        raise SettingError(
            f"The database address {address} is not understood.",
            fix="Write postgresql://user:password@host:5432/name, special characters as %40 and the like.",
        ) from None


@contextmanager
def translated(address: str) -> Iterator[None]:
    """Raise our own errors in place of the driver's; `address` is already masked."""
    try:
        yield
    except LOST as error:
        raise database_down(address, error) from error
    except asyncpg.PostgresError as error:
        raise QueryFailed(f"PostgreSQL refused a statement: {error}", sqlstate=error.sqlstate or "") from error
    except asyncpg.InterfaceError as error:
        if any(sign in str(error) for sign in LOST_SIGNS):
            raise database_down(address, error) from error
        raise QueryFailed(f"A statement could not be sent: {error}") from error


def database_down(address: str, error: BaseException) -> DatabaseDown:
    return DatabaseDown(
        f"The database {address} does not answer: {_reason(error)}.",
        fix="See that PostgreSQL is running and reachable. Headwater connects again by itself.",
    )


def is_refusal(error: DatabaseDown) -> bool:
    """The server runs, and lets in no more of its role or of all together."""
    return isinstance(error.__cause__, asyncpg.TooManyConnectionsError)


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no reply or no free connection in time"
    return str(error).rstrip(".") or type(error).__name__
