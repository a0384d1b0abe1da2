"""Pages on their way into a child, and what comes back. The answer is checked: a page may have taken its child over."""

from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

import orjson

from headwater.errors import UsageError
from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.page import Page

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def encode_page(page: Page, now: datetime) -> bytes:
    """One line of JSON, then the body as it is: megabytes are neither copied into JSON nor out of it."""
    return orjson.dumps({"page": head_of(page), "now": now}) + b"\n" + page.body


def page_from(received: bytes) -> tuple[Page, datetime]:
    head, _, body = received.partition(b"\n")
    said = orjson.loads(head)
    return page_with(said["page"], body), datetime.fromisoformat(said["now"])


def head_of(page: Page) -> orjson.Fragment:
    """All of it but its body, as JSON."""
    return orjson.Fragment(orjson.dumps(replace(page, body=b""), default=_nothing))


def page_with(head: object, body: bytes) -> Page:
    return replace(_pages().validate_python(head), body=body)


def answer_from(value: object) -> Article | NotAnArticle:
    """What a child answered, read from JSON."""
    try:
        return _answers().validate_python(value)
    except ValueError as problem:
        raise UsageError("An extraction child answered with something that is no article.") from problem


def _nothing(value: object) -> str:
    return "" if value == b"" else str(value)


@cache
def _pages() -> "TypeAdapter[Page]":
    from pydantic import TypeAdapter

    return TypeAdapter(Page)


@cache
def _answers() -> "TypeAdapter[Article | NotAnArticle]":
    from pydantic import TypeAdapter

    return TypeAdapter(Article | NotAnArticle)
