"""Values of several resources.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, Literal, TypedDict


class DocumentHit(TypedDict):
    """A document in a list. `snippet` marks matches as **so**; it is plain text, to be escaped in HTML."""

    id: str
    url: str
    title: str
    source: str | None
    source_id: str
    language: str
    published_at: str | None
    first_seen_at: str
    word_count: int
    is_duplicate: bool
    snippet: str
    rank: float


class EventShape(TypedDict):
    """What happened to a source or a channel, and who did it."""

    id: int
    at: Any
    kind: str
    message: str
    source_id: str | None
    channel_id: str | None
    actor: str
    level: str
    details: dict[str, Any]


class EventList(TypedDict):
    """Newest first. With filters a page may hold few events, or none, and still have a cursor."""

    events: list[EventShape]
    cursor: str | None


HealthStatus = Literal["ok", "unknown", "silent", "warning", "struggling", "paused", "blocked", "deleted"]


class JobHit(TypedDict):
    """An open vacancy in a list; besides these, what else is known of it."""

    canonical_hash: str
    title: str
    apply_url: str
    source_id: str
    language: str | None
    snippet: str
    rank: float


Level = Literal["info", "warn", "error"]


class OperationShape(TypedDict):
    """Work that takes longer than a request. Ask for it again until its state is no longer `running`.

    `state`: running, done, failed or interrupted.
    `done`: How much of it is done.
    `total`: Of how much, where that is known.
    """

    id: str
    kind: str
    state: str
    actor: str
    done: int
    total: int | None
    result: dict[str, Any] | None
    problem: dict[str, Any] | None
    created_at: str
    ended_at: str | None


class ProblemShape(TypedDict):
    """Something that is wrong, since when, and what to do about it."""

    kind: str
    grade: str
    what: str
    fix: str
    since: str | None
    about: str
    source_id: str | None
    channel_id: str | None


class PushShape(TypedDict):
    """A channel's subscription at its hub, and how the hub has kept its word.

    `word`: wanted, pending, subscribed, proving, pushed, silent, lapsed, denied or failed.
    `says`: The same in words.
    `protocol`: websub or rsscloud.
    `topic`: The address that is subscribed to.
    `reason`: Why it is denied or failed.
    `since`: When the hub confirmed it first, without a lapse since.
    `proofs`: Pushes in a row that brought something new in time.
    `needed`: So many of them earn trust.
    `pushes`: Those that brought something new.
    `missed`: Items that came late, or that polls found first.
    """

    word: str
    says: str
    protocol: str
    hub: str
    topic: str
    reason: str | None
    since: str | None
    lease_until: str | None
    proofs: int
    needed: int
    pushes: int
    missed: int
    last_push_at: str | None


class ChannelShape(TypedDict):
    """One polled thing of a source.

    `kind`: feed, sitemap, listing, api, crawl, search or backfill.
    `is_enabled`: As a person or Headwater set it.
    `is_active`: Enabled, and its source is active too: it is polled.
    `next_reason`: Why it is polled then.
    `push`: How things stand with the hub that it names; None where it names none.
    """

    id: str
    source_id: str
    kind: str
    url: str
    title: str | None
    is_enabled: bool
    disabled_reason: str | None
    is_active: bool
    next_poll_at: str | None
    next_reason: str
    poll_interval_seconds: int | None
    is_running: bool
    last_polled_at: str | None
    last_ok_at: str | None
    last_new_at: str | None
    last_item_count: int
    consecutive_errors: int
    last_error: str | None
    push: PushShape | None


class ChannelList(TypedDict):
    channels: list[ChannelShape]


RecordKind = Literal["document", "job"]


Role = Literal["viewer", "operator", "admin"]


class RunShape(TypedDict):
    """One poll of a channel.

    `at`: When it ended.
    `ran_at`: The same, as older programs call it.
    """

    id: str
    at: Any
    ran_at: Any
    source_id: str
    source: str
    channel_id: str
    kind: str
    trigger: str
    status: str
    requests: int
    found: int
    inserted: int
    updated: int
    skipped: int
    errors: int
    duration_ms: int
    message: str


class RunList(TypedDict):
    """Newest first. With `status` a page may hold few runs, or none, and still have a cursor."""

    runs: list[RunShape]
    cursor: str | None


class SourcePolled(TypedDict):
    """`channels` are due now; `why_not` says why none is."""

    source_id: str
    name: str
    channels: int
    why_not: str | None
