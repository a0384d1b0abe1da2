"""What a set of processes costs, with all they have started: processor time and memory. 0 where nothing tells."""

import os
from collections import defaultdict
from collections.abc import Iterable

from benchmarks.frontier_spent import PROC, cpu_times

MB_KB = 1024


def are_alive(pids: Iterable[int]) -> bool:
    return not PROC.exists() or all((PROC / str(pid)).exists() for pid in pids)


def cpu_s_of(roots: Iterable[int]) -> float:
    """Of those that ended since, too."""
    return sum(sum(cpu_times(pid)[2:]) for pid in family(roots)) / os.sysconf("SC_CLK_TCK")


def pss_mb_of(roots: Iterable[int]) -> float:
    """Resident memory, each shared page divided among its processes. Not for the measured time: it walks all pages."""
    return sum(map(pss_kb, family(roots))) / MB_KB


def family(roots: Iterable[int]) -> list[int]:
    """The processes and everybody who descends from them."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for one in PROC.iterdir() if PROC.exists() else ():
        if one.name.isdigit():
            pid, parent, *_ = cpu_times(int(one.name))
            children[parent].append(pid)
    found = list(roots)
    for pid in found:
        found += children[pid]
    return found


def pss_kb(pid: int) -> int:
    """Nothing of a process that has just ended."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
