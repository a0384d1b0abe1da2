"""Every line of the log that the product may write, found in its syntax trees: event, levels and fields."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.architecture.modules import MODULES, shown, tree_of

LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
# Fields that several lines have together, by the function that makes them.
GROUPS = {"as_fields": "*error*", "named": "*work*"}
TRACEBACK = "exception"
# As loggers are called where they are used, and the functions that make them.
LOGGERS = {"log", "_log", "logger_for", "_structured"}

Scope = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Wrapper:
    """A function of ours that writes a line for others: which of its arguments is the event, and what it adds."""

    event_at: int
    level: str
    adds: frozenset[str]


WRAPPERS = {
    "log_broken": Wrapper(1, "error", frozenset({"*error*", TRACEBACK})),
    "_tell": Wrapper(0, "warning", frozenset({"sink", "name"})),
}


@dataclass
class LogLine:
    levels: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)


def lines_of_the_product() -> dict[str, LogLine]:
    """By event."""
    lines: dict[str, LogLine] = defaultdict(LogLine)
    for module in MODULES:
        for scope, call in _calls_in(tree_of(module)):
            for event, level, fields in _told_by(module, scope, call):
                lines[event].levels.add("error" if level == TRACEBACK else level)
                lines[event].fields |= fields | ({TRACEBACK} if level == TRACEBACK else set())
    return dict(lines)


def _calls_in(tree: ast.AST, scope: Scope | None = None) -> Iterator[tuple[Scope, ast.Call]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call) and scope:
            yield scope, node
        yield from _calls_in(node, node if isinstance(node, Scope) else scope)


def _told_by(module: Path, scope: Scope, call: ast.Call) -> Iterator[tuple[str, str, set[str]]]:
    wrapper = WRAPPERS.get(_name_of(call.func))
    if wrapper:
        for event in _texts(call.args[wrapper.event_at]) if len(call.args) > wrapper.event_at else ():
            yield event, wrapper.level, _fields(scope, call) | wrapper.adds
    for callee in (call.func.body, call.func.orelse) if isinstance(call.func, ast.IfExp) else (call.func,):
        if isinstance(callee, ast.Attribute) and callee.attr in LEVELS and call.args:
            if _name_of(callee.value) not in LOGGERS:
                continue
            events = list(_texts(call.args[0]))
            assert events or scope.name in WRAPPERS, f"{shown(module)}:{call.lineno} writes a line of no known name"
            yield from ((event, callee.attr, _fields(scope, call)) for event in events)


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _fields(scope: Scope, call: ast.Call) -> set[str]:
    found: set[str] = set()
    for one in call.keywords:
        found |= {TRACEBACK if one.arg == "exc_info" else one.arg} if one.arg else _keys(scope, one.value)
    return found


def _keys(scope: Scope, node: ast.expr | None) -> set[str]:
    """The keys of a dictionary, as far as its function shows how it is made."""
    match node:
        case ast.Call():
            return {GROUPS[_name_of(node.func)]}
        case ast.Dict():
            own = {text for key in node.keys if key for text in _texts(key)}
            spread = (value for key, value in zip(node.keys, node.values, strict=True) if key is None)
            return own.union(*(_keys(scope, one) for one in spread))
        case ast.DictComp():
            return {
                text for one in ast.walk(node.generators[0].iter) if isinstance(one, ast.expr) for text in _texts(one)
            }
        case ast.Name(id=name) if scope.args.kwarg and scope.args.kwarg.arg == name:
            return {GROUPS["named"]} if name == "named" else set()
        case ast.Name(id=name):
            return set().union(*(_keys(scope, value) for value in _values_of(scope, name)))
    raise AssertionError(f"nobody sees what is in {ast.unparse(node) if node else None}")


def _values_of(scope: Scope, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id == name:
                yield node.value
            elif isinstance(target, ast.Subscript) and _name_of(target.value) == name:
                yield ast.Dict(keys=[target.slice], values=[node.value])


def _name_of(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Call():
            return _name_of(node.func)
    return ""
