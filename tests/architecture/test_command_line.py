"""The command line parses, calls one use case, and shows: it holds no SQL, and nothing depends on it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.modules import MODULES, SOURCE, nodes_of

CLI = SOURCE / "cli"
# The program itself starts the command line.
STARTS = SOURCE / "__main__.py"
DATABASE_CALLS = frozenset({"transaction", "fetchval", "fetchrow", "execute", "executemany", "savepoint"})
STATEMENT = re.compile(r"\s*(?:select|insert into|update|delete from)\s.+\s(?:from|set|values|where)\s", re.IGNORECASE)
# Opened by use cases only: a command that opens one does more than to show.
OPENED_ELSEWHERE = frozenset({"open_web", "page_pool", "channel_pool", "channel_reader", "open_database"})


def test_nothing_depends_on_the_command_line() -> None:
    others = [file for file in MODULES if not file.is_relative_to(CLI) and file != STARTS]
    assert not [
        shown(file) for file in others if any(f"{name}.".startswith("headwater.cli.") for name in imports_of(file))
    ]


def test_commands_hold_no_sql_and_begin_no_transaction() -> None:
    assert not [f"{shown(file)}:{line} {what}" for file in commands() for line, what in database_work_in(file)]


def test_commands_open_neither_the_web_nor_a_pool_of_extraction() -> None:
    assert not [shown(file) for file in commands() if OPENED_ELSEWHERE & set(names_imported_by(file))]


def test_use_cases_know_nothing_of_terminals() -> None:
    terminal = ("cyclopts", "rich", "headwater.cli", "sys")
    actions = (SOURCE / "actions").rglob("*.py")
    assert not [shown(file) for file in actions if any(name.startswith(terminal) for name in imports_of(file))]


def test_the_rule_finds_what_it_forbids(tmp_path: Path) -> None:
    command = tmp_path / "command.py"
    command.write_text(
        "from headwater.database.queries import load_queries\n"
        "async def work(database):\n"
        "    async with database.transaction() as connection:\n"
        "        await connection.execute('update channels set next_poll_at = $1 where id = $2')\n"
    )
    assert [line for line, _ in database_work_in(command)] == [1, 3, 4, 4]


def commands() -> list[Path]:
    return sorted(CLI.rglob("*.py"))


def imports_of(file: Path) -> Iterator[str]:
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def names_imported_by(file: Path) -> Iterator[str]:
    for node in nodes_of(file):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


def database_work_in(file: Path) -> list[tuple[int, str]]:
    """Lines of a module, and what stands there."""
    found = []
    for node in nodes_of(file):
        match node:
            case ast.ImportFrom(module="headwater.database.queries"):
                found.append((node.lineno, "loads queries"))
            case ast.Attribute(attr=name) if name in DATABASE_CALLS:
                found.append((node.lineno, name))
            case ast.Name(id="queries") | ast.alias(name="queries"):
                found.append((node.lineno, "queries"))
            case ast.Constant(value=str(text)) if STATEMENT.match(text):
                found.append((node.lineno, text[:40]))
    return sorted(found)


def shown(file: Path) -> str:
    return str(file.relative_to(SOURCE))
