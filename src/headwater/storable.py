"""Text from outside made harmless: without characters that PostgreSQL cannot keep, or that a terminal would obey."""

import re
from collections.abc import Mapping
from typing import Any

import orjson

_NUL = rb"\u0000"
# PostgreSQL refuses NUL and lone surrogates, XML the other controls, and terminals obey some of them.
UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_UNWANTED_IN_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Longer text is cut before it is looked at: a megabyte of white space is nobody's title.
_LOOKED_AT = 10


def storable(value: Any) -> Any:
    """A value of the same shape; tuples become lists, which is what the driver and JSON want."""
    match value:
        case str():
            # Nearly all are, and then there is nothing to replace.
            return value if value.isprintable() else value.replace("\0", "\ufffd").encode(errors="replace").decode()
        case list() | tuple():
            return [storable(one) for one in value]
        # Nothing costs as much as to ask for a Mapping, so that comes last.
        case dict() | Mapping():
            return {storable(key): storable(one) for key, one in value.items()}
    return value


def storable_json(value: Any) -> str:
    """As JSON, where nearly always there is nothing to replace."""
    try:
        written = orjson.dumps(value)
    except TypeError:
        # Half a character somewhere in it.
        written = _NUL
    return (orjson.dumps(storable(value)) if _NUL in written else written).decode()


def one_line(text: str, longest: int | None = None) -> str:
    """Every run of white space is one space, and no control stays; at most so many characters."""
    if longest is not None:
        text = text[: longest * _LOOKED_AT]
    line = " ".join(text.split())
    if not line.isprintable():
        line = " ".join(UNWANTED.sub("", line).split())
    return line[:longest].rstrip()


def as_laid_out(text: str) -> str:
    """Its lines and tabs stay, nothing else a terminal would obey does."""
    return _UNWANTED_IN_LINES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
