"""Formats that are written from beginning to end: what stands before the records, each of them, and what stands behind.

Pure, and the same bytes for the same records: an export that went on after a stop equals one that never stopped.
"""

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Protocol
from uuid import NAMESPACE_URL, uuid5

import orjson

from headwater import __version__
from headwater.archive.raw import KeptBody
from headwater.deliver.columns import COLUMNS, ColumnType
from headwater.deliver.exports.request import ExportedRecord, ExportFormat, ExportRequest
from headwater.deliver.feeds.atom import FEED_END, entry_xml, feed_start
from headwater.deliver.feeds.entries import FeedAbout, entry_of
from headwater.deliver.lines import record_line
from headwater.errors import SettingError
from headwater.phrases import iso_of
from headwater.record_kind import RecordKind
from headwater.sources.exchange.tables import table
from headwater.storable import as_laid_out, cut_text, one_line

# What spreadsheets take into one cell, less one; readers of CSV have bounds as well.
LONGEST_CELL = 32_000


class RecordEncoder(Protocol):
    def head(self) -> bytes: ...

    def encode(self, one: ExportedRecord) -> bytes:
        """Empty where the format has nothing to say of it."""

    def tail(self) -> bytes: ...


def encoder_of(request: ExportRequest, began_at: datetime) -> RecordEncoder:
    match request.format:
        case ExportFormat.CSV:
            return CsvEncoder(request.kind)
        case ExportFormat.ATOM:
            return AtomEncoder(request, began_at)
        case ExportFormat.WARC:
            require_warcio()
            return WarcEncoder(began_at)
    return JsonlEncoder()


class JsonlEncoder:
    def head(self) -> bytes:
        return b""

    def encode(self, one: ExportedRecord) -> bytes:
        return record_line(one.record)

    def tail(self) -> bytes:
        return b""


class CsvEncoder:
    """Safe to open in a spreadsheet: no cell begins as a formula does, and none is longer than it takes."""

    def __init__(self, kind: RecordKind) -> None:
        self._columns = COLUMNS[kind]

    def head(self) -> bytes:
        return self._lines([list(self._columns)])

    def encode(self, one: ExportedRecord) -> bytes:
        cells = [_cell(one.record.fields.get(name), kind) for name, kind in self._columns.items()]
        return self._lines([cells])

    def tail(self) -> bytes:
        return b""

    def _lines(self, rows: Iterable[list[str]]) -> bytes:
        return "".join(table(rows)).encode(errors="replace")


def _cell(value: Any, kind: ColumnType) -> str:
    if value is None:
        return ""
    match kind:
        case ColumnType.JSON:
            text = orjson.dumps(value).decode() if value else ""
        case ColumnType.TEXTS | ColumnType.WHOLES:
            text = "; ".join(one_line(str(one)) for one in value)
        case ColumnType.FLAG:
            text = "yes" if value else "no"
        case ColumnType.MOMENT | ColumnType.DAY:
            text = iso_of(value)
        case _:
            text = as_laid_out(str(value)).strip()
    return cut_text(text, LONGEST_CELL)


class AtomEncoder:
    """In the order of the archive, not of time: no feed to be followed, but one that a reader can be given."""

    def __init__(self, request: ExportRequest, began_at: datetime) -> None:
        title = f"Headwater: {request.view or ('vacancies' if request.kind is RecordKind.JOB else 'documents')}"
        parts = [str(one) for one in (request.kind, request.view, request.source_id) if one]
        self._about = FeedAbout(f"urn:headwater:export:{':'.join(parts)}", title, began_at)

    def head(self) -> bytes:
        return feed_start(self._about).encode()

    def encode(self, one: ExportedRecord) -> bytes:
        return entry_xml(entry_of(one.record, with_text=True)).encode()

    def tail(self) -> bytes:
        return FEED_END.encode()


def require_warcio() -> None:
    try:
        import warcio  # noqa: F401
    except ImportError as error:
        raise SettingError(
            "WARC cannot be written: warcio is not installed.", fix="pip install 'headwater[warc]'"
        ) from error


class WarcEncoder:
    """WARC 1.0, each record a gzip member of its own. Pages stand there as they were read: unpacked, and without the
    headers that are not kept.
    """

    def __init__(self, began_at: datetime) -> None:
        self._began_at = began_at

    def head(self) -> bytes:
        about = {"software": f"Headwater {__version__}", "format": "WARC File Format 1.0"}
        payload = "".join(f"{name}: {value}\r\n" for name, value in about.items()).encode()
        return self._record("", "warcinfo", self._began_at, "warcinfo", payload, None)

    def encode(self, one: ExportedRecord) -> bytes:
        kept = one.raw
        if kept is None:
            return b""
        name = f"{one.record.id}@{kept.at.isoformat()}"
        return self._record(kept.raw.url, "response", kept.at, name, kept.raw.body, _http_headers(kept))

    def tail(self) -> bytes:
        return b""

    def _record(self, url: str, kind: str, at: datetime, name: str, payload: bytes, http: Any) -> bytes:
        from warcio.warcwriter import WARCWriter

        file = io.BytesIO()
        writer = WARCWriter(file, gzip=True)
        about = {
            "WARC-Record-ID": f"<urn:uuid:{uuid5(NAMESPACE_URL, f'urn:headwater:{name}:{at.isoformat()}')}>",
            "WARC-Date": f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        }
        record = writer.create_warc_record(
            url, kind, payload=io.BytesIO(payload), length=len(payload), warc_headers_dict=about, http_headers=http
        )
        writer.write_record(record)
        return file.getvalue()


def _http_headers(kept: KeptBody) -> Any:
    from warcio.statusandheaders import StatusAndHeaders

    phrases = {int(one): one.phrase for one in HTTPStatus}
    phrase = phrases.get(kept.raw.status, "Unknown")
    said = [(one_line(name), one_line(value)) for name, value in sorted(kept.raw.headers.items())]
    length = ("Content-Length", str(len(kept.raw.body)))
    return StatusAndHeaders(f"{kept.raw.status} {phrase}", [*said, length], protocol="HTTP/1.1")
