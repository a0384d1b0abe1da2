"""Functions of the database: one file each, made anew whenever one of them differs from what was made last.

A file is the only definition of its function. Functions that a table, an index, a view or a trigger stands on are part
of the migrations instead: they cannot be replaced without what stands on them.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib import resources
from importlib.resources.abc import Traversable

from headwater.database.pool import Connection
from headwater.database.queries import load_queries
from headwater.errors import MigrationFailed, QueryFailed

FUNCTIONS = "headwater.database.functions"
FUNCTION_LEDGER_NAME = "schema_functions"
FUNCTION_LEDGER = f"""
create table if not exists {FUNCTION_LEDGER_NAME} (
    name     text primary key,
    checksum text not null,
    made_at  timestamptz not null default now()
)
"""

MADE_FUNCTION = re.compile(r"^create (?:or replace )?(?:function|procedure) (\w+)", re.MULTILINE | re.IGNORECASE)
CALLED = re.compile(r"\b([a-z_]\w*)\s*\(")
READ_WHEN_MADE = re.compile(r"\blanguage sql\b", re.IGNORECASE)
# dependent_objects_still_exist
STOOD_ON = "2BP01"

queries = load_queries("headwater.database")


@dataclass(frozen=True)
class Function:
    """A name with the text that makes it, all its overloads included."""

    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@cache
def known_functions() -> tuple[Function, ...]:
    return parse_functions(dict(_files_below(resources.files(FUNCTIONS))))


def _files_below(folder: Traversable) -> Iterator[tuple[str, str]]:
    for child in folder.iterdir():
        if child.is_dir():
            yield from _files_below(child)
        elif child.name.endswith(".sql"):
            yield child.name, child.read_text(encoding="utf-8")


def parse_functions(files: Mapping[str, str]) -> tuple[Function, ...]:
    """By name; each file makes the function it is named after and nothing else."""
    for file, text in files.items():
        if {*MADE_FUNCTION.findall(text)} != {file.removesuffix(".sql")}:
            raise MigrationFailed(f"{file} has to make the function it is named after, and no other.")
    return tuple(Function(file.removesuffix(".sql"), files[file].replace("\r\n", "\n")) for file in sorted(files))


def in_order(functions: Sequence[Function]) -> list[Function]:
    """Those that a body in SQL calls come before it: PostgreSQL reads it when it is made, others when they run."""
    by_name = {one.name: one for one in functions}
    calls = {
        one.name: {name for name in CALLED.findall(one.text) if name in by_name and name != one.name}
        if READ_WHEN_MADE.search(one.text)
        else set()
        for one in functions
    }
    return [by_name[name] for name in TopologicalSorter(calls).static_order()]


def differing(functions: Iterable[Function], made: Mapping[str, str]) -> tuple[str, ...]:
    """Names of functions that are missing, were made from another text, or have no file any more."""
    wanted = {one.name: one.checksum for one in functions}
    return tuple(sorted(name for name in wanted.keys() | made.keys() if wanted.get(name) != made.get(name)))


async def read_made(connection: Connection) -> dict[str, str]:
    """Checksums by name; none in a database of before these were noted."""
    if not await connection.fetchval(queries.functions_are_noted):
        return {}
    return {row["name"]: row["checksum"] for row in await connection.fetch(queries.read_functions)}


async def replace_functions(connection: Connection, functions: Sequence[Function]) -> None:
    """In a transaction that nobody else migrates in: all of them go, these come."""
    await drop_functions(connection)
    for one in in_order(functions):
        try:
            await connection.execute(one.text)
        except QueryFailed as error:
            raise MigrationFailed(f"The function {one.name} could not be made: {error.what}") from error
    await connection.execute(
        queries.record_functions, [one.name for one in functions], [one.checksum for one in functions]
    )


async def drop_functions(connection: Connection) -> None:
    """Those that were made from files: a migration then finds nothing in its way that depends on what it changes."""
    statement = await connection.fetchval(queries.drop_of_functions)
    try:
        if statement:
            await connection.execute(statement)
    except QueryFailed as error:
        if error.sqlstate != STOOD_ON:
            raise
        # Its hint would drop what others made.
        told = error.what.partition("\nHINT:")[0]
        raise MigrationFailed(
            f"The functions of the database cannot be replaced: {told}",
            fix="Something that Headwater did not make stands on one of them, such as a view of yours: drop it before.",
        ) from error
    await connection.execute(queries.forget_functions)
