"""Nothing is written that nothing reads: names, queries, settings, fields of a source, tables and views."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path

import asyncpg
import pytest
from tests.architecture.modules import MODULES, SOURCE, nodes_of, tree_of

from headwater.database.queries import all_query_files, load_queries
from headwater.settings.groups import every_setting
from headwater.sources.source import Profile

# A text that names code: `headwater.extraction.work:read_sent`, or its end behind the name of a module.
NAMED_IN_TEXT = re.compile(r"(?:^|headwater(?:\.\w+)+):(\w+)")
ROUTE = re.compile(r"router\.(?:get|post|put|patch|delete)")
# Called by a library under these names.
CALLBACKS = {
    *("connection_made", "connection_lost", "data_received", "eof_received", "pause_writing", "resume_writing"),
    *("emit", "doctype", "capture_signals", "readinto"),
}
# Their names are for programs of others.
FRONT_DOOR = ("library/", "client/")
EXEMPT = {
    "simweb/hubs.py: Hub": "pushes to tests: the demo has no public address that a hub could reach",
    "simweb/namespace.py: available": "run by tests and benchmarks as a program of its own",
    "simweb/world/world.py: guises": "the truth about what the simulated web shows, for tests",
}
# Modules that bring a source in, take it out, check and show it: reading a field there does nothing with it.
CARRIERS = (
    "sources/exchange/",
    "sources/source.py",
    "sources/store.py",
    "discover/importing.py",
    "discover/exporting.py",
)
SHOWN_ONLY = {
    "country": "a column that is asked for, carried to lists and exports",
    "org_type": "the same",
    "tags": "people find sources by them: `sources list --tag`",
}
# Read by programs of others, or by the next parts of ours.
READ_BY_OTHERS = {
    "outbox": "sinks read it",
    "crawl_locks": "a view that is asked for",
    "crawl_sources": "a view that is asked for",
    "domain_policies": "a view that is asked for",
    "feed_state": "a view that is asked for",
    "host_state": "a view that is asked for",
    "crawl_logs": "a view that is asked for",
    "job_executions": "a view that is asked for",
    "source_pages": "a view that is asked for",
}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def trees() -> dict[Path, ast.Module]:
    return {path: tree_of(path) for path in MODULES}


def defined(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Functions, classes and constants of a module, and methods."""
    for node in tree.body:
        if isinstance(node, Definition):
            yield from ([] if is_command(node) else [(node.name, node)])
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node) for target in targets if isinstance(target, ast.Name))
        if isinstance(node, ast.ClassDef):
            yield from ((one.name, one) for one in node.body if isinstance(one, Definition))


def is_command(node: Definition) -> bool:
    """Registered by its decorator: `@app.command`, `@app.default`, or `@router.get` and the other methods of HTTP."""
    names = [ast.unparse(one).partition("(")[0] for one in node.decorator_list]
    return any(name.endswith((".command", ".default")) or name.startswith("router.") for name in names)


def used(nodes: ast.AST) -> Iterator[str]:
    for node in ast.walk(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (one.name for one in node.names if one.asname)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from NAMED_IN_TEXT.findall(node.value)
            yield from [node.value] if node.value.isidentifier() else []


def unread_names(given: dict[Path, ast.Module]) -> list[str]:
    uses = Counter(name for tree in given.values() for name in used(tree))
    return [
        f"{path.relative_to(SOURCE)}: {name}"
        for path, tree in given.items()
        for name, node in defined(tree)
        if not name.startswith("_") and name not in CALLBACKS and uses[name] <= Counter(used(node))[name]
    ]


def test_every_public_name_is_used_by_the_product() -> None:
    """By its name: two things of one name count for each other."""
    found = [name for name in unread_names(trees()) if not name.startswith(FRONT_DOOR)]
    assert [name for name in found if name not in EXEMPT] == []
    assert [name for name in EXEMPT if name not in found] == [], "exempt, and used"


@pytest.mark.parametrize(
    ("code", "is_unread"),
    [
        ("def f():\n    return f()", True),
        ("LIMIT = 3", True),
        ("class A:\n    def f(self): ...\na = A()\n_ = a", True),
        ("def f(): ...\nf()", False),
        ("def f(): ...\n_ = 'headwater.a.b:f'", False),
        ("@app.command\ndef f(): ...", False),
        ("@router.get('/f')\ndef f(): ...", False),
    ],
)
def test_a_name_that_only_names_itself_is_unread(code: str, is_unread: bool) -> None:
    assert bool(unread_names({SOURCE / "x.py": ast.parse(code)})) == is_unread


def test_every_query_has_a_caller() -> None:
    asked = Counter(name for tree in trees().values() for name in used(tree))
    unread = [f"{package}: {one.name}" for package in all_query_files() for one in load_queries(package)]
    assert [name for name in unread if not asked[name.rpartition(" ")[2]]] == []


def test_every_setting_is_read_by_the_product() -> None:
    asked = read_outside(["settings/"])
    assert [one.path for one in every_setting() if one.attribute not in asked] == []


def test_every_field_of_a_source_is_read_by_the_product() -> None:
    columns = set(re.findall(r"\bs\.(\w+)", sql_of_product()))
    asked = read_outside([*CARRIERS, "cli/"]) | columns | methods_of_profile()
    unread = [one.name for one in fields(Profile) if one.name not in asked]
    assert [name for name in unread if name not in SHOWN_ONLY] == []


def methods_of_profile() -> set[str]:
    """Fields that properties of a profile use, of those that are read elsewhere: its scope, its address."""
    tree = trees()[SOURCE / "sources" / "source.py"]
    profile = next(one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == "Profile")
    asked = read_outside(CARRIERS)
    return {
        name for one in profile.body if isinstance(one, ast.FunctionDef) and one.name in asked for name in used(one)
    }


def read_outside(places: Iterable[str]) -> set[str]:
    """Attributes that modules elsewhere ask for."""
    ours = (path for path in MODULES if not str(path.relative_to(SOURCE)).startswith(tuple(places)))
    return {node.attr for path in ours for node in nodes_of(path) if isinstance(node, ast.Attribute)}


def sql_of_product() -> str:
    return "\n".join(one.sql for package in all_query_files() for one in load_queries(package))


async def test_every_table_and_view_is_used(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    schema = "current_schema::regnamespace"
    relations = await connection.fetch(
        f"select relname from pg_class where relnamespace = {schema} and relkind in ('r', 'v', 'p', 'm')"
        " and not relispartition"
    )
    bodies = await connection.fetch(
        f"select pg_get_functiondef(oid) as text from pg_proc where pronamespace = {schema} and prokind in ('f', 'p')"
    )
    views = await connection.fetch(
        f"select pg_get_viewdef(oid) as text from pg_class where relnamespace = {schema} and relkind in ('v', 'm')"
    )
    await connection.close()
    python = "\n".join(path.read_text("utf-8") for path in trees())
    text = "\n".join([sql_of_product(), python, *(row["text"] for row in (*bodies, *views))])
    words = set(re.findall(r"\w+", text))
    unread = {row["relname"] for row in relations} - words
    assert unread - READ_BY_OTHERS.keys() == set()
    assert READ_BY_OTHERS.keys() <= {row["relname"] for row in relations}
