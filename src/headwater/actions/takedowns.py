"""A takedown and what became of it in each sink."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from headwater.actions.delivery import kind_of
from headwater.database.pool import Database
from headwater.deliver.store import SinkReport, list_sinks
from headwater.deliver.tracing import held_by_sinks, vacancies_to_remove
from headwater.errors import NotFound
from headwater.ingest.taking_down import MOST_COUNTED, TakedownReach, entries_of, is_covered, reach_of, record
from headwater.politeness.takedown import Takedown, parse_takedown
from headwater.politeness.takedown import queries as takedown_queries
from headwater.politeness.takedown_requests import TakedownRequest, decide_request
from headwater.record_kind import RecordKind
from headwater.services import Services


@dataclass(frozen=True, slots=True)
class SinkRemoval:
    """`held` records of the place may still be in the sink. `forgets_not`: why a removal there is only told."""

    sink: SinkReport
    held: int
    forgets_not: str | None

    @property
    def is_confirmed(self) -> bool:
        """It was sent everything up to the removals, and holds nothing of it."""
        return not (self.held or self.sink.behind or self.sink.backfill_reason)


@dataclass(frozen=True, slots=True)
class TakedownStory:
    """`swept_at` None: it is still being applied."""

    takedown: Takedown
    reason: str | None
    created_at: datetime
    swept_at: datetime | None
    sinks: Sequence[SinkRemoval]


def covered_in_words(takedown: Takedown) -> str:
    if takedown.key_prefix is None:
        return f"{takedown.domain} with all its subdomains and ports"
    if "/" not in takedown.name:
        return f"{takedown.name}, with and without www, and no other port"
    return f"{takedown.name} and all below it, by http and https, with and without www"


def reach_in_words(reach: TakedownReach) -> str:
    """What would be removed, as far as it was counted. Pure."""
    counts = ((reach.documents, "document"), (reach.waiting, "queued URL"))
    return " and ".join(_at_least(count, noun) for count, noun in counts)


def _at_least(count: int, noun: str) -> str:
    if count >= MOST_COUNTED:
        return f"{MOST_COUNTED:,} {noun}s or more"
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


async def question_before(database: Database, takedown: Takedown) -> str:
    """Empty where nobody has to be asked: some pages only, or nothing stored that would be gone for good."""
    if not takedown.is_of_whole_site:
        return ""
    reach = await reach_of(database, takedown)
    if not reach.documents:
        return ""
    return f"Take {takedown.name} down? {reach_in_words(reach)} would be removed."


async def grant_request(services: Services, id_: UUID, actor: str) -> tuple[TakedownRequest, Takedown, str]:
    """A site owner's request, recorded as a takedown with this reason: from now on nothing of it is requested.

    The caller sweeps what stands of it. Raises NotFound where it was decided already.
    """
    async with services.database.transaction() as connection:
        decided = await decide_request(connection, id_, actor, is_granted=True)
        # Before the request counts as granted: one that cannot be carried out stays open.
        takedown = parse_takedown(decided.place)
        reason = f"asked for by its owner on {decided.asked_at:%Y-%m-%d}"
        await record(services.database, takedown, reason)
    return decided, takedown, reason


async def refuse_request(services: Services, id_: UUID, actor: str) -> TakedownRequest:
    """Nobody is told of it. Raises NotFound where it was decided already."""
    async with services.database.transaction() as connection:
        return await decide_request(connection, id_, actor, is_granted=False)


async def takedown_story(services: Services, text: str) -> TakedownStory:
    database, takedown = services.database, parse_takedown(text)
    rows = await database.fetch(takedown_queries.takedowns_of_domains, [takedown.domain])
    row = next((one for one in rows if one["domain_or_url"] == takedown.name), None)
    if row is None:
        raise NotFound(f"{takedown.name} is not taken down.", fix="See what is: headwater takedown list")
    sinks = await list_sinks(database)
    held = await _held(database, takedown, sinks) if sinks else Counter()
    removals = [SinkRemoval(one, held[one.id], kind.forgets_not if (kind := kind_of(one)) else None) for one in sinks]
    return TakedownStory(takedown, row["reason"], row["created_at"], row["swept_at"], removals)


async def _held(database: Database, takedown: Takedown, sinks: Sequence[SinkReport]) -> Counter[UUID]:
    held: Counter[UUID] = Counter()
    async for keys in entries_of(database, takedown):
        if keys:
            columns = [key.bucket for key in keys], [key.url_hash for key in keys]
            held.update(await held_by_sinks(database, RecordKind.DOCUMENT, *columns))
    for sink in sinks:
        async for urls in vacancies_to_remove(database, sink.id):
            held[sink.id] += any(is_covered(takedown, url) for url in urls)
    return held
