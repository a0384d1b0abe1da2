"""Commands print through one module, so that nothing a site wrote reaches a terminal as it came."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

COMMANDS = Path(__file__).parents[2] / "src" / "headwater" / "cli"
OUTPUT = COMMANDS / "output.py"
STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")
# What may be asked of a stream elsewhere: whether a person sits there, and to give it up.
HARMLESS = ("isatty", "close")


def printing_in(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in ("print", "pprint"):
            yield f"{node.id} on line {node.lineno}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rich.console"):
            yield f"a console of rich on line {node.lineno}"
        if isinstance(node, ast.ImportFrom) and node.module == "sys" and {*STREAMS} & {a.name for a in node.names}:
            yield f"a stream on line {node.lineno}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.write", "logging.basicConfig"):
            yield f"{ast.unparse(node.func)} on line {node.lineno}"
    yield from _streams_in(tree)


def _streams_in(tree: ast.AST) -> Iterator[str]:
    asked = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.attr in HARMLESS
    }
    for node in ast.walk(tree):
        is_stream = isinstance(node, ast.Attribute) and node.attr in STREAMS and ast.unparse(node.value) == "sys"
        if is_stream and id(node) not in asked:
            yield f"sys.{node.attr} on line {node.lineno}"  # type: ignore[attr-defined]


def test_no_command_prints_by_itself() -> None:
    found = {module: list(printing_in(module.read_text("utf-8"))) for module in COMMANDS.glob("*.py")}
    assert found.pop(OUTPUT)
    assert {module.stem: places for module, places in found.items() if places} == {}


@pytest.mark.parametrize(
    "source",
    [
        "print(1)",
        "import sys\nsys.stdout.write('x')",
        "import sys\nsys.stderr.buffer.write(b'x')",
        "import sys\nout = sys.stdout",
        "from sys import stdout",
        "from rich.console import Console",
        "import os\nos.write(1, b'x')",
        "list(map(print, []))",
    ],
)
def test_the_test_can_fail(source: str) -> None:
    assert list(printing_in(source))
