"""Roles in the foreground: everything at once, several workers, and how they end."""

import os
import signal
import time
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from tests.integration.cli.conftest import LIMIT_SECONDS, Person, Starts

NO_PROCESSES = 2


def until(found: Callable[[], Collection[int]], count: int, without: Collection[int] = ()) -> list[int]:
    """The processes looked for, once there are so many others than these."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline:
        others = [pid for pid in found() if pid not in without]
        if len(others) >= count:
            return others
        time.sleep(0.05)
    raise AssertionError(f"{count} processes were expected, there are {list(found())}")


def pool_size_of(parent: int, module: str) -> list[int]:
    """Those that run this module and were started by that process."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and f"\0{module}\0" in (folder / "cmdline").read_text():
                owner = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                found += [int(folder.name)] if owner == parent else []
        except OSError:
            continue
    return found


@pytest.mark.long
def test_everything_runs_until_it_is_told_to_stop(starts: Starts) -> None:
    role = starts("up")
    assert role.stderr is not None
    said = [role.stderr.readline()]
    # Its parts start beside each other: from then on it hears.
    while not all(any(words in line for line in said) for words in ("Nothing is followed yet", "what just happened")):
        said.append(role.stderr.readline())
        assert len(said) < 20, said
    assert said[0] == "Starting …\n"
    role.send_signal(signal.SIGINT)
    _, rest = role.communicate(timeout=LIMIT_SECONDS)
    assert "Stopping: finishing what is under way." in rest
    assert rest.endswith("Stopped. Work under way was finished or given back. Go on with: headwater up\n")
    assert role.returncode == 0


@pytest.mark.long
def test_a_second_one_on_a_folder_says_who_runs_there_and_ends(starts: Starts, person: Person) -> None:
    role = starts("--set", "web.port=0", "up")
    assert role.stderr is not None
    while "what just happened" not in role.stderr.readline():
        assert role.poll() is None
    second = person.says("--set", "web.port=0", "up")
    assert second.code == 7
    assert f"already: process {role.pid} on " in second.err
    assert "headwater run fetch" in second.err
    role.kill()
    role.wait(LIMIT_SECONDS)
    third = starts("--set", "web.port=0", "up")
    assert third.stderr is not None
    while "Console: " not in third.stderr.readline():
        assert third.poll() is None
    third.send_signal(signal.SIGINT)
    third.communicate(timeout=LIMIT_SECONDS)
    assert third.returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["fetch", "poll"])
def test_a_process_that_dies_is_started_again_and_told_of(starts: Starts, name: str) -> None:
    role = starts("run", name, "--processes", "2", HEADWATER_LOG__FORMAT="json")

    def workers() -> list[int]:
        return pool_size_of(role.pid, "headwater.cli.role_worker")

    first = until(workers, 2)
    os.kill(first[0], signal.SIGKILL)
    until(workers, 1, without=first)
    role.send_signal(signal.SIGTERM)
    _, told = role.communicate(timeout=LIMIT_SECONDS)
    assert '"event": "worker_died"' in told
    assert role.returncode == 1
    assert workers() == []


@pytest.mark.long
def test_no_poller_outlives_its_parent(starts: Starts) -> None:
    role = starts("run", "poll", "--processes", "2")
    pollers = until(lambda: pool_size_of(role.pid, "headwater.cli.role_worker"), 2)
    role.kill()
    role.communicate(timeout=LIMIT_SECONDS)
    until(lambda: [1] if not any(Path(f"/proc/{pid}").exists() for pid in pollers) else [], 1)


@pytest.mark.parametrize(("name", "processes"), [("fetch", "0"), ("fetch", "257"), ("poll", "-1")])
def test_an_impossible_number_of_processes_is_refused(starts: Starts, name: str, processes: str) -> None:
    role = starts("run", name, f"--processes={processes}")
    _, told = role.communicate(timeout=LIMIT_SECONDS)
    assert (role.returncode, "Give 1 to 256" in told) == (NO_PROCESSES, True)
