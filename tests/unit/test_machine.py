"""Limits of control groups, read from trees that were made up."""

import os
from pathlib import Path

import pytest

from headwater.machine import memory_kills, memory_limit, processor_quota, processors
from headwater.run.extraction_pools import child_bytes, pool_size_within

MEBIBYTE = 1 << 20


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_limits_of_version_2_are_the_tightest_of_all_groups_above(tmp_path: Path) -> None:
    root = written(
        tmp_path,
        {
            "proc/self/cgroup": "0::/pod/box\n",
            "sys/fs/cgroup/pod/memory.max": "268435456\n",
            "sys/fs/cgroup/pod/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/pod/box/memory.max": "max\n",
            "sys/fs/cgroup/pod/box/cpu.max": "max 100000\n",
            "sys/fs/cgroup/pod/box/memory.events": "low 0\noom 3\noom_kill 2\n",
        },
    )
    assert memory_limit(root) == 256 * MEBIBYTE
    assert processor_quota(root) == 1.5
    assert processors(root) == 1
    assert memory_kills(root) == 2


def test_limits_of_version_1_are_found_at_the_top_of_a_container(tmp_path: Path) -> None:
    root = written(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "134217728\n",
            "sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "400000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
    )
    assert memory_limit(root) == 128 * MEBIBYTE
    assert processor_quota(root) == 4.0
    assert memory_kills(root) == 7


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/self/cgroup": "0::/\n"},
        {"proc/self/cgroup": "nonsense\n", "sys/fs/cgroup/memory.max": "12"},
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max", "sys/fs/cgroup/cpu.max": "max"},
        {"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"},
        {"proc/self/cgroup": "1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1"},
    ],
)
def test_without_a_limit_or_with_files_that_say_nothing_there_is_none(tmp_path: Path, files: dict[str, str]) -> None:
    root = written(tmp_path, files)
    assert (memory_limit(root), processor_quota(root)) == (None, None)
    assert processors(root) == len(os.sched_getaffinity(0))


def test_affinity_bounds_the_processors(tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert processors(tmp_path) == 1
    finally:
        os.sched_setaffinity(0, before)


def test_children_fit_into_the_memory_there_is() -> None:
    assert pool_size_within(8, None) == 8
    assert pool_size_within(8, 1024 * MEBIBYTE) == 4
    assert pool_size_within(8, 64 * MEBIBYTE) == 1


def test_no_child_may_grow_beyond_what_the_group_has() -> None:
    assert child_bytes(512 * MEBIBYTE, None) == 512 * MEBIBYTE
    assert child_bytes(512 * MEBIBYTE, 4096 * MEBIBYTE) == 512 * MEBIBYTE
    assert child_bytes(2048 * MEBIBYTE, 1024 * MEBIBYTE) == 512 * MEBIBYTE
