"""Modules of the product as syntax trees, each parsed once for all rules: their tests run in one process."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headwater"
MODULES = tuple(sorted(SOURCE.rglob("*.py")))


@cache
def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text("utf-8"))


@cache
def nodes_of(module: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(module)))


def shown(file: Path) -> str:
    return str(file.relative_to(ROOT))
