"""Descriptions as docstrings. Pure."""

from collections.abc import Iterable
from textwrap import fill

from headwater.serve.described import Schema

WIDTH = 120


def docstring(told: str, further: Iterable[str] = (), *, indent: int) -> str:
    """With its quotes; nothing where there is nothing to say. `further` are paragraphs of their own lines."""
    paragraphs = [" ".join(part.split()) for part in told.split("\n\n") if part.strip()]
    lines = list(further)
    if not paragraphs and not lines:
        return ""
    space = " " * indent
    first, *others = paragraphs or ["Its fields:"]
    if not others and not lines and len(first) + indent + 6 <= WIDTH:
        return f'{space}"""{_harmless(first)}"""'
    blocks = [_filled(f'"""{first}', space), *(_filled(one, space) for one in others)]
    if lines:
        blocks.append("\n".join(_filled(line, space) for line in lines))
    return "\n\n".join(blocks) + f'\n{space}"""'


def prose_of_fields(schema: Schema) -> list[str]:
    """A line for each that is described."""
    described = ((name, one.get("description", "")) for name, one in schema.get("properties", {}).items())
    return [f"`{name}`: {' '.join(told.split())}" for name, told in described if told]


def _filled(text: str, space: str) -> str:
    quotes = '"""' if text.startswith('"""') else ""
    harmless = quotes + _harmless(text.removeprefix(quotes))
    return fill(
        harmless,
        WIDTH,
        initial_indent=space,
        subsequent_indent=space,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _harmless(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''").rstrip('"')
