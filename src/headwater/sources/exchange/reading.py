"""A file of sources, whatever its format: its rows, and every line that is none with the reason."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePath
from types import MappingProxyType

from headwater.errors import UsageError
from headwater.net.charset import CharsetKind, decode
from headwater.sources.exchange.columns import LeftOver, is_header, require_known
from headwater.sources.exchange.fields import MOST_EXTERNAL_IDS, BadLine, Row
from headwater.sources.exchange.jsonlines import read_jsonl
from headwater.sources.exchange.lines import lines_in
from headwater.sources.exchange.opml import read_opml
from headwater.sources.exchange.tables import DELIMITERS, cells_in, delimiter_in, read_csv
from headwater.sources.exchange.urllist import read_urls
from headwater.sources.source import MOST_TAGS_SAID
from headwater.urls.canonical import canonicalise

MAX_BYTES = 200 * 1024 * 1024
MOST_LINES = 1_000_000
# Of lines that are no sources: they are kept to be told, and so many say that the file was meant for something else.
MOST_BAD = 100_000


class ListFormat(StrEnum):
    OPML = "opml"
    CSV = "csv"
    URLS = "urls"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class ReadSources:
    """`bad_lines` in the order of the file. `spelling` says how it was written, as in `utf-8, comma`.

    `duplicates` counts lines with the address of an earlier one; `unused` and `doubled` columns brought nothing.
    `header` and `delimiter` are those of a table.
    """

    rows: tuple[Row, ...]
    bad_lines: tuple[BadLine, ...]
    format: ListFormat
    spelling: str
    duplicates: int = 0
    unused: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    delimiter: str = ""


_NO_MAPPING: Mapping[str, str] = MappingProxyType({})
_SUFFIXES = {
    **dict.fromkeys((".opml", ".xml"), ListFormat.OPML),
    **dict.fromkeys((".csv", ".tsv", ".tab"), ListFormat.CSV),
    **dict.fromkeys((".jsonl", ".ndjson"), ListFormat.JSONL),
    **dict.fromkeys((".txt", ".urls", ".list"), ListFormat.URLS),
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


@dataclass(frozen=True, slots=True)
class Repeated:
    """Additions to a line by later ones with its address."""

    tags: tuple[str, ...] = ()
    external_ids: tuple[str, ...] = ()

    def along(self, row: Row) -> "Repeated":
        return Repeated(
            tuple(dict.fromkeys(self.tags + row.tags))[:MOST_TAGS_SAID],
            tuple(dict.fromkeys(self.external_ids + row.external_ids))[:MOST_EXTERNAL_IDS],
        )

    def added_to(self, row: Row) -> Row:
        both = Repeated(row.tags, row.external_ids).along(replace(row, tags=self.tags, external_ids=self.external_ids))
        return replace(row, tags=both.tags, external_ids=both.external_ids)


@dataclass(slots=True)
class SourceFile:
    """A file that was looked through once. Its rows are read again, one by one, as often as they are asked for."""

    text: str
    format: ListFormat
    spelling: str
    delimiter: str
    mapping: Mapping[str, str]
    rows: int = 0
    bad: int = 0
    duplicates: int = 0
    has_deleted: bool = False
    left_over: LeftOver = field(default_factory=LeftOver)
    _repeated: dict[bytes, Repeated] = field(default_factory=dict)

    def found(self) -> Iterator[Row | BadLine]:
        """In the order of the file. The first of several lines with one address counts, with tags and ids of all."""
        seen: set[bytes] = set()
        for one in _found(self.text, self.format, self.delimiter, self.mapping, LeftOver()):
            if isinstance(one, BadLine):
                yield one
            elif (key := _key_of(one)) not in seen:
                seen.add(key)
                yield self._repeated[key].added_to(one) if key in self._repeated else one

    def in_order(self) -> Iterator[Row | BadLine]:
        """Deleted sources come first: a source at the address of one may follow."""
        if not self.has_deleted:
            yield from self.found()
            return
        yield from (one for one in self.found() if _is_deleted(one))
        yield from (one for one in self.found() if not _is_deleted(one))

    def as_read(self, rows: tuple[Row, ...] = (), bad_lines: tuple[BadLine, ...] = ()) -> ReadSources:
        return ReadSources(
            *(rows, bad_lines, self.format, self.spelling, self.duplicates),
            unused=tuple(self.left_over.unused),
            doubled=tuple(self.left_over.doubled),
            header=tuple(self.left_over.header),
            delimiter=self.delimiter,
        )

    def look_through(self) -> None:
        seen: set[bytes] = set()
        for one in _found(self.text, self.format, self.delimiter, self.mapping, self.left_over):
            if isinstance(one, BadLine):
                self._count_bad(one)
            elif (key := _key_of(one)) in seen:
                self.duplicates += 1
                self._repeated[key] = self._repeated.get(key, Repeated()).along(one)
            else:
                seen.add(key)
                self.rows += 1
                self.has_deleted |= one.status == "deleted"

    def _count_bad(self, one: BadLine) -> None:
        self.bad += 1
        if self.bad > MOST_BAD:
            what = f"More than {MOST_BAD:,} lines of the file are no sources. The last of them is line {one.line:,}"
            raise UsageError(f"{what}: {one.reason}", fix="Check --format and --map, or split the file.")


def _is_deleted(one: Row | BadLine) -> bool:
    return isinstance(one, Row) and one.status == "deleted"


def _key_of(row: Row) -> bytes:
    """A deleted source stands in no other's way: its address may have been taken up again."""
    return canonicalise(row.feed_url or row.url).url_hash[:16] + (b"-" if row.status == "deleted" else b"")


