"""The one way to PostgreSQL: a pool that heals itself, with a limit on every wait and errors of our own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import asyncpg
import orjson

from headwater.clock import SystemClock
from headwater.database.afterwards import Afterwards
from headwater.database.queries import name_of
from headwater.database.spares import Spares, Waits
from headwater.database.translate import connecting, mask_dsn, pooler_found, translate_errors
from headwater.errors import DatabaseDown, OutOfConnections, PoolerFound

OLDEST_SERVER = 15
# Kept at hand for the next caller; more are seldom needed at once.
MOST_SPARES = 4
# A server that let no more of us in is asked again so much later; meanwhile our connections go from hand to hand.
ASKED_AGAIN_SECONDS = 1.0
# So long afterwards every connection is kept, since the next one may not be had.
SCARCE_SECONDS = 60.0
# What PostgreSQL keeps of the name of a session.
LONGEST_NAME_BYTES = 63


@dataclass(frozen=True)
class PoolLimits:
    """Of a session, in seconds. The client waits longer than the server, so that the server's own reason is what we
    hear.
    """

    acquire: float = 10
    command: float = 60
    statement: float = 45
    lock: float = 15
    idle_in_transaction: float = 30
    close: float = 10
    is_read_only: bool = False

    def as_settings(self) -> dict[str, str]:
        # The first holds for a session's transactions, the second for one that says it itself, behind a pooler.
        kept = {"default_transaction_read_only": "on", "transaction_read_only": "on"} if self.is_read_only else {}
        return kept | {
            "statement_timeout": f"{self.statement * 1000:.0f}",
            "lock_timeout": f"{self.lock * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{self.idle_in_transaction * 1000:.0f}",
            # Our statements are short and many: on servers that compile plans it cost more than it gave.
            "jit": "off",
        }


class Connection:
    """One connection, for as long as it is held."""

    def __init__(self, raw: Any, address: str) -> None:
        self._raw = raw
        self._address = address
        self.follow_ups: set[str] = set()

    def after_commit(self, statement: str) -> None:
        """To be run when the transaction around has committed, at most ten times a second; it may be lost."""
        self.follow_ups.add(statement)

    async def fetch(self, query: str, *args: object, timeout: float | None = None) -> list[asyncpg.Record]:
        with translate_errors(self._address, name_of(query)):
            rows: list[asyncpg.Record] = await self._raw.fetch(query, *args, timeout=timeout)
            return rows

    async def fetchrow(self, query: str, *args: object, timeout: float | None = None) -> asyncpg.Record | None:
        with translate_errors(self._address, name_of(query)):
            return await self._raw.fetchrow(query, *args, timeout=timeout)

    async def fetchval(self, query: str, *args: object, timeout: float | None = None) -> Any:
        with translate_errors(self._address, name_of(query)):
            return await self._raw.fetchval(query, *args, timeout=timeout)

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str:
        """Without arguments `query` may be a script of several statements."""
        with translate_errors(self._address, name_of(query)):
            told: str = await self._raw.execute(query, *args, timeout=timeout)
            return told

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """A failure inside takes back this block alone; the transaction around it goes on."""
        await self.execute("SAVEPOINT inside")
        try:
            yield
        except BaseException:
            # With the connection gone there is nothing to take back, and the first error tells more.
            with suppress(DatabaseDown):
                await self.execute("ROLLBACK TO SAVEPOINT inside; RELEASE SAVEPOINT inside")
            raise
        await self.execute("RELEASE SAVEPOINT inside")


class Database:
    """Each call borrows a connection for itself; `borrowed` and `transaction` keep one for their block."""

    def __init__(
        self,
        pool: Any,
        address: str,
        limits: PoolLimits,
        schema: str = "",
        *,
        settings: Mapping[str, str] | None = None,
        opens: Callable[[str, float], Awaitable[Any]] | None = None,
    ) -> None:
        """`settings`: behind a pooler, what each transaction has to say anew, since its session was another's.

        `opens` makes a session that is all ours, where there is a way to one.
        """
        self._pool = pool
        self._opens = opens
        self._limits = limits
        self._settings = settings or {}
        self._spares = Spares()
        self.waits = Waits()
        self._waiting = 0
        self._clock = SystemClock()
        self._afterwards = Afterwards(self.execute, self._clock)
        self._refused_at = float("-inf")
        self._is_closing = False
        self.address = address
        self.schema = schema
        self.is_behind_pooler = settings is not None

    @classmethod
    async def connect(
        cls,
        dsn: str,
        *,
        size: int = 10,
        pooler: bool = False,
        application_name: str = "headwater",
        limits: PoolLimits | None = None,
        schema: str = "",
        direct: str = "",
    ) -> Self:
        """`pooler`: a transaction pooler is in between, so nothing of ours may live in the session.

        One that nobody mentioned is noticed; `direct` is a way past it. `schema` holds all tables; without one they are
        where the server looks first.
        """
        limits = limits or PoolLimits()
        settings = {"application_name": short_name(application_name), **limits.as_settings()}
        if schema:
            settings["search_path"] = schema
        try:
            return await cls._connect(dsn, size, limits, schema, settings, pooler=pooler, direct=direct)
        except PoolerFound:
            if pooler:
                raise
            return await cls._connect(dsn, size, limits, schema, settings, pooler=True, direct=direct)

    @classmethod
    async def _connect(
        cls,
        dsn: str,
        size: int,
        limits: PoolLimits,
        schema: str,
        settings: dict[str, str],
        *,
        pooler: bool,
        direct: str,
    ) -> Self:
        pool = asyncpg.create_pool(
            dsn,
            min_size=1,
            max_size=size,
            timeout=limits.acquire,
            command_timeout=limits.command,
            statement_cache_size=0 if pooler else 100,
            connection_class=_SharedSession if pooler else asyncpg.Connection,
            # The one thing that every pooler takes; others are refused or forgotten.
            server_settings={"application_name": settings["application_name"]} if pooler else settings,
            init=_teach_json_at_once if pooler else _greet,
            reset=_leave_session_alone,
        )
        own = direct or ("" if pooler else dsn)

        async def open_one(purpose: str, seconds: float) -> Any:
            named = settings | {"application_name": short_name(f"{settings['application_name']} {purpose}")}
            return await asyncpg.connect(own, timeout=seconds, command_timeout=seconds, server_settings=named)

        opens = open_one if own else None
        database = cls(pool, mask_dsn(dsn), limits, schema, settings=settings if pooler else None, opens=opens)
        await database._open()
        return database

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def fetch(self, query: str, *args: object, timeout: float | None = None) -> list[asyncpg.Record]:
        async with self.borrowed() as connection:
            return await connection.fetch(query, *args, timeout=timeout)

    async def fetchrow(self, query: str, *args: object, timeout: float | None = None) -> asyncpg.Record | None:
        async with self.borrowed() as connection:
            return await connection.fetchrow(query, *args, timeout=timeout)

    async def fetchval(self, query: str, *args: object, timeout: float | None = None) -> Any:
        async with self.borrowed() as connection:
            return await connection.fetchval(query, *args, timeout=timeout)

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str:
        async with self.borrowed() as connection:
            return await connection.execute(query, *args, timeout=timeout)

    async def execute_patiently(self, statement: str, patience: float) -> None:
        """For maintenance that no transaction may surround and that takes longer than a statement should.

        Its tables have to be named with `qualified`: outside of a transaction a pooler knows no schema.
        """
        async with self._borrowed_raw() as raw:
            connection = Connection(raw, self.address)
            if self.is_behind_pooler:
                # The session is another caller's in a moment: only the client's own limit is set.
                await connection.execute(statement, timeout=patience)
                return
            await connection.execute(f"SET statement_timeout = {patience * 1000:.0f}")
            try:
                await connection.execute(statement, timeout=patience)
            finally:
                await connection.execute("RESET statement_timeout")

    def qualified(self, table: str) -> str:
        return f"{self.schema}.{table}" if self.schema else table

    @asynccontextmanager
    async def borrowed(self) -> AsyncIterator[Connection]:
        """For callers that measure how long an answer took, without the wait for a connection.

        Without a transaction, unless a pooler is in between.
        """
        if self.is_behind_pooler:
            async with self.transaction() as connection:
                yield connection
            return
        async with self._borrowed_raw() as raw:
            yield Connection(raw, self.address)

    @asynccontextmanager
    async def transaction(
        self, *, readonly: bool = False, snapshot: bool = False, patience: float | None = None
    ) -> AsyncIterator[Connection]:
        """Commits at the end of the block, rolls back if it raises or is cancelled.

        `snapshot` sees one moment only; `patience` is a longer limit, in seconds, for statements that read much.
        """
        async with self._borrowed_raw() as raw:
            settings = {**self._settings, **({"statement_timeout": f"{patience * 1000:.0f}"} if patience else {})}
            connection = Connection(raw, self.address)
            try:
                await connection.execute(beginning(settings, readonly=readonly, snapshot=snapshot))
                yield connection
            except BaseException:
                # With the connection gone there is nothing to roll back, and the first error tells more.
                with suppress(DatabaseDown):
                    await connection.execute("ROLLBACK")
                raise
            await connection.execute("COMMIT")
        for statement in connection.follow_ups:
            await self._afterwards.run(statement)

    async def follow_up(self, statement: str) -> None:
        """After a statement that committed by itself: as `Connection.after_commit` does it for a transaction."""
        await self._afterwards.run(statement)

    async def opened_beside(self, purpose: str, seconds: float) -> Any:
        """A connection of the driver's that is no part of the pool; None where there is no way past a pooler."""
        if self._opens is None:
            return None
        with connecting(self.address):
            return await self._opens(purpose, seconds)

    async def close(self) -> None:
        """Wait a little for borrowed connections, then cut them."""
        await self._afterwards.close()
        self._is_closing = True
        try:
            async with asyncio.timeout(self._limits.close):
                while raw := self._spares.take():
                    await self._pool.release(raw)
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    @asynccontextmanager
    async def _borrowed_raw(self) -> AsyncIterator[Any]:
        raw = await self._spare() or await self._acquired()
        try:
            yield raw
        except BaseException:
            # It may be in the middle of something, and the driver's pool knows how to end that.
            await self._release(raw)
            raise
        if self._is_worth_keeping(raw):
            self._spares.put(raw)
        else:
            await self._release(raw)

    def _is_worth_keeping(self, raw: Any) -> bool:
        if self._is_closing or not is_usable(raw):
            return False
        is_scarce = self._clock.monotonic() - self._refused_at < SCARCE_SECONDS
        has_room = is_scarce or len(self._spares) < MOST_SPARES
        return self._spares.is_waited_for or (has_room and not self._waiting)

    async def _spare(self) -> Any:
        """One that was given back a moment ago and still stands, or None."""
        while raw := self._spares.take():
            if is_usable(raw):
                return raw
            await self._release(raw)
        return None

    async def _acquired(self) -> Any:
        """A server that lets no more of us in is waited for like a pool that is in use: one of ours comes back."""
        began = self._clock.monotonic()
        deadline = began + self._limits.acquire
        self._waiting += 1
        try:
            while (left := deadline - self._clock.monotonic()) > 0:
                if self._may_open and (raw := await self._opened(left)):
                    return raw
                raw = await self._spares.wait(min(left, ASKED_AGAIN_SECONDS))
                if raw is not None and is_usable(raw):
                    return raw
                if raw is not None:
                    await self._release(raw)
            return await self._opened(ASKED_AGAIN_SECONDS, is_last=True)
        finally:
            self._waiting -= 1
            self.waits.note(self._clock.monotonic() - began)

    @property
    def _may_open(self) -> bool:
        return self._clock.monotonic() - self._refused_at > ASKED_AGAIN_SECONDS

    async def _opened(self, seconds: float, *, is_last: bool = False) -> Any:
        """None where the server lets no more of us in."""
        try:
            with connecting(self.address):
                return await self._pool.acquire(timeout=seconds)
        except OutOfConnections:
            if is_last:
                raise
            self._refused_at = self._clock.monotonic()
            return None

    async def _release(self, raw: Any) -> None:
        with translate_errors(self.address):
            await self._pool.release(raw)
        self._spares.put(None)

    async def _open(self) -> None:
        try:
            with connecting(self.address):
                await self._pool
            async with self._borrowed_raw() as raw:
                require_supported(raw.get_server_version().major, self.address)
        except BaseException:
            self._pool.terminate()
            raise


