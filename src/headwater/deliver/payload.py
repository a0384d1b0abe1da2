"""A delivery as the JSON that streams and webhooks carry, and many of them in requests of some size. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import orjson

from headwater.deliver.records import Record
from headwater.deliver.sink import Delivery, Upsert

T = TypeVar("T")
# Where a body has to be small, these are left out last: with them a reader can still ask for the rest.
_LASTING = frozenset({"url", "canonical_url", "apply_url", "title", "source_id", "source_name", "language"})
_FIXED = frozenset({"id", "kind", "version"})


def in_parts(items: Iterable[T], bytes_of: Callable[[T], int], most_bytes: int) -> Iterator[list[T]]:
    """For one request each, in order; an item that is larger than a request should be goes alone."""
    part: list[T] = []
    size = 0
    for one in items:
        if part and size + bytes_of(one) > most_bytes:
            yield part
            part, size = [], 0
        part.append(one)
        size += bytes_of(one)
    if part:
        yield part


def op_of(delivery: Delivery) -> str:
    return "upsert" if isinstance(delivery, Upsert) else "remove"


def event_of(delivery: Delivery, *, with_text: bool) -> dict[str, Any]:
    """The change under its position; `position` and `id` together are the same whenever it is sent again."""
    event: dict[str, Any] = {
        "position": delivery.position,
        "op": op_of(delivery),
        "kind": str(delivery.key.kind),
        "id": delivery.key.id,
        "version": delivery.version,
    }
    if isinstance(delivery, Upsert):
        event["record"] = fields_of(delivery.record, with_text=with_text)
    return event


def fields_of(record: Record, *, with_text: bool) -> dict[str, Any]:
    return {name: value for name, value in record.fields.items() if with_text or name != "text"}


def trimmed(fields: Mapping[str, Any], most_bytes: int) -> dict[str, Any]:
    """As many fields as fit, the largest left out first; `left_out` names those that are missing."""
    kept, left_out = dict(fields), list[str]()
    sizes = {name: len(orjson.dumps(value, option=orjson.OPT_UTC_Z)) for name, value in fields.items()}
    order = sorted(kept.keys() - _FIXED, key=lambda name: (name in _LASTING, -sizes[name], name))
    for name in order:
        if _size(kept, left_out) <= most_bytes:
            break
        del kept[name]
        left_out.append(name)
    return kept | ({"left_out": left_out} if left_out else {})


def _size(kept: Mapping[str, Any], left_out: list[str]) -> int:
    return len(orjson.dumps({**kept, "left_out": left_out}, option=orjson.OPT_UTC_Z))
