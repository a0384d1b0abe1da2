"""Advice can be pasted: a command stands at the end of a line, or between backquotes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "src" / "headwater").rglob("*.py"))
# A full stop or a comma behind an argument would be pasted with it.
SPOILT = re.compile(r"(?<![`\w./:-])headwater [a-z][^`\n]*?[,;.](?=\s|$)")
PLACEHOLDER = re.compile(r"headwater [a-z][^`\n.]* (?:URL|HOST|SOURCE|ID)$")


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_punctuation_stands_behind_a_command(module: Path) -> None:
    assert not [text for text in texts_in(module) if SPOILT.search(text)]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_command_to_be_typed_names_what_it_is_about(module: Path) -> None:
    assert not [text for text in texts_in(module) if PLACEHOLDER.search(text)]


def texts_in(module: Path) -> Iterator[str]:
    """Without docstrings; of a text with values in it, what is fixed."""
    tree = ast.parse(module.read_text("utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in documentation | parts:
            yield str(node.value)
