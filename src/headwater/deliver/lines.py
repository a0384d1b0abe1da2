"""Records and changes as JSON, a line each: what files hold and exports write. Pure."""

from typing import Any

import orjson

from headwater.deliver.payload import event_of
from headwater.deliver.records import Record
from headwater.deliver.sink import Delivery
from headwater.storable import storable


def line_of(delivery: Delivery) -> bytes:
    """A change: where it stands in the log, the record as it is now, or that it is to be removed."""
    return json_line(event_of(delivery, with_text=True))


def record_line(record: Record) -> bytes:
    return json_line(dict(record.fields))


def json_line(value: Any) -> bytes:
    try:
        return _dumped(value)
    except TypeError:
        # Half a character somewhere in it.
        return _dumped(storable(value))


def _dumped(value: Any) -> bytes:
    # The driver's own UUID is none for orjson.
    return orjson.dumps(value, default=str, option=orjson.OPT_APPEND_NEWLINE)
