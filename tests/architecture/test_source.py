"""Rules of the house that no other tool keeps."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.architecture.modules import MODULES, ROOT, SOURCE, nodes_of, shown

from headwater.database.migrate import FILE_NAME

OURS = ("src", "tests", "benchmarks", "examples", "docs", ".ci")

LONGEST_FUNCTION = 60
LONGEST_MODULE = 600
# Written from the description of the API: a method is as long as an operation has parameters.
GENERATED = ("src/headwater/client/calls/", "src/headwater/client/shapes/")
# Written in two pieces, or this file would be found.
HOMES = re.compile(r"(?<![\w.])/(?:wor" + r"k|roo" + r"t|home/\w+|Users/\w+)/")
INDEX = re.compile(r"https?://\S+/simp" + r"le\b|index-url[ =]+\S*http", re.IGNORECASE)
LEFT_UNDONE = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")

# A requirement of a document that is not in the repository; two pieces again.
REQUIREMENT = re.compile(r"(?<![\w$'\"./-])R" + r"(?:[1-9]|[1-9]\d|10\d)\b(?![\w'\"-])")

BANNED = {
    "time": "import time\nnow = time.time()\n",
    "time, imported by name": "from time import monotonic\nnow = monotonic()\n",
    "sleep": "import time\ntime.sleep(1)\n",
    "today": "from datetime import UTC, datetime\nnow = datetime.now(UTC)\n",
    "randomness": "import random\ndraw = random.random()\n",
    "randomness, imported by name": "from random import Random\ndraw = Random()\n",
    "secrets": "from secrets import token_hex\n",
    "identifiers": "from uuid import uuid4\nnew = uuid4()\n",
    "environment": "import os\nhome = os.environ['HOME']\n",
    "environment, asked": "import os\nhome = os.getenv('HOME')\n",
}


def test_no_function_is_longer_than_a_screen() -> None:
    by_hand = ((name, length) for name, length in functions() if not name.startswith(GENERATED))
    assert not [f"{name}: {length} lines" for name, length in by_hand if length > LONGEST_FUNCTION]


def test_no_module_is_longer_than_a_sitting() -> None:
    by_hand = [module for module in MODULES if not shown(module).startswith(GENERATED)]
    lengths = {module: len(module.read_text("utf-8").splitlines()) for module in by_hand}
    assert not [f"{shown(module)}: {length} lines" for module, length in lengths.items() if length > LONGEST_MODULE]


def test_nothing_is_left_undone_in_the_source() -> None:
    assert not found_in(LEFT_UNDONE, (file for file in texts() if file.is_relative_to(SOURCE)))


def test_nothing_cites_a_requirement_by_its_number() -> None:
    ours = (file for file in texts() if "migrations" not in file.parts and file.suffix in {".py", ".sql", ".md"})
    assert not found_in(REQUIREMENT, ours)


def test_every_migration_goes_both_ways() -> None:
    files = [file.name for file in (SOURCE / "database" / "migrations").glob("*.sql")]
    assert all(FILE_NAME.fullmatch(name) for name in files)
    ups = {name.removesuffix(".up.sql") for name in files if name.endswith(".up.sql")}
    downs = {name.removesuffix(".down.sql") for name in files if name.endswith(".down.sql")}
    assert ups == downs
    assert sorted(int(name[:4]) for name in ups) == list(range(1, len(ups) + 1))


def test_no_file_names_a_place_on_a_developers_machine() -> None:
    assert not found_in(HOMES, texts())


def test_no_file_names_a_package_index() -> None:
    assert not found_in(INDEX, texts())


def test_every_requirement_is_pinned_and_hashed() -> None:
    text = (ROOT / "requirements.lock").read_text("utf-8").replace("\\\n", " ")
    requirements = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert len(requirements) > 10
    assert not [line.split()[0] for line in requirements if "==" not in line or "--hash=sha256:" not in line]


def test_ci_runs_what_a_person_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make check" in script.read_text("utf-8").splitlines()


@pytest.mark.parametrize("code", BANNED.values(), ids=BANNED.keys())
def test_only_their_own_modules_read_time_chance_and_environment(code: str) -> None:
    assert "TID251" in complaints_about(code, "src/headwater/frontier/example.py")


def test_the_ban_does_not_shoot_at_everything() -> None:
    assert complaints_about("from pathlib import Path\n\nhere = Path()\n", "src/headwater/frontier/example.py") == set()


def test_the_ban_is_lifted_for_three_modules_of_the_source_only() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lifted = settings["tool"]["ruff"]["lint"]["per-file-ignores"]
    assert {name for name, rules in lifted.items() if "TID251" in rules and name.startswith("src/")} == {
        "src/headwater/clock.py",
        "src/headwater/chance.py",
        "src/headwater/settings/environment.py",
    }


def functions() -> Iterator[tuple[str, int]]:
    for module in MODULES:
        for node in nodes_of(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{shown(module)}:{node.name}", node.end_lineno - node.lineno + 1


def texts() -> Iterator[Path]:
    for file in (*ROOT.glob("*"), *(file for folder in OURS for file in (ROOT / folder).rglob("*"))):
        if file.is_file() and file.suffix != ".pyc" and not file.name.startswith(".coverage") and file.name != ".git":
            yield file


def found_in(pattern: re.Pattern[str], files: Iterator[Path]) -> list[str]:
    return [
        f"{shown(file)}: {found[0]}"
        for file in files
        for found in pattern.finditer(file.read_text("utf-8", errors="ignore"))
    ]


def complaints_about(code: str, name: str) -> set[str]:
    """Rules that ruff, set up as for this project, finds broken in a file of that name."""
    ruff = Path(sys.executable).with_name("ruff")
    command = (ruff, "check", "--no-cache", "--output-format", "json", "--stdin-filename", name, "-")
    done = subprocess.run(command, input=code, cwd=ROOT, capture_output=True, text=True, check=False)
    return {one["code"] for one in json.loads(done.stdout)}
