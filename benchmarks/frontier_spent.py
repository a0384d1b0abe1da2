"""What the database server has spent so far: processor time and write-ahead log."""

import os
from pathlib import Path
from typing import NamedTuple

from benchmarks.frontier_world import World, plain_connection

PROC = Path("/proc")


class Spent(NamedTuple):
    wal_bytes: int
    cpu_s: float

    def since(self, before: "Spent") -> "Spent":
        return Spent(self.wal_bytes - before.wal_bytes, self.cpu_s - before.cpu_s)


async def spent_so_far(world: World) -> Spent:
    async with plain_connection(world.dsn) as connection:
        wal_bytes = await connection.fetchval("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")
        return Spent(wal_bytes, server_cpu_s(parent_of(connection.get_server_pid())))


def server_cpu_s(server: int) -> float:
    """Of the server and all its processes, those that ended included; 0 where the system does not tell."""
    if not PROC.exists():
        return 0.0
    times = (cpu_times(int(one.name)) for one in PROC.iterdir() if one.name.isdigit())
    ours = (own + (ended if pid == server else 0) for pid, parent, own, ended in times if server in (pid, parent))
    return sum(ours) / os.sysconf("SC_CLK_TCK")


def cpu_times(pid: int) -> tuple[int, int, int, int]:
    """The process, its parent, and clock ticks of its own and of its children that ended (proc(5))."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return pid, 0, 0, 0
    return pid, int(fields[1]), int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])


def parent_of(pid: int) -> int:
    return cpu_times(pid)[1]
