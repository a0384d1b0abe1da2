"""Schemas of the description as types of Python. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

from headwater.serve.client_code.prose import docstring, prose_of_fields
from headwater.serve.described import Schema, Schemas, name_in, names_within

SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def class_name(name: str) -> str:
    """Of a schema: `ViewShape-Input` is ViewShapeInput."""
    return "".join(part[:1].upper() + part[1:] for part in _words(name))


def module_name(tag: str) -> str:
    return "_".join(_words(tag)).lower()


def _words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text).split()


def type_of(schema: Schema, later: Collection[str] = ()) -> str:
    """`later` are names that are not defined yet where it stands."""
    if name := name_in(schema):
        return f'"{class_name(name)}"' if name in later else class_name(name)
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(repr(one) for one in schema['enum'])}]"
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return union_of(type_of(one, later) for one in choices)
    kind = schema.get("type")
    if isinstance(kind, list):
        return union_of(type_of({**schema, "type": one}, later) for one in kind)
    if kind == "array":
        return f"list[{type_of(schema.get('items', {}), later)}]"
    if kind == "object":
        return f"dict[str, {_type_of_values(schema, later)}]"
    return SIMPLE.get(str(kind), "Any")


def union_of(types: Iterable[str]) -> str:
    """A name that stands in quotes for now puts the whole union there."""
    found = dict.fromkeys(types)
    if "Any" in found:
        return "Any"
    joined = " | ".join(sorted(found, key=lambda one: one == "None"))
    return f'"{joined.replace(chr(34), "")}"' if '"' in joined and len(found) > 1 else joined


def _type_of_values(schema: Schema, later: Collection[str]) -> str:
    values = schema.get("additionalProperties")
    return type_of(values, later) if isinstance(values, Mapping) and values else "Any"


@dataclass(frozen=True, slots=True)
class TypeCode:
    """The types of one module: which they are, and their text in an order in which each is defined before its use."""

    schemas: Schemas

    def of_all(self, names: Iterable[str]) -> str:
        waiting = sorted(names)
        texts = []
        while waiting:
            # In a circle of names that need each other the first is written with the others in quotes.
            ready = next((one for one in waiting if not self._needed_by(one, waiting)), waiting[0])
            texts.append(self._definition(ready, waiting))
            waiting.remove(ready)
        return "\n\n".join(texts)

    def _needed_by(self, name: str, waiting: Collection[str]) -> set[str]:
        return {one for one in names_within(self.schemas.named[name]) if one in waiting and one != name}

    def _definition(self, name: str, later: Collection[str]) -> str:
        schema = self.schemas.named[name]
        if "properties" not in schema:
            return f"{class_name(name)} = {type_of(schema, later)}\n"
        fields = {
            field: type_of(one, later) if is_required else f"NotRequired[{type_of(one, later)}]"
            for field, one, is_required in self.schemas.fields_of(schema)
        }
        if not all(is_identifier(field) for field in fields):
            return _functional(class_name(name), fields)
        prose = docstring(schema.get("description", ""), prose_of_fields(schema), indent=4)
        lines = [f"    {field}: {kind}" for field, kind in fields.items()]
        return "\n".join([f"class {class_name(name)}(TypedDict):", *([f"{prose}\n"] if prose else []), *lines, ""])


def _functional(name: str, fields: Mapping[str, str]) -> str:
    """For fields whose names Python could not write."""
    pairs = ", ".join(f"{field!r}: {kind}" for field, kind in fields.items())
    return f'{name} = TypedDict("{name}", {{{pairs}}})\n'


def is_identifier(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name)


def modules_of_schemas(used: Mapping[str, Iterable[Any]], schemas: Schemas) -> dict[str, str]:
    """Name of each schema -> its module: that of the one tag which uses it, or `shared`.

    `used` are the schemas that each tag's operations name.
    """
    tags: dict[str, set[str]] = {}
    for tag, contents in used.items():
        for name in _reachable(contents, schemas):
            tags.setdefault(name, set()).add(module_name(tag))
    return {name: next(iter(users)) if len(users) == 1 else "shared" for name, users in tags.items()}


def _reachable(contents: Iterable[Any], schemas: Schemas) -> set[str]:
    waiting = [name for one in contents for name in names_within(one)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += names_within(schemas.named[name])
    return found
