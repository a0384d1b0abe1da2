"""Tests rewritten for their assertions before any worker starts: once, and on all processors.

Workers collect the same files in the same order at the same time, so that each would rewrite all of them.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from headwater.machine import processors

TESTS = Path(__file__).parent


def rewrite_tests(config: pytest.Config) -> None:
    """Leave what is up to date; nothing at all where nothing may be written."""
    if sys.dont_write_bytecode:
        return
    stale = [file for pattern in ("test_*.py", "conftest.py") for file in TESTS.rglob(pattern) if _is_stale(file)]
    count = processors()
    children = [_start(config, stale[number::count]) for number in range(count)] if stale else []
    for pid in children:
        os.waitpid(pid, 0)


def _start(config: pytest.Config, files: Sequence[Path]) -> int:
    pid = os.fork()
    if not pid:
        # A file that cannot be rewritten is told of by the worker that collects it.
        with suppress(Exception):
            for file in files:
                _rewrite(config, file)
        os._exit(0)
    return pid


def _rewrite(config: pytest.Config, file: Path) -> None:
    source_hash, code = rewrite._rewrite_test(file, config)
    rewrite.try_makedirs(_place(file).parent)
    rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source_hash, _place(file))


def _is_stale(file: Path) -> bool:
    return rewrite._read_pyc(file, _place(file)) is None


def _place(file: Path) -> Path:
    return rewrite.get_cache_dir(file) / (file.stem + rewrite.PYC_TAIL)
