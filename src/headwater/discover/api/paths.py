"""Expressions that find values in JSON: JMESPath, and the simple part of JSONPath put into it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions

from headwater.errors import UsageError

LONGEST_EXPRESSION = 300
_MOST_CALLS = 4
_STEP = re.compile(r"""\.?([A-Za-z_][\w-]*)|\[\s*'([^']+)'\s*\]|\[\s*"([^"]+)"\s*\]|(\[-?\d{1,6}\])|\[\*\]""")


@dataclass(frozen=True, slots=True)
class Path:
    """`text` as the person wrote it; compiled once."""

    text: str
    _compiled: Any = field(repr=False, compare=False)

    def find(self, document: object) -> Any:
        """None where there is nothing, and where the data is not of the kind the expression asks for."""
        try:
            return self._compiled.search(document)
        except (JMESPathError, ArithmeticError, RecursionError, TypeError, ValueError):
            return None


def path_from(text: str) -> Path:
    """JMESPath, unless it begins with `$` as JSONPath does. Raises UsageError."""
    return json_path_from(text) if text.strip().startswith("$") else _compiled(text, text)


def json_path_from(text: str) -> Path:
    """Names, indexes and `[*]`, with or without `$.` before them."""
    rest = text.strip().removeprefix("$")
    steps, end = [], 0
    while found := _STEP.match(rest, end):
        steps.append(_as_jmespath(found))
        end = found.end()
    if end < len(rest) or len(text) > LONGEST_EXPRESSION:
        raise UsageError(
            f"The path {text[:LONGEST_EXPRESSION]!r} is not understood.",
            fix="Write names, [number] and [*] only, such as $.data.jobs[*]; filters and .. need a version 1 mapping.",
        )
    return _compiled(text, "".join(steps).removeprefix(".") or "@")


def _as_jmespath(step: re.Match[str]) -> str:
    name = step[1] or step[2] or step[3]
    if name:
        return f".{json.dumps(name)}"
    # JSONPath gives one flat list however many `*` it has, and so does `[]`.
    return step[4] or "[]"


def _compiled(text: str, expression: str) -> Path:
    if not text.strip() or len(text) > LONGEST_EXPRESSION:
        raise UsageError(f"An expression has 1 to {LONGEST_EXPRESSION} characters; this one has {len(text)}.")
    try:
        compiled = jmespath.compile(expression)
    except JMESPathError as refusal:
        why = " ".join(str(refusal).split())[:200]
        raise UsageError(f"The expression {text!r} cannot be used: {why}") from None
    _require_modest(text, list(_nodes(compiled.parsed)))
    return Path(text, compiled)


def _require_modest(text: str, nodes: list[dict[str, Any]]) -> None:
    """`[@, @][]` doubles its input, and `to_string` what it quotes: a chain of either would fill the memory."""
    calls = [node["value"] for node in nodes if node["type"] == "function_expression"]
    unknown = set(calls) - set(Functions.FUNCTION_TABLE)
    if unknown:
        raise UsageError(f"The expression {text!r} calls {min(unknown)}, which is no JMESPath function.")
    selects = sum(node["type"] in ("multi_select_list", "multi_select_dict") for node in nodes)
    if selects > 1 or len(calls) > _MOST_CALLS:
        raise UsageError(
            f"The expression {text!r} does too much.",
            fix=f"It may have one [a, b] or {{a: b}}, and at most {_MOST_CALLS} function calls.",
        )


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("children", ()):
        if isinstance(child, dict):
            yield from _nodes(child)
