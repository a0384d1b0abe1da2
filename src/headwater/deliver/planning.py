"""Records to send to a sink, and its position afterwards. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from headwater.deliver.records import Record, RecordKey, RecordStanding
from headwater.deliver.sink import Accepted, Delivery, DeliveryOutcome, RecordRefused, Removal, Upsert


@dataclass(frozen=True, slots=True)
class Batch:
    """`positions` of all keys that were looked at, in order; one delivery for a key at most."""

    positions: Mapping[RecordKey, int]
    deliveries: Sequence[Delivery]
    # Neither held nor wanted.
    idle: Sequence[RecordKey]
    # Sent for the first time.
    new: Sequence[Upsert]
    # Removed from their former place; they come to the new one in the next batch.
    moved: Sequence[RecordKey]


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of a batch. `known` counts the keys before the first one that may not be where it belongs.

    `arriving` were taken from their former place and are on their way to the new one.
    """

    held: Sequence[Upsert] = ()
    gone: Sequence[RecordKey] = ()
    refused: Sequence[tuple[Delivery, RecordRefused]] = ()
    settled: Sequence[RecordKey] = ()
    known: int = 0
    is_whole: bool = True
    arriving: Sequence[RecordKey] = ()

    @property
    def sent(self) -> int:
        return len(self.held) + len(self.gone)


def plan_batch(
    standings: Mapping[RecordKey, RecordStanding],
    positions: Mapping[RecordKey, int],
    place_of: Callable[[Record], str],
    *,
    is_from_archive: bool = False,
) -> Batch:
    """In order of positions. What a sink should hold is decided by how the record is now, not by how it was."""
    deliveries: list[Delivery] = []
    idle: list[RecordKey] = []
    new: list[Upsert] = []
    moved: list[RecordKey] = []
    for key, position in positions.items():
        standing = standings[key]
        held, record = standing.held, standing.record
        place = place_of(record) if record else ""
        if record and (held is None or held.place == place):
            upsert = Upsert(record, position, place, is_from_archive)
            deliveries.append(upsert)
            if held is None:
                new.append(upsert)
        elif held:
            deliveries.append(Removal(key, position, standing.version, held.place, is_from_archive))
            if record:
                moved.append(key)
        else:
            idle.append(key)
    return Batch(positions, deliveries, idle, new, moved)


def settle_batch(batch: Batch, outcomes: Sequence[DeliveryOutcome]) -> BatchResult:
    """`outcomes` of the first deliveries: where a sink went down, those of the others are missing."""
    known = list(zip(batch.deliveries, outcomes, strict=False))
    unknown = {delivery.key for delivery in batch.deliveries[len(outcomes) :]}
    done = [delivery for delivery, outcome in known if isinstance(outcome, Accepted)]
    held = [one for one in done if isinstance(one, Upsert)]
    gone = [one.key for one in done if isinstance(one, Removal)]
    arriving = [key for key in batch.moved if key in {*gone}]
    unsettled = {*unknown, *arriving}
    return BatchResult(
        held,
        gone,
        [(delivery, outcome) for delivery, outcome in known if isinstance(outcome, RecordRefused)],
        [*(one.key for one in done), *batch.idle],
        next((number for number, key in enumerate(batch.positions) if key in unsettled), len(batch.positions)),
        is_whole=not unknown,
        arriving=arriving,
    )
