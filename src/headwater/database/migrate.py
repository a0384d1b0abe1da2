"""Move the schema up and down, one transaction per migration, its ledger row included.

Whatever kills a migration, nothing of it remains. Statements that refuse to run in a transaction
(`create index concurrently`, `vacuum`) can therefore not be migrations. Functions follow: a migration finds none of
those that have a file, and the newest one makes all of them again, in its own transaction; so do the kinds of channels.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from headwater.database.applied import Applied
from headwater.database.channel_kinds import known_kinds, missing_kinds, note_kinds
from headwater.database.former import LAST_OF_BEGINNING, require_last, state_before, take_over
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.database.report_roles import grant_again, readers
from headwater.database.stored_functions import (
    FUNCTION_LEDGER,
    FUNCTION_LEDGER_NAME,
    MADE_FUNCTION,
    Function,
    differing,
    drop_functions,
    known_functions,
    read_made,
    replace_functions,
)
from headwater.errors import DatabaseDown, MigrationFailed, QueryFailed

MIGRATIONS = "headwater.database.migrations"
FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.(up|down)\.sql")
# Work on a large table may take long; waiting for its lock may not, since everybody else queues up behind it.
LONGEST_SECONDS = 6 * 3600
LONGEST_LOCK_WAIT = "30s"

# How often a process that runs looks, and how long a ledger must stand still to count as left so.
LOOKED_AT_SECONDS = 15.0
STANDSTILL_SECONDS = 1.0

LEDGER_NAME = "schema_migrations"
LEDGER = f"""
create table if not exists {LEDGER_NAME} (
    number     integer primary key,
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default now()
)
"""

MADE = re.compile(
    r"^create (?:or replace )?(?:unique |unlogged )?(?:table|view|index|type) (?:if not exists )?([a-z_]\w*)",
    re.MULTILINE | re.IGNORECASE,
)
SHOWN_NAMES = 5
OWN_SCHEMA = (
    'Give Headwater a schema of its own, which is made when it is missing: set database.schema = "headwater" in the '
    "settings file, or HEADWATER_DATABASE__SCHEMA=headwater. Or name another database in database.url."
)
# insufficient_privilege, invalid_schema_name
NO_ROOM = ("42501", "3F000")
# duplicate_table, duplicate_object, duplicate_function
TAKEN = ("42P07", "42710", "42723")

queries = load_queries("headwater.database")


@dataclass(frozen=True)
class Migration:
    number: int
    name: str
    up: str
    down: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.up.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"


@dataclass(frozen=True)
class Status:
    """`unknown` were applied by some other Headwater, `changed` differ from what was applied.

    `stale` names functions that are not as their files say, `missing_kinds` kinds of channels that are not stored yet.
    `former` is where a ledger ends that was begun before ours.
    """

    applied: tuple[Migration, ...]
    pending: tuple[Migration, ...]
    unknown: tuple[Applied, ...]
    changed: tuple[Migration, ...]
    stale: tuple[str, ...] = ()
    former: Applied | None = None
    missing_kinds: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Nothing of Headwater is there."""
        return not self.applied and not self.former


@dataclass(frozen=True)
class WantedSchema:
    """All migrations and functions of a schema, and the kinds of channels that it has to know."""

    migrations: tuple[Migration, ...]
    functions: tuple[Function, ...]
    kinds: tuple[str, ...] = ()


def wanted(known: Sequence[Migration] | None, functions: Sequence[Function] | None) -> WantedSchema:
    """Our own files unless others are given; migrations that are given come without functions of ours."""
    if known is None:
        return WantedSchema(
            known_migrations(), known_functions() if functions is None else tuple(functions), known_kinds()
        )
    return WantedSchema(tuple(known), tuple(functions or ()))


@cache
def known_migrations() -> tuple[Migration, ...]:
    files = {
        one.name: one.read_text(encoding="utf-8")
        for one in resources.files(MIGRATIONS).iterdir()
        if one.name.endswith(".sql")
    }
    return parse_migrations(files)


