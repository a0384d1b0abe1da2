"""What instructions and recipes say in linked data: some pages show it only to those who run their scripts."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from headwater.extraction.linked_values import Node, texts
from headwater.extraction.text import LONGEST_TEXT, storable

STEP_TYPES = frozenset({"HowTo", "Recipe"})
_STEPS = ("step", "steps", "recipeInstructions")
_NEEDED = ("recipeIngredient", "ingredients")
_INNER = ("itemListElement", "step", "steps")
_MOST_STEPS = 500


def text_of_steps(node: Node) -> str:
    """Nothing where it has no steps. HTML where the publisher wrote some."""
    steps = list(islice(_steps_in([node.get(name) for name in _STEPS]), _MOST_STEPS))
    if not steps:
        return ""
    lines = [*texts(node, "description"), *texts(node, *_NEEDED), *dict.fromkeys(steps)]
    return storable("".join(f"<p>{line}</p>" for line in lines), LONGEST_TEXT)


def _steps_in(said: Any) -> Iterator[str]:
    """A list of strings, of steps, or of sections that hold steps; the name of one before its text."""
    waiting, seen = [said], 0
    while waiting and seen < _MOST_STEPS * 4:
        seen += 1
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            waiting.extend(reversed(one[:_MOST_STEPS]))
        elif isinstance(one, dict):
            name, text = (said if isinstance(said := one.get(key), str) else "" for key in ("name", "text"))
            inner = [one[key] for key in _INNER if isinstance(one.get(key), list | dict)]
            yield from (line for line in (name if name not in text else "", text) if line)
            waiting.extend(reversed(inner))
