"""/api/docs: the API for a person who wants to call it, made of its description."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from headwater.serve.described import DescribedOperation, DescribedParameter, Schemas, operations_of, schemas_of
from headwater.serve.pages.api_guide import GUIDE, guide
from headwater.serve.pages.examples import curl_of, example_of, json_of, python_of
from headwater.serve.pages.layout import page
from headwater.serve.pages.markup import Markup, code, element, joined, paragraphs, prose
from headwater.serve.pages.schema_words import FieldRow, row_of, rows_of
from headwater.serve.pages.static import address_of_file

STYLESHEET = "api.css"
Resource = tuple[str, Sequence[DescribedOperation]]


def docs_page(description: Mapping[str, Any], base: str) -> Markup:
    """`base` is the address by which the caller reached us: examples can be pasted."""
    schemas, info = schemas_of(description), description["info"]
    resources: list[Resource] = [
        (tag, list(found)) for tag, found in groupby(operations_of(description), key=lambda one: one.tag)
    ]
    head = element(
        "header",
        element("h1", info["title"], " ", element("small", f"API {info['version']}")),
        element("p", info.get("summary", ""), class_="lead"),
        class_="top",
    )
    main = element(
        "main", head, guide(base, schemas), *(_section(one, schemas, base) for one in resources), id="content"
    )
    return page(
        f"{info['title']} API",
        address_of_file(STYLESHEET),
        element("a", "Skip to the content", href="#content", class_="skip"),
        element("div", _side(resources), main, class_="frame"),
    )


def _side(resources: Iterable[Resource]) -> Markup:
    guide = [element("li", element("a", name, href=f"#{place}")) for place, name, _ in GUIDE]
    listed = [
        element("li", element("a", tag, element("span", str(len(found)), class_="count"), href=f"#{anchor(tag)}"))
        for tag, found in resources
    ]
    return element(
        "nav",
        element("p", "Guide", class_="label"),
        element("ul", *guide),
        element("p", "Resources", class_="label"),
        element("ul", *listed),
        element("p", element("a", "openapi.json", href="/api/v1/openapi.json"), class_="foot"),
        aria_label="Resources",
    )


def _section(resource: Resource, schemas: Schemas, base: str) -> Markup:
    tag, found = resource
    listed = [
        element(
            "li",
            element("a", method_of(one), element("code", one.path), href=f"#{one.name}"),
            element("span", prose(one.summary)),
        )
        for one in found
    ]
    return element(
        "section",
        element("h2", tag.capitalize()),
        element("ul", *listed, class_="overview"),
        *(_operation(one, schemas, base) for one in found),
        id=anchor(tag),
        class_="resource",
    )


def _operation(one: DescribedOperation, schemas: Schemas, base: str) -> Markup:
    head = element(
        "header",
        element("h3", method_of(one), element("code", one.path)),
        element("p", f"role {one.role}", class_="role"),
    )
    told = element(
        "div",
        element("p", prose(one.summary), class_="summary"),
        paragraphs(one.description),
        _parameters(one, schemas),
        _body(one, schemas),
        _answer_fields(one, schemas),
        _errors(one),
        class_="told",
    )
    return element("article", head, element("div", told, _examples(one, schemas, base), class_="both"), id=one.name)


def _parameters(one: DescribedOperation, schemas: Schemas) -> Markup:
    found = [_row(_of_parameter(asked, schemas), asked.place) for asked in one.parameters]
    return joined(element("h4", "Parameters"), element("dl", *found, class_="fields")) if found else Markup("")


def _of_parameter(asked: DescribedParameter, schemas: Schemas) -> FieldRow:
    return row_of(asked.name, asked.schema, schemas, is_required=asked.is_required, about=asked.description)


def _body(one: DescribedOperation, schemas: Schemas) -> Markup:
    if one.body is None:
        return Markup("")
    rows = [_row(row) for row in rows_of(one.body.schema, schemas)]
    kind = element("p", "As ", element("code", one.body.media_type), ".")
    return joined(element("h4", "Body"), element("dl", *rows, class_="fields") if rows else kind)


def _answer_fields(one: DescribedOperation, schemas: Schemas) -> Markup:
    if one.answer is None:
        return Markup("")
    rows = [_row(row, is_sent=False) for row in rows_of(one.answer.schema, schemas)]
    if not rows:
        return Markup("")
    return element("details", element("summary", "Fields of the answer"), element("dl", *rows, class_="fields"))


def _row(row: FieldRow, place: str = "", *, is_sent: bool = True) -> Markup:
    facts = [place if place not in ("", "query") else "", row.kind, f"usually {row.default}" if row.default else ""]
    needed = element("span", "required", class_="required") if row.is_required and is_sent else Markup("")
    kind = element("span", " · ".join(filter(None, facts)), class_="kind")
    return joined(element("dt", element("code", row.name), kind, needed), element("dd", prose(row.about)))


def _errors(one: DescribedOperation) -> Markup:
    links = [element("a", status, href="#errors", title=told) for status, told in one.troubles.items()]
    return element("p", "Errors ", *links, class_="errors")


def _examples(one: DescribedOperation, schemas: Schemas, base: str) -> Markup:
    python = code(python_of(one, schemas)) if one.is_current else Markup("")
    asked = joined(element("h4", "Request"), code(curl_of(one, schemas, base)), python)
    if one.answer is None:
        said = element("p", "Without a body.", class_="empty")
    elif one.answer.is_json:
        said = code(json_of(example_of(one.answer.schema, schemas)))
    else:
        said = element("p", "As ", element("code", one.answer.media_type), ".", class_="empty")
    return element("div", asked, element("h4", "Answer ", element("span", str(one.status))), said, class_="examples")


def method_of(one: DescribedOperation) -> Markup:
    return element("span", one.method, class_=f"method {one.method.lower()}")


def anchor(tag: str) -> str:
    return "resource-" + "-".join(tag.split())
