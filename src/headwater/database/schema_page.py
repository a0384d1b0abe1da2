"""`docs/schema.sql`: the whole database as the catalogue of a migrated one tells it, to be read and not to be run."""

import asyncio
import sys
import tempfile
from pathlib import Path

from asyncpg import Record

from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries

PAGE = "schema.sql"
HEADING = """\
-- The database of Headwater as its migrations and functions make it, in the order of src/headwater/database/migrations.
-- Written by `make schema` from the catalogue of a migrated database: to be read, not to be run. Days of histories are
-- left out. Functions are signatures alone: what they do, and why, is in src/headwater/database/functions, and of those
-- marked (migration) beside the table that stands on them.
"""

queries = load_queries("headwater.database")


async def schema_in_words(connection: Connection) -> str:
    types = [show_type(row) for row in await connection.fetch(queries.show_types)]
    tables = [show_table(row) for row in await connection.fetch(queries.show_tables)]
    views = [show_view(row) for row in await connection.fetch(queries.show_views)]
    functions = "\n".join(show_function(row) for row in await connection.fetch(queries.show_functions))
    page = "\n".join([HEADING, *types, *tables, *views, functions]) + "\n"
    return page.replace("timestamp with time zone", "timestamptz")


def show_type(row: Record) -> str:
    fields = ",\n".join(f"    {field}" for field in row["fields"])
    return f"create type {row['name']} as (\n{fields}\n);\n"


def show_table(row: Record) -> str:
    options = f" with ({row['options']})" if row["options"] else ""
    after = [f"{line};" for line in (*row["indexes"], *row["triggers"])]
    if row["part_of"]:
        head = f"create table {row['name']} partition of {row['part_of']} default{options};"
        return "\n".join([head, *after]) + "\n"
    by = f" partition by {row['partitioned_by'].lower()}" if row["partitioned_by"] else ""
    comment = [f"-- {row['comment']}"] if row["comment"] else []
    head = f"create {'unlogged ' if row['is_unlogged'] else ''}table {row['name']} ("
    return "\n".join([*comment, head, *_lines_inside(row), f"){by}{options};", *after]) + "\n"


def _lines_inside(row: Record) -> list[str]:
    """Columns and constraints with their commas; a comment stands behind its column."""
    width = max(map(len, row["columns"]))
    named = zip(row["columns"], row["definitions"], strict=True)
    parts = [*(f"{name:{width}} {what}" for name, what in named), *row["constraints"]]
    comments = [*row["comments"], *[""] * len(row["constraints"])]
    commas = [","] * (len(parts) - 1) + [""]
    return [
        f"    {part}{comma}" + (f"  -- {comment}" if comment else "")
        for part, comma, comment in zip(parts, commas, comments, strict=True)
    ]


def show_view(row: Record) -> str:
    return (
        "\n".join([f"create view {row['name']} as", row["definition"], *(f"{one};" for one in row["triggers"])]) + "\n"
    )


def show_function(row: Record) -> str:
    settings = f" set {row['settings']}" if row["settings"] else ""
    place = "  -- (migration)" if row["is_of_migration"] else ""
    return f"function {row['name']}({row['arguments']}) returns {row['result']} {row['volatility']}{settings};{place}"


def write_page(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as directory:
        # A server started by root runs as another user, who has to find its way in.
        Path(directory).chmod(0o755)
        page = asyncio.run(_page_of_server_in(Path(directory)))
    (folder / PAGE).write_text(page, encoding="utf-8")


async def _page_of_server_in(directory: Path) -> str:
    async with EmbeddedServer(directory) as dsn, await Database.connect(dsn, size=1) as database:
        await migrate(database)
        async with database.transaction(readonly=True) as connection:
            return await schema_in_words(connection)


if __name__ == "__main__":
    write_page(Path(sys.argv[1]))
