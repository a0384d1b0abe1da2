"""The request for an export, and its progress."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from headwater.archive.raw import KeptBody
from headwater.deliver.records import Record
from headwater.errors import UsageError
from headwater.record_kind import RecordKind


class ExportFormat(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    MARKDOWN = "markdown"
    ATOM = "atom"
    WARC = "warc"
    PARQUET = "parquet"

    @property
    def is_stream(self) -> bool:
        """Whether it can be written from its beginning to its end, into a pipe."""
        return self not in (ExportFormat.MARKDOWN, ExportFormat.PARQUET)

    @property
    def is_text(self) -> bool:
        return self in (ExportFormat.JSONL, ExportFormat.CSV, ExportFormat.ATOM)


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """`since` is the moment that `since_as_said` meant when the export began."""

    kind: RecordKind
    format: ExportFormat
    view: str | None = None
    source_id: UUID | None = None
    since: datetime | None = None
    since_as_said: str | None = None

    def __post_init__(self) -> None:
        if self.format is ExportFormat.WARC and self.kind is RecordKind.JOB:
            raise UsageError(
                "WARC holds pages as they were sent, which belong to documents.",
                fix="headwater docs export --format warc",
            )

    @property
    def as_said(self) -> dict[str, Any]:
        """By which an interrupted export is known again: `7d` means another moment each time."""
        return {
            "kind": str(self.kind),
            "format": str(self.format),
            "view": self.view,
            "source_id": str(self.source_id) if self.source_id else None,
            "since": self.since_as_said,
        }


@dataclass(frozen=True, slots=True)
class ExportCursor:
    """The last key that was looked at; `at` where the records of one source are walked by time."""

    at: datetime | None = None
    bucket: int = -1
    hash: bytes = b""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far an export has come, and what is needed to end it as if it had never stopped.

    `size_bytes` of the file and `pieces` of the folder are whole; `unsure` are names that may have been written after.
    """

    began_at: datetime
    since: datetime | None = None
    cursor: ExportCursor = ExportCursor()
    records: int = 0
    without_body: int = 0
    size_bytes: int = 0
    pieces: int = 0
    unsure: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        cursor = {"at": self.cursor.at, "bucket": self.cursor.bucket, "hash": self.cursor.hash.hex()}
        return {name: getattr(self, name) for name in self.__slots__} | {"cursor": cursor}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        cursor = said["cursor"]
        return cls(
            datetime.fromisoformat(said["began_at"]),
            _moment(said["since"]),
            ExportCursor(_moment(cursor["at"]), cursor["bucket"], bytes.fromhex(cursor["hash"])),
            **{name: said[name] for name in ("records", "without_body", "size_bytes", "pieces")},
            unsure=tuple(said["unsure"]),
        )


@dataclass(frozen=True, slots=True)
class ExportedRecord:
    """`raw` is the page as it was sent, where it was asked for and is still kept."""

    record: Record
    raw: KeptBody | None = None


def cursor_after(record: Record, *, by_time: bool) -> ExportCursor:
    """Where a walk goes on behind a record."""
    at = record.fields["first_seen_at" if record.key.kind is RecordKind.DOCUMENT else "created_at"] if by_time else None
    return ExportCursor(at, record.key.bucket, record.key.hash)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
