"""JSON as RFC 8259 means it: one value per name, finite numbers, a depth that can be worked with."""

import json
from typing import Any

import orjson

from headwater.discover.items import Unreadable

LONGEST_BODY = 50_000_000


class _Twice(ValueError):
    pass


def json_in(body: bytes) -> Any | Unreadable:
    if len(body) > LONGEST_BODY:
        return Unreadable("The answer is too large to be read as JSON.")
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        # The strict and fast one first: it refuses NaN, numbers beyond a double, bad UTF-8 and 1,024 levels.
        orjson.loads(body)
        return json.loads(body, object_pairs_hook=_once)
    except _Twice:
        return Unreadable("The answer's JSON names a key twice in one object.")
    except RecursionError:
        return Unreadable("The answer's JSON is nested too deeply.")
    except orjson.JSONDecodeError as refusal:
        return Unreadable(_why(body, refusal))
    except ValueError:
        return Unreadable("The answer is not valid JSON.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice
    return found


def _why(body: bytes, refusal: orjson.JSONDecodeError) -> str:
    if not body.strip():
        return "The answer is empty."
    if body.lstrip()[:1] == b"<":
        return "The answer is a page or a feed, not JSON."
    return f"The answer is not valid JSON: {refusal.msg[:120]}."
