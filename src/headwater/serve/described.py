"""The description of the API as values, for the pages and programs that are made of it. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headwater.serve.editions import HEADER as CONDITION
from headwater.serve.idempotency import HEADER

JSON = "application/json"
METHODS = ("get", "post", "put", "patch", "delete")
REFERENCE = "#/components/schemas/"
CURSOR = "cursor"
API = "/api/v1/"

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DescribedParameter:
    """`place`: path, query or header."""

    name: str
    place: str
    is_required: bool
    description: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class DescribedContent:
    """A body of a request or of an answer."""

    media_type: str
    schema: Schema

    @property
    def is_json(self) -> bool:
        return self.media_type == JSON

    @property
    def name(self) -> str:
        """Of its schema, also of one that may be null; nothing where it has none."""
        return name_in(present(self.schema))


@dataclass(frozen=True, slots=True)
class DescribedOperation:
    """`answer` None: it has no body. `status` is that of success, `troubles` are the others with their meaning."""

    name: str
    method: str
    path: str
    tag: str
    role: str
    summary: str
    description: str
    parameters: tuple[DescribedParameter, ...]
    body: DescribedContent | None
    needs_body: bool
    status: int
    answer: DescribedContent | None
    troubles: Mapping[str, str]

    def parameters_in(self, place: str) -> list[DescribedParameter]:
        return [one for one in self.parameters if one.place == place]

    @property
    def is_current(self) -> bool:
        """Addresses of older systems lead to the same: the client has no methods for them."""
        return self.path.startswith(API)

    @property
    def keeps_answers(self) -> bool:
        """Whether it can be sent again under one Idempotency-Key."""
        return any(one.name.lower() == HEADER for one in self.parameters_in("header"))

    @property
    def is_conditional(self) -> bool:
        """Whether it can say which edition of a thing it changes."""
        return any(one.name.lower() == CONDITION for one in self.parameters_in("header"))


def operations_of(description: Mapping[str, Any]) -> list[DescribedOperation]:
    """By tag and path."""
    found = [
        _operation(method, path, told)
        for path, methods in description["paths"].items()
        for method, told in methods.items()
        if method in METHODS
    ]
    return sorted(found, key=lambda one: (one.tag, one.path))


def _operation(method: str, path: str, told: Mapping[str, Any]) -> DescribedOperation:
    status = min(int(code) for code in told["responses"] if code.startswith("2"))
    summary, _, rest = told["description"].partition("\n")
    asked = told.get("requestBody", {})
    return DescribedOperation(
        name=told["operationId"],
        method=method.upper(),
        path=path,
        tag=(told.get("tags") or ["other"])[0],
        role=told["x-role"],
        summary=summary.strip(),
        description=rest.strip(),
        parameters=tuple(_parameter(one) for one in told.get("parameters", ())),
        body=_content(asked),
        needs_body=asked.get("required", False),
        status=status,
        answer=_content(told["responses"][str(status)]),
        troubles={
            code: one["description"] for code, one in sorted(told["responses"].items()) if not code.startswith("2")
        },
    )


def _parameter(told: Mapping[str, Any]) -> DescribedParameter:
    return DescribedParameter(
        told["name"], told["in"], told.get("required", False), told.get("description", ""), told.get("schema", {})
    )


def _content(told: Mapping[str, Any]) -> DescribedContent | None:
    """Of several kinds JSON, else the first."""
    kinds: Mapping[str, Any] = told.get("content", {})
    if not kinds:
        return None
    media_type = JSON if JSON in kinds else next(iter(kinds))
    return DescribedContent(media_type, kinds[media_type].get("schema", {}))


@dataclass(frozen=True, slots=True)
class Schemas:
    """The named schemas of a description."""

    named: Mapping[str, Schema]

    def resolved(self, schema: Schema) -> Schema:
        """The schema that a reference leads to; another one as it is."""
        name = name_in(schema)
        return self.resolved(self.named[name]) if name else schema

    def fields_of(self, schema: Schema) -> Iterator[tuple[str, Schema, bool]]:
        """Name, schema, and whether it is required."""
        found = self.resolved(schema)
        required = set(found.get("required", ()))
        for name, one in found.get("properties", {}).items():
            yield name, one, name in required


def schemas_of(description: Mapping[str, Any]) -> Schemas:
    return Schemas(description.get("components", {}).get("schemas", {}))


def name_in(schema: Schema) -> str:
    """Of the schema that it refers to; nothing where it is no reference."""
    alone = schema["allOf"][0] if len(schema.get("allOf", ())) == 1 else schema
    return str(alone.get("$ref", "")).removeprefix(REFERENCE)


def present(schema: Schema) -> Schema:
    """Of "this or null" this; any other as it is."""
    choices = schema.get("anyOf") or schema.get("oneOf") or ()
    others = [one for one in choices if one.get("type") != "null"]
    return others[0] if len(others) == 1 else schema


def names_within(schema: Any) -> Iterator[str]:
    """Of all schemas that one refers to."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(REFERENCE)
        for one in schema.values():
            yield from names_within(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from names_within(one)