def beginning(settings: Mapping[str, str], *, readonly: bool = False, snapshot: bool = False) -> str:
    """A transaction with settings of its own, in one message."""
    begin = f"BEGIN{' ISOLATION LEVEL REPEATABLE READ' * snapshot}{' READ ONLY' * readonly}"
    return "; ".join([begin, *(f"SET LOCAL {name} = {_quoted(value)}" for name, value in settings.items())])


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def short_name(name: str) -> str:
    """As much of it as the server keeps; it would spell other letters as `\\xc3`."""
    return name.encode("ascii", "replace")[:LONGEST_NAME_BYTES].decode()


def is_usable(raw: Any) -> bool:
    try:
        return not raw.is_closed()
    except asyncpg.InterfaceError:
        # Its connection broke while nobody held it, and the pool has taken it back already.
        return False


def require_supported(major: int, address: str) -> None:
    if major < OLDEST_SERVER:
        raise DatabaseDown(
            f"The database {address} is PostgreSQL {major}, and Headwater needs {OLDEST_SERVER} or newer.",
            fix=f"Upgrade the server to PostgreSQL {OLDEST_SERVER} or newer, or leave out the address to use our own.",
        )


class _SharedSession(asyncpg.Connection):  # type: ignore[misc]
    """Of a pooler. The driver would switch jit off in the session to look up a type, and leave it so for others."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._server_caps: Any = self._server_caps._replace(jit=False)


async def _greet(raw: Any) -> None:
    """A pooler names a process of its own when we connect, and statements run in another.

    Asked without a prepared statement, which would be left behind in a session that is not ours.
    """
    if await raw.execute(f"select 1 where pg_backend_pid() <> {raw.get_server_pid():d}") != "SELECT 0":
        raise pooler_found()
    await _teach_json(raw)


async def _teach_json_at_once(raw: Any) -> None:
    """In a transaction: the driver prepares and asks in two messages, which a pooler may send to two sessions."""
    await raw.execute("BEGIN")
    await _teach_json(raw)
    await raw.execute("COMMIT")


async def _teach_json(raw: Any) -> None:
    await raw.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=lambda value: orjson.dumps(value).decode(), decoder=orjson.loads
    )


async def _leave_session_alone(raw: Any) -> None:
    """The driver would send RESET ALL at each release: a round trip that undoes nothing, since we set nothing."""
