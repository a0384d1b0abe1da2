"""Headwater as the first process of a namespace, as in a container: signals arrive, orphans are reaped."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.conftest import PROGRAM

# A shell without job control lets what it starts in the background ignore SIGINT, and so do all its children.
NAMESPACE = ("env", "--default-signal", "unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
LIMIT_SECONDS = 300
# An orphan: its parent has ended before it does.
ORPHAN = """
import os, sys, time
from pathlib import Path
from headwater.cli.first_process import work_in_a_child
assert os.getpid() == 1
work_in_a_child()
assert os.getpid() != 1
reading, writing = os.pipe()
if (parent := os.fork()) == 0:
    if os.fork() == 0:
        os.write(writing, str(os.getpid()).encode())
    os._exit(0)
os.waitpid(parent, 0)
orphan = Path("/proc", os.read(reading, 20).decode())
while orphan.exists():
    time.sleep(0.001)
os.kill(os.getpid(), int(sys.argv[1])) if len(sys.argv) > 1 else sys.exit(17)
"""


@pytest.fixture(scope="module", autouse=True)
def _namespaces() -> None:
    done = subprocess.run((*NAMESPACE, "true"), capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no right to make a namespace of processes")


def ended(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run((*NAMESPACE, *command), capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)


@pytest.mark.long
def test_it_ends_with_the_code_of_the_command() -> None:
    assert ended(PROGRAM, "version").returncode == 0
    assert ended(PROGRAM, "no-such-command").returncode == 2


def test_orphans_are_reaped_and_the_code_is_the_workers() -> None:
    done = ended(sys.executable, "-c", ORPHAN)
    assert (done.returncode, done.stderr) == (17, "")


@pytest.mark.long
def test_a_worker_that_is_killed_ends_it_with_the_code_of_the_signal() -> None:
    assert ended(sys.executable, "-c", ORPHAN, str(int(signal.SIGKILL))).returncode == 128 + signal.SIGKILL


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_what_runs_in_order(number: int) -> None:
    command = (*NAMESPACE, PROGRAM, "simweb", "serve", "--port", "0")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as outer:
        try:
            assert outer.stdout
            assert outer.stdout.readline()
            (first,) = children_of(outer.pid)
            os.kill(first, number)
            _, said = outer.communicate(timeout=LIMIT_SECONDS)
        finally:
            outer.kill()
    assert "Traceback" not in said
    assert outer.returncode in (0, 130)


def children_of(pid: int) -> Iterator[int]:
    return map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