def open_sources(
    data: bytes, as_format: ListFormat | None = None, mapping: Mapping[str, str] = _NO_MAPPING, *, filename: str = ""
) -> SourceFile:
    """`mapping` names the column of a field. Raises UsageError for a file that is no list of sources at all."""
    _require_text(data)
    decoded = decode(data, CharsetKind.XML)
    # Of a large file one copy is enough.
    del data
    _require_moderate(decoded.text)
    chosen = as_format or format_of(decoded.text, filename, has_mapping=bool(mapping))
    _require_fitting(chosen, mapping)
    delimiter = delimiter_in(decoded.text) if chosen is ListFormat.CSV else ""
    spelling = f"{decoded.charset}, {DELIMITERS[delimiter]}" if delimiter else decoded.charset
    file = SourceFile(decoded.text, chosen, spelling, delimiter, mapping)
    file.look_through()
    return file


def read_sources(
    data: bytes, as_format: ListFormat | None = None, mapping: Mapping[str, str] = _NO_MAPPING, *, filename: str = ""
) -> ReadSources:
    """A small file whole."""
    file = open_sources(data, as_format, mapping, filename=filename)
    found = list(file.found())
    rows = tuple(one for one in found if isinstance(one, Row))
    return file.as_read(rows, tuple(one for one in found if isinstance(one, BadLine)))


def format_of(text: str, filename: str = "", *, has_mapping: bool = False) -> ListFormat:
    """By the content where it is plain, then by the file's name, then by the look of the first line."""
    start = text[:4096].lstrip()
    if start.startswith("<"):
        return ListFormat.OPML
    if _ARRAY.match(start):
        raise UsageError("The file looks like one JSON array.", fix="Write one object a line (JSON Lines).")
    if start.startswith("{"):
        return ListFormat.JSONL
    if named := _SUFFIXES.get(PurePath(filename).suffix.lower()):
        return named
    if _SECTION.match(start):
        raise UsageError("The file is no list of sources: it looks like settings (INI).", fix=_SAVE_AS)
    return ListFormat.CSV if has_mapping or _looks_like_table(text[:65_536]) else ListFormat.URLS


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


def _require_fitting(chosen: ListFormat, mapping: Mapping[str, str]) -> None:
    require_known(mapping)
    if mapping and chosen in (ListFormat.OPML, ListFormat.URLS):
        raise UsageError("Only CSV and JSON Lines have columns to map.", fix="Leave the mapping out.")


def _found(
    text: str, chosen: ListFormat, delimiter: str, mapping: Mapping[str, str], left_over: LeftOver
) -> Iterable[Row | BadLine]:
    match chosen:
        case ListFormat.OPML:
            return read_opml(text)
        case ListFormat.CSV:
            return read_csv(text, delimiter, mapping, left_over)
        case ListFormat.JSONL:
            return read_jsonl(text, mapping, left_over)
        case ListFormat.URLS:
            return read_urls(text)
