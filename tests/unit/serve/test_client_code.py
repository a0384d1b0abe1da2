"""The client is written from any description of our make: what each part of one becomes in Python."""

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from headwater.serve.client_code.types import type_of, union_of
from headwater.serve.client_code.writing import client_modules

PLAIN = {
    "200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}
}
KEY = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}


def operation(name: str, **parts: Any) -> dict[str, Any]:
    usual = {
        "operationId": name,
        "tags": ["things"],
        "description": f"Does {name}.",
        "responses": PLAIN,
        "x-role": "viewer",
    }
    return usual | parts


def description(paths: Mapping[str, Any], **schemas: Any) -> dict[str, Any]:
    thing = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    work = {"type": "object", "properties": {"state": {"type": "string"}}, "required": ["state"]}
    return {"paths": paths, "components": {"schemas": {"Thing": thing, "OperationShape": work} | schemas}}


def body_of(schema: Mapping[str, Any], media_type: str = "application/json") -> dict[str, Any]:
    return {"required": True, "content": {media_type: {"schema": schema}}}


def method_in(text: str, name: str) -> str:
    """Its head and its body in one line."""
    return " ".join(text.partition(f"def {name}(")[2].partition("\n    def ")[0].split())


def calls_of(told: Mapping[str, Any]) -> str:
    modules = client_modules(told)
    for name, text in modules.items():
        compile(text, name, "exec")
    return modules["calls/things.py"]


def test_names_that_python_keeps_for_itself_are_spelt_otherwise() -> None:
    asked = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("from", "type", "since-when")]
    place = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    text = calls_of(description({"/api/v1/things/{id}": {"get": operation("show_thing", parameters=[place, *asked])}}))
    method = method_in(text, "show_thing")
    assert "self, id_: str, /, *, from_: str | None = None, type_: str | None = None, since_when" in method
    assert '{"from": from_, "type": type_, "since-when": since_when}' in method
    assert 'f"/api/v1/things/{in_path(id_)}"' in method


def test_fields_of_a_body_are_keywords_unless_they_cannot_be() -> None:
    new = {"type": "object", "properties": {"name": {"type": "string"}}}
    odd = {"type": "object", "properties": {"class": {"type": "string"}}}
    reference = "#/components/schemas/"
    wish = {"application/json": {"schema": {"anyOf": [{"$ref": f"{reference}New"}, {"type": "null"}]}}}
    text = calls_of(
        description(
            {
                "/api/v1/a": {"post": operation("add_thing", requestBody=body_of({"$ref": f"{reference}New"}))},
                "/api/v1/b": {"post": operation("add_odd", requestBody=body_of({"$ref": f"{reference}Odd"}))},
                "/api/v1/c": {
                    "post": operation("add_many", requestBody=body_of({"type": "array", "items": {"type": "string"}}))
                },
                "/api/v1/e": {"post": operation("wish", requestBody={"content": wish})},
                "/api/v1/f": {"post": operation("send_any", requestBody=body_of({"type": "string"}, "*/*"))},
                "/api/v1/d": {"post": operation("send_file", requestBody=body_of({"type": "string"}, "text/csv"))},
            },
            New=new,
            Odd=odd,
        )
    )
    assert "**fields: Unpack[New]" in method_in(text, "add_thing")
    assert method_in(text, "add_odd").startswith("self, body: Odd, /)")
    assert method_in(text, "add_many").startswith("self, body: list[str], /)")
    assert "self, body: bytes, /) -> Thing" in method_in(text, "send_file")
    assert method_in(text, "send_any").startswith("self, body: bytes, /, *, media_type: str) -> Thing")
    assert "body=fields or None" in method_in(text, "wish")
    assert 'media_type="text/csv"' in method_in(text, "send_file")


def test_answers_that_are_no_json_come_as_bytes_and_without_a_body_as_nothing() -> None:
    lines = {"200": {"description": "ok", "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}}
    paths = {
        "/api/v1/a": {"get": operation("export_things", responses=lines)},
        "/api/v1/b": {"delete": operation("remove_things", responses={"204": {"description": "ok"}})},
    }
    text = calls_of(description(paths))
    assert "-> Iterator[bytes]:" in method_in(text, "export_things")
    assert 'return self._stream("GET", "/api/v1/a")' in method_in(text, "export_things")
    assert "-> None:" in method_in(text, "remove_things")


def test_pages_have_an_iterator_and_kept_answers_a_key() -> None:
    page = {
        "type": "object",
        "properties": {
            "things": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}},
            "cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    }
    answer = {
        "200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Page"}}}}
    }
    asked = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("cursor", "offset", "tag")]
    paths = {
        "/api/v1/a": {
            "get": operation("list_things", parameters=asked, responses=answer),
            "post": operation("run", parameters=[KEY]),
        }
    }
    text = calls_of(description(paths, Page=page))
    assert method_in(text, "iter_things").startswith("self, *, tag: str | None = None) -> Iterator[Thing]:")
    assert "self.list_things(tag=tag, cursor=cursor)" in method_in(text, "iter_things")
    assert "is_kept=True" in method_in(text, "run")
    assert "is_kept" not in method_in(text, "list_things")


def test_types_that_need_each_other_are_defined(tmp_path: Path) -> None:
    tree = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#/components/schemas/Leaf"}, {"type": "null"}]}},
    }
    leaf = {
        "type": "object",
        "properties": {"above": {"$ref": "#/components/schemas/Tree"}, "from": {"type": "string"}},
    }
    answer = {
        "200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tree"}}}}
    }
    modules = client_modules(
        description({"/api/v1/a": {"get": operation("show", responses=answer)}}, Tree=tree, Leaf=leaf)
    )
    made = ModuleType("things")
    exec(modules["shapes/things.py"], made.__dict__)
    hints = {**inspect.get_annotations(made.Tree), **inspect.get_annotations(made.Leaf)}
    assert set(hints) == {"next", "above", "from"}


def test_hostile_prose_stays_prose() -> None:
    told = 'Ends """ here\\ and "quoted"'
    text = calls_of(description({"/api/v1/a": {"get": operation("show", description=told)}}))
    assert "'''" in text


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string", "format": "uuid"}, "str"),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "int | None"),
        ({"enum": ["a", "b"]}, "Literal['a', 'b']"),
        ({"type": ["string", "null"]}, "str | None"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"type": "object", "additionalProperties": True}, "dict[str, Any]"),
        ({"allOf": [{"$ref": "#/components/schemas/A-Input"}]}, "AInput"),
        ({}, "Any"),
    ],
)
def test_a_schema_as_a_type(schema: Mapping[str, Any], kind: str) -> None:
    assert type_of(schema) == kind


def test_a_union_with_anything_is_anything() -> None:
    def types() -> Iterator[str]:
        yield from ("str", "Any")

    assert union_of(types()) == "Any"


def test_addresses_of_older_systems_have_no_methods() -> None:
    paths = {"/api/v1/a": {"get": operation("show")}, "/admin/a": {"get": operation("older_show")}}
    assert "older_show" not in calls_of(description(paths))