def parse_migrations(files: dict[str, str]) -> tuple[Migration, ...]:
    """In order of their numbers; each with both ways, and no number twice."""
    ways: dict[tuple[int, str], dict[str, str]] = {}
    for file, text in files.items():
        if not (match := FILE_NAME.fullmatch(file)):
            raise MigrationFailed(f"{file} is not named like a migration: NNNN_name.up.sql or NNNN_name.down.sql.")
        ways.setdefault((int(match[1]), match[2]), {})[match[3]] = text.replace("\r\n", "\n")
    numbers = [number for number, _ in ways]
    for (number, name), texts in ways.items():
        if numbers.count(number) > 1:
            raise MigrationFailed(f"Two migrations have the number {number:04}.")
        if texts.keys() != {"up", "down"}:
            raise MigrationFailed(f"The migration {number:04}_{name} needs both an up and a down.")
    return tuple(Migration(number, name, **ways[number, name]) for number, name in sorted(ways))


def compare(
    known: Iterable[Migration],
    ledger: Sequence[Applied],
    functions: Iterable[Function] = (),
    made: Mapping[str, str] | None = None,
) -> Status:
    stale = differing(functions, made or {})
    if former := state_before(ledger):
        return Status(applied=(), pending=(), unknown=(), changed=(), stale=stale, former=former)
    recorded = {row.number: row for row in ledger}
    by_number = {migration.number: migration for migration in known}
    applied = tuple(one for one in by_number.values() if one.number in recorded)
    return Status(
        applied=applied,
        pending=tuple(one for one in by_number.values() if one.number not in recorded),
        unknown=tuple(row for row in ledger if row.number not in by_number),
        changed=tuple(one for one in applied if one.checksum != recorded[one.number].checksum),
        stale=stale,
    )


def require_understood(status: Status) -> None:
    """Refuse a schema that is not what our files say it is."""
    if status.former:
        require_last(status.former)
        raise MigrationFailed(
            f"The database stands at {status.former}, under the ledger of before the migrations were begun anew.",
            fix="It is taken over, without touching data, by: headwater db migrate",
        )
    if status.unknown:
        newest = max(status.unknown, key=lambda row: row.number)
        raise MigrationFailed(
            f"The database was made by a newer Headwater: its migration {newest} is unknown here.",
            fix="Install the newer Headwater, or restore a backup from before its migration.",
        )
    if status.changed:
        raise MigrationFailed(
            f"The migration {status.changed[0]} was changed after it was applied to this database.",
            fix="Install the version it was applied with, and put changes into a new migration.",
        )


async def status(
    database: Database, known: Sequence[Migration] | None = None, functions: Sequence[Function] | None = None
) -> Status:
    """Compare without changing anything; `known` and `functions` are our own files unless given."""
    ours = wanted(known, functions)
    # One moment: between two of them a migration may end.
    async with database.transaction(readonly=True, snapshot=True) as connection:
        if not await connection.fetchval(queries.ledger_exists):
            return compare(ours.migrations, [], ours.functions)
        return await _compare_with_ledger(connection, ours)


async def require_current(
    database: Database, known: Sequence[Migration] | None = None, functions: Sequence[Function] | None = None
) -> None:
    """Refuse a schema that this program was not made for. One that is being migrated is waited for."""
    found = await status(database, known, functions)
    while (pending := len(found.pending)) and found.applied:
        # By the machine's clock: whatever days are simulated, a migration is real.
        await asyncio.sleep(STANDSTILL_SECONDS)
        found = await status(database, known, functions)
        if len(found.pending) == pending:
            break
    require_understood(found)
    if found.pending and not found.applied:
        raise MigrationFailed("There is nothing of Headwater in this database yet.", fix="Run: headwater db migrate")
    if found.pending:
        lacks = "1 migration" if len(found.pending) == 1 else f"{len(found.pending)} migrations"
        raise MigrationFailed(
            f"The database lacks {lacks}, beginning with {found.pending[0]}.",
            fix="Run: headwater db migrate",
        )
    if found.stale:
        raise MigrationFailed(
            f"The database has {stale_in_words(found)} of another Headwater, such as {found.stale[0]}.",
            fix="With the Headwater that is to work from now on run: headwater db migrate",
        )
    if found.missing_kinds:
        raise MigrationFailed(
            f"The database does not know channels of the kind {found.missing_kinds[0]} yet.",
            fix="Run: headwater db migrate",
        )


