"""A server from a distribution's package of PostgreSQL, as its users have it: older than ours, and with JIT.

Debian and its relatives keep the programs of each version in a folder of its own.
"""

import os
import pwd
import subprocess
from collections.abc import Mapping
from pathlib import Path

PROGRAMS = "/usr/lib/postgresql/{}/bin"
USER = "postgres"
# As on the embedded server, so that a test may put a password or another role into an address.
ROLE = "headwater"
PORT = 5432


def has_programs(version: int) -> bool:
    return (Path(PROGRAMS.format(version)) / "postgres").exists()


def start_server(folder: Path, version: int, settings: Mapping[str, str]) -> str:
    """A new server in `folder`; answers with the address of its superuser."""
    folder.mkdir()
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root.
        user = pwd.getpwnam(USER)
        os.chown(folder, user.pw_uid, user.pw_gid)
    _run(version, "initdb", "-D", f"{folder}/data", "-U", ROLE, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
    options = {"listen_addresses": "", "unix_socket_directories": str(folder), "timezone": "UTC", **settings}
    spelled = " ".join(f"-c {name}='{value}'" for name, value in options.items())
    _run(version, "pg_ctl", "start", "-w", "-D", f"{folder}/data", "-l", f"{folder}/log", "-o", spelled)
    return f"postgresql://{ROLE}@/postgres?host={folder}&port={PORT}"


def stop_server(folder: Path) -> None:
    """Also one that an earlier run left behind; nothing if it is gone already."""
    data = folder / "data"
    if (data / "postmaster.pid").exists():
        _run(int((data / "PG_VERSION").read_text()), "pg_ctl", "stop", "-m", "immediate", "-D", str(data))


def _run(version: int, program: str, *arguments: str) -> None:
    who = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    command = [f"{PROGRAMS.format(version)}/{program}", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", **who)  # type: ignore[call-overload]
