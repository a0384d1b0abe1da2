"""Examples made of schemas: a request as it is typed, and an answer as it comes. Pure."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from headwater.serve.described import DescribedOperation, Schema, Schemas

DEEPEST = 5
BY_FORMAT = {
    "uuid": "4f6c1d1e-8a52-4c1f-9d0b-6f2f0b7f4a11",
    "date-time": "2026-05-01T09:30:00Z",
    "date": "2026-05-01",
    "uri": "https://example.org/story",
}
BY_TYPE: Mapping[str, Any] = {"string": "…", "integer": 1, "number": 0.5, "boolean": True, "null": None}
AUTHORISED = '-H "Authorization: Bearer $HEADWATER_TOKEN"'


def example_of(schema: Schema, schemas: Schemas, *, is_sent: bool = False, depth: int = 0) -> Any:
    """`is_sent`: of an object only fields that must be, or that have an example of their own."""
    if (given := given_in(schema)) is not None:
        return given
    found = schemas.resolved(schema)
    if (given := given_in(found)) is not None:
        return given
    if choices := found.get("anyOf") or found.get("oneOf"):
        chosen = next((one for one in choices if one.get("type") != "null"), choices[0])
        if len(choices) > 1 and _is_free(schemas.resolved(chosen)):
            return None
        return example_of(chosen, schemas, is_sent=is_sent, depth=depth)
    kind = found.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        items = found.get("items", {})
        return [example_of(items, schemas, is_sent=is_sent, depth=depth + 1)] if depth < DEEPEST else []
    if "properties" in found:
        return _object(found, schemas, is_sent=is_sent, depth=depth)
    if kind == "object" or not kind:
        return {}
    if kind in ("integer", "number") and "minimum" in found:
        return max(found["minimum"], 1) if found.get("maximum", 1) >= 1 else found["minimum"]
    return BY_FORMAT.get(found.get("format", ""), BY_TYPE.get(kind, "…"))


def _is_free(schema: Schema) -> bool:
    """An object of which nothing is said."""
    return schema.get("type") == "object" and "properties" not in schema


def given_in(schema: Schema) -> Any:
    """An example that the schema names itself."""
    if schema.get("examples"):
        return schema["examples"][0]
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    return schema.get("default")


def _object(found: Schema, schemas: Schemas, *, is_sent: bool, depth: int) -> dict[str, Any]:
    if depth >= DEEPEST:
        return {}
    return {
        name: example_of(one, schemas, is_sent=is_sent, depth=depth + 1)
        for name, one, is_required in schemas.fields_of(found)
        if not is_sent or is_required or one.get("examples")
    }


def curl_of(operation: DescribedOperation, schemas: Schemas, base: str) -> str:
    """The command, its options on lines of their own."""
    method = "" if operation.method == "GET" else f"-X {operation.method} "
    lines = [f"curl -s {method}{shell_quoted(base + path_of(operation, schemas))}", AUTHORISED]
    if operation.keeps_answers:
        lines.append('-H "Idempotency-Key: $(uuidgen)"')
    body = operation.body
    if body is not None:
        lines.append(f'-H "Content-Type: {body.media_type}"')
        sent = json_of(example_of(body.schema, schemas, is_sent=True), is_short=True) if body.is_json else ""
        lines.append(f"-d {shell_quoted(sent)}" if body.is_json else "--data-binary @FILE")
    return " \\\n  ".join(lines)


def path_of(operation: DescribedOperation, schemas: Schemas) -> str:
    """With an example for each part, and for what has to be asked."""
    path = operation.path
    for one in operation.parameters_in("path"):
        value = example_of(one.schema, schemas)
        path = path.replace(f"{{{one.name}}}", quote(str(one.name.upper() if value == "…" else value), safe=""))
    asked = {one.name: example_of(one.schema, schemas) for one in operation.parameters_in("query") if one.is_required}
    return f"{path}?{urlencode(asked)}" if asked else path


def python_of(operation: DescribedOperation, schemas: Schemas) -> str:
    """The same call by the client."""
    places = [repr(example_of(one.schema, schemas)) for one in operation.parameters_in("path")]
    body = operation.body
    fields = example_of(body.schema, schemas, is_sent=True) if body and body.is_json else {}
    asked = {one.name: example_of(one.schema, schemas) for one in operation.parameters_in("query") if one.is_required}
    named = {**asked, **fields} if isinstance(fields, dict) else asked
    given = [*places, *(f"{name}={value!r}" for name, value in named.items())]
    return f"client.{operation.name}({', '.join(given)})"


def json_of(value: Any, *, is_short: bool = False) -> str:
    """For people: lists of plain values stand on one line."""
    return orjson.dumps(value).decode() if is_short else _laid_out(value, "")


def _laid_out(value: Any, space: str) -> str:
    inner = f"{space}  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json_of(name, is_short=True)}: {_laid_out(one, inner)}" for name, one in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{space}}}"
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return "[\n" + ",\n".join(f"{inner}{_laid_out(one, inner)}" for one in value) + f"\n{space}]"
    return json_of(value, is_short=True)


def shell_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