def stale_in_words(found: Status) -> str:
    return "1 function" if len(found.stale) == 1 else f"{len(found.stale)} functions"


@asynccontextmanager
async def staying_current(database: Database, every: float) -> AsyncIterator[None]:
    """End the block with an error when the schema becomes another: what runs in it was not made for that one."""
    running = asyncio.current_task()
    watching = asyncio.create_task(_trouble_with_schema(database, every))

    def end(watch: asyncio.Task[MigrationFailed]) -> None:
        if running and not watch.cancelled():
            running.cancel()

    watching.add_done_callback(end)
    try:
        yield
    except asyncio.CancelledError:
        if not (running and watching.done() and not watching.cancelled()):
            raise
        running.uncancel()
        raise watching.result() from None
    finally:
        watching.remove_done_callback(end)
        watching.cancel()
        await asyncio.wait([watching])


async def _trouble_with_schema(database: Database, every: float) -> MigrationFailed:
    while True:
        await asyncio.sleep(every)
        try:
            await require_current(database)
        except MigrationFailed as error:
            return error
        except (DatabaseDown, QueryFailed):
            # The work with the database says so; the schema is looked at again when it is back.
            continue


async def migrate(
    database: Database,
    target: int | None = None,
    known: Sequence[Migration] | None = None,
    functions: Sequence[Function] | None = None,
) -> list[Migration]:
    """Apply what is missing, up to and including number `target`; returns what this call applied.

    With the newest migration, and where only functions differ, all functions are made again.
    """
    ours = wanted(known, functions)
    if target is not None and target not in {one.number for one in ours.migrations}:
        raise MigrationFailed(f"There is no migration with the number {target}.")
    await _take_over_former(database, ours)
    done: list[Migration] = []
    while step := await _apply_next(database, target, ours):
        done.append(step)
    return done


async def rollback(
    database: Database,
    steps: int = 1,
    known: Sequence[Migration] | None = None,
    functions: Sequence[Function] | None = None,
) -> list[Migration]:
    """Take back the newest `steps` migrations, and the data in what they made; returns those taken back.

    No function is left: the Headwater that is to work with what remains makes its own.
    """
    ours = wanted(known, functions)
    done: list[Migration] = []
    while len(done) < steps and (step := await _take_back_newest(database, ours)):
        done.append(step)
    return done


async def _apply_next(database: Database, target: int | None, ours: WantedSchema) -> Migration | None:
    async with _alone(database, ours) as (connection, found):
        require_understood(found)
        missing = [one for one in found.pending if target is None or one.number <= target]
        if not missing:
            if found.stale and not found.pending:
                await replace_functions(connection, ours.functions)
            if found.missing_kinds:
                await note_kinds(connection, ours.kinds)
            return None
        step = missing[0]
        reading = await readers(connection)
        await drop_functions(connection)
        await _run_script(connection, step, step.up)
        await grant_again(connection, reading)
        await connection.execute(queries.record_migration, step.number, step.name, step.checksum)
        if found.pending == (step,):
            await replace_functions(connection, ours.functions)
            await note_kinds(connection, ours.kinds)
        return step


async def _take_back_newest(database: Database, ours: WantedSchema) -> Migration | None:
    async with _alone(database, ours) as (connection, found):
        require_understood(found)
        if not found.applied:
            return None
        step = found.applied[-1]
        reading = await readers(connection)
        await drop_functions(connection)
        await _run_script(connection, step, step.down)
        await grant_again(connection, reading)
        await connection.execute(queries.erase_migration, step.number)
        return step


async def _take_over_former(database: Database, ours: WantedSchema) -> None:
    async with _alone(database, ours) as (connection, found):
        if found.former:
            require_last(found.former)
            beginning = [
                Applied(one.number, one.name, one.checksum)
                for one in ours.migrations
                if one.number <= LAST_OF_BEGINNING
            ]
            await take_over(connection, beginning, [one.name for one in ours.functions])


