"""Schemas in words: what may be sent in a field, and what comes in one. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headwater.serve.described import Schema, Schemas, present

FORMATS = {"uuid": "UUID", "date-time": "time, ISO 8601", "date": "date", "binary": "bytes", "uri": "URL"}
DEEPEST = 3
LONGEST_CHOICE = 12
NOTHING = "null"


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field as a page shows it; `name` is its way down from the top: `records[].url`."""

    name: str
    kind: str
    is_required: bool
    about: str
    default: str = ""


def rows_of(schema: Schema, schemas: Schemas, before: str = "", depth: int = 0) -> Iterator[FieldRow]:
    """Those that are required come first."""
    for name, one, is_required in sorted(schemas.fields_of(schema), key=lambda field: not field[2]):
        yield row_of(f"{before}{name}", one, schemas, is_required=is_required)
        inner, sign = _inside(one, schemas)
        if inner is not None and depth + 1 < DEEPEST:
            yield from rows_of(inner, schemas, f"{before}{name}{sign}.", depth + 1)


def row_of(name: str, schema: Schema, schemas: Schemas, *, is_required: bool, about: str = "") -> FieldRow:
    told = about or schema.get("description") or schemas.resolved(present(schema)).get("description", "")
    default, kind = schema.get("default"), kind_in_words(schema, schemas)
    return FieldRow(
        name,
        # Leaving it out says the same.
        kind if is_required else kind.removesuffix(f" or {NOTHING}"),
        is_required,
        told,
        "" if default in (None, "", []) else _value(default),
    )


def _inside(schema: Schema, schemas: Schemas) -> tuple[Schema | None, str]:
    """The object in a field, and the sign of a list."""
    found, sign = schemas.resolved(present(schema)), ""
    if found.get("type") == "array":
        found, sign = schemas.resolved(present(found.get("items", {}))), "[]"
    return (found if "properties" in found else None), sign


def kind_in_words(schema: Schema, schemas: Schemas) -> str:
    found = schemas.resolved(schema)
    if choices := found.get("anyOf") or found.get("oneOf"):
        words = dict.fromkeys(kind_in_words(one, schemas) for one in choices)
        return " or ".join(sorted(words, key=lambda one: one == NOTHING))
    if "const" in found or "enum" in found:
        values = [found["const"]] if "const" in found else found["enum"]
        shown = " | ".join(_value(one) for one in values[:LONGEST_CHOICE])
        return f"{shown} | …" if len(values) > LONGEST_CHOICE else shown
    kind = found.get("type")
    if isinstance(kind, list):
        return " or ".join(kind_in_words({**found, "type": one}, schemas) for one in kind)
    if kind == "array":
        most = f", at most {found['maxItems']:,}" if "maxItems" in found else ""
        return f"list of {kind_in_words(found.get('items', {}), schemas)}{most}"
    return {"null": NOTHING, None: "anything", "boolean": "true or false"}.get(kind) or _bounded(str(kind), found)


def _bounded(kind: str, found: Schema) -> str:
    if kind == "string":
        word = FORMATS.get(found.get("format", ""), "text")
        return f"{word}, at most {found['maxLength']:,} signs" if "maxLength" in found else word
    if kind in ("integer", "number"):
        word = "whole number" if kind == "integer" else "number"
        least = found.get("minimum", found.get("exclusiveMinimum"))
        most = found.get("maximum", found.get("exclusiveMaximum"))
        return f"{word}{_between(least, most)}"
    return kind


def _between(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f", {_number(least)} to {_number(most)}"
    if least is not None:
        return f", at least {_number(least)}"
    return f", at most {_number(most)}" if most is not None else ""


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


def _value(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
