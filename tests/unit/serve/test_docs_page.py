"""The page of the API: made of any description, escaped, without scripts, and every link leads somewhere."""

import re
from typing import Any

from lxml import html

from headwater.serve.app import described_app
from headwater.serve.described import operations_of, schemas_of
from headwater.serve.pages.api_docs import docs_page
from headwater.serve.pages.examples import curl_of, example_of, json_of, python_of
from headwater.serve.pages.markup import element, prose
from headwater.serve.pages.schema_words import kind_in_words, rows_of

BASE = "https://hw.example"
EVIL = "<script>alert(1)</script>'\"`<img src=x onerror=alert(1)>`"


def description() -> dict[str, Any]:
    return described_app().openapi()


def test_every_operation_is_there_with_its_path_role_and_examples() -> None:
    told, text = description(), str(docs_page(description(), BASE))
    page, schemas = html.document_fromstring(text), schemas_of(told)
    for one in operations_of(told):
        (article,) = page.xpath(f"//article[@id='{one.name}']")
        shown = article.text_content()
        assert one.path in shown
        assert f"role {one.role}" in shown
        assert one.summary.replace("`", "") in shown
        assert curl_of(one, schemas, BASE) in shown
        assert (python_of(one, schemas) in shown) == one.is_current
        assert all(asked.name in shown for asked in one.parameters)


def test_the_page_is_whole_and_runs_nothing() -> None:
    text = str(docs_page(description(), BASE))
    page = html.document_fromstring(text)
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {link for link in page.xpath("//a/@href") if link.startswith("#")} <= {f"#{one}" for one in ids}
    assert not page.xpath("//script | //style | //@style | //iframe | //form")
    assert not re.search(r"\son\w+=", text)
    loaded = page.xpath("//link/@href | //img/@src | //@srcset")
    assert all(one.startswith("/static/") for one in loaded)


def test_what_a_description_says_is_text() -> None:
    told = {
        "info": {"title": EVIL, "version": EVIL, "summary": EVIL},
        "paths": {
            "/api/v1/x/{id}": {
                "get": {
                    "operationId": "show",
                    "tags": [EVIL],
                    "description": EVIL,
                    "x-role": "viewer",
                    "parameters": [
                        {"name": "id", "in": "path", "required": True, "description": EVIL, "schema": {"enum": [EVIL]}}
                    ],
                    "responses": {"200": {"description": EVIL, "content": {EVIL: {"schema": {}}}}},
                }
            }
        },
        "components": {"schemas": {"ProblemDetails": {"type": "object", "properties": {}}}},
    }
    page = html.document_fromstring(str(docs_page(told, f"https://{EVIL}")))
    assert not page.xpath("//script | //img | //@onerror")


def test_text_is_escaped_and_html_is_not() -> None:
    assert element("p", "<b>", element("i", "&")) == "<p>&lt;b&gt;<i>&amp;</i></p>"
    assert element("a", "x", href='"><b>') == '<a href="&quot;&gt;&lt;b&gt;">x</a>'
    assert prose("see `<b>` & go") == "see <code>&lt;b&gt;</code> &amp; go"


def test_examples_are_made_of_the_schema() -> None:
    schemas = schemas_of(description())
    new = {"$ref": "#/components/schemas/NewView"}
    assert example_of(new, schemas, is_sent=True) == {"query": "ferry", "languages": ["en"], "name": "boats"}
    circle = {
        "components": {"schemas": {"A": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A"}}}}}
    }
    assert json_of(example_of({"$ref": "#/components/schemas/A"}, schemas_of(circle)))
    assert len(list(rows_of({"$ref": "#/components/schemas/A"}, schemas_of(circle)))) == 3
    assert kind_in_words({"type": "integer", "minimum": 0, "maximum": 1000.0}, schemas) == "whole number, 0 to 1,000"
    assert kind_in_words({"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 5}]}, schemas) == (
        "text, at most 5 signs or null"
    )


def test_a_command_can_be_pasted_whatever_its_body_says() -> None:
    told = {
        "paths": {
            "/x": {
                "post": {
                    "operationId": "add",
                    "description": "Add.",
                    "x-role": "operator",
                    "requestBody": {"content": {"application/json": {"schema": {"examples": [{"a": "it's $HOME"}]}}}},
                    "responses": {"204": {"description": "ok"}},
                }
            }
        }
    }
    (one,) = operations_of(told)
    assert curl_of(one, schemas_of(told), BASE).endswith("""-d '{"a":"it'\\''s $HOME"}'""")
