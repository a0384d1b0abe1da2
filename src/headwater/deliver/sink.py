"""The contract of a sink: one small class that sends records somewhere, with the values it is given and answers with.

To write one, see docs/delivery.md: a class with `send`, options as a pydantic model, and an entry point of the group
`headwater.sinks` that names a `SinkKind`.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from headwater.chance import Random
from headwater.clock import Clock
from headwater.deliver.records import Record, RecordKey
from headwater.errors import DependencyDown, HeadwaterError
from headwater.log import Logger
from headwater.record_kind import RecordKind

if TYPE_CHECKING:
    # Whoever only asks how sinks stand needs no client of the web.
    from headwater.deliver.http import SinkClient

# The number of a batch times this is the version at sinks that keep versions of their own: between two of our batches
# there is room for the updates of others, each of which raises the sink's number by one.
VERSIONS_PER_BATCH = 1_024
# No batch is older than this program: 2020, in microseconds.
FIRST_BATCH = 1_577_836_800_000_000


@dataclass(frozen=True, slots=True)
class Upsert:
    """The record as it is now. `place` is what the sink's `place_of` said; `position` that of its change in the log.

    `is_from_archive`: it is sent because the sink is filled, and `position` is where the log ended then.
    """

    record: Record
    position: int
    place: str = ""
    is_from_archive: bool = False

    @property
    def key(self) -> RecordKey:
        return self.record.key

    @property
    def version(self) -> int:
        return self.record.version


@dataclass(frozen=True, slots=True)
class Removal:
    """The record is no longer for this sink: deleted, taken down, a duplicate, over, out of the view, or elsewhere."""

    key: RecordKey
    position: int
    version: int
    place: str = ""
    is_from_archive: bool = False


Delivery = Upsert | Removal


@dataclass(frozen=True, slots=True)
class Accepted:
    """It is there, or something later is."""


@dataclass(frozen=True, slots=True)
class RecordRefused:
    """This record alone failed; the others went on. `is_final`: trying again is useless, so it is parked at once.

    `later_batch`: the sink holds the record from a batch with this number, which is later than ours. Nobody but the
    holder of the lease sends, so that one was numbered by another clock: the next try is numbered after it.
    """

    why: str
    is_final: bool = False
    later_batch: int = 0


DeliveryOutcome = Accepted | RecordRefused


class SinkDown(DependencyDown):
    """The sink as a whole takes nothing now: it is tried again later, from where it stood.

    `outcomes` are those of the first deliveries of the batch, where some were accepted before it went down.
    `is_for_good`: the sink asked never to be sent anything again.
    """

    def __init__(
        self,
        what: str,
        *,
        fix: str = "",
        retry_after: timedelta | None = None,
        outcomes: Sequence[DeliveryOutcome] = (),
        is_for_good: bool = False,
    ) -> None:
        super().__init__(what, fix=fix)
        self.retry_after = retry_after
        self.outcomes = tuple(outcomes)
        self.is_for_good = is_for_good


class LeaseEnded(HeadwaterError):
    """This process may no longer speak to the sink: another one does, or soon may."""


@dataclass(slots=True)
class Fence:
    """The right to speak to a sink, by this process's own monotonic clock, counted from before it was granted."""

    clock: Clock
    token: str
    ends_at: float
    # Of the batch that is sent: it grows with every batch of this sink, over all processes.
    batch_number: int = 0
    # Whether the holder before ended in order; otherwise a request of its may still be under way.
    is_handed_over: bool = True
    # Called with a place that is not there, or with None where nothing is; see `note_missing`.
    on_missing: Callable[[str | None], Awaitable[None]] | None = None

    @property
    def left(self) -> float:
        return self.ends_at - self.clock.monotonic()

    @property
    def external_version(self) -> int:
        """For sinks that keep versions of their own: the records of a later batch were read later."""
        return self.batch_number * VERSIONS_PER_BATCH

    async def note_missing(self, place: str | None = None) -> None:
        """Before a place is made that is not there, or, without a name, everything: had it been filled, it is filled
        anew.
        """
        if self.on_missing:
            await self.on_missing(place)

    def require(self, seconds: float) -> None:
        """Before a request that takes at most so long, or a rename, which takes none."""
        if self.left <= seconds:
            raise LeaseEnded("The lease on this sink ends before the request would.")