@asynccontextmanager
async def _alone(database: Database, ours: WantedSchema) -> AsyncIterator[tuple[Connection, Status]]:
    """A transaction in which nobody else migrates, and what it finds."""
    async with database.transaction() as connection:
        await connection.execute("set local lock_timeout = 0; set local statement_timeout = 0")
        await connection.execute(queries.lock_migrations, timeout=LONGEST_SECONDS)
        await connection.execute(f"set local lock_timeout = '{LONGEST_LOCK_WAIT}'")
        await _make_room(connection, database.schema, ours)
        yield connection, await _compare_with_ledger(connection, ours)


async def _make_room(connection: Connection, schema: str, ours: WantedSchema) -> None:
    """The schema and the ledgers in it; refuse to begin among tables that have our names and are not ours."""
    with _without_right(schema):
        if schema and not await connection.fetchval(queries.schema_is_there, schema):
            await connection.execute(f"create schema {schema}")
        if not await connection.fetchval(queries.ledger_exists):
            await _refuse_foreign_names(connection, ours)
        await connection.execute(LEDGER)
        await connection.execute(FUNCTION_LEDGER)


def names_made_by(known: Iterable[Migration]) -> list[str]:
    """Of all tables, views, indexes and types, also of those that a later migration drops again."""
    return sorted({name for one in known for name in MADE.findall(one.up)})


async def require_room(database: Database) -> None:
    """Refuse what `migrate` would refuse before it begins: tables and functions of our names that are not ours."""
    async with database.transaction(readonly=True) as connection:
        if not await connection.fetchval(queries.ledger_exists):
            await _refuse_foreign_names(connection, wanted(None, None))


async def _refuse_foreign_names(connection: Connection, ours: WantedSchema) -> None:
    tables = [LEDGER_NAME, FUNCTION_LEDGER_NAME, *names_made_by(ours.migrations)]
    functions = [name for one in ours.migrations for name in MADE_FUNCTION.findall(one.up)]
    taken = await connection.fetch(queries.names_taken, tables, [*functions, *(one.name for one in ours.functions)])
    if taken:
        raise _foreign_names(taken[0]["schema"], [row["name"] for row in taken])


def _foreign_names(schema: str, names: Sequence[str]) -> MigrationFailed:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    shown = ", ".join(names[:SHOWN_NAMES])
    return MigrationFailed(
        f"The schema {schema} of this database holds names that Headwater needs and did not make: {shown}{more}.",
        fix=OWN_SCHEMA,
    )


@contextmanager
def _without_right(schema: str) -> Iterator[None]:
    """PostgreSQL 15 lets nobody but the owner make tables in `public`."""
    try:
        yield
    except QueryFailed as error:
        if error.sqlstate not in NO_ROOM:
            raise
        fix = f"Ask its owner for: CREATE SCHEMA {schema} AUTHORIZATION your_user" if schema else OWN_SCHEMA
        raise MigrationFailed(f"Headwater can make no tables in this database: {error.what}", fix=fix) from error


async def _run_script(connection: Connection, step: Migration, script: str) -> None:
    try:
        await connection.execute(script, timeout=LONGEST_SECONDS)
    except QueryFailed as error:
        fix = OWN_SCHEMA if error.sqlstate in TAKEN else ""
        raise MigrationFailed(f"The migration {step} failed and left nothing behind: {error.what}", fix=fix) from error


async def _compare_with_ledger(connection: Connection, ours: WantedSchema) -> Status:
    ledger, made = await _read_ledger(connection), await read_made(connection)
    found = compare(ours.migrations, ledger, ours.functions, made)
    return replace(found, missing_kinds=await missing_kinds(connection, ours.kinds))


async def _read_ledger(connection: Connection) -> list[Applied]:
    rows = await connection.fetch(queries.read_ledger)
    return [Applied(row["number"], row["name"], row["checksum"]) for row in rows]
