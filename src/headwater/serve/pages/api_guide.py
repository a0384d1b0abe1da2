"""How to call the API, before its operations."""

from collections.abc import Callable

from headwater.serve.described import REFERENCE, Schemas
from headwater.serve.openapi import TROUBLES
from headwater.serve.pages.examples import AUTHORISED, example_of, json_of
from headwater.serve.pages.markup import Markup, code, element, joined, paragraphs, prose

START = """\
Requests and answers are JSON. A token says who asks, and its role decides what is allowed: `viewer` reads, `operator`
changes data and starts work, `admin` does all. `headwater admin token create` makes one; on a laptop without logins
none is needed."""
ERRORS = """\
Every error is `application/problem+json` (RFC 9457): `detail` says what happened, `fix` what to do about it, `fields`
which fields were not understood."""
PAGES = """\
Lists end with a `cursor`. Give it back as the parameter `cursor` for the next page; where it is null there are no more.
Rows that are added meanwhile are neither met twice nor skipped."""
REPEATS = """\
An operation that takes the header `Idempotency-Key` can be sent again when its answer was lost: the same request with
the same key is answered again, and not done again."""
WORK = """\
Work that takes longer than a request is answered with 202 and an operation, whose address is in the header `Location`.
Ask for it until its `state` is no longer `running`."""
AGENTS = """\
Agents reach the archive over the Model Context Protocol at `/mcp`, with the same token; on this machine by
`headwater mcp`."""
PYTHON = """\
from headwater.client import Client

with Client("{base}", token="…") as client:
    client.list_operations()"""
# Not in the example: most errors have none, or say the same once more.
LEFT_OUT = ("fields", "error")


def _start(base: str, _: Schemas) -> Markup:
    curl = f"curl -s '{base}/api/v1/operations' \\\n  {AUTHORISED}"
    python = PYTHON.format(base=base)
    return joined(paragraphs(START), code(curl), paragraphs("From Python, a method for each operation:"), code(python))


def _errors(_: str, schemas: Schemas) -> Markup:
    meanings = [
        joined(element("dt", element("code", status)), element("dd", prose(told))) for status, told in TROUBLES.items()
    ]
    problem = example_of({"$ref": f"{REFERENCE}ProblemDetails"}, schemas)
    shown = {name: value for name, value in problem.items() if value and name not in LEFT_OUT}
    return joined(paragraphs(ERRORS), element("dl", *meanings, class_="troubles"), code(json_of(shown)))


def _says(text: str) -> Callable[[str, Schemas], Markup]:
    return lambda _base, _schemas: paragraphs(text)


# Anchor, name, and content of each part.
GUIDE = (
    ("start", "Start", _start),
    ("errors", "Errors", _errors),
    ("pages", "Pages", _says(PAGES)),
    ("repeats", "Sending again", _says(REPEATS)),
    ("work", "Long work", _says(WORK)),
    ("agents", "Agents", _says(AGENTS)),
)


def guide(base: str, schemas: Schemas) -> Markup:
    parts = (
        element("section", element("h2", name), content(base, schemas), id=place, class_="part")
        for place, name, content in GUIDE
    )
    return joined(*parts)
