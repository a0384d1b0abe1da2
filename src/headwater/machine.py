"""The part of the machine that this process may use: processors and memory, as affinity and control groups limit them.

Every function reads from a given root, so that any tree of files can stand for a machine.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

ROOT = Path("/")
# Version 1 says "no limit" with the largest number of pages.
NO_LIMIT_BYTES = 1 << 60
MEBIBYTE = 1 << 20


def processors(root: Path = ROOT) -> int:
    """At least one: by affinity, and by the quota of the control group, of which only whole ones count."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = processor_quota(root)
    return max(1, min(usable, int(quota)) if quota is not None else usable)


def processor_quota(root: Path = ROOT) -> float | None:
    """The tightest of all groups above this process; None: no limit."""
    modern = (_share(*_words(folder / "cpu.max")) for folder in _folders(root, ""))
    old = (
        _share(*_words(folder / "cpu.cfs_quota_us"), *_words(folder / "cpu.cfs_period_us"))
        for folder in _folders(root, "cpu")
    )
    return min((share for share in (*modern, *old) if share is not None), default=None)


def memory_limit(root: Path = ROOT) -> int | None:
    """In bytes, the tightest of all groups above this process; None: no limit."""
    modern = (_number(*_words(folder / "memory.max")) for folder in _folders(root, ""))
    old = (_number(*_words(folder / "memory.limit_in_bytes")) for folder in _folders(root, "memory"))
    limits = [limit for limit in (*modern, *old) if limit is not None and limit < NO_LIMIT_BYTES]
    return min(limits, default=None)


def memory_kills(root: Path = ROOT) -> int | None:
    """How often the kernel has ended a process of this group for want of memory; None where it does not say."""
    for folder in _folders(root, ""):
        if (count := _entry(folder / "memory.events", "oom_kill")) is not None:
            return count
    for folder in _folders(root, "memory"):
        if (count := _entry(folder / "memory.oom_control", "oom_kill")) is not None:
            return count
    return None


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """The group of this process and all above it that can be seen; "" is version 2.

    Inside a container the path may be the host's, of which only the top is there.
    """
    for line in _lines(root / "proc/self/cgroup"):
        _, names, path = line.split(":", 2) if line.count(":") > 1 else ("", "none", "")
        if controller in names.split(","):
            for top in _mounts(root, controller, names):
                group = top / path.lstrip("/")
                while group != top:
                    yield group
                    group = group.parent
                yield top


def _mounts(root: Path, controller: str, names: str) -> list[Path]:
    base = root / "sys/fs/cgroup"
    if not controller:
        return [base / "unified"] if (base / "unified").is_dir() else [base]
    return [folder for folder in (base / names, base / controller) if folder.is_dir()][:1]


def _share(quota: str = "", period: str = "", *_more: str) -> float | None:
    if quota.isdigit() and period.isdigit() and int(quota) and int(period):
        return int(quota) / int(period)
    return None


def _number(word: str = "", *_more: str) -> int | None:
    return int(word) if word.isdigit() else None


def _entry(file: Path, name: str) -> int | None:
    entries = (line.split() for line in _lines(file))
    return next((int(words[1]) for words in entries if len(words) == 2 and words[0] == name), None)


def _words(file: Path) -> list[str]:
    return " ".join(_lines(file)).split()


def _lines(file: Path) -> list[str]:
    with suppress(OSError, ValueError):
        return file.read_text().splitlines()
    return []
