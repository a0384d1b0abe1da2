"""Sources as a file, in any of the formats they can be brought in; and records that could not be followed.

Those are written in the format they came in, each with its reason: to be mended and imported.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain
from types import MappingProxyType

import orjson

from headwater.sources.exchange.columns import BECAUSE, LINE, TEXT, is_ours
from headwater.sources.exchange.fields import BadLine, Row, is_whole
from headwater.sources.exchange.jsonlines import write_jsonl
from headwater.sources.exchange.opml import REASON, write_opml
from headwater.sources.exchange.reading import ListFormat, ReadSources
from headwater.sources.exchange.tables import cells_of_record, table, write_csv
from headwater.sources.exchange.urllist import write_urls
from headwater.storable import one_line

DEFAULT_TITLE = "Headwater sources"

SUFFIXES = MappingProxyType(
    {ListFormat.CSV: "csv", ListFormat.JSONL: "jsonl", ListFormat.OPML: "opml", ListFormat.URLS: "txt"}
)


def write_sources(rows: Iterable[Row], as_format: ListFormat, title: str = DEFAULT_TITLE) -> Iterator[str]:
    """Piece by piece. CSV and JSON Lines carry every field; OPML name, addresses and tags; a URL list URL and tags."""
    match as_format:
        case ListFormat.OPML:
            return write_opml(rows, title)
        case ListFormat.CSV:
            return write_csv(rows)
        case ListFormat.JSONL:
            return write_jsonl(rows)
        case ListFormat.URLS:
            return write_urls(rows)


def write_rejected(bad: Iterable[BadLine], read: ReadSources) -> Iterator[str]:
    """Piece by piece; `read` is the file they came from. A line without a text is a remark about the file."""
    records = [one for one in bad if one.text]
    match read.format:
        case ListFormat.OPML:
            return _opml(records)
        case ListFormat.CSV:
            return _csv(records, read.header, read.delimiter)
        case ListFormat.JSONL:
            return map(_object, records)
        case ListFormat.URLS:
            return (f"# line {one.line}: {one_line(one.reason)}\n{one_line(one.text)}\n" for one in records)


def _csv(bad: Sequence[BadLine], header: Sequence[str], delimiter: str) -> Iterator[str]:
    """Its own columns, then ours; what is no record of a table stands whole in the column of texts."""
    kept = [at for at, name in enumerate(header) if not is_ours(name)]
    rows = [cells_of_record(one.text, delimiter) if is_whole(one) else None for one in bad]
    # Cells that have no column stand behind the others as they did.
    beyond = max([0, *(len(cells) - len(header) for cells in rows if cells)])
    places = [*kept, *range(len(header), len(header) + beyond)]
    names = [*(one_line(header[at]) for at in kept), *[""] * beyond]
    ours = [LINE, BECAUSE, *([TEXT] if None in rows else [])]
    written = (_cells(cells, places, one, len(ours)) for one, cells in zip(bad, rows, strict=True))
    return table(chain([[*names, *ours]], written))


def _cells(cells: Sequence[str] | None, places: Sequence[int], bad: BadLine, ours: int) -> list[str]:
    own = [cells[at] if cells and at < len(cells) else "" for at in places]
    return [*own, *[str(bad.line), bad.reason, "" if cells else bad.text][:ours]]


def _object(bad: BadLine) -> str:
    said: object = None
    if is_whole(bad):
        try:
            said = orjson.loads(bad.text)
        except orjson.JSONDecodeError:
            said = None
    own = {name: value for name, value in said.items() if not is_ours(name)} if isinstance(said, dict) else None
    whole = {TEXT: bad.text} if own is None else own
    return orjson.dumps({**whole, LINE: bad.line, BECAUSE: bad.reason}).decode() + "\n"


def _opml(bad: Iterable[BadLine]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n<head/>\n<body>\n'
    for one in bad:
        if is_whole(one) and one.text.startswith("<outline") and one.text.endswith("/>"):
            yield f'{one.text.removesuffix("/>")} {REASON}="{escape(one_line(one.reason))}"/>\n'
        else:
            # Two hyphens would end the remark.
            remark = f"line {one.line}: {one_line(one.reason)}: {one_line(one.text)}".replace("-", "‐")
            yield f"<!-- {remark} -->\n"
    yield "</body>\n</opml>\n"
