"""Roles of PostgreSQL for reports: they read what `READABLE` names, and can do nothing else to what is ours."""

import base64
import hashlib
import hmac
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from headwater.chance import new_id
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, QueryFailed, Refused, UsageError

# The SQL views of docs/sql-views.md, and the two tables that hold what was published anyway.
READABLE = (
    *("crawl_locks", "crawl_logs", "crawl_sources", "domain_policies", "feed_state", "host_state", "job_executions"),
    *("robots_cache", "source_pages", "source_profiles", "documents", "jobs"),
)
LONGEST_NAME_BYTES = 63
# insufficient_privilege
NO_RIGHT = "42501"
ITERATIONS = 4096
SHOWN_RIGHTS = 5

queries = load_queries("headwater.database")


async def let_read(database: Database, name: str, password: str | None) -> bool:
    """Whether the role had to be made. A password is set where one is given; all of it happens, or nothing."""
    _require_name(name)
    verifier = scram_verifier(password) if password is not None else None
    async with database.transaction() as connection:
        found = await connection.fetchrow(queries.show_role, name)
        if found and found["is_mighty"]:
            raise Refused(
                f"The role {name} can do more than read: it is ours, a superuser, or may make roles.",
                fix="Name one that does not exist yet: it is made.",
            )
        with _without_right(name):
            statements = await connection.fetchval(queries.statements_that_make, name, not found, verifier)
            await _execute(connection, statements)
        await _execute(connection, await connection.fetchval(queries.statements_that_grant, name, list(READABLE)))
        await _require_no_more(connection, name)
    return not found


async def let_read_no_more(database: Database, name: str) -> None:
    """The role itself stays: it may have rights elsewhere."""
    async with database.transaction() as connection:
        if not await connection.fetchrow(queries.show_role, name):
            raise NotFound(f"There is no role {name}.")
        await _execute(connection, await connection.fetchval(queries.statements_that_revoke, name))


async def readers(connection: Connection) -> list[str]:
    """Roles that reports were granted to."""
    return [row["name"] for row in await connection.fetch(queries.readers)]


async def grant_again(connection: Connection, names: Sequence[str]) -> None:
    """After a migration: a view that was made anew has lost who may read it."""
    for name in names:
        await _execute(connection, await connection.fetchval(queries.statements_that_grant, name, list(READABLE)))


def scram_verifier(password: str, salt: bytes | None = None) -> str:
    """What PostgreSQL stores of a password (RFC 5803), so that the password itself stands in no log of the server."""
    if not (password.isascii() and password.isprintable() and password):
        # Others would have to be prepared (RFC 4013) as each driver does it.
        raise UsageError("A password of a role is made of printable ASCII characters.")
    salt = salt or new_id().bytes
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    return f"SCRAM-SHA-256${ITERATIONS}:{_text(salt)}${_text(stored)}:{_text(server)}"


def _text(some: bytes) -> str:
    return base64.b64encode(some).decode()


@contextmanager
def _without_right(name: str) -> Iterator[None]:
    try:
        yield
    except QueryFailed as error:
        if error.sqlstate != NO_RIGHT:
            raise
        raise Refused(
            f"Headwater's own role may not make roles, nor set their passwords: {error.what}",
            fix=f'Ask its owner for: CREATE ROLE "{name}" LOGIN PASSWORD …; then run this without --password-file.',
        ) from error


def _require_name(name: str) -> None:
    if not name or "\0" in name or len(name.encode()) > LONGEST_NAME_BYTES or name.startswith("pg_"):
        raise UsageError(f"{name!r} is no name for a role: at most {LONGEST_NAME_BYTES} bytes, not beginning with pg_.")


async def _require_no_more(connection: Connection, name: str) -> None:
    """A role that was there may have been granted more, or everybody was."""
    more = await connection.fetch(queries.rights_beyond, name, list(READABLE))
    if more:
        shown = ", ".join(f"{row['right'].lower()} on {row['name']}" for row in more[:SHOWN_RIGHTS])
        further = f" and {len(more) - SHOWN_RIGHTS} more" if len(more) > SHOWN_RIGHTS else ""
        raise Refused(
            f"The role {name} may do more than read reports: {shown}{further}. Nothing was changed.",
            fix="Take that back from it, from the roles it belongs to and from PUBLIC, or name a new role.",
        )


async def _execute(connection: Connection, statements: Sequence[str] | None) -> None:
    for one in statements or ():
        await connection.execute(one)
