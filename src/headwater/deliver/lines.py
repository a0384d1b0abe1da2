"""Records and changes as JSON, a line each: what files hold and exports write. Pure."""

from typing import Any

import orjson

from headwater.blocks.block import json_of
from headwater.deliver.payload import event_of
from headwater.deliver.records import Record
from headwater.deliver.sink import Delivery, Upsert
from headwater.storable import storable


def line_of(delivery: Delivery) -> bytes:
    """A change: where it stands in the log, the record as it is now, or that it is to be removed."""
    event = event_of(delivery, with_text=True)
    if isinstance(delivery, Upsert):
        event["record"] |= _structure_of(delivery.record)
    return json_line(event)


def record_line(record: Record) -> bytes:
    return json_line({**record.fields, **_structure_of(record)})


def _structure_of(record: Record) -> dict[str, Any]:
    """Only of a document whose lines do not say it all: everything else would be there twice."""
    return {"blocks": [json_of(block) for block in record.blocks]} if record.packed_blocks else {}


def json_line(value: Any) -> bytes:
    try:
        return _dumped(value)
    except TypeError:
        # Half a character somewhere in it.
        return _dumped(storable(value))


def _dumped(value: Any) -> bytes:
    # The driver's own UUID is none for orjson.
    return orjson.dumps(value, default=str, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)
