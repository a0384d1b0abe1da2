"""The command line as a person meets it: a process, what it prints, the code it ends with."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests import forked_program
from tests.forked_program import ForkedProgram
from tests.warm_process import Forks

from headwater.database.postmaster import running_pid
from headwater.settings.aliases import ALIASES

PROGRAM = str(Path(sys.executable).with_name("headwater"))
# Only so that a hang ends.
LIMIT_SECONDS = 300


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Person:
    """Somebody at a terminal in a folder of their own, with nothing configured but what they say."""

    program: ForkedProgram
    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.home / "data"

    def says(self, *words: str, **environment: str) -> Said:
        done = self.program.run(words, self.surroundings(environment), self.home, LIMIT_SECONDS)
        return Said(done.code, done.out, done.err)

    def surroundings(self, more: dict[str, str]) -> dict[str, str]:
        return self.environment | {"HEADWATER_SERVICE__DATA_DIR": str(self.data)} | more

    def server_is_running(self) -> bool:
        return running_pid(self.data / "postgresql" / "data") is not None


class Starts(Protocol):
    def __call__(self, *words: str, **environment: str) -> "subprocess.Popen[str]": ...


@pytest.fixture(scope="session")
def program(run_folder: Path) -> Iterator[ForkedProgram]:
    forks = Forks(run_folder, forked_program.__name__)
    yield ForkedProgram(forks)
    forks.close()


@pytest.fixture
def person(program: ForkedProgram, open_folder: Path) -> Person:
    aliases = {alias.name for alias in ALIASES}
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HEADWATER_") and name.removesuffix("_FILE") not in aliases
    }
    return Person(program, open_folder, environment | {"XDG_CONFIG_HOME": str(open_folder), "COLUMNS": "120"})


@pytest.fixture
def starts(person: Person) -> Iterator[Starts]:
    """Begin a command and leave it running; whatever is left of it ends with the test."""
    with ExitStack() as running:

        def starts(*words: str, **environment: str) -> "subprocess.Popen[str]":
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                (PROGRAM, *words),
                env=person.surroundings(environment),
                cwd=person.home,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                text=True,
            )
            running.enter_context(process)
            running.callback(process.kill)
            return process

        yield starts
