"""Values of sinks.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, NotRequired, TypedDict

from headwater.client.shapes.shared import HealthStatus


class FailedRecordShape(TypedDict):
    """Its fields:

    `next_try_at`: null: it is parked.
    `error`: The sink's own words.
    """

    kind: str
    id: str
    position: int
    version: int
    attempts: int
    next_try_at: str | None
    error: str
    failed_at: str


class FailureGroupShape(TypedDict):
    """Its fields:

    `error`: The sink's own words, with … in place of numbers and ids.
    """

    error: str
    records: int
    parked: int
    last_at: str


class NewSink(TypedDict):
    """Its fields:

    `name`: Small letters, digits, - and _.
    `type`: GET /api/v1/sinks/types lists them.
    `options`: As `headwater sinks add` takes them. Secrets are named: env:NAME or file:/path.
    `view`: Deliver this view only; otherwise everything.
    `from_archive`: Send the whole archive first, also to a stream of events.
    """

    name: str
    type: str
    options: NotRequired[dict[str, str]]
    view: NotRequired[str | None]
    from_archive: NotRequired[bool]


class PauseWish(TypedDict):
    """Its fields:

    `reason`: Why; GET shows it.
    """

    reason: NotRequired[str]


class RebuildWish(TypedDict):
    """Its fields:

    `confirm`: That its costs are wanted. Without it the answer, 422, tells them.
    """

    confirm: NotRequired[bool]


class Rebuilt(TypedDict):
    """Its fields:

    `costs`: What it changes in the sink beside bringing it up to date.
    """

    name: str
    state: str
    is_filled: bool
    costs: list[str]


class Retried(TypedDict):
    """Its fields:

    `retried`: Records that will be tried again.
    """

    name: str
    state: str
    retried: int


class SinkOptionShape(TypedDict):
    """Its fields:

    `default`: null: it must be given.
    """

    name: str
    says: str
    default: str | None


class SinkShape(TypedDict):
    """A sink and how it stands. `behind` counts changes that it was not sent yet.

    `options`: As they were given: secrets by their names only.
    `view_name`: The view it delivers; null: everything.
    `state`: active, paused, or disabled by its own wish.
    `standing`: In a word for people.
    `health`: The worst of its last try and its checks.
    `edition`: What people decide of it, in short: a removal that sends it as If-Match is safe.
    `set_by`: The setting that made it, and that it follows at each start.
    `failures`: Tries of the whole sink that failed in a row.
    `is_left_behind`: The log no longer reaches back to where it stands: it is filled anew.
    `parked`: Records that it refused to the last try.
    """

    id: str
    name: str
    type: str
    options: dict[str, Any]
    view_id: str | None
    view_name: str | None
    state: str
    state_reason: str | None
    standing: str
    health: HealthStatus
    edition: str
    set_by: str | None
    position: int
    log_position: int
    oldest_position: int
    owner: str | None
    is_worked: bool
    leased_until: str | None
    failures: int
    retry_at: str | None
    looked_at: str | None
    last_success_at: str | None
    last_error: str | None
    last_error_at: str | None
    sent: int
    created_at: str
    behind: int
    behind_since: str | None
    is_left_behind: bool
    parked: int
    retrying: int
    backfill_reason: str | None
    backfill_done: int | None
    backfill_kind: str | None
    backfill_bucket: int | None
    backfill_share: float | None


class SinkList(TypedDict):
    sinks: list[SinkShape]
    log_position: int


class SinkState(TypedDict):
    name: str
    state: str


class SinkStoryShape(TypedDict):
    """Its fields:

    `options`: As they were given: secrets by their names only.
    `view_name`: The view it delivers; null: everything.
    `state`: active, paused, or disabled by its own wish.
    `standing`: In a word for people.
    `health`: The worst of its last try and its checks.
    `edition`: What people decide of it, in short: a removal that sends it as If-Match is safe.
    `set_by`: The setting that made it, and that it follows at each start.
    `failures`: Tries of the whole sink that failed in a row.
    `is_left_behind`: The log no longer reaches back to where it stands: it is filled anew.
    `parked`: Records that it refused to the last try.
    `forgets_not`: Why it cannot take back what it was sent; null: it can.
    `failed_by_error`: The same by what it said, of the first 10,000.
    """

    id: str
    name: str
    type: str
    options: dict[str, Any]
    view_id: str | None
    view_name: str | None
    state: str
    state_reason: str | None
    standing: str
    health: HealthStatus
    edition: str
    set_by: str | None
    position: int
    log_position: int
    oldest_position: int
    owner: str | None
    is_worked: bool
    leased_until: str | None
    failures: int
    retry_at: str | None
    looked_at: str | None
    last_success_at: str | None
    last_error: str | None
    last_error_at: str | None
    sent: int
    created_at: str
    behind: int
    behind_since: str | None
    is_left_behind: bool
    parked: int
    retrying: int
    backfill_reason: str | None
    backfill_done: int | None
    backfill_kind: str | None
    backfill_bucket: int | None
    backfill_share: float | None
    forgets_not: str | None
    failed_records: list[FailedRecordShape]
    failed_by_error: list[FailureGroupShape]


class SinkTrouble(TypedDict):
    what: str
    fix: str


class AddedSinkShape(TypedDict):
    """`answer` is what the sink said to a try, `trouble` why it could not be tried: it is tried again by itself."""

    name: str
    type: str
    is_filled: bool
    answer: str
    trouble: SinkTrouble | None


class SinkTypeShape(TypedDict):
    """Its fields:

    `is_events`: A stream of events begins at the log's end; a store is filled first.
    `why_not`: Why it cannot be used here; null: it can.
    """

    name: str
    summary: str
    options: list[SinkOptionShape]
    is_events: bool
    forgets_not: str | None
    why_not: str | None


class SinkTypeList(TypedDict):
    types: list[SinkTypeShape]


class TriedSink(TypedDict):
    name: str
    answer: str


class VerifyWish(TypedDict):
    """Its fields:

    `mend`: Send or remove the records that differ once more.
    `remove_unknown`: With mend: remove records, too, that this archive does not know.
    """

    mend: NotRequired[bool]
    remove_unknown: NotRequired[bool]
