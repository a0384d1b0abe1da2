"""The name under which a person can start the program again."""

import sys
from pathlib import Path

import pytest

from headwater.cli.launch import program_as_typed


def started_as(monkeypatch: pytest.MonkeyPatch, program: Path, path: str) -> str:
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("PATH", path)
    return program_as_typed()


def test_a_program_off_the_path_is_named_by_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / ".venv" / "bin" / "headwater"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert started_as(monkeypatch, program, "/nowhere") == ".venv/bin/headwater"
    assert started_as(monkeypatch, program, str(program.parent)) == "headwater"
    monkeypatch.chdir(tmp_path / ".venv")
    assert started_as(monkeypatch, Path("bin/headwater"), "/nowhere") == "bin/headwater"


def test_started_as_a_module_it_is_named_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert started_as(monkeypatch, tmp_path / "__main__.py", "/nowhere") == f"{sys.executable} -m headwater"
