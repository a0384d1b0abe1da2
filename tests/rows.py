"""Rows that are work: the first of a table is quick, the others are long.

A row that has a database of its own, or that is said to be heavy, takes as much as a test; and what breaks one row
mostly breaks the first. A kind of sink or of server comes from a fixture: it is no row, and each has its quick one.
"""

from collections.abc import Iterable

import pytest

NEEDS_A_DATABASE = {"database_url", "empty_database_url"}
HEAVY = "heavy_rows"
# Rules that every package, query and page is held to: no row stands for another.
RULES = "tests/architecture/"


def leave_first_rows(items: Iterable[pytest.Item]) -> None:
    seen: set[tuple[object, ...]] = set()
    for item in items:
        if isinstance(item, pytest.Function) and is_a_row(item) and is_heavy(item):
            if (table := table_of(item)) in seen:
                item.add_marker(pytest.mark.long)
            seen.add(table)


def is_a_row(item: pytest.Function) -> bool:
    return hasattr(item, "callspec") and not columns_of(item).isdisjoint(item.callspec.indices)


def is_heavy(item: pytest.Function) -> bool:
    if item.nodeid.startswith(RULES):
        return False
    return item.get_closest_marker(HEAVY) is not None or not NEEDS_A_DATABASE.isdisjoint(item.fixturenames)


def table_of(item: pytest.Function) -> tuple[object, ...]:
    """The test, and the kinds of things that its fixtures gave it."""
    indices = item.callspec.indices
    kinds = sorted((name, indices[name]) for name in indices.keys() - columns_of(item))
    return (item.nodeid.partition("[")[0], *kinds)


def columns_of(item: pytest.Function) -> set[str]:
    said = [marker.args[0] for marker in item.iter_markers("parametrize")]
    named = [names.split(",") if isinstance(names, str) else names for names in said]
    return {name.strip() for names in named for name in names}
