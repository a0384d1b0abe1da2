"""The program in forks of a process that has imported it: hundreds of short commands, of which most is their imports.

All that comes after the imports is the program as it is. Tests of its start start it as users do.
"""

import atexit
import importlib
import json
import os
import pkgutil
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from tests.warm_process import Forks

import headwater
from headwater.cli import main
from headwater.cli.app import app
from headwater.cli.reference import every_command

NUMBER = struct.Struct("=i")


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


class ForkedProgram:
    """`headwater`, imported when the first command is run."""

    def __init__(self, forks: Forks) -> None:
        self._forks = forks

    def run(self, words: Sequence[str], environment: Mapping[str, str], folder: Path, limit_seconds: float) -> Ended:
        """One command to its end; a code below zero is the signal that ended it, as in `subprocess`."""
        request = json.dumps([list(words), dict(environment), str(folder)]).encode()
        told, telling = os.pipe()
        with TemporaryFile() as out, TemporaryFile() as err, os.fdopen(told, "rb", buffering=0) as told_file:
            self._forks.fork(request, [out.fileno(), err.fileno(), telling])
            os.close(telling)
            code = _code_of(told_file.fileno(), words, limit_seconds)
            out.seek(0)
            err.seek(0)
            return Ended(code, out.read().decode(), err.read().decode())


def _code_of(told: int, words: Sequence[str], limit_seconds: float) -> int:
    pid = NUMBER.unpack(os.read(told, NUMBER.size))[0]
    if not select.select([told], [], [], limit_seconds)[0]:
        os.kill(pid, signal.SIGKILL)
        raise subprocess.TimeoutExpired(list(words), limit_seconds)
    code: int = NUMBER.unpack(os.read(told, NUMBER.size))[0]
    return code


def prepare() -> None:
    """All of the program: a command imports what it needs when it is used."""
    for module in pkgutil.walk_packages(headwater.__path__, "headwater."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    # Commands are looked up by their names.
    for _ in every_command(app, "headwater"):
        pass


def live(said: bytes, descriptors: Sequence[int]) -> None:
    out, err, telling = descriptors
    wait_for_command(telling)
    os.close(telling)
    words, environment, folder = json.loads(said)
    become_command(words, environment, folder, out, err)
    try:
        main()
    except SystemExit as end:
        leave(end.code)


def leave(code: object) -> None:
    """As an interpreter ends, but for taking down all that was imported: that costs more than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def wait_for_command(telling: int) -> None:
    """Returns in the command; its waiter tells its number and, at its end, its code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid:
        os.write(telling, NUMBER.pack(pid))
        _, status = os.waitpid(pid, 0)
        os.write(telling, NUMBER.pack(os.waitstatus_to_exitcode(status)))
        os._exit(0)


def become_command(words: list[str], environment: dict[str, str], folder: str, out: int, err: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["headwater", *words]
