"""The log for readers that ask: a page of changes after a position, each with the record as it is now."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver.log import LogEntry, LogState, log_state, read_log
from headwater.deliver.records import Membership, Record, load_standings
from headwater.errors import NotFound, UsageError
from headwater.record_kind import RecordKind
from headwater.search.views import View, question_of

queries = load_queries("headwater.deliver")

LARGEST_PAGE = 1_000
# Between two looks of a reader that follows: looking is the truth, a notice only its speed.
LOOK_EVERY = timedelta(seconds=5)
# Behind a pooler without `database.direct_url` no notice is heard.
LOOK_DEAF_EVERY = timedelta(seconds=1)
FOLLOWED_AT_ONCE = 500


class PositionGone(NotFound):
    """The log no longer reaches back to this position, or never reached so far."""


@dataclass(frozen=True, slots=True)
class PulledChange:
    """`record` is as it is now; None: it is not, or no longer, for this reader, and whoever holds it removes it."""

    entry: LogEntry
    record: Record | None

    @property
    def op(self) -> str:
        return "upsert" if self.record else "remove"

    @property
    def version(self) -> int:
        return self.record.version if self.record else self.entry.version


@dataclass(frozen=True, slots=True)
class ChangePage:
    """`next` is the last position that was examined, even if nothing was for the reader; `more`: ask again at once."""

    changes: tuple[PulledChange, ...]
    next: int
    more: bool


async def pull_changes(database: Database, after: int, limit: int, view: View | None = None) -> ChangePage:
    """At most so many changes behind a position. Raises PositionGone where the reader would miss some."""
    if not 1 <= limit <= LARGEST_PAGE:
        raise UsageError(f"A page of {limit} changes is not possible.", fix=f"Ask for 1 to {LARGEST_PAGE}.")
    log = await log_state(database)
    entries = await read_log(database, after, log.position, limit)
    # Positions have no gaps: one that lacks was dropped, perhaps in this moment.
    is_whole = entries[0].position == after + 1 if entries else after == log.position
    if log.has_lost(after) or not is_whole:
        raise _gone(after, log)
    questions = {kind: await question_of(database, view, kind) for kind in RecordKind}
    reader = Membership(view_id=view.id if view else None, questions=questions)
    standings = await load_standings(database, list({entry.key: None for entry in entries}), reader)
    changes = tuple(PulledChange(entry, standings[entry.key].record) for entry in entries)
    reached = entries[-1].position if entries else after
    return ChangePage(changes, reached, more=reached < log.position)


def _gone(after: int, log: LogState) -> PositionGone:
    what = (
        f"The log ends at position {log.position:,}: {after:,} is of another one."
        if after > log.position
        else f"The log begins at position {log.oldest:,}: changes after {after:,} were dropped."
    )
    fix = (
        "`headwater docs export` and `headwater jobs export` write all that there is."
        f" Then go on: headwater changes --after {log.position}"
    )
    return PositionGone(what, fix=fix)


async def newest_position(database: Database, count: int) -> int:
    """The one before the last so many changes."""
    log = await log_state(database)
    return max(log.position - count, log.oldest - 1)


async def follow_changes(
    database: Database, listener: Listener, reader: str, after: int, view: View | None = None
) -> AsyncIterator[ChangePage]:
    """Pages that are not empty, for ever, each change once. `reader` names this one among those that sleep."""
    while True:
        # Before looking: a mover that comes right after it knows that somebody is to be woken.
        await database.execute(queries.sleep_at_log, reader, LOOK_EVERY)
        page = await pull_changes(database, after, FOLLOWED_AT_ONCE, view)
        if page.changes:
            after = page.next
            yield page
        else:
            await listener.wait((LOOK_EVERY if listener.can_hear else LOOK_DEAF_EVERY).total_seconds())


def change_as_dict(change: PulledChange, *, with_text: bool = False) -> Mapping[str, Any]:
    """For programs."""
    entry = change.entry
    told: dict[str, Any] = {
        "position": entry.position,
        "at": entry.at,
        "changed_at": entry.changed_at,
        "op": change.op,
        "kind": str(entry.key.kind),
        "id": entry.key.id,
        "version": change.version,
    }
    if change.record:
        hidden = () if with_text else ("text",)
        told["record"] = {name: value for name, value in change.record.fields.items() if name not in hidden}
    return told