class Sink(Protocol):
    """Made for one lease: `prepare` is called first and once, then `send` for one batch after another, then `close`.

    Raise `SinkDown` when it cannot be reached or refuses everything; answer `RecordRefused` for single records.
    """

    def place_of(self, record: Record) -> str:
        """Where in the sink the record belongs, such as the name of an index; empty where there is one place only."""

    async def prepare(self, fence: Fence) -> None:
        """See that it answers; make what it needs. Called every few minutes, too, when there is nothing to send.

        A store says `fence.note_missing` of what it has to make.
        """

    async def send(self, batch: Sequence[Delivery], fence: Fence) -> Sequence[DeliveryOutcome]:
        """One outcome for each delivery, in order. A key may occur twice: removed from one place, put into another.

        Fewer, those of the first: the lease would not have outlasted the others, and they are asked for again.
        """

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Ids of one kind from `first` to `last`, both included, as 64 hex digits."""

    kind: RecordKind
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """A record that a sink says it holds: our version, from the field in the document, and its place."""

    id: str
    version: int
    place: str = ""
    # Of our last send, where the sink's documents have no field for our version: compared with that of `delivered`
    # instead of the version, which is 0 then.
    batch_number: int | None = None

    @property
    def is_sent_by_us(self) -> bool:
        """Numbers of batches are microseconds of a clock: whoever else writes there counts from one."""
        return self.batch_number is None or self.batch_number >= FIRST_BATCH


@runtime_checkable
class AskableSink(Protocol):
    """A sink that can say what it holds, so that `sinks verify` can compare."""

    async def state_of(self, wanted: KeyRange) -> Sequence[HeldRecord]:
        """All that it holds of a range, in any order."""


@runtime_checkable
class PlacedSink(Protocol):
    """A sink whose places may be deleted under it, such as indexes: asked for them every few minutes."""

    async def missing_places(self, places: Sequence[str], fence: Fence) -> Sequence[str]:
        """Those of them that are not there."""


class SinkOptions(BaseModel):
    """Options of a sink: field names are what a person types, descriptions are the documentation."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


@dataclass(frozen=True, slots=True)
class SinkContext:
    """The surroundings that a sink is made with."""

    name: str
    clock: Clock
    random: Random
    log: Logger
    data_folder: Path
    # A secret that options name by `env:NAME` or `file:/path`; never kept in the database.
    secret: Callable[[str], str]
    # The client for HTTP, guarded: addresses that the options name are allowed, a cloud's metadata never.
    client: "Callable[[str], SinkClient]"


class SinkHome(NamedTuple):
    """A place that two sinks may not share: `place`, such as an index, on a server; a folder has no server."""

    server: str
    place: str

    @property
    def in_words(self) -> str:
        return f"{self.place} on {self.server}" if self.server else self.place


@dataclass(frozen=True, slots=True)
class SinkKind:
    """A kind of sink, found by its entry point. `name` is the type that a person names."""

    name: str
    summary: str
    options: type[SinkOptions]
    make: Callable[[Any, SinkContext], Sink]
    # So many records are loaded and sent at once.
    batch: int = 500
    # A stream of events starts at the log's end; a store is filled from the archive first.
    is_events: bool = False
    # Why it cannot take back what it was sent; None: a removal removes.
    forgets_not: str | None = None
    # Waits after failures in a row of the whole sink; None: doubled from a second up to five minutes.
    waits: Sequence[timedelta] | None = None
    wants_html: Callable[[Any], bool] = field(default=lambda options: False)
    # Whether records come with the address of their source's feed.
    wants_feeds: bool = False
    # The places that it writes to, which two sinks may not share; none: they may.
    homes: Callable[[Any], Collection[SinkHome]] = field(default=lambda options: ())
    # The name that its server has for itself, so that one server under two addresses is noticed; None: it has none.
    server_id: Callable[[Any, Fence], Awaitable[str | None]] | None = None
    # Kinds of records that it takes.
    takes: Callable[[Any], frozenset[RecordKind]] = field(default=lambda options: frozenset(RecordKind))
    # `sinks test`: one try without a record; the answer is a sentence.
    test: Callable[[Sink, Fence], Awaitable[str]] | None = None


def options_as_given(options: SinkOptions) -> Mapping[str, Any]:
    """As they are stored: only those that differ from the defaults."""
    return options.model_dump(mode="json", exclude_defaults=True)
