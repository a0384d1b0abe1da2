"""The server that may be running on a data directory, by its files and the process list."""

import os
import sys
from pathlib import Path

# In pg_control, behind the system's identifier and two versions; of the states, those of a server that ended in order.
STATE_OFFSET = 16
SHUT_DOWN = frozenset({1, 2})


def cluster_version(data: Path) -> int | None:
    """Major version of the cluster in `data`; None when there is none."""
    try:
        return int((data / "PG_VERSION").read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def running_pid(data: Path) -> int | None:
    """Process id of the live server on `data`."""
    pid = _recorded_pid(data / "postmaster.pid")
    return pid if pid is not None and _is_alive(pid) and _is_server_on(data, pid) else None


def was_killed(data: Path) -> bool:
    """No server runs on `data`, and the last one did not end in order."""
    return cluster_version(data) is not None and running_pid(data) is None and not was_shut_down(data)


def was_shut_down(data: Path) -> bool:
    """By a person who wanted that: a server says so in its control file, and takes its lock file away."""
    if (data / "postmaster.pid").exists():
        return False
    try:
        head = (data / "global" / "pg_control").read_bytes()[: STATE_OFFSET + 4]
    except OSError:
        return False
    return int.from_bytes(head[STATE_OFFSET:], sys.byteorder) in SHUT_DOWN


def forget_mistaken_pids(data: Path, socket: Path) -> None:
    """Remove lock files whose process number is alive but is no server, or only the remains of one.

    PostgreSQL would refuse to start for as long as that lasts: for ever after a restart of a container, where
    numbers repeat, or without an init that buries the dead. Should processes of the old server still run, the
    new one finds their shared memory and refuses, with or without the files.
    """
    for file in (data / "postmaster.pid", *socket.glob(".s.PGSQL.*.lock")):
        pid = _recorded_pid(file)
        if pid is not None and _is_alive(pid) and not _is_server_on(data, pid):
            file.unlink(missing_ok=True)


def _recorded_pid(file: Path) -> int | None:
    try:
        return int(file.read_text().splitlines()[0])
    except (FileNotFoundError, NotADirectoryError, ValueError, IndexError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_server_on(data: Path, pid: int) -> bool:
    if not sys.platform.startswith("linux"):
        return True
    process = Path(f"/proc/{pid}")
    try:
        status = (process / "status").read_text()
        is_postgres = "Name:\tpostgres\n" in status and "State:\tZ" not in status
        return is_postgres and (process / "cwd").samefile(data)
    except PermissionError:
        # Root in a container may not look at other users' processes: the name has to do.
        return True
    except OSError:
        return False
