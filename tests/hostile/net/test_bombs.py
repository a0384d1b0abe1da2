"""Row 64 of the hostile inputs: small bodies that unpack to very large ones."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from headwater.simweb.mischief.bombs import Coding, zeros

SWALLOW = Path(__file__).with_name("swallow.py")
CAP_BYTES = 10 * 1024 * 1024
MOST_GROWTH_KILOBYTES = 32 * 1024
ONE_CHUNK = 1 << 30


@pytest.mark.heavy_rows
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize("chunk", [65_536, ONE_CHUNK], ids=["64 kB chunks", "one chunk"])
@pytest.mark.parametrize("coding", get_args(Coding))
def test_a_gigabyte_is_stopped_at_the_cap_in_little_memory(coding: Coding, chunk: int, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb"
    bomb.write_bytes(zeros(coding, 1024))
    child = [sys.executable, str(SWALLOW), str(bomb), coding, str(chunk)]
    said = subprocess.run(child, capture_output=True, text=True, check=True, timeout=600).stdout.split()
    assert said[:2] == ["TooLarge", str(CAP_BYTES)]
    assert int(said[2]) < MOST_GROWTH_KILOBYTES
