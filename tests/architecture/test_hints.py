"""Advice can be pasted: a command stands at the end of a line, or between backquotes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.modules import MODULES, nodes_of, shown

# A full stop or a comma behind an argument would be pasted with it.
SPOILT = re.compile(r"(?<![`\w./:-])headwater [a-z][^`\n]*?[,;.](?=\s|$)")
PLACEHOLDER = re.compile(r"headwater [a-z][^`\n.]* (?:URL|HOST|SOURCE|ID)$")


def test_no_punctuation_stands_behind_a_command() -> None:
    assert not found_in_texts(SPOILT)


def test_a_command_to_be_typed_names_what_it_is_about() -> None:
    assert not found_in_texts(PLACEHOLDER)


def found_in_texts(pattern: re.Pattern[str]) -> list[str]:
    return [f"{shown(module)}: {text}" for module in MODULES for text in texts_in(module) if pattern.search(text)]


def texts_in(module: Path) -> Iterator[str]:
    """Without docstrings; of a text with values in it, what is fixed."""
    nodes = nodes_of(module)
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    apart = documentation | parts
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in apart:
            yield str(node.value)
