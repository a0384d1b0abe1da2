"""A file of sources, whatever its format: its rows, and every line that is none with the reason."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import PurePath
from types import MappingProxyType

from headwater.errors import UsageError
from headwater.net.charset import Kind, decode
from headwater.sources.exchange.columns import LeftOver, is_header, require_known
from headwater.sources.exchange.fields import MOST_EXTERNAL_IDS, MOST_TAGS
from headwater.sources.exchange.jsonlines import read_jsonl
from headwater.sources.exchange.lines import lines_in
from headwater.sources.exchange.opml import read_opml
from headwater.sources.exchange.rows import BadLine, Row
from headwater.sources.exchange.tables import DELIMITERS, cells_in, delimiter_in, read_csv
from headwater.sources.exchange.urllist import read_urls
from headwater.urls.canonical import canonicalise

MAX_BYTES = 200 * 1024 * 1024
MOST_LINES = 1_000_000
MOST_SOURCES = 100_000


class Format(StrEnum):
    OPML = "opml"
    CSV = "csv"
    URLS = "urls"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class Read:
    """`bad_lines` in the order of the file. `spelling` says how it was written, as in `utf-8, comma`.

    `duplicates` counts lines with the address of an earlier one; `unused` and `doubled` columns brought nothing.
    `header` and `delimiter` are those of a table.
    """

    rows: tuple[Row, ...]
    bad_lines: tuple[BadLine, ...]
    format: Format
    spelling: str
    duplicates: int = 0
    unused: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    delimiter: str = ""


_NO_MAPPING: Mapping[str, str] = MappingProxyType({})
_SUFFIXES = {
    **dict.fromkeys((".opml", ".xml"), Format.OPML),
    **dict.fromkeys((".csv", ".tsv", ".tab"), Format.CSV),
    **dict.fromkeys((".jsonl", ".ndjson"), Format.JSONL),
    **dict.fromkeys((".txt", ".urls", ".list"), Format.URLS),
}
_BINARY_STARTS = {
    b"PK\x03\x04": "a zip archive, as Excel workbooks are",
    b"\x1f\x8b": "compressed with gzip",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"%PDF": "a PDF",
}
_SAVE_AS = "Save it as OPML, CSV, JSON Lines or a list of URLs."
_ARRAY = re.compile(r'\[\s*(?:[\[{"\]]|$)')
_SECTION = re.compile(r"\[[^\]\n]*\]\s*(?:\n|$)")
_WIDE_STARTS = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")


def read_sources(
    data: bytes, as_format: Format | None = None, mapping: Mapping[str, str] = _NO_MAPPING, *, filename: str = ""
) -> Read:
    """`mapping` names the column of a field. Raises UsageError for a file that is no list of sources at all."""
    _require_text(data)
    decoded = decode(data, Kind.XML)
    _require_moderate(decoded.text)
    chosen = as_format or format_of(decoded.text, filename, has_mapping=bool(mapping))
    _require_fitting(chosen, mapping)
    delimiter = delimiter_in(decoded.text) if chosen is Format.CSV else ""
    left_over = LeftOver()
    rows, bad_lines, duplicates = _sorted_out(_found(decoded.text, chosen, delimiter, mapping, left_over))
    spelling = f"{decoded.charset}, {DELIMITERS[delimiter]}" if delimiter else decoded.charset
    return Read(
        *(rows, bad_lines, chosen, spelling, duplicates),
        unused=tuple(left_over.unused),
        doubled=tuple(left_over.doubled),
        header=tuple(left_over.header),
        delimiter=delimiter,
    )


def format_of(text: str, filename: str = "", *, has_mapping: bool = False) -> Format:
    """What is plain from the content, then the file's name, then the look of the first line."""
    start = text[:4096].lstrip()
    if start.startswith("<"):
        return Format.OPML
    if _ARRAY.match(start):
        raise UsageError("The file looks like one JSON array.", fix="Write one object a line (JSON Lines).")
    if start.startswith("{"):
        return Format.JSONL
    if named := _SUFFIXES.get(PurePath(filename).suffix.lower()):
        return named
    if _SECTION.match(start):
        raise UsageError("The file is no list of sources: it looks like settings (INI).", fix=_SAVE_AS)
    return Format.CSV if has_mapping or _looks_like_table(text[:65_536]) else Format.URLS


def _looks_like_table(text: str) -> bool:
    first = next((line for line in lines_in(text) if line.strip() and not line.startswith("#")), "")
    cells = cells_in(first, delimiter_in(first))
    return "://" not in first and (len(cells) > 1 or is_header(cells))


def _require_text(data: bytes) -> None:
    if len(data) > MAX_BYTES:
        raise UsageError(f"The file is larger than {MAX_BYTES // 2**20} MB.", fix="Split it.")
    what = next((what for start, what in _BINARY_STARTS.items() if data.startswith(start)), "")
    if not what and b"\x00" in data[:65_536] and not data.startswith(_WIDE_STARTS):
        what = "binary"
    if what:
        raise UsageError(f"The file is {what}.", fix=_SAVE_AS)
    if not data.strip():
        raise UsageError("The file is empty.")


def _require_moderate(text: str) -> None:
    if max(text.count("\n"), text.count("\r")) > MOST_LINES:
        raise UsageError(f"The file has more than {MOST_LINES:,} lines.", fix="Split it.")


def _require_fitting(chosen: Format, mapping: Mapping[str, str]) -> None:
    require_known(mapping)
    if mapping and chosen in (Format.OPML, Format.URLS):
        raise UsageError("Only CSV and JSON Lines have columns to map.", fix="Leave the mapping out.")


def _found(
    text: str, chosen: Format, delimiter: str, mapping: Mapping[str, str], left_over: LeftOver
) -> Iterable[Row | BadLine]:
    match chosen:
        case Format.OPML:
            return read_opml(text, MOST_SOURCES)
        case Format.CSV:
            return read_csv(text, delimiter, mapping, left_over)
        case Format.JSONL:
            return read_jsonl(text, mapping, left_over)
        case Format.URLS:
            return read_urls(text)


def _sorted_out(found: Iterable[Row | BadLine]) -> tuple[tuple[Row, ...], tuple[BadLine, ...], int]:
    """The first of several lines with one address counts, with the tags and ids of all; the others are only counted."""
    rows: dict[tuple[str, bool], Row] = {}
    bad: list[BadLine] = []
    duplicates = 0
    remaining = iter(found)
    for one in islice(remaining, MOST_SOURCES):
        if isinstance(one, BadLine):
            bad.append(one)
            continue
        # What was deleted stands in nobody's way: its address may have been taken up again.
        key = (canonicalise(one.feed_url or one.url).key, one.status == "deleted")
        if first := rows.get(key):
            tags = tuple(dict.fromkeys(first.tags + one.tags))[:MOST_TAGS]
            ids = tuple(dict.fromkeys(first.external_ids + one.external_ids))[:MOST_EXTERNAL_IDS]
            rows[key] = replace(first, tags=tags, external_ids=ids)
            duplicates += 1
        else:
            rows[key] = one
    if more := next(remaining, None):
        bad.append(BadLine(more.line, "", f"There are more than {MOST_SOURCES:,} sources; the rest was not read."))
    return tuple(rows.values()), tuple(bad), duplicates
