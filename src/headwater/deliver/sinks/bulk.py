"""Requests to `_bulk`, and what an answer says of each record. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from headwater.deliver.sink import VERSIONS_PER_BATCH, Accepted, Delivery, DeliveryOutcome, RecordRefused, Upsert

CONFLICT, NOT_FOUND, TOO_MANY_REQUESTS = 409, 404, 429
INDEX_NOT_FOUND = "index_not_found_exception"
VERSION_CONFLICT = "version_conflict_engine_exception"
LONGEST_WORDS = 500
_VERSION_THERE = re.compile(r"current version \[(\d{1,19})\]")
# Versions of ten years: further ahead no clock of ours was.
FURTHEST_AHEAD = 10 * 366 * 86_400 * 1_000_000 * VERSIONS_PER_BATCH


@dataclass(frozen=True, slots=True)
class Operation:
    """One delivery as lines of a request. `number` is its place in the batch."""

    number: int
    delivery: Delivery
    lines: bytes


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """The server's answer to one operation."""

    status: int
    error: Mapping[str, Any] | None

    @property
    def is_too_many(self) -> bool:
        return self.status == TOO_MANY_REQUESTS

    @property
    def lacks_index(self) -> bool:
        return self.error is not None and self.error.get("type") == INDEX_NOT_FOUND


def operation(number: int, delivery: Delivery, document: Mapping[str, Any] | None, version: int) -> Operation:
    """Raises TypeError for a document that is no JSON. Without a document: a removal."""
    about = {
        "_index": delivery.place,
        "_id": delivery.key.id,
        "version": version,
        "version_type": "external",
    }
    if document is None:
        lines = orjson.dumps({"delete": about}) + b"\n"
    else:
        # orjson writes no newline of its own: a document is one line.
        lines = orjson.dumps({"index": about}) + b"\n" + orjson.dumps(document, option=orjson.OPT_UTC_Z) + b"\n"
    return Operation(number, delivery, lines)


def item_answers(answer: Mapping[str, Any]) -> list[ItemAnswer]:
    """Each item stands under the name of its operation. Raises ValueError for what no search server answers."""
    try:
        items = [next(iter(item.values())) for item in answer["items"]]
        return [ItemAnswer(int(item["status"]), item.get("error")) for item in items]
    except (LookupError, TypeError, AttributeError, StopIteration) as error:
        raise ValueError("it does not say of each record what became of it") from error


def outcome_of(delivery: Delivery, item: ItemAnswer, version: int) -> DeliveryOutcome:
    """`version` is the external one that was sent."""
    if 200 <= item.status < 300:
        return Accepted()
    if item.status == CONFLICT and (item.error or {}).get("type") == VERSION_CONFLICT:
        return _outcome_of_conflict(str((item.error or {}).get("reason", "")), version)
    if item.status == NOT_FOUND and not isinstance(delivery, Upsert):
        return Accepted()
    return RecordRefused(f"{item.status}: {words_of(item.error)}")


def _outcome_of_conflict(reason: str, version: int) -> DeliveryOutcome:
    """The version there is ours, whose answer was lost, or a later one, which only another clock wrote."""
    found = _VERSION_THERE.search(reason)
    there = int(found[1]) if found else 0
    if there <= version:
        return Accepted()
    if there - version > FURTHEST_AHEAD:
        why = f"Another system wrote it with the version {there}, which no later one of ours can pass: delete it there."
        return RecordRefused(why, is_final=True)
    why = "It is there from a batch that was numbered by a clock ahead of ours."
    return RecordRefused(why, later_batch=there // VERSIONS_PER_BATCH + 1)


def words_of(error: Any) -> str:
    """The server's own words, with those of the cause."""
    if not isinstance(error, Mapping):
        return str(error)[:LONGEST_WORDS]
    said = [f"{error.get('type', 'error')}: {error.get('reason', '')}"]
    cause = error.get("caused_by")
    while isinstance(cause, Mapping) and len(said) < 3:
        said.append(str(cause.get("reason", "")))
        cause = cause.get("caused_by")
    return ", because ".join(said)[:LONGEST_WORDS]
