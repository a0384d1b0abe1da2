"""SQL with names: each `queries.sql` holds statements under `-- name: …` and a purpose line, and is loaded once.

Values are given by position, `$1`, or by name, `:url`: a statement with names is called with them, and gives what a
connection takes: `await connection.fetchval(*queries.create_source(url=url, name=name))`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Self

from headwater.errors import NotFound, UsageError

FILE = "queries.sql"
HEADING = re.compile(r"^-- name:[ \t]*(\S*)[ \t]*$", re.MULTILINE)
NAME = re.compile(r"[a-z][a-z0-9_]*")
# A name of a value; before it all that may hold a colon and is none: texts, quoted names, comments, casts.
VALUE = re.compile(
    r"""'(?:[^']|'')*' | "[^"]*" | --[^\n]* | /\*.*?\*/ | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ | :: | :=
        | :(?P<name>[a-z_][a-z0-9_]*) | \$(?P<number>\d+)""",
    re.VERBOSE | re.DOTALL,
)


class Statement(str):
    """The text for PostgreSQL. Called with a value for each of its names, it gives itself and the values in order."""

    name: str
    parameters: tuple[str, ...]

    def __new__(cls, sql: str, name: str = "", parameters: tuple[str, ...] = ()) -> Self:
        made = super().__new__(cls, sql)
        made.name, made.parameters = name, parameters
        return made

    def __call__(self, **values: object) -> tuple[Any, ...]:
        if values.keys() != {*self.parameters}:
            lacks = ", ".join(one for one in self.parameters if one not in values)
            unknown = ", ".join(one for one in values if one not in self.parameters)
            told = [f"lacks {lacks}"] * bool(lacks) + [f"has no {unknown}"] * bool(unknown)
            raise UsageError(f"The query '{self.name}' {' and '.join(told)}.")
        return (str(self), *(values[one] for one in self.parameters))


@dataclass(frozen=True)
class Query:
    name: str
    purpose: str
    sql: str
    parameters: tuple[str, ...] = ()


class Queries:
    """The statements of one package, as `queries.claim_due_entries` or `queries["claim_due_entries"]`."""

    def __init__(self, where: str, queries: dict[str, Query]) -> None:
        self._where = where
        self._queries = queries
        # The driver takes nothing but plain texts. One without names is no more than that; one with names is called.
        self._statements: dict[str, Any] = {
            one.name: Statement(one.sql, one.name, one.parameters) if one.parameters else one.sql
            for one in queries.values()
        }

    def __getitem__(self, name: str) -> Statement:
        if name not in self._statements:
            known = ", ".join(sorted(self._queries)) or "none"
            raise NotFound(f"There is no query '{name}' in {self._where}.", fix=f"It has: {known}.")
        found: Statement = self._statements[name]
        return found

    def __getattr__(self, name: str) -> Statement:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries.values())


@cache
def load_queries(package: str) -> Queries:
    where = f"{FILE} of {package}"
    try:
        text = resources.files(package).joinpath(FILE).read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError) as error:
        raise NotFound(f"There is no {where}.") from error
    queries = parse_queries(text, where)
    for query in queries.values():
        _names.setdefault(query.sql, f"{package.removeprefix('headwater.')}.{query.name}")
    return Queries(where, queries)


# By their text, of all that were loaded: an error should say which of them it was.
_names: dict[str, str] = {}


def name_of(sql: str) -> str:
    """Such as `frontier.claim_entries`; empty for a statement without a name."""
    return _names.get(sql, "")


def parse_queries(text: str, where: str) -> dict[str, Query]:
    """Everything from one heading to the next; what stands before the first heading is for readers."""
    queries: dict[str, Query] = {}
    parts = HEADING.split(text)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if not NAME.fullmatch(name):
            raise UsageError(f"'{name}' in {where} is not a name for a query.")
        if name in queries:
            raise UsageError(f"The query '{name}' stands twice in {where}.")
        queries[name] = _query(name, body, where)
    return queries


def _query(name: str, body: str, where: str) -> Query:
    lines = body.strip().splitlines()
    comments = next((at for at, line in enumerate(lines) if not line.startswith("--")), len(lines))
    sql = "\n".join(lines[comments:]).strip().removesuffix(";")
    if not sql:
        raise UsageError(f"The query '{name}' in {where} is empty.")
    purpose = " ".join(line.removeprefix("--").strip() for line in lines[:comments])
    return Query(name, purpose.strip(), *_numbered(name, sql, where))


def _numbered(name: str, sql: str, where: str) -> tuple[str, tuple[str, ...]]:
    """Names become numbers, in the order in which they first stand there."""
    found = [match for match in VALUE.finditer(sql) if match["name"] or match["number"]]
    names = list(dict.fromkeys(match["name"] for match in found if match["name"]))
    if names and any(match["number"] for match in found):
        raise UsageError(f"The query '{name}' in {where} has values both with names and with numbers.")

    def number(match: re.Match[str]) -> str:
        return f"${names.index(match['name']) + 1}" if match["name"] else match[0]

    return VALUE.sub(number, sql), tuple(names)


def all_query_files() -> list[str]:
    """Every package of ours with a `queries.sql`, by name."""
    return sorted(_packages_below(resources.files("headwater"), "headwater"))


def _packages_below(folder: Traversable, package: str) -> Iterator[str]:
    for child in folder.iterdir():
        if child.name == FILE:
            yield package
        elif child.is_dir() and child.name.isidentifier() and not child.name.startswith("__"):
            yield from _packages_below(child, f"{package}.{child.name}")
