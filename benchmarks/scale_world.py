"""An installation of any size, filled by SQL: what 200,000 sources leave behind in some days, or a share of that.

Everything hangs on a number, so that two sizes differ in nothing but how much there is. What is under way at one moment
(leases, channels and entries that are due) does not grow: a busy installation of any size has little of it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headwater.database.queries import parse_queries

WHOLE = {
    "sources": 200_000,
    "hosts": 150_000,
    "entries": 5_000_000,
    "items": 4_000_000,
    "runs": 4_000_000,
    "log": 4_600_000,
    "documents": 1_000_000,
    "bodies": 200_000,
    "jobs": 20_000,
}
FEWEST = 200
DAYS = 3
# So many texts there are, and each document has one of them: search vectors are the dearest thing to make.
TEXTS, WORDS = 500, 100

# Durability and foreign keys are for those who have something to lose.
SHORTCUTS = """
set synchronous_commit = off; set session_replication_role = replica; set jit = off;
set work_mem = '256MB'; set maintenance_work_mem = '512MB'
"""
FILE = Path(__file__).with_suffix(".sql")


def counts_at(size: float, whole: Mapping[str, int] = WHOLE) -> dict[str, int]:
    return {name: max(FEWEST, round(count * size)) for name, count in whole.items()}


async def fill(
    connection: Any, size: float, told: Callable[[str], None] = lambda _: None, whole: Mapping[str, int] = WHOLE
) -> None:
    """Fill an empty schema; `size` 1 is the `whole`."""
    await connection.execute(SHORTCUTS)
    statements = {name: query.sql for name, query in parse_queries(FILE.read_text(), FILE.name).items()}
    for name, arguments in _steps(counts_at(size, whole)):
        told(name)
        await connection.execute(statements[name], *arguments)
    # Opening hosts wants the statistics of the tables.
    for statement in ("vacuum analyze", statements["open_hosts"], statements["slots"]):
        await connection.execute(statement)
    for table in ("hosts", "slots"):
        await connection.execute(f"vacuum analyze {table}")


def _steps(n: dict[str, int]) -> list[tuple[str, tuple[int, ...]]]:
    sources, hosts = n["sources"], n["hosts"]
    return [
        ("functions", ()),
        ("days_back", (DAYS + 1,)),
        ("sources", (sources, hosts)),
        ("channels", (sources, hosts)),
        ("leased_channels", ()),
        ("subscriptions", (sources,)),
        ("callbacks", (sources,)),
        ("hosts", (hosts,)),
        ("host_rows", (hosts,)),
        ("entries", (n["entries"], sources, hosts)),
        ("discoveries", ()),
        ("counters", ()),
        ("totals", ()),
        ("due_entries", ()),
        ("items", (n["items"], sources, hosts)),
        ("runs", (n["runs"], sources, DAYS)),
        ("log", (n["log"], hosts, DAYS, n["entries"], sources)),
        ("marks", ()),
        ("rollups", (sources,)),
        ("texts", (TEXTS, WORDS)),
        ("documents", (n["documents"], sources, hosts, TEXTS)),
        ("beside_documents", ()),
        ("bodies", (n["bodies"], n["documents"], sources, hosts, DAYS)),
        ("jobs", (n["jobs"], sources)),
        ("around_sources", (sources,)),
    ]
