"""Every lawful change of an entry's status, in one table that draws `docs/states.md`; tests hold the database to it."""

from typing import NamedTuple

from headwater.frontier.entry import EntryStatus


class StatusChange(NamedTuple):
    before: EntryStatus | None
    after: EntryStatus
    by: str


LAWFUL: tuple[StatusChange, ...] = (
    StatusChange(None, EntryStatus.PENDING, "submit: a new URL"),
    StatusChange(EntryStatus.PENDING, EntryStatus.FETCHING, "claim"),
    StatusChange(EntryStatus.FAILED, EntryStatus.FETCHING, "claim, once its wait is over"),
    StatusChange(EntryStatus.FETCHING, EntryStatus.FETCHED, "fetched, unchanged"),
    StatusChange(EntryStatus.FETCHING, EntryStatus.FAILED, "retry later: the attempt failed"),
    StatusChange(
        EntryStatus.FETCHING,
        EntryStatus.PENDING,
        "retry later: the host asked us to wait; released; rescued; changed or taken over meanwhile",
    ),
    StatusChange(EntryStatus.FETCHING, EntryStatus.DEAD, "dead, moved, poison, takedown"),
    StatusChange(
        EntryStatus.FETCHED,
        EntryStatus.PENDING,
        "submit: it changed, or a source that speaks for it takes it over; "
        "its source was removed, and another one found it; its revisit is due; a person asks",
    ),
    StatusChange(EntryStatus.PENDING, EntryStatus.DEAD, "takedown, robots, a person"),
    StatusChange(EntryStatus.FAILED, EntryStatus.DEAD, "takedown, robots, a person"),
    StatusChange(EntryStatus.FETCHED, EntryStatus.DEAD, "takedown, a person"),
    StatusChange(
        EntryStatus.DEAD,
        EntryStatus.PENDING,
        "a person revives it; robots allow it again; submit: taken over after nothing was extracted",
    ),
    StatusChange(EntryStatus.FAILED, EntryStatus.PENDING, "a person asks for it now"),
)


def as_markdown() -> str:
    """The picture and the table of `docs/states.md`."""
    # A label ends at a colon or a semicolon.
    labels = [change.by.replace(":", ",").replace(";", ",") for change in LAWFUL]
    arrows = "\n".join(
        f"    {change.before or '[*]'} --> {change.after}: {label}"
        for change, label in zip(LAWFUL, labels, strict=True)
    )
    rows = "\n".join(f"| {change.before or '(new)'} | {change.after} | {change.by} |" for change in LAWFUL)
    return f"""# States of an entry

Drawn from `headwater/frontier/states.py` by `make docs`; tests hold every change the database makes to this table.

```mermaid
stateDiagram-v2
{arrows}
```

| from | to | by |
|---|---|---|
{rows}

`failed` means "will be retried"; it is claimed like `pending` once its wait is over. `dead` always carries a reason.
An entry that is waiting may be held: `paused` while its source is, `suspect` after its worker died.
"""
