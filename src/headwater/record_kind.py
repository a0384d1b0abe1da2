"""The two kinds of records that the archive keeps and hands on."""

from enum import StrEnum


class RecordKind(StrEnum):
    DOCUMENT = "document"
    JOB = "job"
