"""Which column holds which field: by the person's mapping, then by the names of the header."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwater.errors import UsageError
from headwater.sources.exchange.fields import BY_NAME, FIELDS, OTHER_FIELDS, Field
from headwater.storable import one_line

_SHOWN_COLUMNS = 50
_LONGEST_SHOWN = 100
_NOT_A_WORD = re.compile(r"[^a-z0-9]+")

# Ours in a file of rejected records; they bring nothing when it is imported again.
LINE, BECAUSE, TEXT = "rejected_line", "rejected_because", "rejected_text"

_BY_OTHER_NAME = {name: known for known in (*FIELDS, *OTHER_FIELDS) for name in known.also}


@dataclass(frozen=True, slots=True)
class LeftOver:
    """Columns that bring nothing, in order: nobody knows them, or another brings their field. Never more than a few.

    `header` are all columns of a table.
    """

    header: list[str] = field(default_factory=list)
    unused: dict[str, None] = field(default_factory=dict)
    doubled: dict[str, None] = field(default_factory=dict)

    def note(self, header: Sequence[str], columns: Mapping[int, Field], mapping: Mapping[str, str]) -> None:
        mapped = {_folded(column) for column in mapping.values()}
        for at, column in enumerate(header):
            if at in columns or is_ours(column) or not (shown := one_line(column[:_LONGEST_SHOWN])):
                continue
            names = self.doubled if _folded(column) in mapped or is_header([column]) else self.unused
            if len(names) < _SHOWN_COLUMNS:
                names[shown] = None


def require_known(mapping: Mapping[str, str]) -> None:
    if unknown := sorted(mapping.keys() - BY_NAME.keys()):
        raise UsageError(f"There is no field {_quoted(unknown)}.", fix=f"The fields are: {', '.join(BY_NAME)}.")


def require_present(header: Sequence[str], mapping: Mapping[str, str]) -> None:
    present = {_folded(column) for column in header}
    if missing := [column for column in mapping.values() if _folded(column) not in present]:
        raise UsageError(f"There is no column {_quoted(missing)}.", fix=_columns_are(header))


def require_address(header: Sequence[str], columns: Mapping[int, Field]) -> None:
    if not any(field.name in ("url", "feed_url") for field in columns.values()):
        what = "No column is known to hold the address of a site or a feed; the first line should name the columns."
        raise UsageError(what, fix=f"{_columns_are(header)} Say which one it is with --map url=COLUMN.")


def columns_in(header: Sequence[str], mapping: Mapping[str, str]) -> dict[int, Field]:
    """The field of each column that has one, best name first: mapped ones, then exact names, then other names."""
    mapped = {_folded(column): BY_NAME[name] for name, column in mapping.items()}
    passes = (
        {at: mapped.get(_folded(column)) for at, column in enumerate(header)},
        {at: BY_NAME.get(_word(column)) for at, column in enumerate(header)},
        {at: _BY_OTHER_NAME.get(_word(column)) for at, column in enumerate(header)},
    )
    columns: dict[int, Field] = {}
    taken: set[str] = set()
    for fields in passes:
        for at, meant in fields.items():
            if meant and at not in columns and meant.name not in taken:
                columns[at] = meant
                taken.add(meant.name)
    return columns


def is_ours(column: str) -> bool:
    """Whether it is one that we wrote beside rejected records."""
    return _folded(column) in (LINE, BECAUSE, TEXT)


def is_header(cells: Sequence[str]) -> bool:
    return any(_word(cell) in BY_NAME or _word(cell) in _BY_OTHER_NAME for cell in cells)


def _folded(column: str) -> str:
    return column.strip().casefold()


def _word(column: str) -> str:
    return _NOT_A_WORD.sub("_", column[:_LONGEST_SHOWN].lower()).strip("_")


def _columns_are(header: Sequence[str]) -> str:
    more = ", …" if len(header) > _SHOWN_COLUMNS else ""
    return f"The columns are: {', '.join(column.strip()[:_LONGEST_SHOWN] for column in header[:_SHOWN_COLUMNS])}{more}."


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
