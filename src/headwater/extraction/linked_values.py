"""Reading one JSON-LD property: publishers write a string, an object, a reference or a list of any of them."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, tzinfo
from itertools import islice
from typing import Any

from headwater.extraction.dates import moment_from
from headwater.extraction.text import unescape_line

Node = dict[str, Any]

_MOST_VALUES = 50
_LONGEST_ADDRESS = 500
_LARGEST_NUMBER = 10_000_000


def texts(node: Node, *properties: str) -> tuple[str, ...]:
    """Of the first property that has any."""
    return _first(node, properties, lambda value: value if isinstance(value, str) else "")


def names(
    node: Node, by_id: Mapping[str, Node], *properties: str, of_type: str = "", at: Collection[str] = ()
) -> tuple[str, ...]:
    """A reference is followed once, so references in a circle end where they began. `of_type`: its last word.

    `at`: only those whose profile's address ends in one of these.
    """

    def name_of(value: object) -> str:
        if isinstance(value, dict) and "name" not in value:
            value = by_id.get(str(value.get("@id")), value)
        if of_type and not _is_of_type(value, of_type):
            return ""
        if at and _end_of_address(value) not in at:
            return ""
        said = value.get("name") if isinstance(value, dict) else value
        said = said[0] if isinstance(said, list) and said else said
        # A profile's address is no name.
        return said if isinstance(said, str) and "://" not in said else ""

    return _first(node, properties, name_of)


def _is_of_type(value: object, wanted: str) -> bool:
    said = value.get("@type") if isinstance(value, dict) else None
    return any(isinstance(one, str) and one.endswith(wanted) for one in (said if isinstance(said, list) else [said]))


def _end_of_address(value: object) -> str:
    said = (value.get("url") or value.get("@id")) if isinstance(value, dict) else None
    return said[:_LONGEST_ADDRESS].rstrip("/").rpartition("/")[2].casefold() if isinstance(said, str) else ""


def urls(node: Node, *properties: str) -> tuple[str, ...]:
    def url_of(value: object) -> str:
        said = (value.get("url") or value.get("@id")) if isinstance(value, dict) else value
        return said if isinstance(said, str) else ""

    return tuple(one for name in properties for one in _first(node, (name,), url_of))


def moment(node: Node, zone: tzinfo, *properties: str) -> datetime | None:
    return moment_from(next(iter(texts(node, *properties)), ""), zone)


def number(node: Node, name: str) -> int | None:
    said = node.get(name)
    if isinstance(said, str) and said.isascii() and said.isdigit() and len(said) < 9:
        said = int(said)
    return said if type(said) is int and 0 <= said <= _LARGEST_NUMBER else None


def _first(node: Node, properties: tuple[str, ...], read: Callable[[object], str]) -> tuple[str, ...]:
    for name in properties:
        said = node.get(name)
        each = islice(said, _MOST_VALUES) if isinstance(said, list) else (said,)
        found = tuple(dict.fromkeys(line for one in each if (line := unescape_line(read(one), 5_000))))
        if found:
            return found
    return ()
