"""Errors of the driver, in our own words: which trouble is a lost database and which a refused statement."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, unquote

import asyncpg

from headwater.errors import DatabaseDown, DiskFull, OutOfConnections, PoolerFound, QueryFailed, SettingError

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
# Of a pooler, which knows no others than those of its own list.
UNKNOWN_PARAMETER = "unsupported startup parameter"
NO_RIGHTS = "Name the database's owner in database.url: the user under whom `headwater db migrate` was run."
# Words of the server or of pgbouncer, and the limit they are about.
CONNECTION_LIMITS = {
    "for role": "the role's CONNECTION LIMIT (ALTER ROLE)",
    "for database": "the database's CONNECTION LIMIT (ALTER DATABASE)",
    "max_client_conn": "max_client_conn of pgbouncer",
}


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
    """The length of the text before the `@` of a host: the last of all, unless the address reads well without it."""
    authority = AUTHORITY.match(rest)
    assert authority is not None
    path = rest[authority.end() :].partition("?")[0]
    userinfo, _, place = authority[0].rpartition("@")
    reads_well = PLACES.fullmatch(place) is not None and "@" not in path
    return len(userinfo) if reads_well else max(rest.rfind("@"), 0)


def _escaped(text: str) -> str:
    """Escapes stay as they are: a `%` is meant as itself only where no escape follows."""
    return "".join(piece if ESCAPE.fullmatch(piece) else quote(piece, safe="") for piece in ESCAPE.split(text))


def mask_dsn(dsn: str) -> str:
    """The address without its password, for people and logs. Rather hides too much than too little."""
    return PASSWORD_AS_PARAMETER.sub(r"\1***", PASSWORD_BEFORE_HOST.sub(r"\1:***@", dsn))


@contextmanager
def connecting(address: str) -> Iterator[None]:
    """As `translate_errors`, for the way in: there a refused statement means that we are not let in."""
    try:
        with translate_errors(address), _understanding(address):
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
def translate_errors(address: str, query: str = "") -> Iterator[None]:
    """Raise our own errors in place of the driver's; `address` is already masked, `query` the statement's name."""
    try:
        yield
    except LOST as error:
        raise database_down(address, error) from error
    except asyncpg.PostgresError as error:
        raise _refused(address, query, error) from error
    except asyncpg.InterfaceError as error:
        if any(sign in str(error) for sign in LOST_SIGNS):
            raise database_down(address, error) from error
        raise QueryFailed(f"{query or 'A statement'} could not be sent: {error}", query=query) from error


def _refused(address: str, query: str, error: asyncpg.PostgresError) -> QueryFailed:
    state = error.sqlstate or ""
    if isinstance(error, asyncpg.DiskFullError):
        return DiskFull(
            f"The disk of the database {address} is full: {error}",
            sqlstate=state,
            query=query,
            fix="Make room on the disk where the server has its data, or move it to a larger one. "
            "What runs goes on by itself then.",
        )
    refused = f"PostgreSQL refused {query or 'a statement'}: {error}"
    if isinstance(error, asyncpg.InsufficientPrivilegeError):
        return QueryFailed(refused, sqlstate=state, query=query, fix=NO_RIGHTS)
    return QueryFailed(refused, sqlstate=state, query=query)


def database_down(address: str, error: BaseException) -> DatabaseDown:
    said = str(error)
    if isinstance(error, asyncpg.TooManyConnectionsError) or "max_client_conn" in said:
        return _out_of_connections(address, error)
    if UNKNOWN_PARAMETER in said:
        return pooler_found()
    if "statement pooling mode" in said:
        return DatabaseDown(
            f"The pooler at {address} allows no transactions: {_reason(error)}.",
            fix="Set pool_mode = transaction (or session) for this database in pgbouncer, or name the server itself "
            "in database.url.",
        )
    return DatabaseDown(
        f"The database {address} does not answer: {_reason(error)}.",
        fix="See that PostgreSQL is running and reachable. Headwater connects again by itself.",
    )


def _out_of_connections(address: str, error: BaseException) -> OutOfConnections:
    said = str(error)
    limit = next((limit for sign, limit in CONNECTION_LIMITS.items() if sign in said), "max_connections of the server")
    return OutOfConnections(
        f"The database {address} has no connection left for us: {_reason(error)}.",
        fix=f"Raise {limit}, or lower database.pool_size: each process opens so many, and one or two to listen.",
    )


def pooler_found() -> PoolerFound:
    return PoolerFound(
        "A connection pooler stands between us and PostgreSQL.",
        fix="Set database.pooler = true, or name the server itself in database.url.",
    )


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no reply or no free connection in time"
    return str(error).rstrip(".") or type(error).__name__
