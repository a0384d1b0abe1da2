"""The wheel as a stranger meets it: in an empty environment, with the versions that the image installs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.deploy.deployment import DEPLOY, ROOT

import headwater

LIMIT_SECONDS = 500
UV = (sys.executable, "-m", "uv")


def run(*command: str | Path, where: Path = ROOT, **more: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HEADWATER_", "PYTHON"))}
    return subprocess.run(
        command,
        cwd=where,
        env=environment | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
    )


def installed(environment: Path, *what: str | Path) -> bool:
    """From the cache where it is there, else from the index."""
    install = (*UV, "pip", "install", "--quiet", "--no-deps", "--python", environment / "bin" / "python")
    ways = [("--offline",), (), ("--system-certs",)]
    return any(run(*install, *way, *what).returncode == 0 for way in ways)


@pytest.mark.long
def test_the_wheel_runs_from_an_empty_environment(open_folder: Path) -> None:
    built = run(sys.executable, "-m", "hatchling", "build", "--directory", str(open_folder / "dist"))
    assert built.returncode == 0, built.stderr
    (wheel,) = (open_folder / "dist").glob("*.whl")
    (sdist,) = (open_folder / "dist").glob("*.tar.gz")
    assert sdist.name == f"headwater-{headwater.__version__}.tar.gz"
    empty = open_folder / "empty"
    assert run(sys.executable, "-m", "venv", "--without-pip", empty).returncode == 0
    if not installed(empty, "--require-hashes", "--requirement", DEPLOY / "run.lock"):
        pytest.skip("neither the cache nor an index has what the lock names")
    assert installed(empty, wheel)
    program, data = empty / "bin" / "headwater", {"HEADWATER_SERVICE__DATA_DIR": str(open_folder / "data")}
    said = run(program, "--version", where=open_folder)
    assert (said.returncode, said.stdout) == (0, f"headwater {headwater.__version__}\n")
    toured = run(program, "demo", "--headless", "--seconds", "5", "--publishers", "10", where=open_folder, **data)
    assert toured.returncode == 0, toured.stdout + toured.stderr
    assert "The counters equal a recount of all entries." in toured.stderr
