"""A search question, and a place in its answer."""

import re
import struct
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.storable import storable

# The longest words a search knows have 2,046 bytes, and a character has up to four.
LONGEST_QUESTION = 500
# Between words, not in a date, a fraction or an address's `//`; as where vacancies are stored.
_SLASH = re.compile(r"(?<=[^\s\d/])/(?=[^\s\d/])")
_SLASHED = re.compile(r"(?=[^\s-])\S*?[^\s\d/]/[^\s\d/]\S*")
_PLACE = struct.Struct(">dB32s")


@dataclass(frozen=True, slots=True)
class Filters:
    """`since` and `until` are about when it was published, or else first seen; `until` is not included.

    `language` searches by the rules of that language alone; without one, every text by those of its own.
    `view_question` are the words of the view, as `question_of` in views.py says. `rights` are marks such as
    `train=allowed`, all of which must hold; of a vacancy's use nothing is known. `author` is one of a document's
    authors, as it is written there, `host` that of its page, `page_type` as it was read; vacancies have none of these.
    """

    kind: RecordKind = RecordKind.DOCUMENT
    source_id: UUID | None = None
    language: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    duplicates: bool = False
    view_id: UUID | None = None
    view_question: str | None = None
    rights: tuple[str, ...] = ()
    author: str | None = None
    host: str | None = None
    page_type: str | None = None


class Place(NamedTuple):
    """A hit's place in the order of an answer: the best first, then by key."""

    rank: float
    bucket: int
    hash: bytes


def words_of(text: str) -> str:
    """The words a person typed, without characters PostgreSQL cannot read."""
    if len(text) > LONGEST_QUESTION:
        raise UsageError(
            f"A search of {len(text):,} characters is not possible.", fix=f"Ask with at most {LONGEST_QUESTION}."
        )
    return str(storable(text.replace("\0", " ")))


def with_slashes_parted(question: str) -> str:
    """`driver/cook` as the phrase "driver cook": vacancies are stored so, since PostgreSQL takes it for a path."""
    parts = question.split('"')
    parts[::2] = [_SLASHED.sub(lambda found: f'"{_SLASH.sub(" ", found[0])}"', part) for part in parts[::2]]
    parts[1::2] = [_SLASH.sub(" ", part) for part in parts[1::2]]
    return '"'.join(parts)


def cursor_at(place: Place) -> str:
    return _PLACE.pack(*place).hex()


def place_at(cursor: str) -> Place:
    try:
        return Place(*_PLACE.unpack(bytes.fromhex(cursor)))
    except (ValueError, struct.error) as error:
        raise UsageError("This cursor was not made by a search.", fix="Start again without one.") from error
