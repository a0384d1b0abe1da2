"""How much memory processes hold, from /proc; zero where there is none."""

import re
from collections.abc import Iterable
from pathlib import Path

PROCESSES = Path("/proc")

# Pages of files are shared by all processes of a browser: counted for each, a small one would look enormous.
_OWN_KILOBYTES = re.compile(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.MULTILINE)


def memory_bytes(pids: Iterable[int]) -> int:
    return sum(own_memory_bytes(_status(pid)) for pid in pids)


def own_memory_bytes(status: str) -> int:
    return sum(int(kilobytes) for kilobytes in _OWN_KILOBYTES.findall(status)) * 1024


def _status(pid: int) -> str:
    try:
        return (PROCESSES / str(pid) / "status").read_text("utf-8", errors="replace")
    except OSError:  # it ended while we looked
        return ""
